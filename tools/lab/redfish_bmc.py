"""A Redfish BMC whose machine is QEMU: sushy-tools' emulator with a driver that starts and ends the machine.

    python tools/lab/redfish_bmc.py --config emulator.conf --directory FOLDER

FOLDER is that of a machine (`machine`). In two points this BMC does what a real one does and the emulator does not:
a boot device that is set once is used once, and HTTP boot is left to the firmware of the machine.
"""

import argparse
import json
import pprint
import signal
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import requests
from machine import BIOS, CD, DISK, HTTP, NETWORK, UEFI, Machine

DEVICES = {"Hdd": DISK, "Cd": CD, "Pxe": NETWORK, "UefiHttp": HTTP}
SHUTDOWN = "GracefulShutdown"
MODES = {UEFI: "UEFI", BIOS: "Legacy"}
_PORT: Final = 8000


def prepare(directory: Path, host: str) -> tuple[list[Any], Callable[[], bool], dict[str, object]]:
    """Write the configuration of the BMC; return its command, whether it is up, and the driver_info of the node."""
    machine, identity = json.loads((directory / "machine.json").read_text()), str(uuid.uuid4())
    system = {
        "uuid": identity, "name": "lab", "power_state": "Off", "external_notifier": False,
        "nics": [{"mac": machine["mac"], "ip": "10.66.0.50"}], "boot_mode": MODES[machine["mode"]],
    }  # fmt: skip
    (directory / "bmc").mkdir()
    settings = {
        "SUSHY_EMULATOR_FAKE_SYSTEMS": [system],
        "SUSHY_EMULATOR_STATE_DIR": str(directory / "bmc"),
        "SUSHY_EMULATOR_LISTEN_IP": host,
        "SUSHY_EMULATOR_LISTEN_PORT": _PORT,
        "SUSHY_EMULATOR_FEATURE_SET": "full",
    }
    path = directory / "bmc.conf"
    path.write_text("".join(f"{name} = {pprint.pformat(value)}\n" for name, value in settings.items()))
    address = f"http://{host}:{_PORT}"

    def is_up() -> bool:
        try:
            return requests.get(f"{address}/redfish/v1/", timeout=5).status_code == 200
        except requests.RequestException:
            return False

    command = [sys.executable, Path(__file__).resolve(), "--config", path, "--directory", directory]
    info: dict[str, object] = {"redfish_address": address, "redfish_system_id": f"/redfish/v1/Systems/{identity}"}
    return command, is_up, info


def driver_of(base: Any, machine: Machine) -> Any:
    """Return the emulator's driver of fake machines with the machine behind it."""
    import flask

    def order() -> dict[str, Any]:
        """Return what the present request orders for the next boot."""
        return (flask.request.get_json(silent=True) or {}).get("Boot") or {}

    class QemuDriver(base):  # type: ignore[misc]
        def get_power_state(self, identity: str) -> str:
            return "On" if machine.is_on else "Off"

        def set_power_state(self, identity: str, state: str) -> None:
            # No operating system of the lab is asked to shut down; its disk is thrown away.
            if state in ("ForceOff", SHUTDOWN) or "Restart" in state:
                machine.switch_off()
            if ("On" in state or "Restart" in state) and not machine.is_on:
                self._start(identity)

        def _start(self, identity: str) -> None:
            system = self._get(identity)
            images = {name: image for name, (image, *_) in (system.get("boot_image") or {}).items() if image}
            machine.switch_on(
                next(mode for mode, name in MODES.items() if name == self.get_boot_mode(identity)),
                DEVICES[self.get_boot_device(identity)],
                images={name.lower(): image for name, image in images.items()},
                url=system.get("http_boot_uri") or "",
            )
            if system.get("once"):
                self._update(identity, boot_device="Hdd", once=False, http_boot_uri="")

        def set_boot_device(self, identity: str, boot_source: str) -> None:
            # The emulator replaces UefiHttp by Cd or Pxe before it calls, and reports every order as a lasting one.
            asked = order().get("BootSourceOverrideTarget", boot_source)
            once = order().get("BootSourceOverrideEnabled") == "Once"
            self._update(identity, boot_device=asked, once=once, http_boot_uri=order().get("HttpBootUri", ""))

        def set_boot_image(self, identity: str, device: str, *args: Any, **more: Any) -> None:
            # The emulator downloads what is to be booted over HTTP, and offers it as a CD.
            if not order().get("HttpBootUri"):
                super().set_boot_image(identity, device, *args, **more)

        def set_http_boot_uri(self, uri: str) -> None:
            """Do nothing: the boot device and its URL are set together."""

    return QemuDriver


def main() -> int:
    """Run the emulator until a signal ends it, and the machine with it."""
    from sushy_tools.emulator import main as emulator
    from sushy_tools.emulator.resources.systems import fakedriver

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--config", required=True)
    parser.add_argument("--directory", type=Path, required=True)
    arguments = parser.parse_args()
    machine = Machine(arguments.directory)
    fakedriver.FakeDriver = driver_of(fakedriver.FakeDriver, machine)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sys.argv = ["sushy-emulator", "--config", arguments.config, "--fake"]
    try:
        return int(emulator.main() or 0)
    finally:
        machine.switch_off()


if __name__ == "__main__":
    sys.exit(main())
