"""What an interface gets to see of the work it is part of.

Every method of an interface takes a task. The conductor's task has more to offer, but a driver that keeps to what
stands here can be tested with a few plain objects and runs under any engine. Attributes are columns of the stored
rows; JSON columns are dictionaries that may be changed in place and are stored by ``save()``.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from ironic.core.context import RequestContext
from ironic.drivers.bare_driver import BareDriver

if TYPE_CHECKING:
    from ironic.drivers.interfaces import (
        BIOSInterface,
        BootInterface,
        ConsoleInterface,
        DeployInterface,
        FirmwareInterface,
        InspectInterface,
        ManagementInterface,
        NetworkInterface,
        PowerInterface,
        RAIDInterface,
        RescueInterface,
        StorageInterface,
        VendorInterface,
    )


class Items(Protocol):
    """Named things of a node that are found out as a whole, such as BIOS settings."""

    def sync(self, node_id: int, items: Iterable[Mapping[str, Any]]) -> None:
        """Give the node exactly these things; each is a mapping by the names of the columns."""

    def put(self, node_id: int, items: Iterable[Mapping[str, Any]]) -> None:
        """Add or change these things; the others of the node stay."""


class Store(Protocol):
    """Where an interface keeps what people look up without asking the machine."""

    @property
    def bios_settings(self) -> Items:
        """By ``name``: ``value``, ``attribute_type``, ``allowable_values``, ``read_only`` and so on."""

    @property
    def firmware(self) -> Items:
        """By ``component``: ``current_version``, ``last_version_flashed``, ``vendor`` and so on."""


class Node(Protocol):
    """The machine's record."""

    # What a driver may set; everything else changes through the methods below or in place.
    power_state: Any
    raid_config: Any
    target_raid_config: Any
    deploy_interface: Any

    @property
    def id(self) -> Any: ...
    @property
    def uuid(self) -> Any: ...
    @property
    def driver(self) -> Any: ...
    @property
    def driver_info(self) -> Any: ...
    @property
    def driver_internal_info(self) -> Any: ...
    @property
    def instance_info(self) -> Any: ...
    @property
    def properties(self) -> Any: ...
    @property
    def instance_uuid(self) -> Any: ...
    @property
    def provision_state(self) -> Any: ...
    @property
    def fault(self) -> Any: ...
    @property
    def disable_power_off(self) -> Any: ...
    @property
    def network_data(self) -> Any: ...

    def as_dict(self) -> Any:
        """Return all columns as plain data that shares nothing with the record."""

    def save(self) -> Any:
        """Store what has changed."""

    def set_driver_internal_info(self, key: str, value: Any) -> Any:
        """Remember something of the driver's own under a key; stored by ``save()``."""

    def del_driver_internal_info(self, key: str) -> Any:
        """Forget it; nothing happens when it isn't there."""


class Port(Protocol):
    """A network port of the machine."""

    @property
    def uuid(self) -> Any: ...
    @property
    def address(self) -> Any: ...
    @property
    def pxe_enabled(self) -> Any: ...

    def as_dict(self) -> Any:
        """Return all columns as plain data that shares nothing with the record."""


class HasInterfaces(Protocol):
    """What has the interfaces of a node, each by its kind; one that the node has not raises why."""

    __slots__ = ()

    # Its links are None for what the node has not; ``driver.require(kind)`` is for kinds known only when it runs.
    driver: BareDriver

    @property
    def bios(self) -> "BIOSInterface":
        return self.driver.bios or self.driver.refuse("bios")

    @property
    def boot(self) -> "BootInterface":
        return self.driver.boot or self.driver.refuse("boot")

    @property
    def console(self) -> "ConsoleInterface":
        return self.driver.console or self.driver.refuse("console")

    @property
    def deploy(self) -> "DeployInterface":
        return self.driver.deploy or self.driver.refuse("deploy")

    @property
    def firmware(self) -> "FirmwareInterface":
        return self.driver.firmware or self.driver.refuse("firmware")

    @property
    def inspect(self) -> "InspectInterface":
        return self.driver.inspect or self.driver.refuse("inspect")

    @property
    def management(self) -> "ManagementInterface":
        return self.driver.management or self.driver.refuse("management")

    @property
    def network(self) -> "NetworkInterface":
        return self.driver.network or self.driver.refuse("network")

    @property
    def power(self) -> "PowerInterface":
        return self.driver.power or self.driver.refuse("power")

    @property
    def raid(self) -> "RAIDInterface":
        return self.driver.raid or self.driver.refuse("raid")

    @property
    def rescue(self) -> "RescueInterface":
        return self.driver.rescue or self.driver.refuse("rescue")

    @property
    def storage(self) -> "StorageInterface":
        return self.driver.storage or self.driver.refuse("storage")

    @property
    def vendor(self) -> "VendorInterface":
        return self.driver.vendor or self.driver.refuse("vendor")


class Task(HasInterfaces, Protocol):
    """One piece of work on one node."""

    @property
    def context(self) -> RequestContext:
        """On whose behalf the work is done."""

    @property
    def shared(self) -> bool:
        """Whether the node may only be looked at."""

    @property
    def node(self) -> Node: ...
    @property
    def store(self) -> Store: ...
    @property
    def ports(self) -> Sequence[Port]: ...
    @property
    def portgroups(self) -> Sequence[Any]: ...
    def writing(self) -> AbstractContextManager[None]:
        """Open a transaction for what belongs to the node in ``store``; TakenOver when the node is not ours any more.

        Nothing that waits for a machine belongs into such a block.
        """

    def alternative(self, kind: str, name: str) -> Any:
        """Return another implementation of a kind that the node could have here, or raise why it can't."""
