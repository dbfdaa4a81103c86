"""Headers that no honest client sends: refused or ignored, never our fault; nothing of a refused request is kept."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.api.settings import ApiSettings
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Response, Service, environ_of

# As a server hands them on: bytes read as Latin-1.
TEXTS = {
    "nothing": "",
    "space": " ",
    "zero": "a\0b",
    "line break": "a\r\nX: y",
    "no text": "\xff\xfe",
    "surrogate": b"\xed\xa0\x80".decode("latin-1"),
    "umlaut": "\xc3\xbc",
    "long": "a" * 100_000,
    "many": "a," * 50_000,
    "quotes": '"' * 1001,
    "number": "9" * 5000,
    "negative": "-1",
    "fraction": "1." + "1" * 5000,
    "template": "{0.__class__}%(a)s%s",
    "statement": "'; DROP TABLE nodes; --",
    "json": '{"a": [',
}
HEADERS = (
    "HTTP_X_OPENSTACK_IRONIC_API_VERSION",
    "HTTP_OPENSTACK_API_VERSION",
    "HTTP_ACCEPT",
    "HTTP_IF_NONE_MATCH",
    "HTTP_X_AUTH_TOKEN",
    "HTTP_AUTHORIZATION",
    "HTTP_HOST",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_PREFIX",
    "HTTP_X_OPENSTACK_REQUEST_ID",
    "HTTP_TRANSFER_ENCODING",
    "CONTENT_TYPE",
    "CONTENT_LENGTH",
)
REQUESTS = (
    ("GET", "/v1/nodes", b""),
    ("GET", "/v1/nodes/first", b""),
    ("POST", "/v1/nodes", b'{"driver": "fake-hardware"}'),
    ("PATCH", "/v1/nodes/first", b'[{"op": "add", "path": "/extra/a", "value": 1}]'),
    ("PUT", "/v1/nodes/first/maintenance", b'{"reason": "x"}'),
    ("DELETE", "/v1/nodes/nobody", b""),
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    running = services.start(tmp_path, ApiSettings(node_locked_attempts=1, proxy_headers=True))
    running.store.nodes.create({"driver": "fake-hardware", "name": "first", "provision_state": "enroll"})
    yield running
    running.close()


def send(service: Service, method: str, path: str, raw: bytes, **others: str) -> Response:
    version = {"HTTP_X_OPENSTACK_IRONIC_API_VERSION": "1.115"}
    return service.send(environ_of(method, path, raw) | version | others)


def check(answer: Response, told: str) -> None:
    assert answer.status < 500, told
    if answer.body:
        json.loads(answer.body)
    for value in answer.headers.values():
        assert "\r" not in value and "\n" not in value and "\0" not in value, told


@pytest.mark.parametrize("header", HEADERS)
def test_no_header_is_our_fault(service: Service, header: str) -> None:
    for name, text in TEXTS.items():
        for method, path, raw in REQUESTS:
            before = service.contents() if raw else None
            answer = send(service, method, path, raw, **{header: text})
            told = f"{method} {path} with {header} {name}: {answer.status} {answer.body[:300]!r}"
            check(answer, told)
            if raw and answer.status >= 400:
                assert service.contents() == before, told


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "a/b;c=d", "x" * 9000])
def test_the_type_that_a_program_gives_a_body_does_not_matter(service: Service, kind: str) -> None:
    assert send(service, "POST", "/v1/nodes", b'{"driver": "fake-hardware"}', CONTENT_TYPE=kind).status == 201
    assert send(service, "POST", "/v1/nodes", b"driver=fake-hardware", CONTENT_TYPE=kind).status == 400
    assert send(service, "POST", "/v1/nodes", b"<driver>fake-hardware</driver>", CONTENT_TYPE=kind).status == 400


@pytest.mark.parametrize(
    ("kind", "others"),
    [
        ("multipart/form-data; boundary=x", {}),
        ("Application/X-WWW-Form-Urlencoded ; charset=utf-8", {}),
        ("text/plain", {"HTTP_ORIGIN": "https://page.example"}),
        ("TEXT/PLAIN;x", {"HTTP_ORIGIN": "null"}),
    ],
)
def test_a_form_of_a_web_page_is_refused(service: Service, kind: str, others: dict[str, str]) -> None:
    before = service.contents()
    answer = send(service, "POST", "/v1/nodes", b'{"driver": "fake-hardware"}', CONTENT_TYPE=kind, **others)
    assert answer.status == 400 and "application/json" in answer.body.decode()
    assert service.contents() == before


@pytest.mark.parametrize("charset", ["utf-16", "utf-32", "cp037", "no-such-charset"])
def test_a_body_is_utf8_whatever_it_says(service: Service, charset: str) -> None:
    before = service.contents()
    for text in ('{"driver": "fake-hardware", "description": "ü"}', "[]"):
        coded = text.encode("utf-16" if charset == "no-such-charset" else charset)
        kind = f"application/json; charset={charset}"
        assert send(service, "POST", "/v1/nodes", coded, CONTENT_TYPE=kind).status == 400
    assert service.contents() == before


@pytest.mark.parametrize("accept", ["text/html", "application/xml;q=1", "image/*", "json"])
def test_who_takes_no_json_is_told_so(service: Service, accept: str) -> None:
    status = 200 if "json" in accept else 406
    assert send(service, "GET", "/v1/nodes", b"", HTTP_ACCEPT=accept).status == status


@pytest.mark.parametrize("text", ["*", 'W/"x", *', '"' + "0" * 32 + '"', "no quotes"])
def test_a_tag_that_nobody_gave_gets_the_document(service: Service, text: str) -> None:
    answer = send(service, "GET", "/v1/nodes", b"", HTTP_IF_NONE_MATCH=text)
    assert answer.status == (304 if text == "*" else 200)
