"""A BMC made of pyghmi's classes, as a program: `pyghmi_machine.py DIRECTORY USER PASSWORD KEY ADDRESS PORT`.

It keeps boot flags byte for byte, and makes the fault that the file `fault` names. It takes cipher suite 3 only; the
file `suites` has the numbers of those that it says it takes. It passes messages on to controllers behind it: each has a
machine whose power is in the file `power` of a directory named after its way, such as `7,0x82,0,0x2c`.
"""

import os
import sys
from pathlib import Path
from typing import Any

from pyghmi.ipmi import bmc

from ironic.tests import ipmi_bridges

DIRECTORY = Path(sys.argv[1])
IPMI = 0  # the type of payload
DEVICE_ID = [0x20, 0x81, 1, 0x23, 2, 0xBF, 0x57, 1, 0, 0, 9, 0, 0, 0, 0]

SPEED_SELECT = (0x2C, 0x41)
# The records of cipher suites: number, authentication, integrity and confidentiality.
SUITES = {"3": "c003014181", "17": "c011034481"}


def with_checksum(content: bytes) -> bytes:
    return content + bytes([-sum(content) & 0xFF])


class Machine(bmc.Bmc):
    """A machine whose state is in files."""

    def load(self, name: str, otherwise: str) -> str:
        path = DIRECTORY / name
        return path.read_text().strip() if path.exists() else otherwise

    def note(self, text: str) -> None:
        with (DIRECTORY / "calls").open("a") as file:
            file.write(f"{text}\n")

    def store(self, name: str, value: str) -> None:
        new = DIRECTORY / f"{name}.new"
        new.write_text(value)
        os.replace(new, DIRECTORY / name)

    def handle_raw_request(self, request: Any, session: Any) -> Any:
        fault = self.load("fault", "")
        self.note(f"netfn={request['netfn']:#x} cmd={request['command']:#x} data={bytes(request['data']).hex()}")
        if fault == "timeout":
            return None
        if fault:
            return session.send_ipmi_response(code={"busy": 0xC0, "refuse": 0xC9}[fault])
        if (request["netfn"], request["command"]) == SPEED_SELECT:
            return session.send_ipmi_response()
        if (request["netfn"], request["command"]) == (ipmi_bridges.APP, ipmi_bridges.SEND_MESSAGE):
            self.pass_on(request, session)
            return None
        return super().handle_raw_request(request, session)

    def send_cipher_suites(
        self, myaddr: int, mylun: int, clientaddr: int, clientlun: int, clientseq: int, data: Any, sockaddr: Any
    ) -> None:
        records = bytes.fromhex("".join(SUITES[number] for number in self.load("suites", "3").split()))
        self.note("cipher suites")
        target = with_checksum(bytes([clientaddr, clientlun | 7 << 2]))
        said = target + with_checksum(bytes([myaddr, mylun | clientseq << 2, 0x54, 0, 1]) + records)
        header = bytes.fromhex("0600ff07 0600 00000000 00000000") + len(said).to_bytes(2, "little")
        self.serversocket.sendto(header + said, sockaddr)

    def pass_on(self, request: Any, session: Any) -> None:
        hops = ipmi_bridges.unwrap(request["netfn"], request["command"], bytes(request["data"]))
        last, way = hops[-1], ",".join(hop.place for hop in hops)
        self.note(f"bridged {way} netfn={last.netfn:#x} cmd={last.command:#x} data={last.data.hex()}")
        if not (DIRECTORY / way).is_dir():
            session.send_ipmi_response(code=0xD3)  # destination unavailable
            return
        answer: list[int] = []
        match last.netfn, last.command:
            case (6, 1):
                answer = DEVICE_ID
            case (0, 1):
                answer = [int(self.load(f"{way}/power", "0")), 0, 0]
            case (0, 2):
                self.store(f"{way}/power", str(last.data[0]))
        session.send_ipmi_response()
        for message in ipmi_bridges.answers(hops, bytes(answer)):
            session.send_payload(payload=bytearray(message), payload_type=IPMI, retry=False)

    def send_device_id(self, session: Any) -> None:
        session.send_ipmi_response(data=DEVICE_ID)

    def get_power_state(self) -> str:
        return "on" if self.load("power", "0") == "1" else "off"

    def power_on(self) -> None:
        self.store("power", "1")

    def power_off(self) -> None:
        self.store("power", "0")

    power_shutdown = power_off

    def power_cycle(self) -> int | None:
        return 0xD5 if self.get_power_state() == "off" else None

    power_reset = power_cycle

    def pulse_diag(self) -> None:
        self.note("nmi")

    def cold_reset(self) -> int:
        self.note("cold reset")
        return 0

    def get_system_boot_options(self, request: Any, session: Any) -> None:
        if request["data"][0] & 0x7F != 5:
            session.send_ipmi_response(code=0x80)
            return
        flags = bytes.fromhex(self.load("bootflags", "0000000000"))
        session.send_ipmi_response(data=[1, 5, *flags])

    def set_system_boot_options(self, request: Any, session: Any) -> None:
        if request["data"][0] & 0x7F == 5:
            self.store("bootflags", bytes(request["data"][1:6]).ljust(5, b"\0").hex())
        session.send_ipmi_response()


def main() -> None:
    """Run the BMC; KEY is K_g in hexadecimal, or empty."""
    user, password, key, address, port = sys.argv[2:]
    machine = Machine(authdata={user: password}, port=int(port), address=address)
    if key:
        machine.set_kg(bytes.fromhex(key))
    machine.listen()


if __name__ == "__main__":
    main()
