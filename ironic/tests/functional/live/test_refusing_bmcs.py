"""A machine that refuses, is not there, knows another password or talks nonsense: the errors that callers get.

The answer blames the machine (502), says what was tried and what the BMC did, and holds no secret and no traceback.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from ironic.tests.functional.drivers.scripted_bmc import HANG_UP, RESET, SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.live_service import Service, all_in_one_below, free_port
from ironic.tests.site import eventually

PASSWORD = "canary-of-the-bmc"
CHASSIS = "/redfish/v1/Chassis/1"

# What is asked of the machine while the caller waits: method, path below the node, body.
READING: list[tuple[str, str, Any]] = [
    ("GET", "management/boot_device", None),
    ("GET", "management/boot_device/supported", None),
    ("GET", "management/indicators", None),
    ("GET", "management/indicators/1@system", None),
]
CHANGING: list[tuple[str, str, Any]] = [
    ("PUT", "management/boot_device", {"boot_device": "pxe"}),
    ("PUT", "management/indicators/1@system", {"state": "on"}),
    ("PUT", "management/inject_nmi", {}),
]
# Requests that are begun and fail in last_error: path, body, the option of the node that it would change.
BEGUN: list[tuple[str, Any]] = [
    ("states/power", {"target": "power on"}),
    ("states/boot_mode", {"target": "uefi"}),
    ("states/secure_boot", {"target": True}),
]
# What the machine can't do at all, whatever its BMC says.
UNSUPPORTED: list[tuple[str, str, Any]] = [
    ("POST", "vmedia", {"device_type": "cdrom", "image_url": "http://192.0.2.1/x.iso"}),
    ("PUT", "states/console", {"enabled": True}),
    ("POST", "vendor_passthru/anything", {}),
]


def named(asked: tuple[Any, ...]) -> str:
    return " ".join(asked[:-1])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run the service; it gives a BMC one chance."""
    directory = tmp_path_factory.mktemp("service")
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "debug": True,
            "enabled_hardware_types": "redfish",
            "enabled_bios_interfaces": "no-bios",
            "enabled_boot_interfaces": "ipxe",
            "enabled_firmware_interfaces": "no-firmware",
            "enabled_inspect_interfaces": "redfish",
            "enabled_management_interfaces": "redfish",
            "enabled_power_interfaces": "redfish",
            "enabled_raid_interfaces": "no-raid",
            "enabled_vendor_interfaces": "no-vendor",
            "enabled_console_interfaces": "no-console",
        },
        "conductor": {"sync_power_state_interval": 0},
        "redfish": {"connection_attempts": 1, "connect_timeout": 2, "read_timeout": 2},
    }
    with all_in_one_below(directory, options) as running:
        yield running
    assert PASSWORD not in running.log


@pytest.fixture
def bmc() -> Iterator[ScriptedBmc]:
    """Return a BMC whose system has a light and knows its boot devices."""
    boot = {
        "BootSourceOverrideEnabled": "Once",
        "BootSourceOverrideTarget": "Pxe",
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Hdd"],
    }
    with scripted_bmc(Boot=boot, IndicatorLED="Off") as running:
        yield running


def call(service: Service, method: str, path: str, body: Any = None) -> requests.Response:
    headers = {"X-OpenStack-Ironic-API-Version": "1.115"}
    return requests.request(method, f"{service.url}{path}", json=body, headers=headers, timeout=60)


@pytest.fixture
def node(service: Service, bmc: ScriptedBmc) -> Iterator[str]:
    """Enroll the machine; return the path of its node."""
    address = {"redfish_address": bmc.address, "redfish_system_id": SYSTEM}
    login = {"redfish_username": "operator", "redfish_password": PASSWORD, "redfish_auth_type": "basic"}
    created = call(service, "POST", "/v1/nodes", {"driver": "redfish", "driver_info": address | login})
    assert created.status_code == 201, created.text
    path = f"/v1/nodes/{created.json()['uuid']}"
    yield path
    assert call(service, "PUT", f"{path}/maintenance").status_code == 202
    assert call(service, "DELETE", path).status_code == 204


def refuse(bmc: ScriptedBmc) -> str:
    bmc.refusal = 503
    return "503"


def lock_out(bmc: ScriptedBmc) -> str:
    bmc.refusal = 401
    return "refuses the login"


