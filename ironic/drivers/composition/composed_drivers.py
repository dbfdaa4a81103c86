"""The drivers of this conductor: hardware types and classic drivers, their interfaces, and the driver of one node.

A composition is created once at start from the options and the installed packages. Implementations are singletons. A
node's driver is a small object with references to them, created by a few look-ups whenever a task needs it.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol, Self

from oslo_config import cfg

from ironic.core.errors import (
    DriverNotFound,
    FixedInterface,
    IncompatibleInterface,
    InterfaceNotFoundInEntrypoint,
    IronicError,
    NoValidDefaultForInterface,
    UnsupportedDriverExtension,
)
from ironic.core.flows.flow import in_state
from ironic.core.hardware_interfaces import KINDS, InterfaceRow, facts_of, interface_field
from ironic.drivers.composition.clean_priorities import ReloadedPriorities
from ironic.drivers.composition.composer import Composer, Driver, SupportedInterfaces
from ironic.drivers.composition.driver_options import DriverOptions
from ironic.drivers.composition.extensions import Extensions, installed
from ironic.drivers.contract import driver_periodics
from ironic.drivers.contract.driver_periodics import PeriodicMethod
from ironic.drivers.contract.interfaces import BaseInterface
from ironic.drivers.contract.task import BareDriver
from ironic.integrations.own_directories import OwnDirectory

# Of the name of an interface, as a column has it.
_LONGEST_NAME: Final = 255


class NodeColumns(Protocol):
    """The columns of a node that choose its driver; besides these, one column per kind of interface."""

    @property
    def driver(self) -> Any: ...
    @property
    def instance_info(self) -> Any: ...
    @property
    def provision_state(self) -> Any: ...


class Composition:
    """Drivers, implementations, and which of them can be combined."""

    def __init__(
        self,
        drivers: Mapping[str, Driver],
        supported: Mapping[str, Mapping[str, SupportedInterfaces]],
        priorities: ReloadedPriorities | None = None,
    ) -> None:
        self.drivers = drivers
        self._supported = supported
        self._priorities = priorities

    @classmethod
    def load(cls, conf: cfg.ConfigOpts, extensions: Extensions | None = None) -> Self:
        """Compose what the options enable; raise one DriverLoadError with all faults."""
        composer = Composer(DriverOptions.from_conf(conf), installed() if extensions is None else extensions)
        drivers, supported = composer.compose()
        return cls(drivers, supported, ReloadedPriorities(conf, composer.loaded))

    def reload(self) -> None:
        """Check the options that apply without a restart; unusable ones stay as they were (S48)."""
        if self._priorities is not None:
            self._priorities.reload()

    def interface_rows(self) -> list[InterfaceRow]:
        """Return all interfaces that nodes may choose, for the table that the API reads (S33)."""
        return [
            InterfaceRow(
                driver, kind, name, name == supported.default, name not in supported.unlisted, facts_of(interface)
            )
            for driver, kinds in self._supported.items()
            for kind, supported in kinds.items()
            for name, interface in supported.by_name.items()
            if name is not None
        ]

    def default(self, driver: str, kind: str) -> str:
        """Return the name of the default interface of a kind (S12, S13); raise NoValidDefaultForInterface."""
        default = self._interfaces(driver, kind).default
        if default is None:
            raise self._unavailable(driver, kind, None)
        return default

    def default_driver(self, driver: str) -> BareDriver:
        """Return the driver with the default interfaces, which answers requests on the driver itself (S31)."""
        return self._compose(driver, {})

    def driver_for(self, node: NodeColumns) -> BareDriver:
        """Return the driver of a node; an interface that is unavailable here is None, with its error kept (S26).

        Raise DriverNotFound when the driver is not enabled on this conductor.
        """
        columns = {kind: interface_field(kind) for kind in KINDS}
        # An instance may request another interface than the node's own; how the machine is cleaned is no choice of its.
        flow = in_state(node.provision_state)
        wanted = {} if flow is not None and flow.ignores_instance else node.instance_info
        # Its value may be anything, and what is no name is one that is not there.
        own = {kind: str(wanted[name])[:_LONGEST_NAME] for kind, name in columns.items() if wanted.get(name)}
        chosen = {kind: own.get(kind) or getattr(node, name) for kind, name in columns.items()}
        return self._compose(node.driver, chosen)

    def _compose(self, driver: str, chosen: Mapping[str, str | None]) -> BareDriver:
        links: dict[str, BaseInterface] = {}
        missing: dict[str, IronicError] = {}
        for kind in KINDS:
            supported = self._interfaces(driver, kind)
            name = chosen.get(kind) or supported.default
            if name in supported.by_name:
                links[kind] = supported.by_name[name]
            else:
                missing[kind] = self._unavailable(driver, kind, name)
        return BareDriver(links, missing, self.drivers[driver].bmc_address_keys)

    def implementation(self, driver: str, kind: str, name: str) -> BaseInterface:
        """Return an implementation that the driver supports here.

        Raise DriverNotFound, IncompatibleInterface, FixedInterface or InterfaceNotFoundInEntrypoint.
        """
        try:
            return self._interfaces(driver, kind).by_name[name]
        except KeyError:
            raise self._unavailable(driver, kind, name) from None

    def choices(self, driver: str, kind: str) -> tuple[str, ...]:
        """Return the names of a kind that nodes of a driver may choose from here, in order of preference."""
        return self._interfaces(driver, kind).names

    def written_directories(self) -> set[OwnDirectory]:
        """Return the directories that nodes of these drivers may need writable."""
        return {
            directory
            for kinds in self._supported.values()
            for supported in kinds.values()
            for interface in supported.by_name.values()
            for directory in interface.written_directories()
        }

    def periodic_methods(self) -> list[PeriodicMethod]:
        """Return the periodic methods of all implementations, once each (S18).

        Classic drivers may have objects of the same class. A method that is called once per node belongs to each of
        them, for the nodes of its driver; another one is called for the first object only.
        """
        found: dict[object, PeriodicMethod] = {}
        for driver, kinds in self._supported.items():
            for kind, supported in kinds.items():
                for name, interface in supported.by_name.items():
                    users = {"driver": driver} if name is None else {interface_field(kind): name}
                    what = f"{kind} interface {name or f'of driver {driver}'}"
                    for method in driver_periodics.collect(interface, what, users):
                        found.setdefault(method.identity, method)
        return list(found.values())

    def _interfaces(self, driver: str, kind: str) -> SupportedInterfaces:
        try:
            return self._supported[driver][kind]
        except KeyError:
            raise DriverNotFound(driver=driver) from None

    def _unavailable(self, driver: str, kind: str, name: str | None) -> IronicError:
        """Return the error for an interface that nodes of a driver can't use here."""
        supported = self._interfaces(driver, kind).names
        if not supported:
            if name is None:
                return UnsupportedDriverExtension(driver=driver, extension=f"{kind} interfaces")
            return FixedInterface(kind=kind, driver=driver)
        if name is None:
            return NoValidDefaultForInterface(kind=kind, driver=driver)
        enabled = sorted({known for kinds in self._supported.values() for known in kinds[kind].names})
        if name in enabled:
            return IncompatibleInterface(kind=kind, name=name, driver=driver, supported=", ".join(supported))
        return InterfaceNotFoundInEntrypoint(kind=kind, name=name, enabled=", ".join(enabled))
