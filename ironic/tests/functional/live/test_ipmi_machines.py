"""IPMI machines over the API of a running service: the real ipmitool, ipmi_sim, and no secret in what they leave."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.ipmi_bmc import PASSWORD, IpmiBmc, ipmi_sim
from ironic.tests.live_service import Service, all_in_one_below
from ironic.tests.site import eventually, until

BOUND = 60.0
WRONG = "wrong-password-01"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run the service with the hardware type ipmi, and all that it logs."""
    directory = tmp_path_factory.mktemp("service")
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "debug": True,
            "tempdir": directory,
            "enabled_hardware_types": "ipmi, intel-ipmi",
            "enabled_bios_interfaces": "no-bios",
            "enabled_boot_interfaces": "ipxe",
            "enabled_console_interfaces": "no-console",
            "enabled_firmware_interfaces": "no-firmware",
            "enabled_inspect_interfaces": "no-inspect",
            "enabled_management_interfaces": "ipmitool, intel-ipmitool",
            "enabled_power_interfaces": "ipmitool",
            "enabled_raid_interfaces": "no-raid",
            "enabled_vendor_interfaces": "ipmitool",
        },
        "conductor": {"sync_power_state_interval": 1, "sync_power_state_agreeing_readings": 1},
        "ipmi": {"min_command_interval": 0, "command_retry_timeout": 20, "debug": True},
    }
    (directory / "ironic-ipmi-left").mkdir(mode=0o700)
    (directory / "ironic-ipmi-left" / "password").write_text(PASSWORD)
    with all_in_one_below(directory, options) as running:
        assert not (directory / "ironic-ipmi-left").exists()
        yield running
    assert PASSWORD not in running.log
    assert WRONG not in running.log
    assert list(directory.glob("ironic-ipmi-*")) == []


@pytest.fixture
def bmc(tmp_path: Path) -> Iterator[IpmiBmc]:
    with ipmi_sim(tmp_path / "bmc") as running:
        yield running


def enrol(service: Service, driver: str, info: dict[str, Any]) -> str:
    created = call(service, "POST", "/v1/nodes", {"driver": driver, "driver_info": info})
    assert created.status_code == 201, created.text
    assert PASSWORD not in created.text
    uuid: str = created.json()["uuid"]
    return uuid


@pytest.fixture(params=["ipmi", "intel-ipmi"])
def node(request: pytest.FixtureRequest, service: Service, bmc: IpmiBmc) -> Iterator[str]:
    """Enrol and verify the machine; give the UUID of its node, which is deleted afterwards."""
    uuid = enrol(service, request.param, bmc.driver_info())
    ask(service, uuid, "manage")
    follow(service, uuid, "manageable")
    yield uuid
    # Its BMC ends now: the service would read the power for 20 seconds more, and wait for that when it stops.
    eventually(lambda: call(service, "DELETE", f"/v1/nodes/{uuid}").status_code, 204)


def power_of(service: Service, uuid: str) -> Any:
    return call(service, "GET", f"/v1/nodes/{uuid}").json()["power_state"]


def test_a_machine_is_verified_switched_and_followed(service: Service, bmc: IpmiBmc, node: str) -> None:
    path = f"/v1/nodes/{node}"
    found = call(service, "GET", path).json()
    assert found["properties"]["vendor"] == "montavista software, inc."
    assert found["driver_info"]["ipmi_password"] == "******"
    assert found["power_state"] == "power off"
    assert call(service, "PUT", f"{path}/states/power", {"target": "power on"}).status_code == 202
    eventually(lambda: power_of(service, node), "power on")
    assert bmc.is_on
    # Behind the back of the service, which brings the machine back.
    bmc.switch(on=False)
    until(lambda: bmc.is_on)


def test_settings_and_vendor_methods(service: Service, node: str) -> None:
    path = f"/v1/nodes/{node}"
    devices = call(service, "GET", f"{path}/management/boot_device/supported").json()["supported_boot_devices"]
    assert sorted(devices) == ["bios", "cdrom", "disk", "pxe", "safe"]
    answer = call(service, "PUT", f"{path}/management/boot_device", {"boot_device": "cdrom", "persistent": False})
    assert answer.status_code == 204, answer.text
    assert call(service, "GET", f"{path}/management/boot_device").json()["boot_device"] == "cdrom"
    methods = call(service, "GET", f"{path}/vendor_passthru/methods").json()
    assert sorted(methods) == ["bmc_reset", "send_raw"]
    method = f"{path}/vendor_passthru?method=send_raw"
    assert call(service, "POST", method, {"raw_bytes": "0x00 0x01"}).status_code == 202
    refused = call(service, "POST", method, {"raw_bytes": "-f /etc/shadow"})
    assert refused.status_code == 400
    follow(service, node, "manageable")
    validated = call(service, "GET", f"{path}/validate").json()
    assert validated["power"]["result"] is validated["management"]["result"] is True


def test_steps_with_raw_bytes_are_for_operators_only(service: Service, node: str) -> None:
    step = {"interface": "vendor", "step": "send_raw", "args": {"raw_bytes": "0x00 0x01"}}
    assert ask(service, node, "clean", clean_steps=[step], disable_ramdisk=True).status_code == 400


def test_a_wrong_password_is_refused_in_plain_words(service: Service, bmc: IpmiBmc) -> None:
    uuid = enrol(service, "ipmi", bmc.driver_info(ipmi_password=WRONG))
    ask(service, uuid, "manage")
    until(lambda: call(service, "GET", f"/v1/nodes/{uuid}").json()["last_error"])
    found = call(service, "GET", f"/v1/nodes/{uuid}").json()
    assert found["provision_state"] == "enroll"
    assert "ipmi_password" in found["last_error"]
    history = call(service, "GET", f"/v1/nodes/{uuid}/history?detail=true").text
    assert WRONG not in found["last_error"] + history


def test_a_wrong_address_fails_validation(service: Service) -> None:
    uuid = enrol(service, "ipmi", {"ipmi_address": "-I open"})
    found = call(service, "GET", f"/v1/nodes/{uuid}/validate").json()["power"]
    assert found["result"] is False
    assert "IP address or a host name" in found["reason"]
