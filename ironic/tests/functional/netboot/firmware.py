"""The part of a machine's firmware that asks for an address and fetches files."""

import os
import socket
import struct
import time
from dataclasses import dataclass

DHCP_SERVER, RELAY = "127.0.0.1", "127.0.0.2"
MAGIC = b"\x63\x82\x53\x63"
_BLOCK = 512


@dataclass(frozen=True)
class Offer:
    """What a DHCP server has offered."""

    next_server: str
    options: dict[int, bytes]
    head_file: str

    @property
    def boot_program(self) -> str:
        """The file to boot, from the option or the head of the answer."""
        return self.options.get(67, b"").rstrip(b"\0").decode() or self.head_file


class Firmware:
    """Speaks DHCP through a relay, and TFTP."""

    def __init__(self, port: int, address: str) -> None:
        self._port, self._address = port, address
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            self._socket.setsockopt(socket.SOL_SOCKET, option, 1)
        self._socket.bind((RELAY, port))

    def discover(self, mac: str, *, ipxe: bool = False, seconds: float = 1.0) -> Offer | None:
        """Ask for an address; None without an offer."""
        transaction = os.urandom(4)
        head = struct.pack(
            "!BBBB4sHH4s4s4s4s", 1, 1, 6, 1, transaction, 0, 0, *[b"\0" * 4] * 3, socket.inet_aton(RELAY)
        )
        hardware = bytes.fromhex(mac.replace(":", "")).ljust(16, b"\0")
        # The kind of message, and what to answer: 60, 66 and 67. iPXE shows itself by option 175.
        options = b"\x35\x01\x01" + b"\x37\x03\x3c\x42\x43" + (b"\xaf\x03\x01\x01\x01" if ipxe else b"") + b"\xff"
        self._socket.sendto(head + hardware + b"\0" * 192 + MAGIC + options, (DHCP_SERVER, self._port))
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                answer = self._socket.recv(2048)
            except TimeoutError:
                return None
            if answer[4:8] == transaction and answer[0] == 2:
                file = answer[108:236].rstrip(b"\0").decode()
                return Offer(socket.inet_ntoa(answer[20:24]), _options(answer[240:]), file)
        return None

    def fetch(self, path: str) -> bytes | None:
        """Fetch a file over TFTP; None when the server has none."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            client.bind(("127.0.0.1", 0))
            client.sendto(b"\0\1" + path.encode() + b"\0octet\0", (self._address, 69))
            content = b""
            while True:
                packet, sender = client.recvfrom(4 + _BLOCK)
                if packet[:2] != b"\0\3":
                    return None
                content += packet[4:]
                client.sendto(b"\0\4" + packet[2:4], sender)
                if len(packet) < 4 + _BLOCK:
                    return content

    def close(self) -> None:
        """Be switched off."""
        self._socket.close()


def _options(data: bytes) -> dict[int, bytes]:
    found, place = {}, 0
    while place < len(data) and data[place] != 255:
        if data[place] == 0:
            place += 1
            continue
        length = data[place + 1]
        found[data[place]] = data[place + 2 : place + 2 + length]
        place += 2 + length
    return found
