"""File URLs in every spelling that some part of the service would read as one."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from ironic.core.addresses.own_host import names_file, names_file_anywhere, path_in

SPELLINGS = [
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "fIlE:/etc/passwd",
    "file:etc/passwd",
    "file://localhost/etc/passwd",
    "file://other/etc/passwd",
    "file://[broken",
    " \tfile:///x",
    "\x01\x1ffile:///x",
    "fi\tle:///x",
    "f\r\nile\n:///x",
]


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_file_url_is_seen(text: str) -> None:
    assert names_file(text)
    for document in (text, [text], {"a": {"b": ["c", text]}}, [{"op": "add", "path": "/x", "value": {"kernel": text}}]):
        assert names_file_anywhere(document)


@pytest.mark.parametrize(
    "value",
    ["", "http://a/file:///x", "profile://x", "file", "%66ile:///x", "/etc/passwd", "ks=file:///x", 5, None, ["x"]],
)
def test_other_values_are_none(value: Any) -> None:
    assert not names_file(value)
    assert not names_file_anywhere({"a": [value]})


def test_no_spelling_that_the_parser_reads_as_one_is_missed() -> None:
    odd = [chr(code) for code in range(0x250)]
    texts = [f"{a}file:///x" for a in odd] + [f"fi{a}le:///x" for a in odd] + [f"file{a}:///x" for a in odd]
    assert [text for text in texts if urlsplit(text).scheme == "file" and not names_file(text)] == []


@pytest.mark.parametrize(
    "url, path",
    [
        ("file:///a/b", "/a/b"),
        ("FILE:/a/b", "/a/b"),
        ("file://localhost/a%20b", "/a b"),
        ("file:///%2e%2e/a", "/../a"),
        ("file:///a?b#c", "/a"),
        ("file://elsewhere/a", None),
        ("file://127.0.0.1/a", None),
        ("file:a/b", None),
        ("file:~/a", None),
        ("file:///a%00b", None),
        ("file://[x/a", None),
        ("/a/b", None),
        ("~/a", None),
    ],
)
def test_a_url_names_a_whole_path_or_none(url: str, path: str | None) -> None:
    assert path_in(url) == path
