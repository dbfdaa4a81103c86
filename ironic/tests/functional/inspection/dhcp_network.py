"""A network with a DHCP server and machines on it, in a network namespace that ends with this program.

    unshare --net python -m ironic.tests.functional.inspection.dhcp_network CONFIG

Runs a dnsmasq by a configuration file on `eth1`, 192.0.2.1, and says "ready". Then each line "MAC ARCHITECTURE [ipxe]"
on standard input is a machine that asks for an address; the output is its offer, "address boot-file" or "nothing".
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from typing import Final

_SETTING_UP: Final = """
link add eth1 address 52:54:00:ff:00:01 type veth peer name machines
addr add 192.0.2.1/24 dev eth1
link set lo up
link set eth1 up
link set machines up promisc on
"""
_SERVER: Final = "192.0.2.1"
_MAGIC: Final = b"\x63\x82\x53\x63"
_BOOT_FILE, _CLIENT_ARCH, _IPXE, _END = 67, 93, 175, 255
# dnsmasq pings an address before it offers it the first time.
_PATIENCE: Final = 60.0

# What the server has said since the last question.
_LOG: Final[list[str]] = []


def main() -> None:
    """Set up, then answer the lines."""
    for line in _SETTING_UP.strip().splitlines():
        subprocess.run(["ip", *line.split()], check=True)
    program = shutil.which("dnsmasq", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "dnsmasq"
    options = [f"--conf-file={sys.argv[1]}", "--keep-in-foreground", "--user=root", "--pid-file="]
    with subprocess.Popen([program, *options], stderr=subprocess.PIPE, text=True) as server:
        try:
            _await(server)
            _say("ready")
            threading.Thread(target=lambda: _LOG.extend(server.stderr or ()), daemon=True).start()
            for line in sys.stdin:
                mac, architecture, *ipxe = line.split()
                _say(offered(mac, int(architecture), ipxe=bool(ipxe)))
        finally:
            server.terminate()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _await(server: "subprocess.Popen[str]") -> None:
    assert server.stderr is not None
    for line in server.stderr:
        if "DHCP, IP range" in line or "DHCP, sockets bound" in line:
            return
        sys.stderr.write(line)
    raise SystemExit("dnsmasq has ended")


def offered(mac: str, architecture: int, *, ipxe: bool) -> str:
    """Ask for an address as a machine does."""
    transaction = os.urandom(4)
    _LOG.clear()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800)) as wire:
        wire.bind(("machines", 0))
        wire.send(_frame(mac, _discover(mac, transaction, architecture, ipxe=ipxe)))
        deadline = time.monotonic() + _PATIENCE
        while (left := deadline - time.monotonic()) > 0:
            wire.settimeout(min(left, 0.1))
            try:
                frame = wire.recv(2048)
            except TimeoutError:
                if any(f"{mac} ignored" in line for line in _LOG):
                    break
                continue
            # Ethernet 14, IPv4 20, UDP 8 bytes; an answer to this question, from the port of servers.
            if frame[34:36] == b"\0\x43" and frame[46:50] == transaction:
                return _read(frame[42:])
    return "nothing"


def _read(answer: bytes) -> str:
    boot_file = answer[108:236].rstrip(b"\0").decode()
    options = answer[240:]
    while options and options[0] != _END:
        kind, size = options[0], options[1]
        if kind == _BOOT_FILE:
            boot_file = options[2 : 2 + size].rstrip(b"\0").decode()
        options = options[2 + size :]
    return f"{socket.inet_ntoa(answer[16:20])} {boot_file}"


def _discover(mac: str, transaction: bytes, architecture: int, *, ipxe: bool) -> bytes:
    head = struct.pack("!BBBB4sHH4s4s4s4s", 1, 1, 6, 0, transaction, 0, 0x8000, *[b"\0" * 4] * 4)
    hardware = bytes.fromhex(mac.replace(":", "")).ljust(16, b"\0")
    options = b"\x35\x01\x01" + struct.pack("!BBH", _CLIENT_ARCH, 2, architecture)
    options += struct.pack("!BBB", 55, 1, _BOOT_FILE) + b"\x3c\x09PXEClient"
    if ipxe:
        options += struct.pack("!BB", _IPXE, 3) + b"\x08\x01\x01"
    return head + hardware + b"\0" * 192 + _MAGIC + options + b"\xff"


def _frame(mac: str, data: bytes) -> bytes:
    udp = struct.pack("!HHHH", 68, 67, 8 + len(data), 0) + data
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, b"\0" * 4, b"\xff" * 4)
    head = head[:10] + struct.pack("!H", _checksum(head)) + head[12:]
    return b"\xff" * 6 + bytes.fromhex(mac.replace(":", "")) + b"\x08\0" + head + udp


def _checksum(head: bytes) -> int:
    total = sum(struct.unpack(f"!{len(head) // 2}H", head))
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


if __name__ == "__main__":
    main()
