"""Many Redfish BMCs in a process of their own, each on a port: slow as real ones, and some of them dead.

    with many_bmcs(500, dead=50) as addresses: ...

A dead BMC either refuses connections or accepts them and never answers. Run as a program, this file is the BMCs: it
prints their addresses and serves until its input ends.
"""

import argparse
import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

SECONDS_PER_ANSWER = 0.05
SYSTEM = "/redfish/v1/Systems/1"
SESSIONS = "/redfish/v1/SessionService/Sessions"
USER, PASSWORD = "operator", "secret-of-the-bmc"

_DOCUMENTS: dict[str, Any] = {
    "/redfish/v1": {
        "Id": "Root",
        "Vendor": "Acme",
        "Systems": {"@odata.id": "/redfish/v1/Systems"},
        "Links": {"Sessions": {"@odata.id": SESSIONS}},
    },
    "/redfish/v1/Systems": {"Name": "Systems", "Members": [{"@odata.id": SYSTEM}]},
    SYSTEM: {
        "Id": "1",
        "PowerState": "Off",
        "Status": {"Health": "OK"},
        "Boot": {"BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideMode": "UEFI"},
        "Bios": {"@odata.id": f"{SYSTEM}/Bios"},
        "Actions": {"#ComputerSystem.Reset": {"target": f"{SYSTEM}/Actions/ComputerSystem.Reset"}},
    },
    f"{SYSTEM}/Bios": {"Id": "Bios", "Name": "Bios", "Attributes": {f"Setting{number}": "On" for number in range(50)}},
}


@contextlib.contextmanager
def many_bmcs(count: int, dead: int = 0) -> Iterator[list[str]]:
    """Run so many BMCs until the block ends; the first ones are dead, in turn by refusal and by silence."""
    command = [sys.executable, "-P", __file__, str(count), str(dead)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()


def driver_info(address: str) -> dict[str, str]:
    """Return what a node needs to reach one of them."""
    return {"redfish_address": address, "redfish_username": USER, "redfish_password": PASSWORD}


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lines = head.split("\r\n")
    method, path, _ = lines[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    await asyncio.sleep(SECONDS_PER_ANSWER)
    status, document, more = _result(method, path.rstrip("/"), headers, body)
    content = json.dumps(document).encode()
    writer.write(f"HTTP/1.1 {status} .\r\nContent-Length: {len(content)}\r\nConnection: close\r\n{more}\r\n".encode())
    writer.write(content)
    await writer.drain()
    writer.close()


def _result(method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any, str]:
    if method == "POST" and path == SESSIONS:
        is_right = json.loads(body) == {"UserName": USER, "Password": PASSWORD}
        return (201, {}, f"X-Auth-Token: token\r\nLocation: {SESSIONS}/1\r\n") if is_right else (401, {}, "")
    if path != "/redfish/v1" and headers.get("x-auth-token") != "token":
        return 401, {}, ""
    if method != "GET":
        return 200, {}, ""
    return (200, _DOCUMENTS[path], "") if path in _DOCUMENTS else (404, {}, "")


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(-1)


async def _serve(count: int, dead: int) -> None:
    addresses, kept = [], []
    for number in range(count):
        if number < dead and number % 2 == 0:
            closed = socket.socket()
            closed.bind(("127.0.0.1", 0))  # not listening: it refuses, and no other process can take the port
            kept.append(closed)
            port = closed.getsockname()[1]
        else:
            server = await asyncio.start_server(_say_nothing if number < dead else _answer, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
        addresses.append(f"http://127.0.0.1:{port}")
    sys.stdout.write(f"{json.dumps(addresses)}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("dead", type=int)
    asked = parser.parse_args()
    asyncio.run(_serve(asked.count, asked.dead))
