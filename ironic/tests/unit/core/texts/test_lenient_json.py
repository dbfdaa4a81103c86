"""JSON that breaks the rules in single parts: they are null or stay as they are, and nothing is made up."""

import contextlib
import time
from typing import Any

import pytest

from ironic.core.texts import lenient_json

MENDED: list[tuple[bytes, Any]] = [
    (rb'{"a": "C:\d", "b": 1}', {"a": r"C:\d", "b": 1}),
    (rb'{"a": "it\'s \\ \" \n"}', {"a": "it\\'s \\ \" \n"}),
    (rb'{"a": "\u12 \u0041"}', {"a": r"\u12 A"}),
    (b'{"a": 1}}', {"a": 1}),
    (b'{"a": 1}\r\n0\r\n\r\n', {"a": 1}),
    (b'{"a": "}", "b": 1}]', {"a": "}", "b": 1}),
    (b'\xef\xbb\xbf{"a": 1,}', {"a": 1}),
    (b'{"a": [1, 2,], "b": {"c": [{},],},}', {"a": [1, 2], "b": {"c": [{}]}}),
    (b'{"a": 0077, "b": -00.5, "c": +5, "d": .5}', {"a": None, "b": None, "c": None, "d": None}),
    (b'{"a": , "b": }', {"a": None, "b": None}),
    (b'{"a": True, "b": undefined, "c": On}', {"a": None, "b": None, "c": None}),
    (b'{"a": [1,, 2]}', {"a": [1, None, 2]}),
    (b'{, "a": 1,, "b": 2}', {"a": 1, "b": 2}),
    (b'{"a": 1.5e3, "b": true, "c": NaN, "d": null,}', {"a": 1500.0, "b": True, "c": None, "d": None}),
]


@pytest.mark.parametrize("content, value", MENDED)
def test_what_breaks_a_rule_takes_away_itself(content: bytes, value: Any) -> None:
    assert lenient_json.parse(content) == value


@pytest.mark.parametrize("content", [content for content, _ in MENDED])
def test_nothing_is_mended_that_a_caller_refuses(content: bytes) -> None:
    with pytest.raises(ValueError, match="."):
        lenient_json.parse(content, mends=False)


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": 1', b'{"a": "x', b'{"a": [1', b'{"a": {"b": 1}', b'{"a": 0077, "b"', b'{"a"', b"[1, 2", b"nul", b"",
        b'{"a": [1}', b'{"a" 1}', b'{"a": 1 "b": 2}', b'{"a": 1}{"a": 2}', b'0{"a": 1}', b"<html>{}</html>",
        b'{"a": "C:\\"}',
    ],
)  # fmt: skip
def test_half_a_document_and_what_may_mean_two_things_is_none(content: bytes) -> None:
    with pytest.raises(ValueError, match="."):
        lenient_json.parse(content)


@pytest.mark.parametrize("content", [content for content, _ in MENDED])
def test_no_beginning_of_a_document_is_taken_for_it(content: bytes) -> None:
    whole = content.rindex(b"}") if content.count(b"}}") else max(content.rfind(b"}"), content.rfind(b"]") - 3)
    for length in range(whole - 3):
        with pytest.raises(ValueError, match="."):
            lenient_json.parse(content[:length])


@pytest.mark.parametrize(
    "before, part, after",
    [
        (b'{"a": "', b'\\"', b""),
        (b'{"a": "', b"\\d", b'"}'),
        (b'{"a": [', b",,", b"]}"),
        (b"", b'{"a":[', b""),
        (b'{"a": 1', b'"', b""),
        (b'{"a": 00', b" ", b"x"),
        (b'{"a": 1}', b"}", b""),
        (b'{"a": ', b"0", b"}"),
    ],
)
def test_the_time_grows_with_the_length(before: bytes, part: bytes, after: bytes) -> None:
    def seconds(times: int) -> float:
        began = time.process_time()
        with contextlib.suppress(ValueError):
            lenient_json.parse(before + part * times + after)
        return time.process_time() - began

    for times in (20_000, 40_000, 80_000):
        short, long = (min(seconds(count) for _ in range(3)) for count in (times, 8 * times))
        if long <= 8 * 2.5 * short or long < 0.05:
            return
    pytest.fail(f"{long} seconds for 8 times what takes {short}")
