"""What systemd, or another manager with the same protocol, learns about this process (sd_notify(3)).

A unit of `Type=notify` waits for READY=1. The manager names a datagram socket in NOTIFY_SOCKET, one with a path or an
abstract one, and with WATCHDOG_USEC the time within which it wants a sign of life. Without a manager nothing happens.
"""

import logging
import os
import socket
from typing import Final

LOG = logging.getLogger(__name__)

# Signs of life within the time that the manager allows.
_SIGNS: Final = 2
_SEND_SECONDS: Final = 1.0


def tell(state: str) -> None:
    """Send one assignment, such as READY=1; a manager that does not listen is none of our trouble."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.settimeout(_SEND_SECONDS)
            # "@" stands for the null byte of an abstract address.
            sender.sendto(state.encode(), f"\0{address[1:]}" if address.startswith("@") else address)
    except OSError as error:
        LOG.warning("The service manager at %s does not take %s: %s", address, state, error)


def watchdog_seconds() -> float | None:
    """Return after how many seconds a sign of life is due; None if the manager wants none of this process."""
    given, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    if not given.isdecimal() or int(given) == 0 or (process and process != str(os.getpid())):
        return None
    return int(given) / 1_000_000 / _SIGNS
