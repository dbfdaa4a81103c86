"""The time to mask a hostile text grows with the text: at most 2.5 times with each doubling."""

import re
import time
from collections.abc import Callable

import pytest

from ironic.api.access_log import masked_query
from ironic.core.secrets import masked_text

TEXTS: dict[str, Callable[[int], str]] = {
    "a URL with quotes and signs": lambda n: "a://" + '"' * n + "@" * n + " ",
    "a URL with quotes and signs in turn": lambda n: "a://" + '"@' * n + " ",
    "public keys in settings": lambda n: "pw=ssh-/" * n,
    "logins without an end": lambda n: "://a:" * n,
    "keys without an end": lambda n: "-----BEGIN PRIVATE KEY-----" * n,
    "a query without a value": lambda n: "a" * n,
}


def seconds(call: Callable[[str], str], text: str) -> float:
    taken = []
    for _ in range(5):
        begin = time.perf_counter()
        call(text)
        taken.append(time.perf_counter() - begin)
    return min(taken)


def grows_in_line(call: Callable[[str], str], text: Callable[[int], str]) -> bool:
    size = 500
    while seconds(call, text(size)) < 0.002 and size < 60_000:
        size *= 2
    # Doubled twice: what grows by the square takes 16 times as long then, which a busy machine does not hide.
    return any(seconds(call, text(4 * size)) < 2.5 * 2.5 * seconds(call, text(size)) for _ in range(3))


@pytest.mark.parametrize("name", TEXTS)
def test_masking_grows_with_its_text(name: str) -> None:
    assert grows_in_line(masked_text, TEXTS[name])
    assert grows_in_line(masked_query, TEXTS[name])


def test_this_test_sees_what_grows_faster() -> None:
    assert not grows_in_line(lambda text: str(re.search("a*b", text)), lambda n: "a" * n)
