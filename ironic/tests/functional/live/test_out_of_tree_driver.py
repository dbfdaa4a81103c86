"""A third party's package at work: installed beside a live service, enabled as the tutorial says, used over HTTP.

The steps of a machine's life build on each other; each test makes a node of its own and brings it where it needs it.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from ironic.tests import tutorial
from ironic.tests.functional.live.acme_machine import TOKEN, Machine, acme_machine
from ironic.tests.live_service import Service, create_database, free_port, write_options
from ironic.tests.out_of_tree import install

PATIENCE = 60


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run the service with the package on its path."""
    directory, port = tmp_path_factory.mktemp("acme"), free_port()
    package = install(directory)
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "auth_strategy": "noauth",
            "rpc_transport": "none",
            "host": "conductor-1",
            "state_path": directory,
            "log_file": directory / "service.log",
        },
        "api": {"host_ip": "127.0.0.1", "port": port},
        "database": {"connection": f"sqlite:///{directory}/service.sqlite"},
        "conductor": {"sync_power_state_interval": 0},
    }
    enabled = directory / "enabled.conf"
    enabled.write_text(tutorial.configuration())
    # The last file counts: the tutorial's directory is the one in which the service is started.
    configuration = [enabled, write_options(directory / "ironic.conf", options)]
    create_database(*configuration)
    service = Service("ironic", configuration, directory / "service.log", port, {"PYTHONPATH": str(package)})
    service.await_ready()
    yield service
    assert service.stop() == 0
    assert TOKEN not in service.log


@pytest.fixture
def machine() -> Iterator[tuple[Machine, str]]:
    with acme_machine() as running:
        yield running


@pytest.fixture
def node(service: Service, machine: tuple[Machine, str]) -> Iterator[str]:
    """Enroll the machine; return the path of its node."""
    body = {"driver": "acme", "driver_info": {"acme_address": machine[1], "acme_token": TOKEN}}
    created = call(service, "POST", "/v1/nodes", body)
    assert created.status_code == 201, created.text
    path = f"/v1/nodes/{created.json()['uuid']}"
    yield path
    assert call(service, "PUT", f"{path}/maintenance").status_code == 202
    assert call(service, "DELETE", path).status_code == 204


def call(service: Service, method: str, path: str, body: Any = None) -> requests.Response:
    headers = {"X-OpenStack-Ironic-API-Version": "1.115"}
    return requests.request(method, f"{service.url}{path}", json=body, headers=headers, timeout=30)