def forbid(bmc: ScriptedBmc) -> str:
    bmc.refusal = 403
    return "forbids that to the user"


def talk_nonsense(bmc: ScriptedBmc) -> str:
    bmc.raw = b"<html>Welcome</html>"
    return "can't be read"


def be_a_list(bmc: ScriptedBmc) -> str:
    bmc.raw = b"[1]"
    return "can't be read"


MOODS = [refuse, lock_out, forbid, talk_nonsense, be_a_list]


def told(answer: requests.Response) -> str:
    """Return the text of a refusal that is the machine's, after a look at its form."""
    assert answer.status_code == 502, answer.text
    fault = json.loads(answer.json()["error_message"])
    assert (fault["faultcode"], fault["debuginfo"]) == ("Server", None)
    assert PASSWORD not in answer.text
    assert "Traceback" not in answer.text
    return str(fault["faultstring"])


@pytest.mark.parametrize("mood", MOODS, ids=lambda mood: mood.__name__)
@pytest.mark.parametrize("asked", READING + CHANGING, ids=named)
def test_a_bmc_that_does_not_do_its_part_is_blamed(
    service: Service, bmc: ScriptedBmc, node: str, mood: Any, asked: tuple[str, str, Any]
) -> None:
    reason = mood(bmc)
    text = told(call(service, asked[0], f"{node}/{asked[1]}", asked[2]))
    assert reason in text
    assert bmc.address in text
    assert bmc.orders == []


@pytest.mark.parametrize("asked", READING + CHANGING, ids=named)
def test_a_bmc_that_is_not_there_is_blamed(service: Service, node: str, asked: tuple[str, str, Any]) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    moved = [{"op": "replace", "path": "/driver_info/redfish_address", "value": address}]
    assert call(service, "PATCH", node, moved).status_code == 200
    text = told(call(service, asked[0], f"{node}/{asked[1]}", asked[2]))
    assert f"at {address} can't be reached" in text


@pytest.mark.parametrize("status", [400, 403, 405, 409, 500, 501, HANG_UP])
@pytest.mark.parametrize("asked", CHANGING, ids=named)
def test_an_order_that_is_refused_is_told_of(
    service: Service, bmc: ScriptedBmc, node: str, status: int, asked: tuple[str, str, Any]
) -> None:
    bmc.answers = [status] * 5
    assert node.rpartition("/")[2] in told(call(service, asked[0], f"{node}/{asked[1]}", asked[2]))
    assert call(service, "GET", node).json()["reservation"] is None


def test_an_nmi_that_the_bmc_does_not_offer_is_told_of(service: Service, bmc: ScriptedBmc, node: str) -> None:
    del bmc.documents[SYSTEM]["Actions"]
    told(call(service, "PUT", f"{node}/management/inject_nmi", {}))
    bmc.documents[SYSTEM]["Actions"] = {"#ComputerSystem.Reset": {"target": RESET}}
    assert call(service, "PUT", f"{node}/management/inject_nmi", {}).status_code == 204


@pytest.mark.parametrize("mood", MOODS, ids=lambda mood: mood.__name__)
@pytest.mark.parametrize("asked", UNSUPPORTED, ids=named)
def test_what_the_driver_can_not_do_is_the_callers_mistake(
    service: Service, bmc: ScriptedBmc, node: str, mood: Any, asked: tuple[str, str, Any]
) -> None:
    mood(bmc)
    answer = call(service, asked[0], f"{node}/{asked[1]}", asked[2])
    assert answer.status_code == 400, answer.text
    assert bmc.questions == 0


@pytest.mark.parametrize("mood", MOODS, ids=lambda mood: mood.__name__)
@pytest.mark.parametrize("asked", BEGUN, ids=named)
def test_what_goes_on_in_the_background_tells_in_last_error(
    service: Service, bmc: ScriptedBmc, node: str, mood: Any, asked: tuple[str, Any]
) -> None:
    reason = mood(bmc)
    assert call(service, "PUT", f"{node}/{asked[0]}", asked[1]).status_code == 202
    eventually(lambda: call(service, "GET", node).json()["reservation"], None)
    found = call(service, "GET", node).json()
    assert reason in found["last_error"]
    assert PASSWORD not in json.dumps(found)
