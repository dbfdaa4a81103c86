"""What is said to a DHCP server, and who says it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from ironic.core.errors import IronicError

# Options by the numbers of RFC 2132; siaddr is a field of the answer's head, not an option.
BOOT_PROGRAM: Final = "67"
TFTP_SERVER: Final = "66"
VENDOR_CLASS: Final = "60"
NEXT_SERVER: Final = "siaddr"


class DhcpError(IronicError):
    """A DHCP server can't be told."""

    text = "The DHCP server could not be told about {what}: {error}"


@dataclass(frozen=True, slots=True)
class Host:
    """One network card of a machine; ``id`` is what its files and tags are named by (the port's UUID)."""

    id: str
    mac: str


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to answer; ``to_ipxe`` says to whom: iPXE only (True), everything else (False), or all (None)."""

    name: str
    value: str
    to_ipxe: bool | None = None


class DhcpProvider(Protocol):
    """One kind of DHCP server. Both methods may be repeated; they raise DhcpError."""

    def serve(self, hosts: Sequence[Host], options: Sequence[Option]) -> None:
        """Have these cards answered with these options."""

    def withdraw(self, hosts: Sequence[Host]) -> None:
        """Have them answered no longer; nothing happens to those that never were."""
