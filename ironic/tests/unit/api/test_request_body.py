import io
from typing import Any

import pytest

from ironic.api import request_body
from ironic.api.error_responses import Raw
from ironic.core.errors import Invalid


def environ(content: bytes, **more: Any) -> dict[str, Any]:
    return {"wsgi.input": io.BytesIO(content), "CONTENT_LENGTH": str(len(content)), "CONTENT_TYPE": "x/y"} | more


def test_it_reads_what_the_length_says_and_no_more() -> None:
    assert request_body.read(environ(b"abcdef", CONTENT_LENGTH="3"), 10) == b"abc"


def test_no_length_means_no_body() -> None:
    assert request_body.read(environ(b"abc", CONTENT_LENGTH=""), 10) == b""


@pytest.mark.parametrize("length", ["-1", "+3", "x", "1e3", "٣", "3 ", "0x3"])
def test_a_length_that_is_no_number_is_refused(length: str) -> None:
    with pytest.raises(Invalid):
        request_body.read(environ(b"abc", CONTENT_LENGTH=length), 10)


def test_a_body_that_ends_too_early_is_refused() -> None:
    with pytest.raises(Invalid):
        request_body.read(environ(b"{}", CONTENT_LENGTH="3"), 10)


@pytest.mark.parametrize("error", [ValueError("Bad chunked transfer size"), OverflowError(), OSError(), TimeoutError()])
def test_what_a_server_can_not_read_is_the_clients_fault(error: Exception) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise error

    for given in ({"CONTENT_LENGTH": "3"}, {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}):
        with pytest.raises(Invalid):
            request_body.read(environ(b"abc", **given) | {"wsgi.input": Broken()}, 10)


@pytest.mark.parametrize("length", ["11", "9" * 40])
def test_a_length_over_the_limit_is_refused_before_a_byte_is_read(length: str) -> None:
    given = environ(b"abc", CONTENT_LENGTH=length)
    with pytest.raises(Raw) as refusal:
        request_body.read(given, 10)
    assert refusal.value.status == 413
    assert given["wsgi.input"].tell() == 0


def test_chunks_are_read_up_to_the_limit() -> None:
    chunked = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    assert request_body.read(environ(b"a" * 10, **chunked), 10) == b"a" * 10
    with pytest.raises(Raw):
        request_body.read(environ(b"a" * 11, **chunked), 10)


def test_a_body_that_uwsgi_keeps_back_is_not_an_empty_one() -> None:
    of_uwsgi: dict[str, Any] = {"CONTENT_LENGTH": "", "uwsgi.version": b"2.0.30"}
    with pytest.raises(Raw) as refusal:
        request_body.read(environ(b"", HTTP_TRANSFER_ENCODING="chunked") | of_uwsgi, 10)
    assert refusal.value.status == 411
    assert request_body.read(environ(b"") | of_uwsgi, 10) == b""


@pytest.mark.parametrize("given", [{}, {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}])
def test_a_body_without_a_type_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(Invalid, match="Content-Type"):
        request_body.read(environ(b"{}", CONTENT_TYPE="", **given), 10)
    assert request_body.read(environ(b"", CONTENT_TYPE="", **given), 10) == b""


@pytest.mark.parametrize("given", [{}, {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}])
def test_a_ramdisk_may_leave_out_the_type_and_a_page_may_not(given: dict[str, str]) -> None:
    untyped = given | {"CONTENT_TYPE": ""}
    assert request_body.read(environ(b"{}", **untyped), 10, of_ramdisk=True) == b"{}"
    for page in ({"HTTP_ORIGIN": "http://page"}, {"CONTENT_TYPE": "multipart/form-data"}):
        with pytest.raises(Invalid, match="Content-Type"):
            request_body.read(environ(b"{}", **untyped | page), 10, of_ramdisk=True)


@pytest.mark.parametrize("raw", [b"", b"  \n"])
def test_nothing_counts_as_an_empty_object(raw: bytes) -> None:
    assert request_body.parse(raw, 5) == {}


@pytest.mark.parametrize(
    "raw", [b"{", b"[1,]", b"nonsense", b"NaN", b'{"a": Infinity}', b'"\\ud800"', b'"\xff"', b"1 2", b"{'a': 1}"]
)
def test_what_is_not_json_is_refused_without_being_quoted(raw: bytes) -> None:
    with pytest.raises(Invalid) as refusal:
        request_body.parse(raw, 5)
    assert raw.decode("latin-1") not in str(refusal.value)


@pytest.mark.parametrize(
    ("raw", "document"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "x\\udcffy"}', {"a": "x\ufffd\ufffd\ufffdy"}),
        (b'{"a": "x\xffy"}', {"a": "x\ufffdy"}),
        (b'{"a": "x\ry"}', {"a": "x\ry"}),
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    ],
)
def test_broken_text_is_replaced_in_the_report_of_a_machine(raw: bytes, document: object) -> None:
    assert request_body.parse(raw, 5, of_machine=True) == document


