"""An interface that is disabled after nodes were enrolled with it, seen over the wire of a restarted service (S26)."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from ironic.core.hardware_interfaces import KINDS
from ironic.tests.live_service import Service, create_database, free_port, write_options

BEFORE = {
    "boot": "fake",
    "console": "fake,no-console",
    "deploy": "fake",
    "management": "noop,fake",
    "network": "noop",
    "storage": "noop",
    "inspect": "fake,no-inspect",
    "vendor": "fake,no-vendor",
    **{kind: f"fake,no-{kind}" for kind in ("bios", "firmware", "raid", "rescue")},
    "power": "fake",
}
# What the node below has of these is gone afterwards.
AFTER = {**BEFORE, "console": "no-console", "management": "fake", "inspect": "no-inspect", "vendor": "no-vendor"}
GONE = {"console": "fake", "management": "noop", "inspect": "fake", "vendor": "fake"}
PATIENCE = 60


def configure(directory: Path, port: int, enabled: dict[str, str]) -> Path:
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "rpc_transport": "none",
            "host": "conductor-1",
            "state_path": directory,
            "log_file": directory / "service.log",
            "enabled_hardware_types": "fake-hardware",
            **{f"enabled_{kind}_interfaces": names for kind, names in enabled.items()},
        },
        "api": {"host_ip": "127.0.0.1", "port": port},
        "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
    }
    return write_options(directory / "ironic.conf", options)


def start(directory: Path, enabled: dict[str, str]) -> Service:
    port = free_port()
    service = Service("ironic", [configure(directory, port, enabled)], directory / "service.log", port)
    service.await_ready()
    return service


def call(service: Service, method: str, path: str, body: Any = None) -> requests.Response:
    headers = {"X-OpenStack-Ironic-API-Version": "1.115"}
    return requests.request(method, f"{service.url}{path}", json=body, headers=headers, timeout=30)


def follow(service: Service, field: str, wanted: Any) -> dict[str, Any]:
    """Look at the node until a field has a value and the node is not locked; return the last look."""
    deadline = time.monotonic() + PATIENCE
    while True:
        node: dict[str, Any] = call(service, "GET", "/v1/nodes/n").json()
        if node[field] == wanted and node["reservation"] is None:
            return node
        assert time.monotonic() < deadline, (field, node[field], node["last_error"])
        time.sleep(0.05)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Enroll a node, then restart the service without some of its interfaces."""
    directory = tmp_path_factory.mktemp("disabled")
    create_database(configure(directory, free_port(), BEFORE))
    first = start(directory, BEFORE)
    body = {"driver": "fake-hardware", "name": "n", **{f"{kind}_interface": name for kind, name in GONE.items()}}
    assert call(first, "POST", "/v1/nodes", body).status_code == 201
    assert call(first, "PUT", "/v1/nodes/n/states/provision", {"target": "manage"}).status_code == 202
    follow(first, "provision_state", "manageable")
    assert first.stop() == 0
    (directory / "service.log").unlink()
    second = start(directory, AFTER)
    yield second
    assert second.stop() == 0


@pytest.mark.demand("S26")
def test_the_node_stays_readable(service: Service) -> None:
    node = call(service, "GET", "/v1/nodes/n").json()
    assert {kind: node[f"{kind}_interface"] for kind in GONE} == GONE
    for path in ("/v1/nodes", "/v1/nodes?detail=true", "/v1/nodes/n/states", "/v1/nodes?console_interface=fake"):
        assert call(service, "GET", path).status_code == 200
    assert call(service, "GET", "/v1/nodes/n/states/console").json() == {"console_enabled": False, "console_info": None}


@pytest.mark.demand("S26")
def test_validation_names_what_is_gone_and_nothing_else(service: Service) -> None:
    answer = call(service, "GET", "/v1/nodes/n/validate")
    assert answer.status_code == 200
    bad = {kind: found["reason"] for kind, found in answer.json().items() if found["result"] is not True}
    assert bad.keys() == GONE.keys() - {"vendor"}
    for kind, reason in bad.items():
        assert f"{kind} interface named {GONE[kind]}" in reason or f"{kind} interface {GONE[kind]}" in reason
    assert answer.json().keys() == set(KINDS) - {"vendor"}


@pytest.mark.demand("S26")
@pytest.mark.parametrize(
    "method, path, body, kind",
    [
        ("PUT", "/states/console", {"enabled": True}, "console"),
        ("GET", "/management/boot_device", None, "management"),
        ("GET", "/management/boot_device/supported", None, "management"),
        ("PUT", "/management/boot_device", {"boot_device": "pxe"}, "management"),
        ("GET", "/management/indicators", None, "management"),
        ("PUT", "/management/inject_nmi", {}, "management"),
        ("PUT", "/states/boot_mode", {"target": "uefi"}, "management"),
        ("GET", "/vmedia", None, "management"),
        ("GET", "/vendor_passthru/methods", None, "vendor"),
        ("POST", "/vendor_passthru?method=third_method_sync", {"bar": "x"}, "vendor"),
        ("PUT", "/states/provision", {"target": "inspect"}, "inspect"),
    ],
)
def test_only_what_needs_it_fails_and_says_so(service: Service, method: str, path: str, body: Any, kind: str) -> None:
    before = call(service, "GET", "/v1/nodes/n").json()
    answer = call(service, method, f"/v1/nodes/n{path}", body)
    assert answer.status_code == 400
    assert f"{kind} interface" in answer.json()["error_message"] and GONE[kind] in answer.json()["error_message"]
    assert call(service, "GET", "/v1/nodes/n").json() == before


@pytest.mark.demand("S26")
def test_everything_else_goes_on(service: Service) -> None:
    change = [{"op": "add", "path": "/extra/a", "value": 1}, {"op": "replace", "path": "/description", "value": "x"}]
    assert call(service, "PATCH", "/v1/nodes/n", change).status_code == 200
    other = [{"op": "replace", "path": "/bios_interface", "value": "no-bios"}]
    assert call(service, "PATCH", "/v1/nodes/n", other).json()["bios_interface"] == "no-bios"
    assert call(service, "PUT", "/v1/nodes/n/states/power", {"target": "power on"}).status_code == 202
    follow(service, "power_state", "power on")
    assert call(service, "PUT", "/v1/nodes/n/states/raid", {}).status_code == 204
    assert call(service, "GET", "/v1/nodes/n/vifs").json() == {"vifs": []}
    assert call(service, "PUT", "/v1/nodes/n/maintenance").status_code == 202
    assert call(service, "DELETE", "/v1/nodes/n/maintenance").status_code == 202
    for verb, state in (
        ("provide", "available"),
        ("active", "active"),
        ("deleted", "available"),
        ("manage", "manageable"),
    ):
        assert call(service, "PUT", "/v1/nodes/n/states/provision", {"target": verb}).status_code == 202
        node = follow(service, "provision_state", state)
        assert node["last_error"] is None
    assert {kind: node[f"{kind}_interface"] for kind in GONE} == GONE


@pytest.mark.demand("S26", "S39")
def test_another_choice_mends_it(service: Service) -> None:
    mend = [{"op": "replace", "path": "/management_interface", "value": "fake"}]
    answer = call(service, "PATCH", "/v1/nodes/n", mend)
    assert (answer.status_code, answer.json()["management_interface"]) == (200, "fake")
    assert call(service, "GET", "/v1/nodes/n/management/boot_device").status_code == 200
    back = [{"op": "replace", "path": "/management_interface", "value": "noop"}]
    assert call(service, "PATCH", "/v1/nodes/n", back).status_code == 400
    assert "Traceback" not in service.log
