"""Why an address can't be bound, in words that name what to change."""

import errno
import socket
from contextlib import suppress
from pathlib import Path
from typing import Final

# Kernel tables of this host's addresses.
_IPV4: Final = Path("/proc/net/fib_trie")
_IPV6: Final = Path("/proc/net/if_inet6")


def explained(error: OSError, host: str, port: int, group: str) -> OSError:
    """Return the error with a reason that names the options to change; ``group`` has them."""
    port_option, address_option = ("http_server_port", "http_server_ip") if group == "deploy" else ("port", "host_ip")
    reasons = {
        errno.EADDRINUSE: f"port {port} of {host} is taken, so another process listens there: it may be this service, "
        f"running already. Stop it, or set [{group}]{port_option} to a free port",
        errno.EADDRNOTAVAIL: f"{host} is no address of this host, which has {', '.join(own())}. Set "
        f"[{group}]{address_option} to one of them",
        errno.EACCES: f"this user may not listen on port {port} of {host}. Set [{group}]{port_option} to a port above "
        "1023",
    }
    number = error.errno or 0
    return OSError(number, reasons.get(number, f"{host} port {port} can't be bound: {error.strerror or error}"))


def own() -> list[str]:
    """Return the addresses of this host, IPv4 first; the loopback's where the kernel does not list them."""
    found: list[str] = []
    with suppress(OSError):
        lines = _IPV4.read_text().splitlines()
        # The address stands in the line before the one that calls it local.
        pairs = zip(lines, lines[1:], strict=False)
        found += [line.split()[-1] for line, kind in pairs if "/32 host LOCAL" in kind]
    with suppress(OSError):
        hexadecimal = [line.split()[0] for line in _IPV6.read_text().splitlines()]
        found += [socket.inet_ntop(socket.AF_INET6, bytes.fromhex(each)) for each in hexadecimal]
    return list(dict.fromkeys(found)) or ["127.0.0.1"]
