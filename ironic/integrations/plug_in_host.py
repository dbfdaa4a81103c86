"""What third-party plug-ins ask of the options and of the conductor's host."""

import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from ironic.conf import CONF
from ironic.core.memory.agent_memory import is_fast_track_wanted

_FIPS: Final = Path("/proc/sys/crypto/fips_enabled")
# Nothing is sent to it: to connect a datagram socket chooses the route.
_ANY_PORT: Final = 9


class Attempt(Protocol):
    """What the library tenacity hands to a condition: the number of the attempt that has ended, from 1."""

    attempt_number: int


def fast_track_enabled(node: Any) -> bool:
    """Return whether the ramdisk of the node is to be kept: by driver_info.fast_track, or [deploy]fast_track."""
    return is_fast_track_wanted(node.driver_info, CONF.deploy.fast_track)


def stop_after_retries(option: str, group: str | None = None) -> Callable[[Attempt], bool]:
    """Return a condition for tenacity: to stop after as many retries as the option says, read at each attempt."""

    def is_last(attempt: Attempt) -> bool:
        most: int = (CONF[group] if group else CONF)[option]
        return attempt.attempt_number > most

    return is_last


def get_route_source(dest: str, ignore_link_local: bool = True) -> str | None:
    """Return the address of this host from which an IP address is reached; None without a route.

    An address that counts only on its link is none, unless asked for.
    """
    family = socket.AF_INET6 if ":" in dest else socket.AF_INET
    with suppress(OSError, ValueError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        ipaddress.ip_address(dest)
        probe.connect((dest, _ANY_PORT))
        source: str = probe.getsockname()[0]
        if not (ignore_link_local and ipaddress.ip_address(source).is_link_local):
            return source
    return None


def is_fips_enabled() -> bool:
    """Return whether the kernel of this host allows only cryptography of FIPS."""
    try:
        return _FIPS.read_text().strip() == "1"
    except OSError:
        return False
