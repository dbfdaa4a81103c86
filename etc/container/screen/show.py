#!/usr/bin/python3
"""The screen of a graphical console: a VNC server on port 5900, and what APP names on its display.

APP is `redfish-graphical`, which shows the page of the BMC whose address is in APP_INFO (JSON), or `fake`, which shows
the name of the node. READ_ONLY is True where viewers may not type. The container ends when either program does.
"""

import json
import os
import socket
import subprocess
import sys
import time

PORT = 5900
DISPLAY = ":1"
START_SECONDS = 20.0
# What no program here uses: people log in on the page.
LOGIN = {"username", "password"}


def application(name: str, info: dict[str, object]) -> list[str]:
    """Return the command that shows an application; ValueError for one that this image does not have."""
    if name == "fake":
        node = str(info.get("node_uuid") or "a node")
        return ["xterm", "-fullscreen", "-fa", "Monospace", "-e", "/bin/sh", "-c", 'echo "$1"; exec cat', "sh", node]
    if name != "redfish-graphical":
        raise ValueError(f"APP is {name!r}, and this image shows redfish-graphical and fake")
    address = str(info.get("address") or "")
    if not address.startswith(("http://", "https://")):
        raise ValueError("APP_INFO has no address that begins with http:// or https://")
    # The container is the sandbox: the browser's own one needs namespaces that a container may not make.
    command = ["chromium", "--kiosk", "--no-sandbox", "--no-first-run", "--disable-dev-shm-usage"]
    command += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--incognito"]
    command += ["--user-data-dir=/tmp/browser"]
    # A path of a CA counts as a check; the authorities of this image are what it is checked with.
    if str(info.get("verify_ca", "True")).lower() in ("false", "0", "no", "off"):
        command.append("--ignore-certificate-errors")
    return [*command, address]


def server(read_only: bool) -> list[str]:
    """Return the command of the VNC server, which asks for no password: only the proxy may reach the port.

    It listens on every address of its network namespace, IPv4 and IPv6, as it can't know the one that is published. Who
    reaches one of them is a viewer: where the port is published ([vnc]container_publish_port), other containers of the
    same network, and with the network of the host all that reach the host.
    """
    allowed = "0" if read_only else "1"
    return [
        *("Xtigervnc", DISPLAY, "-rfbport", str(PORT), "-SecurityTypes", "None", "-geometry", "1280x960"),
        # Who looks whether it answers and goes, as the health check, is no one who guesses passwords.
        "-UseBlacklist=0",
        *(f"-AcceptKeyEvents={allowed}", f"-AcceptPointerEvents={allowed}", f"-AcceptCutText={allowed}"),
    ]


def answers() -> bool:
    """Return whether something on the port lets a viewer in; who is refused gets version 3.3."""
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=3) as connection:
            connection.settimeout(3)
            return connection.recv(12) == b"RFB 003.008\n"
    except OSError:
        return False


def main() -> int:
    """Show the application until it or the server ends; return the exit status."""
    if sys.argv[1:] == ["--health"]:
        return 0 if answers() else 1
    try:
        info = json.loads(os.environ.get("APP_INFO") or "{}")
        shown = application(os.environ.get("APP", ""), info)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if LOGIN & info.keys():
        # The environment that a process began with can be read by the browser as long as the process runs.
        kept = json.dumps({name: value for name, value in info.items() if name not in LOGIN})
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "APP_INFO": kept})
    screen = subprocess.Popen(server(os.environ.get("READ_ONLY", "").lower() == "true"))
    end = time.monotonic() + START_SECONDS
    while not answers():
        if screen.poll() is not None or time.monotonic() > end:
            print("The VNC server does not start.", file=sys.stderr)
            return 1
        time.sleep(0.2)
    program = subprocess.Popen(shown, env={**os.environ, "DISPLAY": DISPLAY, "HOME": "/tmp"})
    while screen.poll() is None and program.poll() is None:
        time.sleep(0.5)
    for each in (program, screen):
        each.terminate()
    return 1


if __name__ == "__main__":
    sys.exit(main())