def follow(service: Service, path: str, done: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Look at a node until it is as wanted; return every look."""
    looks, deadline = [], time.monotonic() + PATIENCE
    while True:
        looks.append(call(service, "GET", path).json())
        if done(looks[-1]) and looks[-1]["reservation"] is None:
            return looks
        assert time.monotonic() < deadline, (looks[-1]["provision_state"], looks[-1]["last_error"])
        time.sleep(0.05)


def provision(service: Service, path: str, verb: str, state: str, **more: Any) -> list[dict[str, Any]]:
    """Send a verb and wait for a state; return every look at the node."""
    answer = call(service, "PUT", f"{path}/states/provision", {"target": verb, **more})
    assert answer.status_code == 202, answer.text
    return follow(service, path, lambda node: bool(node["provision_state"] == state))


def step(interface: str, name: str, **args: Any) -> dict[str, Any]:
    return {"interface": interface, "step": name, "args": args}


@pytest.mark.demand("S38", "S41")
def test_the_type_is_offered_like_any_other(service: Service, node: str) -> None:
    (driver,) = call(service, "GET", "/v1/drivers?detail=true").json()["drivers"]
    assert (driver["name"], driver["default_power_interface"], driver["default_boot_interface"]) == (
        "acme",
        "acme",
        "fake",
    )
    assert driver["enabled_management_interfaces"] == ["acme", "noop"]
    assert call(service, "GET", "/v1/drivers/acme/properties").json().keys() == {"acme_address", "acme_token"}
    shown = call(service, "GET", node).json()
    assert (shown["vendor_interface"], shown["driver_info"]["acme_token"]) == ("acme", "******")


@pytest.mark.demand("S38")
def test_an_asynchronous_step_is_brought_back_by_the_periodic_method(
    service: Service, node: str, machine: tuple[Machine, str]
) -> None:
    machine[0].on = True
    assert provision(service, node, "manage", "manageable")[-1]["power_state"] == "power on"
    looks = provision(service, node, "provide", "available")
    waited = [look for look in looks if look["provision_state"] == "clean wait"]
    assert {(look["clean_step"]["interface"], look["clean_step"]["step"]) for look in waited} == {
        ("management", "self_test")
    }
    assert machine[0].lines == ["selftest"]
    assert "acme_self_test" not in looks[-1]["driver_internal_info"]
    assert looks[-1]["last_error"] is None
    provision(service, node, "active", "active")
    service_steps = [step("management", "self_test")]
    looks = provision(service, node, "service", "service wait", service_steps=service_steps)
    assert looks[-1]["service_step"]["step"] == "self_test"
    follow(service, node, lambda found: bool(found["provision_state"] == "active"))
    assert machine[0].lines == ["selftest", "selftest"]
    provision(service, node, "deleted", "available")


@pytest.mark.demand("S38")
def test_a_synchronous_step_runs_with_its_arguments(service: Service, node: str, machine: tuple[Machine, str]) -> None:
    machine[0].on = True
    provision(service, node, "manage", "manageable")
    clean_steps = [step("power", "cool_down", seconds=0.1)]
    provision(service, node, "clean", "manageable", clean_steps=clean_steps)
    follow(service, node, lambda found: not found["clean_step"] and machine[0].lines != [])
    assert machine[0].lines == ["power off", "power on"]


@pytest.mark.demand("S38")
@pytest.mark.parametrize(
    "failing, reason",
    [
        (step("management", "self_test", fail=True), "the self test failed: fan 3 does not turn"),
        (step("power", "cool_down", seconds=100), "0 to 60 seconds"),
    ],
)
def test_a_step_fails_on_demand_and_says_why(service: Service, node: str, failing: dict[str, Any], reason: str) -> None:
    provision(service, node, "manage", "manageable")
    failed = provision(service, node, "clean", "clean failed", clean_steps=[failing])[-1]
    assert reason in failed["last_error"]
    assert failing["step"] in failed["last_error"]
    assert (failed["maintenance"], failed["fault"]) == (True, "clean failure")


def test_periodic_methods_look_at_every_node(service: Service, node: str, machine: tuple[Machine, str]) -> None:
    def knows(celsius: int) -> Callable[[dict[str, Any]], bool]:
        return lambda found: bool(found["driver_internal_info"].get("acme_celsius") == celsius)

    follow(service, node, knows(41))
    machine[0].celsius = 57
    follow(service, node, knows(57))


@pytest.mark.demand("S31")
def test_vendor_methods_of_every_sort(service: Service, node: str, machine: tuple[Machine, str]) -> None:
    methods = call(service, "GET", f"{node}/vendor_passthru/methods").json()
    assert {name: (terms["async"], terms["attach"]) for name, terms in methods.items()} == {
        "light": (False, False),
        "temperature": (False, False),
        "blink": (True, False),
        "log": (False, True),
    }
    light = call(service, "PUT", f"{node}/vendor_passthru?method=light", {"on": True})
    assert (light.status_code, light.json()) == (200, {"on": True})
    assert call(service, "GET", f"{node}/vendor_passthru/temperature").json() == {"celsius": 41}
    blink = call(service, "POST", f"{node}/vendor_passthru?method=blink", {"times": 2})
    assert (blink.status_code, blink.content) == (202, b"")
    follow(service, node, lambda found: len(machine[0].lines) == 5)
    log = call(service, "GET", f"{node}/vendor_passthru/log")
    assert (log.status_code, log.headers["Content-Type"]) == (200, "application/octet-stream")
    assert log.text.splitlines() == ["light on"] + ["light on", "light off"] * 2
    assert call(service, "GET", "/v1/drivers/acme/vendor_passthru/methods").json().keys() == {"hot_line"}
    assert call(service, "GET", "/v1/drivers/acme/vendor_passthru/hot_line").json() == {"number": "+1 555 0100"}


@pytest.mark.parametrize(
    "method, path, body, expected",
    [
        ("PUT", "?method=light", {"on": "yes"}, "true or false"),
        ("PUT", "?method=light", {}, "on"),
        ("GET", "?method=light", {"on": True}, "only by PUT"),
        ("PUT", "/smoke", {}, "blink, light, log, temperature"),
    ],
)
def test_what_a_method_does_not_take_is_refused(
    service: Service, node: str, method: str, path: str, body: Any, expected: str
) -> None:
    answer = call(service, method, f"{node}/vendor_passthru{path}", body)
    assert answer.status_code == 400
    assert expected in answer.json()["error_message"]


def test_the_packages_own_error_reaches_the_caller(service: Service, node: str, machine: tuple[Machine, str]) -> None:
    change = [{"op": "replace", "path": "/driver_info/acme_address", "value": "http://127.0.0.1:9"}]
    assert call(service, "PATCH", node, change).status_code == 200
    answer = call(service, "GET", f"{node}/vendor_passthru/temperature")
    assert answer.status_code == 502
    assert "The Acme BMC of node" in answer.json()["error_message"]
    refused = call(service, "PUT", f"{node}/states/provision", {"target": "manage"})
    assert refused.status_code == 202
    found = follow(service, node, lambda found: found["last_error"] is not None)[-1]
    assert (found["provision_state"], "The Acme BMC" in found["last_error"]) == ("enroll", True)
    remove = [{"op": "remove", "path": "/driver_info/acme_address"}]
    assert call(service, "PATCH", node, remove).status_code == 200
    power = call(service, "GET", f"{node}/validate").json()["power"]
    assert (power["result"], "acme_address" in power["reason"]) == (False, True)
