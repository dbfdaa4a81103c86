"""Tokens of graphical consoles: one per opening, valid for a time."""

from datetime import datetime, timedelta

import pytest

from ironic.core import secrets
from ironic.core.console_tokens import KEYS, ConsoleAccess

NOW = datetime(2026, 1, 1, 12)


def test_each_opening_has_a_token_of_its_own() -> None:
    tokens = {ConsoleAccess.granted("192.0.2.1", 5900, NOW).token for _each in range(20)}
    assert len(tokens) == 20
    assert min(map(len, tokens)) >= 43


def test_it_is_kept_with_the_node_and_masked() -> None:
    access = ConsoleAccess.granted("192.0.2.1", 5900, NOW)
    kept = access.as_internal_info()
    assert ConsoleAccess.of({"other": 1, **kept}) == access
    assert access.token not in str(secrets.masked(kept))
    assert set(kept) == set(KEYS)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", [None, "", [], {}])
def test_what_is_incomplete_is_no_access(key: str, value: object) -> None:
    kept = ConsoleAccess.granted("192.0.2.1", 5900, NOW).as_internal_info()
    if (key, value) != ("vnc_host", ""):
        assert ConsoleAccess.of({**kept, key: value}) is None
    del kept[key]
    assert ConsoleAccess.of(kept) is None


def test_only_its_token_admits_and_only_for_its_time() -> None:
    access = ConsoleAccess.granted("192.0.2.1", 5900, NOW)
    assert access.admits(access.token, NOW + timedelta(seconds=599), 600)
    assert not access.admits(access.token, NOW + timedelta(seconds=600), 600)
    for wrong in ("", access.token[:-1], access.token + "x", "ü", "\udc80"):
        assert not access.admits(wrong, NOW, 600)
