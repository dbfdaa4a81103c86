"""An IPMI BMC whose machine is QEMU: OpenIPMI's ipmi_sim, and the program that it calls for power and boot device.

    python tools/lab/ipmi_bmc.py FOLDER 0x20 get|set NAME [VALUE] ...

FOLDER is that of a machine (`machine`). ipmi_sim does not pass on whether a boot device is for one boot only, so it
stays set until the next order; nor the boot mode, so the machine has that of its settings. `orders.log` in the folder
has the orders that the BMC got.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from machine import CD, DISK, NETWORK, Machine

_USER: Final = "admin"
_PASSWORD: Final = "of-the-lab"
_PORT: Final = 623
_DEVICES: Final = {"pxe": NETWORK, "cdrom": CD}
_METHODS: Final = "none md2 md5 straight"

_LAN: Final = """\
name "lab"
set_working_mc 0x20
startlan 1
  addr {host} {port}
  priv_limit admin
  allowed_auths_callback {methods}
  allowed_auths_user {methods}
  allowed_auths_operator {methods}
  allowed_auths_admin {methods}
  guid a123456789abcdefa123456789abcdef
endlan
chassis_control "{program} {directory} 0x20"
user 1 true "" "" user 10 {methods}
user 2 true "{user}" "{password}" admin 10 {methods}
"""
_CONTROLLER: Final = """\
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
"""


def prepare(directory: Path, host: str) -> tuple[list[Any], Callable[[], bool], dict[str, object]]:
    """Write the configuration of ipmi_sim; return its command, whether it is up, and the driver_info of the node."""
    folder = directory / "bmc"
    folder.mkdir()
    program = folder / "chassis"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" "$@"\n')
    program.chmod(0o755)
    (folder / "lan.conf").write_text(
        _LAN.format(
            host=host, port=_PORT, methods=_METHODS, program=program, directory=directory, user=_USER,
            password=_PASSWORD,
        )
    )  # fmt: skip
    (folder / "controller.emu").write_text(_CONTROLLER)
    command = ["ipmi_sim", "-n", "-c", folder / "lan.conf", "-f", folder / "controller.emu", "-s", folder]
    asking = ["ipmitool", "-I", "lanplus", "-H", host, "-U", _USER, "-E", "-C", "3", "-N", "1", "-R", "1"]

    def is_up() -> bool:
        environment = {**os.environ, "IPMI_PASSWORD": _PASSWORD}
        return subprocess.run([*asking, "power", "status"], env=environment, capture_output=True).returncode == 0

    info: dict[str, object] = {
        "ipmi_address": host, "ipmi_username": _USER, "ipmi_password": _PASSWORD, "ipmi_cipher_suite": "3",
    }  # fmt: skip
    return command, is_up, info


class Chassis:
    """The machine as ipmi_sim sees it: attributes by name."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._machine = Machine(directory)
        self._boot = directory / "bmc" / "boot"

    def get(self, name: str) -> str:
        """Return an attribute."""
        if name == "power":
            return "1" if self._machine.is_on else "0"
        return self._boot.read_text() if name == "boot" and self._boot.exists() else "default"

    def set(self, name: str, value: str) -> None:
        """Set an attribute, or do what it stands for."""
        with (self._directory / "orders.log").open("a") as log:
            log.write(f"{name} {value}\n")
        if name == "boot":
            self._boot.write_text(value)
        # No operating system of the lab is asked to shut down; its disk is thrown away.
        if name in ("reset", "shutdown") or (name, value) == ("power", "0"):
            self._machine.switch_off()
        if name == "reset" or (name, value) == ("power", "1"):
            self._machine.switch_on(self._machine.mode, _DEVICES.get(self.get("boot"), DISK), images={})


def main() -> None:
    """Answer one call of ipmi_sim."""
    directory, _, operation, *words = sys.argv[1:]
    chassis = Chassis(Path(directory))
    if operation == "get":
        for name in words:
            print(f"{name}:{chassis.get(name)}")
    elif operation == "set":
        for name, value in zip(words[::2], words[1::2], strict=True):
            chassis.set(name, value)


if __name__ == "__main__":
    main()