@pytest.mark.parametrize("raw", [b"{", b'{"a": NaN}', b'{"a": -Infinity}', b"{'a': 1}", b'\xff{"a": 1}', b"1 2"])
def test_a_report_that_is_no_json_is_refused_as_others_are(raw: bytes) -> None:
    with pytest.raises(Invalid, match="not valid JSON"):
        request_body.parse(raw, 5, of_machine=True)
    with pytest.raises(Raw, match=r"levels|400"):
        request_body.parse(b'["\xff", [[[[[[]]]]]]]', 5, of_machine=True)


@pytest.mark.parametrize(
    ("raw", "fits"),
    [
        (b"[[[[[]]]]]", True),
        (b"[[[[[[]]]]]]", False),
        (b'{"a":{"a":{"a":{"a":{}}}}}', True),
        (b'{"a":{"a":{"a":{"a":{"a":[]}}}}}', False),
        (b'["[[[[[[[[[["]', True),
        (b"[[],[],[],[],[],[],[]]", True),
        (b"[" * 5000 + b"]" * 5000, False),
        (b"[" * 100000, False),
    ],
)
def test_nesting_has_a_limit(raw: bytes, fits: bool) -> None:
    if fits:
        request_body.parse(raw, 5)
        return
    with pytest.raises(Raw) as refusal:
        request_body.parse(raw, 5)
    assert refusal.value.status == 400


@pytest.mark.parametrize(
    ("raw", "fits"),
    [
        (b'{"a": 18446744073709551615}', True),
        (b'{"a": 18446744073709551616}', False),
        (b'{"a": -9223372036854775808}', True),
        (b'{"a": [-9223372036854775809]}', False),
        (b'{"a": 1%s}' % (b"0" * 100), False),
        (b'{"a": "1%s"}' % (b"0" * 100), True),
        (b'{"a": 1.5e300, "b": 12345678901234567890123.5}', True),
        (b'{"a": "\\u0000"}', False),
        (b'{"a": ["x", {"b": "x\\u0000y"}]}', False),
        (b'{"a\\u0000": 1}', False),
        (b'{"a": "\\\\u0000"}', True),
        (b'{"a": "\\\\\\u0000"}', False),
        (b'{"a": "\\"", "b": 123456789012345678901}', False),
        (b'{"a": "\\"123456789012345678901"}', True),
        (b'{"a": 0.123456789012345678901}', True),
        (b'{"a": 123456789012345678901e5}', True),
        (b'{"a": "%s123456789012345678901"}' % (b"x" * 65_500), True),
        (b'{"a": "%s", "b": 123456789012345678901}' % (b"x" * 65_500), False),
        (b'{"a": "\\u0001"}', True),
    ],
)
def test_what_not_everybody_can_hold_is_refused(raw: bytes, fits: bool) -> None:
    request_body.parse(raw, 5)
    if fits:
        request_body.check_storable(raw)
        return
    with pytest.raises(Invalid):
        request_body.check_storable(raw)


@pytest.mark.parametrize(
    ("raw", "fits"),
    [
        (b"[{},{},{},{},{},{}]", False),
        (b"[1,2,3,4,5,6,7,8,9]", True),
        (b"[1,2,3,4,5,6,7,8,9,10,11]", False),
        (b'{"a":1,"b":2,"c":3,"d":4,"e":5}', True),
        (b'{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}', False),
        (b'{"a": ",,,,,,,,,,,,::::[[[[{{{{"}', True),
        (b'{"a": "\\",,,,,,,,,,,,", "b": "\\\\"}', True),
        (b'{"a": "\\\\",' + b"1," * 20, False),
        (b'["' + b'","' * 20 + b'"]', False),
        (b'"' * 500, True),
        (b'"' * 500 + b"," * 20, False),
        (b'"\\' * 500, True),
        (b"", True),
    ],
)
def test_values_are_counted_before_anything_is_made_of_them(raw: bytes, fits: bool) -> None:
    if fits:
        assert request_body.signs(raw, 10) <= 10
        return
    with pytest.raises(Raw) as refusal:
        request_body.signs(raw, 10)
    assert refusal.value.status == 400


@pytest.mark.parametrize(
    ("more", "length"),
    [
        ({"CONTENT_LENGTH": "7"}, 7),
        ({"CONTENT_LENGTH": "99"}, 10),
        ({"CONTENT_LENGTH": ""}, 0),
        ({"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}, 10),
        ({"wsgi.input": None}, 0),
    ],
)
def test_a_length_is_known_before_the_body_is_read(more: dict[str, Any], length: int) -> None:
    assert request_body.length_of(environ(b"abcdefg", **more), 10) == length


@pytest.mark.parametrize("of_machine", [False, True])
def test_the_mark_before_a_text_is_no_part_of_any_body(of_machine: bool) -> None:
    marked = "\ufeff".encode()
    assert request_body.parse(marked + b'{"a": [1]}', 10, of_machine=of_machine) == {"a": [1]}
    with pytest.raises(Invalid, match="not valid JSON"):
        request_body.parse(marked + marked + b"{", 10, of_machine=of_machine)
