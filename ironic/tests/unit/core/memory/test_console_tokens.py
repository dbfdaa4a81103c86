"""Tokens of graphical consoles: one per opening, valid for a time."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from ironic.core.memory.console_tokens import KEYS, ConsoleAccess
from ironic.core.secrets import masking
from ironic.tests.unit.drivers.machine import Machine

NOW = datetime(2026, 1, 1, 12)


def test_each_opening_has_a_token_of_its_own() -> None:
    tokens = {ConsoleAccess.granted("192.0.2.1", 5900, NOW).token for _each in range(20)}
    assert len(tokens) == 20
    assert min(map(len, tokens)) >= 43


def kept_of(access: ConsoleAccess) -> dict[str, Any]:
    access.put(node := Machine())
    info: dict[str, Any] = node.driver_internal_info
    return info


def test_it_is_kept_with_the_node_and_masked() -> None:
    access = ConsoleAccess.granted("192.0.2.1", 5900, NOW)
    kept = kept_of(access)
    assert ConsoleAccess.of({"other": 1, **kept}) == access
    assert access.token not in str(masking.masked(kept))
    assert set(kept) == {key.name for key in KEYS}


@pytest.mark.parametrize("key", [key.name for key in KEYS])
@pytest.mark.parametrize("value", [None, "", [], {}])
def test_what_is_incomplete_is_no_access(key: str, value: object) -> None:
    kept = kept_of(ConsoleAccess.granted("192.0.2.1", 5900, NOW))
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
