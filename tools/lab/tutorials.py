"""Type a tutorial for a machine that really boots, and compare what is printed: `make lab-tutorials`.

    unshare --net .venv/bin/python tools/lab/tutorials.py --images .run/lab-images doc/tutorial-network-boot.md

The service has the configuration of doc/install.md and of the page, dnsmasq that of the page; only addresses and
directories are those of the lab. What follows a command in a block `console` must be printed, line by line; `...`
stands for any lines. Before the machine is taken back the image must have said on its console what it is called.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

import redfish_bmc
from machine import UEFI, Machine, describe
from network import HOST, TAP, network, require_own_namespace
from service import API, answers, start

ROOT: Final = Path(__file__).resolve().parents[2]
PROGRAMS: Final = Path(sys.executable).parent
INSTALLING: Final = ROOT / "doc" / "install.md"
MAC: Final = "52:54:66:bb:00:01"
COMMAND_SECONDS: Final = 1800
BOOT_SECONDS: Final = 600
NAMED: Final = "TINY-IMAGE config-drive=.* hostname=first-host"
# On a busy host the emulated timer is late, which Linux checks; its guards against other machines cost much emulated.
_PARAMETERS: Final = "console=ttyS0,115200 no_timer_check mitigations=off"
_OF_THE_LAB: Final = """\
[DEFAULT]
host = lab
log_file = {directory}/ironic.log

[redfish]
kernel_append_params = {parameters}

[pxe]
kernel_append_params = {parameters}
ipxe_timeout = 60
"""


class Typed(NamedTuple):
    """A command of a page, and the lines that it has to print."""

    command: str
    printed: list[str]


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a language, without what they are indented by."""
    found = re.findall(rf"^ *```{re.escape(language)}\n(.*?)^ *```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for block in found]


def commands(page: Path) -> list[Typed]:
    """Return what is typed on a page, in order."""
    found: list[Typed] = []
    for block in blocks(page, "console"):
        for line in block.replace("\\\n", "").splitlines():
            if line.startswith("$ "):
                found.append(Typed(line[2:], []))
            else:
                found[-1].printed.append(line)
    return found


def differences(expected: list[str], printed: str) -> list[str]:
    """Return the lines that are not printed where they should be, and others; none when all is as expected."""
    lines = [line.rstrip() for line in printed.splitlines()]
    if "..." not in expected:
        both = [*(f"- {line}" for line in expected), *(f"+ {line}" for line in lines)]
        return [] if lines == expected else both
    missing = []
    for is_gap, part in groupby(expected, lambda line: line == "..."):
        for line in () if is_gap else part:
            if line in lines:
                lines = lines[lines.index(line) + 1 :]
            else:
                missing.append(f"- {line}")
    return missing


class Tutorial:
    """A page, in the places of the lab."""

    def __init__(self, page: Path, directory: Path, images: Path) -> None:
        self._page, self._directory = page, directory
        self._places = {
            "https://192.0.2.101": f"http://{HOST}:8000",
            "<address on the provisioning network>": HOST,
            "192.0.2.": HOST.removesuffix("1"),
            "eth1": TAP,
            "52:54:00:12:34:56": MAC,
            "/var/lib/ironic/images": str(images),
            "/var/lib/ironic": str(directory),
            "/var/log/ironic": str(directory),
        }

    def filled(self, text: str) -> str:
        """Return a text of the page with the places of the lab."""
        for old, new in self._places.items():
            text = text.replace(old, new)
        return text

    @contextmanager
    def running(self) -> Iterator[None]:
        """Have BMC, network and service until the block ends."""
        describe(self._directory, mode=UEFI, mac=MAC, tap=TAP)
        command, is_up, _ = redfish_bmc.prepare(self._directory, HOST)
        (dnsmasq,) = map(self.filled, blocks(self._page, "dnsmasq.conf")) if self._boots_from_network else (None,)
        # The firmware is told the boot program by TFTP, from where the page has it.
        (self._directory / "tftpboot").mkdir()
        with network(self._directory, configuration=dnsmasq):
            bmc = start(command, self._directory / "bmc.log", is_up)
            try:
                with self._service():
                    yield
            finally:
                bmc.terminate()
                bmc.wait()
                Machine(self._directory).switch_off()

    @property
    def _boots_from_network(self) -> bool:
        return bool(blocks(self._page, "dnsmasq.conf"))

    @contextmanager
    def _service(self) -> Iterator[None]:
        path = self._directory / "ironic.conf"
        texts = [*blocks(INSTALLING, "ini"), *blocks(self._page, "ini")]
        own = _OF_THE_LAB.format(directory=self._directory, parameters=_PARAMETERS)
        path.write_text("\n".join([*map(self.filled, texts), own]))
        subprocess.run([PROGRAMS / "ironic-dbsync", "--config-file", path, "upgrade"], check=True)
        service = start(
            [PROGRAMS / "ironic", "--config-file", path], self._directory / "ironic.out", lambda: answers(f"{API}/v1")
        )
        try:
            yield
        finally:
            service.terminate()
            service.wait()

    def type_all(self) -> list[str]:
        """Type the commands; return what was not as the page says."""
        faults: list[str] = []
        settings = ""
        environment = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}"}
        for typed in commands(self._page):
            command = self.filled(typed.command)
            print(f"$ {command}", flush=True)
            if " undeploy " in command and not self._await_image():
                faults.append(f"The console does not show {NAMED}")
            if command.startswith("export "):
                settings += f"{command}; "
                continue
            done = subprocess.run(
                ["bash", "-c", settings + command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, timeout=COMMAND_SECONDS,
            )  # fmt: skip
            print(done.stdout, end="", flush=True)
            missing = differences(list(map(self.filled, typed.printed)), done.stdout)
            if done.returncode or missing:
                faults.append("\n".join([f"$ {command} (status {done.returncode})", *missing]))
            if done.returncode:
                break
        return faults

    def _await_image(self) -> bool:
        """Wait for what the image says when it has booted; return whether it came."""
        until = time.monotonic() + BOOT_SECONDS
        while not (found := re.search(NAMED, (self._directory / "serial.log").read_text(errors="replace"))):
            if time.monotonic() > until:
                return False
            time.sleep(1)
        print(f"console: {found[0]}", flush=True)
        return True


def main() -> int:
    """Type one page; the status is 1 when something was not as it says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--images", type=Path, required=True, help="folder with the kernel, the ramdisk and the image")
    parser.add_argument("--directory", type=Path, default=ROOT / ".run" / f"lab-{os.getpid()}")
    parser.add_argument("page", type=Path)
    arguments = parser.parse_args()
    require_own_namespace()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    directory = arguments.directory.resolve()
    directory.mkdir(parents=True)
    tutorial = Tutorial(arguments.page, directory, arguments.images.resolve())
    with tutorial.running():
        faults = tutorial.type_all()
    print(f"\n{arguments.page}: {'as it says' if not faults else 'not as it says:'}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
