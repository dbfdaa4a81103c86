"""The drivers of this conductor: what can be combined, and the combination of one node.

Made once at start from what the options enable and what is installed; everything that is wrong is found before the
first fault is raised. Implementations are singletons. A node's driver is a thin object with links to them, built in
a few look-ups each time a task needs it.
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
from ironic.core.interface_choice import InterfaceRow
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.drivers import periodic
from ironic.drivers.bare_driver import BareDriver
from ironic.drivers.composer import Composer
from ironic.drivers.extensions import Extensions, installed
from ironic.drivers.hardware_type import AbstractHardwareType
from ironic.drivers.interfaces import BaseInterface
from ironic.drivers.offer import Offer
from ironic.drivers.periodic import PeriodicMethod
from ironic.drivers.wanted import Wanted

Implementations = Mapping[tuple[str, str], BaseInterface]


class Composed(Protocol):
    """What is looked at in a node; beside these, one column per kind of interface."""

    @property
    def driver(self) -> Any: ...
    @property
    def instance_info(self) -> Any: ...


class Composition:
    """Hardware types, implementations, and which goes with which."""

    def __init__(
        self,
        hardware_types: Mapping[str, AbstractHardwareType],
        offers: Mapping[str, Mapping[str, Offer]],
        implementations: Implementations,
    ) -> None:
        self.hardware_types = hardware_types
        self._offers = offers
        self._implementations = implementations

    @classmethod
    def load(cls, conf: cfg.ConfigOpts, extensions: Extensions | None = None) -> Self:
        """Compose what the options enable; raises one DriverLoadError with every fault there is."""
        composer = Composer(Wanted.from_conf(conf), installed() if extensions is None else extensions)
        return cls(*composer.compose())

    def interface_rows(self) -> list[InterfaceRow]:
        """Return everything that is offered here, for the table that the API looks at (S33)."""
        return [
            InterfaceRow(hardware_type, kind, name, name == offer.default, name not in offer.besides)
            for hardware_type, offers in self._offers.items()
            for kind, offer in offers.items()
            for name in offer.names
        ]

    def default(self, hardware_type: str, kind: str) -> str:
        """Return the default implementation of a kind (S12, S13)."""
        default = self._offer(hardware_type, kind).default
        if default is None:
            raise NoValidDefaultForInterface(kind=kind, driver=hardware_type)
        return default

    def default_driver(self, hardware_type: str) -> BareDriver:
        """Return the driver of a node that chose nothing; what is asked of a hardware type is asked of it (S31)."""
        chosen = {kind: self._offer(hardware_type, kind).default for kind in KINDS}
        return BareDriver({kind: self._implementations[kind, name] for kind, name in chosen.items() if name})

    def driver_for(self, node: Composed) -> BareDriver:
        """Return the driver of a node; what it chose and can't have here is None, with the reason kept (S26)."""
        links: dict[str, BaseInterface] = {}
        missing: dict[str, IronicError] = {}
        for kind in KINDS:
            offer = self._offer(node.driver, kind)
            name = _chosen(node, kind) or offer.default
            if name in offer.names:
                links[kind] = self._implementations[kind, name]
            else:
                missing[kind] = self._reason(node.driver, kind, name)
        return BareDriver(links, missing)

    def implementation(self, hardware_type: str, kind: str, name: str) -> BaseInterface:
        """Return an implementation that nodes of a hardware type can have here, or raise why they can't."""
        if name not in self._offer(hardware_type, kind).names:
            raise self._reason(hardware_type, kind, name)
        return self._implementations[kind, name]

    def periodic_methods(self) -> list[PeriodicMethod]:
        """Return the periodic methods of all implementations, once each (S18)."""
        return [
            method
            for (_kind, name), interface in self._implementations.items()
            for method in periodic.collect(interface, name)
        ]

    def _offer(self, hardware_type: str, kind: str) -> Offer:
        try:
            return self._offers[hardware_type][kind]
        except KeyError:
            raise DriverNotFound(driver=hardware_type) from None

    def _reason(self, hardware_type: str, kind: str, name: str | None) -> IronicError:
        if name is None:
            return NoValidDefaultForInterface(kind=kind, driver=hardware_type)
        if (kind, name) in self._implementations:
            supported = ", ".join(self._offer(hardware_type, kind).names)
            return IncompatibleInterface(kind=kind, name=name, driver=hardware_type, supported=supported)
        enabled = ", ".join(sorted(known for of_kind, known in self._implementations if of_kind == kind))
        return InterfaceNotFoundInEntrypoint(kind=kind, name=name, enabled=enabled)


def _chosen(node: Composed, kind: str) -> str | None:
    """Return the name a node chose; the instance on it may ask for another one than the node as a rule has."""
    column = interface_field(kind)
    name: str | None = node.instance_info.get(column) or getattr(node, column)
    return name
