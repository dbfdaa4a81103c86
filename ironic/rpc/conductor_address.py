"""The address of a conductor that is called without a broker, which is its name."""

import ipaddress

from ironic.conf import CONF
from ironic.core.texts.syntax import LOGICAL_NAME

_LONGEST_LABEL = 63


def address_of(conductor: str) -> tuple[str, int] | None:
    """Return host and port of a conductor from its name; None for a name that is no address.

    A name without a port has that of [json_rpc]port; an address of IPv6 that has one stands in brackets.
    """
    name, port = conductor, ""
    if conductor.startswith("["):
        name, bracket, rest = conductor[1:].partition("]")
        if not bracket or rest[:1] not in ("", ":"):
            return None
        port = rest[1:]
    elif conductor.count(":") == 1:
        name, _, port = conductor.partition(":")
    if port and not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        return None
    try:
        ipaddress.ip_address(name)
    except ValueError:
        labels = name.removesuffix(".").split(".")
        if not LOGICAL_NAME.fullmatch(name) or not all(0 < len(label) <= _LONGEST_LABEL for label in labels):
            return None
    return name, int(port or CONF.json_rpc.port)
