"""A machine that is a QEMU process, which its BMC starts and ends.

A file `machine.json` in the machine's folder has its settings: mode (the boot mode, where the BMC knows none), memory
(MiB), disk (a path), mac, tap (a network device of this host), rom (whether the network card has the iPXE ROM of QEMU),
and paths of the UEFI firmware. The folder also
gets `machine.pid`, `qemu.log`, the variables of the firmware and `serial.log`, to which the machine's serial console is
appended. The machine works on its virtual disk only.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

DISK: Final = "disk"
CD: Final = "cd"
NETWORK: Final = "network"
HTTP: Final = "http"
UEFI: Final = "uefi"
BIOS: Final = "bios"

_SECONDS_TO_END: Final = 20
# A number that the firmware does not give to a boot entry of its own.
_HTTP_ENTRY: Final = 0x99


def describe(directory: Path, *, mode: str, mac: str, tap: str) -> None:
    """Write the settings of a machine with an empty disk into its folder."""
    disk = directory / "disk.qcow2"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", disk, "4G"], check=True)
    machine = {
        "mode": mode, "memory": 2560, "disk": str(disk), "mac": mac, "tap": tap,
        # SeaBIOS has no network boot of its own; for UEFI that of the firmware is tried.
        "rom": mode == BIOS,
        "uefi_code": "/usr/share/OVMF/OVMF_CODE_4M.fd", "uefi_variables": "/usr/share/OVMF/OVMF_VARS_4M.fd",
    }  # fmt: skip
    (directory / "machine.json").write_text(json.dumps(machine))


class Machine:
    """The machine of a folder; it is on while its process runs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._settings = json.loads((directory / "machine.json").read_text())
        self._pid_file = directory / "machine.pid"
        # Where this process has started the machine itself, it has to take note of the end.
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_on(self) -> bool:
        """Return whether the machine runs; it may have switched itself off."""
        if self._process is not None:
            return self._process.poll() is None
        return self._pid() is not None

    @property
    def mode(self) -> str:
        """The boot mode of its settings."""
        return str(self._settings["mode"])

    def switch_on(self, mode: str, device: str, *, images: dict[str, str], url: str = "") -> None:
        """Start the machine in a boot mode from a device.

        ``images`` are the images in its virtual drives (CD, Floppy); ``url`` is what the firmware boots over HTTP, or
        empty when a DHCP server names it.
        """
        if self.is_on:
            return
        firmware = self._firmware(device, url) if mode == UEFI else []
        log = (self._directory / "qemu.log").open("ab")
        command = [*self._command(device, images), *firmware]
        # In a session of its own: the program that starts it may be a hook that ends.
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        self._pid_file.write_text(f"{self._process.pid}\n")

    def switch_off(self) -> None:
        """End the machine at once."""
        pid = self._process.pid if self._process is not None else self._pid()
        if pid is None or not self.is_on:
            return
        os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + _SECONDS_TO_END
        while self.is_on:
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def _pid(self) -> int | None:
        """Return the process that another program has started, None when it has ended."""
        try:
            pid = int(self._pid_file.read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        # Another process may have the number by now; one that has ended has no command line.
        return pid if str(self._directory).encode() in command else None

    def _command(self, device: str, images: dict[str, str]) -> list[str]:
        settings = self._settings
        command = ["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-cpu", "max"]
        command += ["-m", str(settings["memory"]), "-display", "none", "-monitor", "none", "-nodefaults"]
        command += ["-chardev", f"file,id=console,path={self._directory}/serial.log,append=on"]
        command += ["-serial", "chardev:console", "-object", "rng-random,id=rng,filename=/dev/urandom"]
        command += ["-device", "virtio-rng-pci,rng=rng"]
        # Only what was ordered, then the disk: the firmware tries nothing else of its own accord.
        command += ["-boot", "strict=on"]
        command += ["-drive", f"if=none,id=disk,format=qcow2,cache=unsafe,discard=unmap,file={settings['disk']}"]
        command += ["-device", "virtio-blk-pci,drive=disk,serial=LAB0001,bootindex=5"]
        command += ["-netdev", f"tap,id=net,ifname={settings['tap']},script=no,downscript=no"]
        card = f"virtio-net-pci,netdev=net,mac={settings['mac']}"
        command += ["-device", card + ("" if settings["rom"] else ",romfile=") + _order(device == NETWORK)]
        if CD in images:
            command += ["-drive", f"if=none,id=cd,media=cdrom,readonly=on,format=raw,file={images[CD]}"]
            command += ["-device", "ide-cd,drive=cd" + _order(device == CD)]
        if "floppy" in images:
            command += ["-device", "qemu-xhci"]
            command += ["-drive", f"if=none,id=usb,format=raw,readonly=on,file={images['floppy']}"]
            command += ["-device", "usb-storage,drive=usb,removable=on"]
        return command

    def _firmware(self, device: str, url: str) -> list[str]:
        variables = self._directory / "variables.fd"
        if not variables.exists():
            shutil.copyfile(self._settings["uefi_variables"], variables)
        if device == HTTP:
            _set_next_boot(variables, url)
        code = f"if=pflash,format=raw,readonly=on,file={self._settings['uefi_code']}"
        return ["-drive", code, "-drive", f"if=pflash,format=raw,file={variables}"]


def _order(is_first: bool) -> str:
    return ",bootindex=0" if is_first else ""


def _set_next_boot(variables: Path, url: str) -> None:
    """Have the firmware boot a URL over HTTP once, as a BMC does it: by a boot entry that is the next one."""
    from virt.firmware.efi.devpath import DevicePath
    from virt.firmware.varstore.edk2 import Edk2VarStore

    store = Edk2VarStore(str(variables))
    listed = store.get_varlist()
    listed.set_boot_entry(_HTTP_ENTRY, "HTTP boot", DevicePath.uri(url))
    listed.set_boot_next(_HTTP_ENTRY)
    store.write_varstore(str(variables), listed)
