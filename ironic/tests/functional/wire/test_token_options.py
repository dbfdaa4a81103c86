"""What the options of [keystone_authtoken] do that samples of other services have."""

import json
import logging
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ironic.api import token_check
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import OWNED, Identity, ask
from ironic.tests.functional.wire.service import Response, Service

Start = Callable[..., Service]


@pytest.fixture
def played() -> Iterator[Identity]:
    """Play Keystone."""
    with keystone.identity_server() as server:
        yield server


@pytest.fixture
def start(tmp_path: Path, played: Identity, conf: Callable[..., None]) -> Iterator[Start]:
    """Return a function that starts the service with options of [keystone_authtoken]."""
    made: list[Service] = []

    def started(url: str = "", **options: Any) -> Service:
        chosen = {"http_request_max_retries": 0, **options}
        conf(**{f"keystone_authtoken__{name}": value for name, value in chosen.items()})
        directory = tmp_path / str(len(made))
        directory.mkdir()
        made.append(keystone.service(directory, url or played.url, conf))
        return made[-1]

    yield started
    for running in made:
        running.close()


def test_a_cache_in_the_environment_of_requests_is_not_used(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, token_check.__name__):
        start(cache="swift.cache")
    (said,) = [record.getMessage() for record in caplog.records if record.name == token_check.__name__]
    assert "[keystone_authtoken]cache has no effect" in said


def test_a_decision_is_never_delayed(start: Start, played: Identity, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, token_check.__name__):
        running = start(delay_auth_decision=True)
    (said,) = [record.getMessage() for record in caplog.records if record.name == token_check.__name__]
    assert "delay_auth_decision has no effect" in said
    before = running.contents()
    forged = {"X-Roles": "admin", "X-Identity-Status": "Confirmed", "OpenStack-System-Scope": "all", "X-User-Id": "u"}
    for headers in ({}, forged, {"X-Auth-Token": "unknown", **forged}, {"X-Service-Token": "system-service"}):
        for method, path in (("GET", "/v1/nodes"), ("DELETE", f"/v1/nodes/{OWNED}"), ("GET", "/v1/no-such-thing")):
            refused = running.call(method, path, headers=headers)
            assert refused.status == 401, (headers, method, path)
            assert refused.headers["WWW-Authenticate"].startswith("Keystone uri=")
    assert running.contents() == before
    assert ask(running, "owner-member", "GET", "/v1/nodes").status == 200
    assert ask(running, None, "GET", "/v1").status == 200
    played.shutdown()
    played.server_close()
    away = ask(running, "system-admin", "GET", "/v1/nodes")
    assert (away.status, away.headers["Content-Type"]) == (503, "application/json")
    assert json.loads(away.json["error_message"])["faultstring"].startswith("Keystone does not answer.")


def test_a_usual_file_gives_no_warning(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, token_check.__name__):
        start()
    assert [record for record in caplog.records if record.name == token_check.__name__] == []


def test_a_refusal_names_where_to_get_a_token(start: Start) -> None:
    refused = ask(start("http://keystone.example.org"), None, "GET", "/v1/nodes")
    assert refused.headers["WWW-Authenticate"] == 'Keystone uri="http://keystone.example.org"'


@pytest.mark.parametrize("wanted", [True, False])
def test_the_catalog_is_asked_for_or_not(start: Start, played: Identity, wanted: bool) -> None:
    assert ask(start(include_service_catalog=wanted), "owner-member", "GET", "/v1/nodes").status == 200
    (asked,) = [path for path in played.paths if path.startswith("/v3/auth/tokens")]
    assert ("nocatalog" not in asked) is wanted


@pytest.mark.parametrize(
    ("options", "service_token", "status"),
    [
        ({}, "system-service", 200),
        ({}, "owner-member", 401),
        ({"service_token_roles": ["reader"]}, "owner-member", 200),
        ({"service_token_roles": ["reader"]}, "system-service", 401),
        ({"service_token_roles_required": False}, "owner-member", 200),
        ({"service_token_roles_required": False}, "unknown", 401),
    ],
)
def test_the_token_of_a_service_needs_its_role(
    start: Start, options: dict[str, Any], service_token: str, status: int
) -> None:
    headers = {"X-Auth-Token": "owner-admin", "X-Service-Token": service_token}
    assert start(**options).call("GET", "/v1/nodes", headers=headers).status == status


@pytest.mark.parametrize(("service_type", "statuses"), [("baremetal", [200, 401]), (None, [401, 401])])
def test_a_restricted_credential_is_for_what_it_names(
    start: Start, played: Identity, service_type: str | None, statuses: list[int]
) -> None:
    rule = {"id": "1", "service": "baremetal", "method": "GET", "path": "/v1/nodes"}
    played.fields = {
        "application_credential": {"id": "c", "name": "c", "restricted": True, "access_rules": [rule]},
        "catalog": [{"type": "baremetal", "name": "ironic", "id": "s", "endpoints": []}],
    }
    running = start(service_type=service_type)
    paths = ("/v1/nodes", f"/v1/nodes/{OWNED}")
    assert [ask(running, "owner-admin", "GET", path).status for path in paths] == statuses


@contextmanager
def mute_server() -> Iterator[tuple[str, list[socket.socket]]]:
    """Accept connections and never answer; give the URL, and the connections."""
    accepted: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            try:
                while True:
                    accepted.append(listener.accept()[0])
            except OSError:
                return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", accepted
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    for connection in accepted:
        connection.close()


def asked_of_mute(start: Start, **options: Any) -> tuple[Response, int]:
    with mute_server() as (url, connections):
        answer = ask(start(url, **options), "owner-member", "GET", "/v1/nodes")
        return answer, len(connections)


def test_a_keystone_that_never_answers_is_given_up_and_asked_again(start: Start) -> None:
    once, few = asked_of_mute(start, http_connect_timeout=1)
    again, more = asked_of_mute(start, http_connect_timeout=1, http_request_max_retries=1)
    assert (once.status, again.status) == (503, 503)
    assert more > few >= 1


def test_without_the_option_keystone_has_a_limit_too(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_check, "KEYSTONE_SECONDS", 1)
    answer, _ = asked_of_mute(start)
    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) > 0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a certificate for the loopback, which serves as its own authority and as that of a client."""
    directory = tmp_path_factory.mktemp("tls")
    files = directory / "cert.pem", directory / "key.pem"
    options = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1", "-nodes"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-out", str(files[0]), "-keyout", str(files[1])]
    subprocess.run([*command, *options], check=True, capture_output=True)
    return files


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize(
    ("names", "needs_client", "status"),
    [
        ((), False, 503),
        (("insecure",), False, 200),
        (("cafile",), False, 200),
        (("cafile",), True, 503),
        (("cafile", "certfile", "keyfile"), True, 200),
    ],
)
def test_tls_towards_keystone(
    start: Start, certificate: tuple[Path, Path], names: tuple[str, ...], needs_client: bool, status: int
) -> None:
    files = {"cafile": str(certificate[0]), "certfile": str(certificate[0]), "keyfile": str(certificate[1])}
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=files["cafile"])
    context.load_cert_chain(*certificate)
    context.verify_mode = ssl.CERT_REQUIRED if needs_client else ssl.CERT_NONE
    options = {name: files.get(name, True) for name in names}
    with keystone.identity_server(context) as played:
        answer = ask(start(played.url, **options), "owner-member", "GET", "/v1/nodes")
    assert answer.status == status, answer.body
