"""A ramdisk that has its token and means harm: what it may not make the service read, call, believe or keep."""

import dataclasses
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from ironic.api.settings import ApiSettings, RamdiskSettings
from ironic.core.flows import states
from ironic.tests.agent_double import make_certificate
from ironic.tests.conftest import Setter
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Response, Service, environ_of

MAC = "52:54:00:00:00:01"
SOURCE = "192.0.2.7"
CERTIFICATE = make_certificate()[0]


class Ramdisk:
    """A machine that waits in cleaning and has looked up its node."""

    def __init__(self, service: Service) -> None:
        self.service = service
        node = service.store.nodes.create({"driver": "fake-hardware", "provision_state": states.CLEANWAIT})
        service.store.ports.create({"node_id": node.id, "address": MAC})
        self.uuid = node.uuid
        self.token = self.look_up()

    def look_up(self, source: str = SOURCE, **headers: str) -> str:
        token: str = self.send("GET", f"/v1/lookup?addresses={MAC}", None, source, headers).json["config"][
            "agent_token"
        ]
        return token

    def beat(self, source: str = SOURCE, headers: dict[str, str] | None = None, **more: Any) -> Response:
        body = {"callback_url": f"https://{SOURCE}:9999", "agent_version": "13.0.0", "agent_token": self.token, **more}
        return self.send("POST", f"/v1/heartbeat/{self.uuid}", body, source, headers or {})

    def send(self, method: str, path: str, body: Any, source: str, headers: dict[str, str]) -> Response:
        environ = environ_of(method, path, b"" if body is None else orjson.dumps(body))
        environ |= {"REMOTE_ADDR": source, "HTTP_X_OPENSTACK_IRONIC_API_VERSION": "1.115"}
        return self.service.send(environ | {f"HTTP_{name.upper()}": value for name, value in headers.items()})

    @property
    def accepted(self) -> list[Any]:
        """What the conductor was handed."""
        return [arguments for name, *arguments in self.service.conductor.asked if name == "heartbeat"]


@pytest.fixture
def settings() -> ApiSettings:
    return ApiSettings(node_locked_attempts=1)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[ApiSettings], Ramdisk]]:
    running: list[Service] = []

    def start(settings: ApiSettings) -> Ramdisk:
        running.append(services.start(tmp_path, settings))
        return Ramdisk(running[-1])

    yield start
    for service in running:
        service.close()


@pytest.fixture
def ramdisk(start: Callable[[ApiSettings], Ramdisk], settings: ApiSettings) -> Ramdisk:
    return start(settings)


def with_source(settings: ApiSettings, mode: str, **more: Any) -> ApiSettings:
    return dataclasses.replace(settings, ramdisk=RamdiskSettings(callback_source=mode), **more)


@pytest.mark.parametrize(
    "said",
    [
        *("/dev/ptmx", "/etc/ssl/certs/ca-certificates.crt", "/etc/passwd", "true", "false", "False", "0", ""),
        *("-----BEGIN CERTIFICATE-----", make_certificate()[1], CERTIFICATE * 40, CERTIFICATE + " " * 65536),
    ],
)
def test_it_can_not_name_files_nor_switch_verification_off(ramdisk: Ramdisk, said: str) -> None:
    assert ramdisk.beat(agent_verify_ca=said).status == 400
    assert ramdisk.accepted == []


def test_a_certificate_goes_through_and_what_stands_around_it_does_not(ramdisk: Ramdisk) -> None:
    assert ramdisk.beat(agent_verify_ca=f"/dev/ptmx\n{CERTIFICATE}\nfalse").status == 202
    ((_, beat),) = ramdisk.accepted
    assert beat["agent_verify_ca"].strip() == CERTIFICATE.strip()


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://u@192.0.2.7:9999",
            "https://192.0.2.7:9999/v1/nodes",
            "https://192.0.2.7:9999/?x=",
            "ftp://192.0.2.7",
        ),
        *(
            "https://169.254.169.254",
            "https://[fe80::1]:9999",
            "https://[fe80::1%25eth0]:9999",
            "https://224.0.0.1:9999",
        ),
        *("https://[ff02::1]:9999", "https://0.0.0.0:9999", "https://[::]:9999", "https://[::ffff:169.254.169.254]"),
        *("https://[64:ff9b::169.254.169.254]", "https://100.100.100.200", "https://255.255.255.255:9999"),
    ],
)
def test_it_can_not_have_anything_called(ramdisk: Ramdisk, url: str) -> None:
    assert ramdisk.beat(callback_url=url).status == 400
    assert ramdisk.accepted == []


