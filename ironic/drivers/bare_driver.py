"""The driver of one node: thirteen links to implementations that all nodes share (S15).

A link is None when the node's choice can't be had here, because it was disabled after the node was enrolled (S26).
Then everything that doesn't need it goes on; what does need it asks with ``require`` and gets the reason as an error.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Never

from ironic.core.errors import IronicError, UnsupportedDriverExtension
from ironic.core.interface_kinds import CORE_KINDS, KINDS, OPTIONAL_KINDS

if TYPE_CHECKING:
    from ironic.drivers import interfaces

_NOTHING_MISSING: Final[Mapping[str, IronicError]] = MappingProxyType({})


class BareDriver:
    """The interfaces of one node by kind."""

    __slots__ = (*KINDS, "_missing")

    core_interfaces: ClassVar[tuple[str, ...]] = CORE_KINDS
    optional_interfaces: ClassVar[tuple[str, ...]] = OPTIONAL_KINDS
    all_interfaces: ClassVar[tuple[str, ...]] = KINDS
    non_vendor_interfaces: ClassVar[tuple[str, ...]] = tuple(kind for kind in KINDS if kind != "vendor")

    if TYPE_CHECKING:
        bios: interfaces.BIOSInterface | None
        boot: interfaces.BootInterface | None
        console: interfaces.ConsoleInterface | None
        deploy: interfaces.DeployInterface | None
        firmware: interfaces.FirmwareInterface | None
        inspect: interfaces.InspectInterface | None
        management: interfaces.ManagementInterface | None
        network: interfaces.NetworkInterface | None
        power: interfaces.PowerInterface | None
        raid: interfaces.RAIDInterface | None
        rescue: interfaces.RescueInterface | None
        storage: interfaces.StorageInterface | None
        vendor: interfaces.VendorInterface | None

    def __init__(
        self,
        links: Mapping[str, object] | None = None,
        missing: Mapping[str, IronicError] = _NOTHING_MISSING,
    ) -> None:
        for kind in KINDS:
            setattr(self, kind, links.get(kind) if links else None)
        # One empty mapping for all: thousands of drivers exist, and hardly one lacks anything.
        self._missing = missing or _NOTHING_MISSING

    def require(self, kind: str) -> "interfaces.BaseInterface":
        """Return the interface of a kind, or raise why the node has none; typed ones are properties of the task."""
        interface: interfaces.BaseInterface | None = getattr(self, kind)
        return interface or self.refuse(kind)

    def refuse(self, kind: str) -> Never:
        """Raise why the node has no interface of a kind."""
        raise self._missing.get(kind) or UnsupportedDriverExtension(driver="of this node", extension=kind)

    def get_properties(self) -> dict[str, str]:
        """Return what the interfaces understand in driver_info."""
        properties: dict[str, str] = {}
        for kind in KINDS:
            if (interface := getattr(self, kind)) is not None:
                properties.update(interface.get_properties())
        return properties
