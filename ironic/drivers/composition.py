"""The drivers of this conductor: its hardware types, their interfaces, and the driver of one node.

A composition is created once at start from the options and the installed packages. Implementations are singletons. A
node's driver is a small object with references to them, created by a few look-ups whenever a task needs it.
"""

from collections.abc import Mapping
from typing import Any, Protocol, Self

from oslo_config import cfg

from ironic.core.errors import (
    DriverNotFound,
    IncompatibleInterface,
    InterfaceNotFoundInEntrypoint,
    IronicError,
    NoValidDefaultForInterface,
)
from ironic.core.hardware_interfaces import KINDS, InterfaceRow, interface_field
from ironic.drivers import driver_periodics
from ironic.drivers.composer import Composer, SupportedInterfaces
from ironic.drivers.driver_options import DriverOptions
from ironic.drivers.driver_periodics import PeriodicMethod
from ironic.drivers.extensions import Extensions, installed
from ironic.drivers.hardware_type import AbstractHardwareType
from ironic.drivers.interfaces import BaseInterface
from ironic.drivers.task import BareDriver

Implementations = Mapping[tuple[str, str], BaseInterface]


class NodeColumns(Protocol):
    """The columns of a node that choose its driver; besides these, one column per kind of interface."""

    @property
    def driver(self) -> Any: ...
    @property
    def instance_info(self) -> Any: ...


class Composition:
    """Hardware types, implementations, and which of them can be combined."""

    def __init__(
        self,
        hardware_types: Mapping[str, AbstractHardwareType],
        supported: Mapping[str, Mapping[str, SupportedInterfaces]],
        implementations: Implementations,
    ) -> None:
        self.hardware_types = hardware_types
        self._supported = supported
        self._implementations = implementations

    @classmethod
    def load(cls, conf: cfg.ConfigOpts, extensions: Extensions | None = None) -> Self:
        """Compose what the options enable; raise one DriverLoadError with all faults."""
        composer = Composer(DriverOptions.from_conf(conf), installed() if extensions is None else extensions)
        return cls(*composer.compose())

    def interface_rows(self) -> list[InterfaceRow]:
        """Return all supported interfaces, for the table that the API reads (S33)."""
        return [
            InterfaceRow(hardware_type, kind, name, name == supported.default, name not in supported.unlisted)
            for hardware_type, kinds in self._supported.items()
            for kind, supported in kinds.items()
            for name in supported.names
        ]

    def default(self, hardware_type: str, kind: str) -> str:
        """Return the name of the default interface of a kind (S12, S13); raise NoValidDefaultForInterface."""
        default = self._interfaces(hardware_type, kind).default
        if default is None:
            raise NoValidDefaultForInterface(kind=kind, driver=hardware_type)
        return default

    def default_driver(self, hardware_type: str) -> BareDriver:
        """Return the driver with the default interfaces, which answers requests on the hardware type itself (S31)."""
        chosen = {kind: self._interfaces(hardware_type, kind).default for kind in KINDS}
        return BareDriver({kind: self._implementations[kind, name] for kind, name in chosen.items() if name})

    def driver_for(self, node: NodeColumns) -> BareDriver:
        """Return the driver of a node; an interface that is unavailable here is None, with its error kept (S26).

        Raise DriverNotFound when the hardware type is not enabled on this conductor.
        """
        links: dict[str, BaseInterface] = {}
        missing: dict[str, IronicError] = {}
        for kind in KINDS:
            supported = self._interfaces(node.driver, kind)
            column = interface_field(kind)
            # An instance may request another interface than the node's own.
            name = node.instance_info.get(column) or getattr(node, column) or supported.default
            if name in supported.names:
                links[kind] = self._implementations[kind, name]
            else:
                missing[kind] = self._unavailable(node.driver, kind, name)
        return BareDriver(links, missing, self.hardware_types[node.driver].bmc_address_keys)

    def implementation(self, hardware_type: str, kind: str, name: str) -> BaseInterface:
        """Return an implementation that the hardware type supports here.

        Raise DriverNotFound, IncompatibleInterface or InterfaceNotFoundInEntrypoint.
        """
        if name not in self._interfaces(hardware_type, kind).names:
            raise self._unavailable(hardware_type, kind, name)
        return self._implementations[kind, name]

    def periodic_methods(self) -> list[PeriodicMethod]:
        """Return the periodic methods of all implementations, once each (S18)."""
        return [
            method
            for (_kind, name), interface in self._implementations.items()
            for method in driver_periodics.collect(interface, name)
        ]

    def _interfaces(self, hardware_type: str, kind: str) -> SupportedInterfaces:
        try:
            return self._supported[hardware_type][kind]
        except KeyError:
            raise DriverNotFound(driver=hardware_type) from None

    def _unavailable(self, hardware_type: str, kind: str, name: str | None) -> IronicError:
        """Return the error for an interface that nodes of a hardware type can't use here."""
        if name is None:
            return NoValidDefaultForInterface(kind=kind, driver=hardware_type)
        if (kind, name) in self._implementations:
            supported = ", ".join(self._interfaces(hardware_type, kind).names)
            return IncompatibleInterface(kind=kind, name=name, driver=hardware_type, supported=supported)
        enabled = ", ".join(sorted(known for of_kind, known in self._implementations if of_kind == kind))
        return InterfaceNotFoundInEntrypoint(kind=kind, name=name, enabled=enabled)
