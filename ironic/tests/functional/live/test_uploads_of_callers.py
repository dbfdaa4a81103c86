"""Large uploads of callers with tokens: what their rights refuse is refused by the head, and audited once."""

import http.client
import json
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import keystonemiddleware.audit
import pytest

from ironic.command.http_server import ApiServer, ServerSettings
from ironic.tests.functional.live.http_server import LOOPBACK, port_of
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.service import Service
from ironic.tests.repository import ROOT

# The identifiers of the Keystone that is played are no UUIDs.
pytestmark = pytest.mark.filterwarnings("ignore:Invalid uuid")

AUDIT = keystonemiddleware.audit.__name__
SIZE = 500_000


@pytest.fixture
def audited(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Service]:
    conf(audit__enabled=True, audit__audit_map_file=str(ROOT / "etc" / "ironic" / "api_audit_map.conf"))
    conf(audit_middleware_notifications__use_oslo_messaging=False)
    with keystone.playing() as url, closing(keystone.service(tmp_path, url, conf)) as running:
        yield running


def events(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Return what each event of the audit is about, and what came of it."""
    found = [record.args for record in caplog.records if record.name == AUDIT and isinstance(record.args, dict)]
    return [(str(one["event_type"]), one["payload"]["outcome"]) for one in found if "event_type" in one]


def headers_of(token: str | None) -> dict[str, str]:
    common = {"Content-Type": "application/json", "X-OpenStack-Ironic-API-Version": "1.50"}
    return common | ({"X-Auth-Token": token} if token else {})


@pytest.mark.parametrize(("token", "status"), [(None, 401), ("unknown", 401), ("stranger-member", 403)])
def test_a_large_body_without_the_right_is_refused_by_its_head(
    audited: Service, serve: Callable[..., ApiServer], caplog: pytest.LogCaptureFixture, token: str | None, status: int
) -> None:
    server = serve(audited.app, ServerSettings(LOOPBACK))
    lines = ["POST /v1/nodes HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {SIZE}"]
    lines += [f"{name}: {value}" for name, value in headers_of(token).items()]
    with caplog.at_level(logging.INFO, AUDIT), socket.create_connection(("127.0.0.1", port_of(server)), 60) as client:
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        # Not a byte of the body was sent.
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    assert b"\r\nConnection: close\r\n" in answer
    refused = [("audit.http.request", "pending"), ("audit.http.response", "failure")]
    assert events(caplog) == (refused if status == 403 else [])


def test_a_large_body_is_audited_once(
    audited: Service, serve: Callable[..., ApiServer], caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(audited.app, ServerSettings(LOOPBACK))
    document: dict[str, Any] = {"driver": "fake-hardware", "extra": {"a": "x" * SIZE}}
    client = http.client.HTTPConnection("127.0.0.1", port_of(server), timeout=60)
    with caplog.at_level(logging.INFO, AUDIT), closing(client):
        client.request("POST", "/v1/nodes", json.dumps(document), headers_of("system-admin"))
        assert client.getresponse().status == 201
    assert events(caplog) == [("audit.http.request", "pending"), ("audit.http.response", "success")]
