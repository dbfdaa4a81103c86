"""A Redfish BMC whose machine is QEMU: sushy-tools' emulator with a driver that starts and ends the machine.

    python tools/lab/qemu_bmc.py --config emulator.conf --machine machine.json

machine.json has: directory, memory (MiB), disk, mac, ports (of this host -> of the machine), and paths of the firmware.
The machine works on its virtual disk only. Its network is QEMU's own (DHCP, no privileges); it reaches the loopback of
this host at 10.0.2.2. What it says on its serial console is appended to <directory>/serial.log.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

SECONDS_TO_END = 20
SHUTDOWN = "GracefulShutdown"


class Machine:
    """The QEMU process of the machine, if it is on."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._directory = Path(settings["directory"])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_on(self) -> bool:
        """Return whether the machine runs; it may have switched itself off."""
        return self._process is not None and self._process.poll() is None

    def switch_on(self, mode: str, device: str, drives: dict[str, str]) -> None:
        """Start the machine in a boot mode from a device; ``drives`` are the images in its virtual drives."""
        if self.is_on:
            return
        log = (self._directory / "qemu.log").open("ab")
        self._process = subprocess.Popen(
            self._command(mode, device, drives), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )

    def switch_off(self) -> None:
        """End the machine at once."""
        if self._process is not None and self.is_on:
            self._process.terminate()
            try:
                self._process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _command(self, mode: str, device: str, drives: dict[str, str]) -> list[str]:
        settings = self._settings
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{here}-:{there}" for here, there in settings["ports"].items())
        # The device that is set comes first, the disk after it.
        first = {name: 0 if name == device else 5 + number for number, name in enumerate(("Hdd", "Cd", "Pxe"))}
        command = ["qemu-system-x86_64", "-machine", "q35,accel=tcg", "-cpu", "Nehalem", "-m", str(settings["memory"])]
        command += ["-display", "none", "-monitor", "none", "-nodefaults"]
        command += ["-chardev", f"file,id=console,path={self._directory}/serial.log,append=on"]
        command += ["-serial", "chardev:console", "-object", "rng-random,id=rng,filename=/dev/urandom"]
        command += ["-device", "virtio-rng-pci,rng=rng"]
        command += ["-drive", f"if=none,id=disk,format=qcow2,cache=unsafe,discard=unmap,file={settings['disk']}"]
        command += ["-device", f"virtio-blk-pci,drive=disk,serial=LAB0001,bootindex={first['Hdd']}"]
        command += ["-netdev", f"user,id=net{forwards}{settings.get('network', '')}"]
        command += ["-device", f"virtio-net-pci,netdev=net,mac={settings['mac']},bootindex={first['Pxe']}"]
        if "Cd" in drives:
            command += ["-drive", f"if=none,id=cd,media=cdrom,readonly=on,format=raw,file={drives['Cd']}"]
            command += ["-device", f"ide-cd,drive=cd,bootindex={first['Cd']}"]
        if "Floppy" in drives:
            command += [
                "-device",
                "qemu-xhci",
                "-drive",
                f"if=none,id=usb,format=raw,readonly=on,file={drives['Floppy']}",
            ]
            command += ["-device", "usb-storage,drive=usb,removable=on"]
        return command + (self._uefi() if mode == "UEFI" else [])

    def _uefi(self) -> list[str]:
        variables = self._directory / "variables.fd"
        if not variables.exists():
            shutil.copyfile(self._settings["uefi_variables"], variables)
        code = f"if=pflash,format=raw,readonly=on,file={self._settings['uefi_code']}"
        return ["-drive", code, "-drive", f"if=pflash,format=raw,file={variables}"]


def driver_of(base: Any, machine: Machine) -> Any:
    """Return the emulator's driver of fake machines with the machine behind it."""

    class QemuDriver(base):  # type: ignore[misc]
        def get_power_state(self, identity: str) -> str:
            return "On" if machine.is_on else "Off"

        def set_power_state(self, identity: str, state: str) -> None:
            # No operating system of the lab is asked to shut down; its disk is thrown away.
            if state in ("ForceOff", SHUTDOWN) or "Restart" in state:
                machine.switch_off()
            if "On" in state or "Restart" in state:
                images = self._get(identity).get("boot_image") or {}
                drives = {name: image for name, (image, *_) in images.items() if image}
                machine.switch_on(self.get_boot_mode(identity), self.get_boot_device(identity), drives)

        def set_http_boot_uri(self, uri: str) -> None:
            """Accept a URL for HTTP boot, which the emulator itself downloads and offers as a CD."""

    return QemuDriver


def main() -> int:
    """Run the emulator until a signal ends it, and the machine with it."""
    from sushy_tools.emulator import main as emulator
    from sushy_tools.emulator.resources.systems import fakedriver

    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--config", required=True)
    parser.add_argument("--machine", required=True)
    arguments = parser.parse_args()
    machine = Machine(json.loads(Path(arguments.machine).read_text()))
    fakedriver.FakeDriver = driver_of(fakedriver.FakeDriver, machine)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sys.argv = ["sushy-emulator", "--config", arguments.config, "--fake"]
    try:
        return int(emulator.main() or 0)
    finally:
        machine.switch_off()


if __name__ == "__main__":
    sys.exit(main())