@pytest.mark.parametrize("url", ["https://127.0.0.1:9999", "https://[::1]:9999", "https://[::ffff:127.0.0.1]:9999"])
def test_the_loopback_is_called_where_the_operator_wants_it(ramdisk: Ramdisk, url: str, conf: Setter) -> None:
    conf(outgoing__allow_loopback=False)
    assert ramdisk.beat(callback_url=url).status == 400
    conf(outgoing__allow_loopback=True)
    assert ramdisk.beat(callback_url=url).status == 202


def test_the_service_itself_is_not_called(ramdisk: Ramdisk, conf: Setter) -> None:
    conf(outgoing__allow_loopback=True, api__host_ip="127.0.0.1", api__port=6385)
    assert ramdisk.beat(callback_url="https://127.0.0.1:6385").status == 400
    assert ramdisk.beat(callback_url="https://127.0.0.1:6386").status == 202


@pytest.mark.parametrize(
    "more",
    [
        {"agent_version": "9" * 256},
        {"agent_version": 9},
        {"agent_status": "x"},
        {"agent_status_message": "x" * 65537},
        {"agent_status_message": ["x"]},
        {"callback_url": f"https://{'h' * 2048}"},
        {"callback_url": {"a": 1}},
        {"agent_token": "x" * 1025},
        {"agent_verify_ca": 1},
    ],
)
def test_every_field_has_a_type_and_a_length(ramdisk: Ramdisk, more: dict[str, Any]) -> None:
    assert ramdisk.beat(**more).status == 400
    assert ramdisk.accepted == []


# Where it comes from


@pytest.mark.parametrize(
    ("mode", "status", "warnings"), [("off", 202, False), ("warn", 202, True), ("strict", 400, True)]
)
@pytest.mark.parametrize("elsewhere", ["source", "url", "name"])
def test_a_heartbeat_from_elsewhere_is_what_the_option_says(
    start: Callable[[ApiSettings], Ramdisk],
    settings: ApiSettings,
    caplog: pytest.LogCaptureFixture,
    mode: str,
    status: int,
    warnings: bool,
    elsewhere: str,
) -> None:
    ramdisk = start(with_source(settings, mode))
    urls = {"url": "https://192.0.2.99:9999", "name": "https://ramdisk.example.org:9999"}
    with caplog.at_level(logging.WARNING, "ironic.api.ramdisk_access"):
        answer = ramdisk.beat(
            "192.0.2.66" if elsewhere == "source" else SOURCE,
            callback_url=urls.get(elsewhere, f"https://{SOURCE}:9999"),
        )
    assert answer.status == status
    assert bool(caplog.messages) == warnings
    assert SOURCE not in answer.body.decode()


def test_one_who_has_the_token_and_another_address_is_refused_by_strict(
    start: Callable[[ApiSettings], Ramdisk], settings: ApiSettings
) -> None:
    ramdisk = start(with_source(settings, "strict"))
    assert ramdisk.beat("192.0.2.66", callback_url="https://192.0.2.66:9999").status == 400
    assert ramdisk.beat().status == 202
    assert ramdisk.beat(f"::ffff:{SOURCE}").status == 202


def test_headers_of_proxies_count_where_they_are_trusted(
    start: Callable[[ApiSettings], Ramdisk], settings: ApiSettings
) -> None:
    trusting = start(with_source(settings, "strict", proxy_headers=True))
    assert trusting.beat("192.0.2.250", {"x_forwarded_for": f"192.0.2.66, {SOURCE}"}).status == 202
    assert trusting.beat("192.0.2.250", {"x_forwarded_for": f"{SOURCE}, 192.0.2.66"}).status == 400
    object.__setattr__(trusting.service.settings, "proxy_headers", False)
    assert trusting.beat("192.0.2.250", {"x_forwarded_for": SOURCE}).status == 400


def test_who_got_the_token_is_remembered_and_others_who_ask_are_noted(
    ramdisk: Ramdisk, caplog: pytest.LogCaptureFixture
) -> None:
    memory = ramdisk.service.store.nodes.get(ramdisk.uuid).driver_internal_info
    assert memory["agent_looked_up_from"] == SOURCE
    assert ramdisk.look_up() == "******"
    assert not caplog.messages
    assert ramdisk.look_up("192.0.2.66") == "******"
    assert f"192.0.2.66 asks for the agent token, which was issued to {SOURCE}" in caplog.text
    assert ramdisk.service.store.nodes.get(ramdisk.uuid).driver_internal_info == memory


def test_what_a_proxy_may_hide_is_not_remembered(ramdisk: Ramdisk) -> None:
    node = ramdisk.service.store.nodes.get(ramdisk.uuid)
    node.del_driver_internal_info("agent_secret_token")
    node.save()
    assert len(ramdisk.look_up("192.0.2.250", x_forwarded_for="192.0.2.66")) > 40
    assert "agent_looked_up_from" not in ramdisk.service.store.nodes.get(ramdisk.uuid).driver_internal_info
