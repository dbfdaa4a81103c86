"""IPMI BMCs for tests, which the real ipmitool talks to: OpenIPMI's ipmi_sim, and one made of pyghmi's classes.

    with ipmi_sim(tmp_path) as bmc:
        node.driver_info = bmc.driver_info()

The simulator has sensors and a serial console. The BMC of pyghmi knows NMI, keeps boot flags byte for byte and makes
faults on request (`pyghmi_machine`). The state of the machine is in files, so a test can read and change it.
"""

import contextlib
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_SECONDS = 60.0
HOST = "127.0.0.1"
USER = "operator"
PASSWORD = "secret-of-ipmi"
_PROGRAM = Path(__file__).with_name("pyghmi_machine.py")
# A request that a BMC answers without a session: which ways to log in it has.
_WHO_ARE_YOU = bytes.fromhex("0600ff07000000000000000000092018c88100388e04b5")

_CHASSIS = """\
#!/bin/sh
# ipmi_sim calls it: DIRECTORY CONTROLLER get|set|check NAME [VALUE] ...
cd "$1"; shift 2; action=$1; shift
echo "$action $*" >> calls
if [ "$action" = get ]; then
    for name in "$@"; do
        if [ -r "$name" ]; then echo "$name:$(cat "$name")"; elif [ "$name" = boot ]; then echo boot:default
        else echo "$name:0"; fi
    done
elif [ "$action" = set ]; then
    while [ $# -gt 1 ]; do
        case $1 in
            reset) echo 1 > power ;;
            shutdown) echo 0 > power ;;
            *) echo "$2" > "$1" ;;
        esac
        shift 2
    done
fi
"""


@dataclass(frozen=True)
class IpmiBmc:
    """A running BMC and the files of its machine."""

    directory: Path
    port: int
    kg_key: bytes = b""

    def driver_info(self, **changes: Any) -> dict[str, Any]:
        """Return what a node needs to reach it; a change to None takes a key out."""
        info = {
            "ipmi_address": HOST,
            "ipmi_port": self.port,
            "ipmi_username": USER,
            "ipmi_password": PASSWORD,
            # ipmi_sim does not answer the question which suites it has.
            "ipmi_cipher_suite": "3",
            "ipmi_hex_kg_key": self.kg_key.hex() or None,
            **changes,
        }
        return {name: value for name, value in info.items() if value is not None}

    @property
    def is_on(self) -> bool:
        return self._read("power") == "1"

    def switch(self, *, on: bool) -> None:
        """Change the power behind the back of the service."""
        (self.directory / "power").write_text("1" if on else "0")

    @property
    def calls(self) -> list[str]:
        """What the machine was asked for, in order."""
        return self._read("calls").splitlines()

    @property
    def boot_flags(self) -> str:
        """The five bytes of the boot flags, of the BMC of pyghmi only."""
        return self._read("bootflags")

    def fail(self, how: str | None) -> None:
        """Answer nothing (timeout), that it is busy, or that it refuses (refuse); None ends it. Of pyghmi only."""
        path = self.directory / "fault"
        path.write_text(how) if how else path.unlink(missing_ok=True)

    def _read(self, name: str) -> str:
        path = self.directory / name
        return path.read_text().strip() if path.exists() else ""


@contextlib.contextmanager
def ipmi_sim(
    directory: Path, *, sol_port: int | None = None, blades: Sequence[str] = (), manufacturer: str = "0x1291"
) -> Iterator[IpmiBmc]:
    """Run ipmi_sim until the block ends; ``sol_port`` is a TCP port that acts as the serial port of the machine.

    ``blades`` are addresses such as 0x82 of further controllers, each with a machine whose files are in a directory of
    this name; requests are bridged to them.
    """
    if shutil.which("ipmi_sim") is None:
        raise RuntimeError("ipmi_sim can't be found; install it (tools/packages.sh)")
    (directory / "state").mkdir(parents=True)
    chassis = directory / "chassis.sh"
    chassis.write_text(_CHASSIS)
    chassis.chmod(0o755)
    (directory / "sim.emu").write_text(_machine(blades, manufacturer))
    for blade in blades:
        (directory / blade).mkdir()

    def command(port: int) -> list[str]:
        (directory / "lan.conf").write_text(_lan(directory, port, chassis, sol_port, blades))
        files = ["-c", str(directory / "lan.conf"), "-f", str(directory / "sim.emu"), "-s", str(directory / "state")]
        return ["ipmi_sim", *files, "-n"]

    with _running(directory, command) as port:
        yield IpmiBmc(directory, port)


@contextlib.contextmanager
def pyghmi_bmc(directory: Path, *, kg_key: bytes = b"") -> Iterator[IpmiBmc]:
    """Run the BMC of pyghmi until the block ends."""
    directory.mkdir(parents=True, exist_ok=True)
    program = [sys.executable, "-P", str(_PROGRAM), str(directory), USER, PASSWORD, kg_key.hex(), HOST]
    with _running(directory, lambda port: [*program, str(port)]) as port:
        yield IpmiBmc(directory, port, kg_key)


