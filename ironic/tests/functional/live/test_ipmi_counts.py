"""How many conversations with an IPMI BMC each request of a user takes: with the default pause, five seconds each.

A program in the place of ipmitool has a machine's power and notes each call.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic import db
from ironic.core.flows import states
from ironic.tests.functional.live.asking import ask, call, follow
from ironic.tests.live_service import Service, all_in_one_below

TOOL = """\
#!/bin/sh
case "$*" in *-h) exit 0;; esac
case "$*" in
    *"power status") echo "status" >> {folder}/calls; echo "Chassis Power is $(cat {folder}/power)";;
    *"power on") echo "on" >> {folder}/calls; echo on > {folder}/power;;
    *"power off") echo "off" >> {folder}/calls; echo off > {folder}/power;;
    *bootdev*|*"raw 0x00 0x08 0x05"*) echo "device" >> {folder}/calls;;
    *"raw 0x00 0x08 0x03"*) echo "timeout" >> {folder}/calls;;
    *) echo "other" >> {folder}/calls;;
esac
"""


class Bmc:
    """The machine behind the program."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._power, self._calls = folder / "power", folder / "calls"

    def prepare(self, *, on: bool) -> None:
        """Switch the machine and forget the calls."""
        self._power.write_text("on\n" if on else "off\n")
        self._calls.write_text("")

    @property
    def calls(self) -> list[str]:
        return self._calls.read_text().split()


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("service")
    (made / "bin").mkdir()
    tool = made / "bin" / "ipmitool"
    tool.write_text(TOOL.format(folder=made))
    tool.chmod(0o755)
    (made / "images").mkdir()
    for name in ("kernel", "ramdisk"):
        (made / "images" / name).write_text(name)
    return made


@pytest.fixture(scope="module")
def bmc(directory: Path) -> Bmc:
    found = Bmc(directory)
    found.prepare(on=True)
    return found


@pytest.fixture(scope="module")
def service(directory: Path, bmc: Bmc) -> Iterator[Service]:
    images = directory / "images"
    options: dict[str, dict[str, object]] = {
        "DEFAULT": {
            "tempdir": directory,
            "enabled_hardware_types": "ipmi",
            "enabled_bios_interfaces": "no-bios",
            "enabled_boot_interfaces": "pxe",
            "enabled_console_interfaces": "no-console",
            "enabled_deploy_interfaces": "custom-agent",
            "enabled_firmware_interfaces": "no-firmware",
            "enabled_inspect_interfaces": "no-inspect",
            "enabled_management_interfaces": "ipmitool",
            "enabled_power_interfaces": "ipmitool",
            "enabled_raid_interfaces": "no-raid",
            "enabled_rescue_interfaces": "agent",
            "enabled_network_interfaces": "noop",
            "enabled_vendor_interfaces": "no-vendor",
        },
        "conductor": {
            "sync_power_state_interval": 0,
            "file_url_allowed_paths": images,
            **{
                f"{mode}_{part}": f"file://{images}/{part}"
                for mode in ("deploy", "rescue")
                for part in ("kernel", "ramdisk")
            },
        },
        "deploy": {"http_root": directory / "http", "http_server_port": 0},
        "dhcp": {"dhcp_provider": "none"},
        "ipmi": {"min_command_interval": 0},
        "pxe": {"tftp_root": directory / "tftp", "tftp_master_path": directory / "masters"},
        "service_catalog": {"endpoint_override": "http://127.0.0.1:9"},
    }
    environment = pytest.MonkeyPatch()
    environment.setenv("PATH", f"{directory}/bin", prepend=":")
    with all_in_one_below(directory, options) as running:
        yield running
    environment.undo()


@pytest.fixture(scope="module")
def store(service: Service, directory: Path) -> Iterator[db.Store]:
    found = db.connect(f"sqlite:///{directory}/service.sqlite")
    yield found
    found.close()


@pytest.mark.parametrize(
    ("state", "on", "asked", "reached", "calls"),
    [
        (
            states.ACTIVE,
            True,
            {"target": "rescue", "rescue_password": "four words for rescue"},
            states.RESCUEWAIT,
            ["status", "off", "status", "timeout", "device", "on", "status"],
        ),
        (
            states.MANAGEABLE,
            False,
            {"target": "provide"},
            states.CLEANWAIT,
            ["other", "status", "timeout", "device", "on", "status"],
        ),
        (
            states.AVAILABLE,
            False,
            {"target": "active"},
            states.DEPLOYWAIT,
            ["status", "timeout", "device", "on", "status"],
        ),
        (states.RESCUE, True, {"target": "unrescue"}, states.ACTIVE,
            ["status", "off", "status", "timeout", "device", "on", "status"]),
    ],
)  # fmt: skip
def test_a_request_takes_so_many_conversations(
    service: Service, store: db.Store, bmc: Bmc, state: str, on: bool, asked: dict[str, Any], reached: str,
    calls: list[str],
) -> None:  # fmt: skip
    info = {"ipmi_address": "127.0.0.1", "ipmi_username": "u", "ipmi_password": "secret-of-tests"}
    node = call(service, "POST", "/v1/nodes", {"driver": "ipmi", "driver_info": info}).json()["uuid"]
    number = store.nodes.row(("id",), node)[0]
    port = {"node_uuid": node, "address": f"52:54:00:00:00:{number:02x}"}
    assert call(service, "POST", "/v1/ports", port).status_code == 201
    store.nodes.update(node, {"provision_state": state, "power_state": states.POWER_ON if on else states.POWER_OFF})
    bmc.prepare(on=on)
    answer = ask(service, node, **asked)
    assert answer.status_code == 202, answer.text
    follow(service, node, reached)
    assert bmc.calls == calls
