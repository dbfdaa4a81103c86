"""Which requests of browsers are served: host names, origins, and what a browser says of the page that asks."""

from types import SimpleNamespace
from typing import Any

import pytest

from ironic.api.origins import Origins, is_local

LOCAL = Origins(names=frozenset({"api.example.org"}), allowed=frozenset({"https://ui.example.org"}))
BASIC = Origins(allowed=frozenset({"https://ui.example.org"}), basic=True)
OPEN = Origins()


def asked(method: str = "GET", host: str = "127.0.0.1:6385", **headers: str) -> dict[str, Any]:
    return {"REQUEST_METHOD": method, "HTTP_HOST": host} | {f"HTTP_{name}": value for name, value in headers.items()}


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("127.0.0.1:6385", True),
        ("localhost:6385", True),
        ("LOCALHOST", True),
        ("[::1]:6385", True),
        ("10.0.2.2:6385", True),
        ("api.example.org", True),
        ("API.example.org:80", True),
        ("", False),
        ("evil.example:6385", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("evil.example@127.0.0.1", True),
        ("127.0.0.1@evil.example", False),
        ("127.0.0.1/x.evil.example", True),
        ("[::1", False),
        ("2130706433", False),
        ("a" * 10_000, False),
    ],
)
def test_an_open_api_on_loopback_answers_to_its_own_names(host: str, served: bool) -> None:
    assert (LOCAL.refusal(asked(host=host)) is None) is served


@pytest.mark.parametrize(
    ("headers", "served"),
    [
        ({}, True),
        ({"ORIGIN": "http://127.0.0.1:6385"}, True),
        ({"ORIGIN": "https://api.example.org"}, True),
        ({"ORIGIN": "https://ui.example.org"}, True),
        ({"ORIGIN": "http://127.0.0.1:8080"}, False),
        ({"ORIGIN": "https://evil.example"}, False),
        ({"ORIGIN": "https://ui.example.org.evil.example"}, False),
        ({"ORIGIN": "null"}, False),
        ({"ORIGIN": ""}, False),
        ({"ORIGIN": "http://["}, False),
        ({"SEC_FETCH_SITE": "none"}, True),
        ({"SEC_FETCH_SITE": "same-origin"}, True),
        ({"SEC_FETCH_SITE": "same-site"}, False),
        ({"SEC_FETCH_SITE": "cross-site"}, False),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_pages_of_other_origins_reach_no_open_api_on_loopback(
    headers: dict[str, str], served: bool, method: str
) -> None:
    assert (LOCAL.refusal(asked(method, **headers)) is None) is served


@pytest.mark.parametrize(
    ("method", "headers", "served"),
    [
        ("POST", {}, True),
        ("POST", {"ORIGIN": "https://anything.example"}, True),
        ("POST", {"ORIGIN": "https://evil.example", "SEC_FETCH_SITE": "cross-site"}, False),
        ("DELETE", {"SEC_FETCH_SITE": "same-site"}, False),
        ("PUT", {"ORIGIN": "https://ui.example.org", "SEC_FETCH_SITE": "cross-site"}, True),
        ("PATCH", {"SEC_FETCH_SITE": "same-origin"}, True),
        ("GET", {"ORIGIN": "https://evil.example", "SEC_FETCH_SITE": "cross-site"}, True),
    ],
)
def test_a_password_that_a_browser_adds_by_itself_changes_nothing_for_another_site(
    method: str, headers: dict[str, str], served: bool
) -> None:
    assert (BASIC.refusal(asked(method, "any.example", **headers)) is None) is served
    assert OPEN.refusal(asked(method, "any.example", **headers)) is None


def test_any_name_can_be_trusted() -> None:
    trusting = Origins(names=frozenset({"*"}))
    assert trusting.refusal(asked("POST", "any.example", ORIGIN="https://page.example")) is None


@pytest.mark.parametrize(
    ("unix_socket", "host_ip", "local"),
    [
        (None, "127.0.0.1", True),
        (None, "127.8.9.1", True),
        (None, "::1", True),
        (None, "localhost", True),
        (None, "0.0.0.0", False),
        (None, "::", False),
        (None, "192.0.2.1", False),
        (None, "api.example.org", False),
        ("/run/ironic.sock", "0.0.0.0", True),
    ],
)
def test_loopback_and_sockets_are_local(unix_socket: str | None, host_ip: str, local: bool) -> None:
    conf: Any = SimpleNamespace(api=SimpleNamespace(unix_socket=unix_socket, host_ip=host_ip))
    assert is_local(conf) is local