def free_udp_port() -> int:
    """Return a UDP port that nothing listens on at this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _running(directory: Path, command: Any) -> Iterator[int]:
    """Run a BMC on a free port, another one when someone else was faster; yield the port."""
    for _ in range(5):
        port = free_udp_port()
        log = directory / "log"
        with log.open("wb") as output, subprocess.Popen(command(port), stdout=output, stderr=output) as process:
            try:
                if _answers(process, port):
                    yield port
                    return
            finally:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(10)
                process.kill()
    raise RuntimeError(f"The IPMI BMC did not start: {log.read_text()}")


def _answers(process: "subprocess.Popen[bytes]", port: int) -> bool:
    """Wait until the BMC answers; return False when it has ended."""
    deadline = time.monotonic() + START_SECONDS
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(0.1)
        client.connect((HOST, port))
        while time.monotonic() < deadline and process.poll() is None:
            try:
                client.send(_WHO_ARE_YOU)
                if client.recv(1024):
                    return process.poll() is None
            except ConnectionRefusedError:
                time.sleep(0.02)
            except TimeoutError:
                pass
    return False


# The configuration of ipmi_sim


def _lan(directory: Path, port: int, chassis: Path, sol_port: int | None, blades: Sequence[str]) -> str:
    ways = "none md2 md5 straight"
    lines = ['name "machine"', "set_working_mc 0x20", "startlan 1", f"  addr {HOST} {port}", "  priv_limit admin"]
    lines += [f"  allowed_auths_{level} {ways}" for level in ("callback", "user", "operator", "admin")]
    lines += ["  guid 5d8a3f0e30a644a59c390f2f6d5a7a11", "endlan", f'chassis_control "{chassis} {directory} 0x20"']
    lines += [f'sol "tcp:{HOST}:{sol_port}" 115200'] if sol_port else []
    lines += [f'user 1 true "" "" user 10 {ways}', f'user 2 true "{USER}" "{PASSWORD}" admin 10 {ways}']
    for blade in blades:
        lines += [f"set_working_mc {blade}", f'chassis_control "{chassis} {directory / blade} {blade}"']
    return "\n".join(lines) + "\n"


# Number, name, type, unit, raw value, thresholds (upper and lower: non-recoverable, critical, non-critical), factor.
_SENSORS = (
    (1, "Inlet Temp", 1, 1, 23, (47, 42, 38, 0, 3, 5), 1, (0x37, 1)),
    (2, "CPU1 Temp", 1, 1, 41, (100, 95, 90, 0, 3, 5), 1, (3, 1)),
    (3, "Fan1 RPM", 4, 18, 72, (255, 250, 245, 4, 6, 8), 100, (0x1D, 1)),
    (4, "12V Rail", 2, 4, 12, (15, 14, 13, 9, 10, 11), 1, (7, 1)),
)


def _machine(blades: Sequence[str], manufacturer: str) -> str:
    """Return the controllers, and the sensors of the first one, as ipmi_sim reads them."""
    lines = [
        "mc_setbmc 0x20",
        f"mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f {manufacturer} 0xf02 persist_sdr",
        "sel_enable 0x20 1000 0x0a",
    ]
    for number, name, kind, unit, value, limits, factor, entity in _SENSORS:
        record = _sensor_record(number, name, kind, unit, value, limits, factor, entity)
        lines.append("main_sdr_add 0x20 " + " ".join(f"{byte:#04x}" for byte in record))
        lines += [
            f"sensor_add 0x20 0 {number} {kind} 1",
            f"sensor_set_value 0x20 0 {number} {value} 0",
            f"sensor_set_threshold 0x20 0 {number} settable 111111 {' '.join(map(str, limits))}",
            f"sensor_set_event_support 0x20 0 {number} enable scanning per-state " + " ".join(["000111111000000"] * 4),
        ]
    for blade in blades:
        lines += [f"mc_add {blade} 1 no-device-sdrs 0x11 2 3 0x9f 0x0157 0x0b01 persist_sdr", f"mc_enable {blade}"]
    return "\n".join([*lines, "mc_enable 0x20"]) + "\n"


def _sensor_record(
    number: int, name: str, kind: int, unit: int, value: int, limits: Sequence[int], factor: int, entity: Sequence[int]
) -> bytes:
    """Return a full sensor record of IPMI 2.0, with an unsigned linear reading."""
    ident = name.encode()
    body = [0x20, 0, number, *entity, 0x7F, 0x68, kind, 0x01, 0x95, 0x7A, 0x95, 0x7A, 0x3F, 0x3F, 0x00, unit, 0x00]
    body += [0x00, factor & 255, (factor >> 2) & 0xC0, 0, 0, 0, 0, 0x00, value, value, value, 0xFF, 0x00]
    body += [*limits, 0x02, 0x02, 0, 0, 0, 0xC0 | len(ident), *ident]
    return bytes([0, 0, 0x51, 0x01, len(body), *body])
