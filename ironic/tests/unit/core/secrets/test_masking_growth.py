"""The time to mask a hostile text grows with the text: at most 2.5 times with each doubling."""

import re
from collections.abc import Callable

import pytest

from ironic.api.access_log import masked_query
from ironic.core.secrets.masking import masked_text
from ironic.tests.growth import grows_too_fast

TEXTS: dict[str, Callable[[int], str]] = {
    "a URL with quotes and signs": lambda n: "a://" + '"' * n + "@" * n + " ",
    "a URL with quotes and signs in turn": lambda n: "a://" + '"@' * n + " ",
    "public keys in settings": lambda n: "pw=ssh-/" * n,
    "logins without an end": lambda n: "://a:" * n,
    "keys without an end": lambda n: "-----BEGIN PRIVATE KEY-----" * n,
    "a query without a value": lambda n: "a" * n,
}


@pytest.mark.parametrize("name", TEXTS)
def test_masking_grows_with_its_text(name: str) -> None:
    assert not grows_too_fast(masked_text, TEXTS[name], 0.002)
    assert not grows_too_fast(masked_query, TEXTS[name], 0.002)


def test_this_test_sees_what_grows_faster() -> None:
    assert grows_too_fast(lambda text: str(re.search("a*b", text)), lambda n: "a" * n, 0.002)
