"""What an interface gets to see of the work it is part of.

Every method of an interface takes a task. The conductor's task has more to offer, but a driver that keeps to what
stands here runs under any engine. The node and its ports are records: attributes are columns, JSON columns are
dictionaries that may be changed in place, and ``save()`` stores what has changed.
"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ironic.drivers.bare_driver import BareDriver
from ironic.inspection import task as inspection

if TYPE_CHECKING:
    from ironic.db import NodeRecord, PortgroupRecord, PortRecord
    from ironic.drivers.interfaces import (
        BaseInterface,
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

    Node: TypeAlias = NodeRecord
    Port: TypeAlias = PortRecord
    Portgroup: TypeAlias = PortgroupRecord
else:
    # Whoever only looks at what drivers there are does not load a database's libraries (S17).
    Node = Port = Portgroup = Any


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


class Task(inspection.Task, HasInterfaces, Protocol):
    """One piece of work on one node."""

    __slots__ = ()

    @property
    def shared(self) -> bool:
        """Whether the node may only be looked at."""

    def writing(self) -> AbstractContextManager[None]:
        """Open a transaction for what belongs to the node in ``store``; TakenOver when the node is not ours any more.

        Nothing that waits for a machine belongs into such a block.
        """

    def change_power(self, target: str, timeout: int | None = None) -> None:
        """Bring the machine to a power state, or restart it, within ``timeout`` seconds (None: as configured).

        This is the one way to do it: ``power`` knows how, but notifies nobody, and does not ask whether the node may be
        switched off. What is pending on the node is stored before the order goes out, and when it was carried out.
        Raises PowerStateFailure when ``disable_power_off`` forbids it or the machine does not get there.
        """

    def alternative(self, kind: str, name: str) -> "BaseInterface":
        """Return another implementation of a kind that the node could have here, or raise why it can't."""
