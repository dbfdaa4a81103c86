"""DHCP providers: their interface, the choice by [dhcp]dhcp_provider, and `none` for an external server."""

import functools
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Final, Protocol

from ironic.conf import CONF, config_files
from ironic.core.errors import InvalidParameterValue, IronicError

# Options by the numbers of RFC 2132; siaddr is a field of the DHCP header, not an option.
BOOT_PROGRAM: Final = "67"
TFTP_SERVER: Final = "66"
VENDOR_CLASS: Final = "60"
NEXT_SERVER: Final = "siaddr"

LOG = logging.getLogger(__name__)

GROUP: Final = "ironic.dhcp"

_DEFAULT: Final = "neutron"


class DhcpError(IronicError):
    """A DHCP server can't be configured."""

    text = "The DHCP server could not be configured for {what}: {error}"


@dataclass(frozen=True, slots=True)
class Host:
    """One network card of a machine; ``id`` (the port's UUID) names its files and tags."""

    id: str
    mac: str


@dataclass(frozen=True, slots=True)
class Option:
    """One DHCP option, for iPXE only (``to_ipxe`` True), for all other clients (False), or for all (None)."""

    name: str
    value: str
    to_ipxe: bool | None = None


class DhcpProvider(Protocol):
    """One kind of DHCP server. Both methods may be repeated; they raise DhcpError."""

    def serve(self, hosts: Sequence[Host], options: Sequence[Option]) -> None:
        """Serve these cards with these options."""

    def withdraw(self, hosts: Sequence[Host]) -> None:
        """Stop serving these cards; those that were never served are ignored."""


class ExternalDhcpServer:
    """Provider `none`: the operator has configured a DHCP server that serves all machines alike."""

    def serve(self, hosts: Sequence[Host], options: Sequence[Option]) -> None:
        """Do nothing."""

    def withdraw(self, hosts: Sequence[Host]) -> None:
        """Do nothing."""


def provider() -> DhcpProvider:
    """Return the provider that [dhcp]dhcp_provider names, or raise InvalidParameterValue when there is none.

    The default of the option, neutron, means `none` where no such provider is installed.
    """
    name = CONF.dhcp.dhcp_provider
    return _provider(name, name == _DEFAULT and not config_files.is_set(CONF, "dhcp", "dhcp_provider"))


@functools.cache
def _provider(name: str, is_default: bool) -> DhcpProvider:
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found and is_default:
        LOG.info(
            "[dhcp]dhcp_provider is not set and its default, %s, is not available here, so machines get their boot "
            "options from a DHCP server that the operator has configured (dhcp_provider = none).",
            name,
        )
        name = "none"
    if name not in found:
        raise InvalidParameterValue(
            err=f"There is no DHCP provider {name!r} here. Set [dhcp]dhcp_provider to one of: "
            f"{', '.join(sorted(found))}."
        )
    try:
        made: DhcpProvider = found[name].load()()
    except Exception as error:
        raise InvalidParameterValue(
            err=f"DHCP provider {name} ([dhcp]dhcp_provider) can't be loaded: {type(error).__name__}: {error}. Repair "
            "its package, or choose another one."
        ) from error
    return made
