"""The task that every method of an interface receives: one node, its ports and its driver.

The conductor's task has more attributes; a driver should use only those declared here. The node and its ports are
records: attributes are columns, JSON columns are dictionaries that may be changed in place, and ``save()`` stores the
changes.

The driver of a node holds references to implementations that all nodes share (S15). A reference is None when this
conductor does not have the node's interface, such as one that an operator has disabled meanwhile (S26). Work that does
not need this interface continues; ``require`` raises the reason.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from enum import Enum, auto
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Never, Protocol

from ironic.core.clock import CLOCK, Clock
from ironic.core.errors import IronicError, UnsupportedDriverExtension
from ironic.core.hardware_interfaces import CORE_KINDS, KINDS, OPTIONAL_KINDS
from ironic.drivers.contract.contract_types import Node as Node
from ironic.drivers.contract.contract_types import Port as Port
from ironic.drivers.contract.contract_types import Portgroup as Portgroup
from ironic.drivers.contract.whole_driver import WholeDriver
from ironic.inspection import task as inspection

if TYPE_CHECKING:
    from ironic.drivers.contract.interfaces.base_interface import BaseInterface
    from ironic.drivers.contract.interfaces.bios_and_firmware import BIOSInterface, FirmwareInterface
    from ironic.drivers.contract.interfaces.boot_and_deploy import (
        BootInterface,
        DeployInterface,
        InspectInterface,
        RescueInterface,
    )
    from ironic.drivers.contract.interfaces.networks import NetworkInterface
    from ironic.drivers.contract.interfaces.passthru import VendorInterface
    from ironic.drivers.contract.interfaces.power_management import (
        ConsoleInterface,
        ManagementInterface,
        PowerInterface,
    )
    from ironic.drivers.contract.interfaces.raid import RAIDInterface
    from ironic.drivers.contract.interfaces.storage import StorageInterface


_NOTHING_MISSING: Final[Mapping[str, IronicError]] = MappingProxyType({})


class BareDriver(WholeDriver):
    """The interfaces of one node by kind."""

    __slots__ = (*KINDS, "_missing", "bmc_address_keys")

    core_interfaces: ClassVar[tuple[str, ...]] = CORE_KINDS
    optional_interfaces: ClassVar[tuple[str, ...]] = OPTIONAL_KINDS
    all_interfaces: ClassVar[tuple[str, ...]] = KINDS
    non_vendor_interfaces: ClassVar[tuple[str, ...]] = tuple(kind for kind in KINDS if kind != "vendor")

    if TYPE_CHECKING:
        bios: "BIOSInterface[Task] | None"
        boot: "BootInterface[Task] | None"
        console: "ConsoleInterface[Task] | None"
        deploy: "DeployInterface[Task] | None"
        firmware: "FirmwareInterface[Task] | None"
        inspect: "InspectInterface[Task] | None"
        management: "ManagementInterface[Task] | None"
        network: "NetworkInterface[Task] | None"
        power: "PowerInterface[Task] | None"
        raid: "RAIDInterface[Task] | None"
        rescue: "RescueInterface[Task] | None"
        storage: "StorageInterface[Task] | None"
        vendor: "VendorInterface[Task] | None"

    def __init__(
        self,
        links: Mapping[str, object] | None = None,
        missing: Mapping[str, IronicError] = _NOTHING_MISSING,
        bmc_address_keys: tuple[str, ...] | None = None,
    ) -> None:
        for kind in KINDS:
            setattr(self, kind, links.get(kind) if links else None)
        # One shared empty mapping: there may be thousands of drivers, and most lack no interface.
        self._missing = missing or _NOTHING_MISSING
        # What the hardware type declares; the tuple is the class's own.
        self.bmc_address_keys = bmc_address_keys

    def require(self, kind: str) -> "BaseInterface[Task]":
        """Return the interface of a kind, or raise the reason why the node has none.

        The task has typed properties for kinds that are known when the code is written.
        """
        interface: BaseInterface[Task] | None = getattr(self, kind)
        return interface or self.refuse(kind)

    def refuse(self, kind: str) -> Never:
        """Raise the reason why the node has no interface of a kind."""
        raise self._missing.get(kind) or UnsupportedDriverExtension(driver="of this node", extension=kind)

    def get_properties(self) -> dict[str, str]:
        """Return the driver_info properties of all interfaces, by name, each with a description."""
        properties: dict[str, str] = {}
        for kind in KINDS:
            if (interface := getattr(self, kind)) is not None:
                properties.update(interface.get_properties())
        return properties


class HasInterfaces(Protocol):
    """An object with the interfaces of a node, each by its kind; a missing one raises the reason."""

    __slots__ = ()

    # Its attributes are None for missing interfaces; use ``driver.require(kind)`` where the kind is a variable.
    driver: BareDriver

    @property
    def bios(self) -> "BIOSInterface[Task]":
        return self.driver.bios or self.driver.refuse("bios")

    @property
    def boot(self) -> "BootInterface[Task]":
        return self.driver.boot or self.driver.refuse("boot")

    @property
    def console(self) -> "ConsoleInterface[Task]":
        return self.driver.console or self.driver.refuse("console")

    @property
    def deploy(self) -> "DeployInterface[Task]":
        return self.driver.deploy or self.driver.refuse("deploy")

    @property
    def firmware(self) -> "FirmwareInterface[Task]":
        return self.driver.firmware or self.driver.refuse("firmware")

    @property
    def inspect(self) -> "InspectInterface[Task]":
        return self.driver.inspect or self.driver.refuse("inspect")

    @property
    def management(self) -> "ManagementInterface[Task]":
        return self.driver.management or self.driver.refuse("management")

    @property
    def network(self) -> "NetworkInterface[Task]":
        return self.driver.network or self.driver.refuse("network")

    @property
    def power(self) -> "PowerInterface[Task]":
        return self.driver.power or self.driver.refuse("power")

    @property
    def raid(self) -> "RAIDInterface[Task]":
        return self.driver.raid or self.driver.refuse("raid")

    @property
    def rescue(self) -> "RescueInterface[Task]":
        return self.driver.rescue or self.driver.refuse("rescue")

    @property
    def storage(self) -> "StorageInterface[Task]":
        return self.driver.storage or self.driver.refuse("storage")

    @property
    def vendor(self) -> "VendorInterface[Task]":
        return self.driver.vendor or self.driver.refuse("vendor")


class Notes:
    """What a task has just found or ordered at its machine, by a word; each is known for half a minute only.

    Others can change the machine meanwhile, by its buttons for example. So a note spares a task what it has done itself
    a moment ago, and it ends with the task.
    """

    __slots__ = ("_clock", "_known")

    SECONDS: ClassVar[float] = 30.0

    def __init__(self, clock: Callable[[], float] = CLOCK.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[object, float]] = {}

    def put(self, word: str, value: object) -> None:
        """Note a value; None forgets it."""
        self._known[word] = value, self._clock()

    def get(self, word: str) -> Any:
        """Return the value, None if it is not known or not any more."""
        value, since = self._known.get(word, (None, 0.0))
        return value if self._clock() - since < self.SECONDS else None


# The note of what a BMC said in place of on or off; a power interface that answers "error" puts it.
ODD_POWER: Final = "odd power"

# The note of for how many seconds more a machine may shut down; a power interface puts it where it need not wait.
SHUTS_DOWN: Final = "shuts down"


class Waiter(Enum):
    """Who waits for what the work of a task meets."""

    WORK = auto()
    """The work itself, on its worker."""
    NODE = auto()
    """The released node: the work ends by `Suspended` and is done again."""
    STEP = auto()
    """The released node: the work ends by `Suspended`, and the step that has begun the wait goes on by itself."""
    REQUEST = auto()
    """The released node, as the conductor can end a power change by itself."""
    NO_ONE = auto()
    """No one: nothing is restarted, and a setting takes effect at the next start of the machine."""


class Task(inspection.Task, HasInterfaces, Protocol):
    """One piece of work on one node."""

    __slots__ = ()

    @property
    def clock(self) -> Clock:
        """What the task waits by: ``sleep`` and ``until`` end when the service stops."""

    @property
    def notes(self) -> Notes:
        """What the task has just found or ordered."""

    @property
    def waiter(self) -> Waiter:
        """Who waits for what the work of the task meets; set it by `ironic.drivers.contract.waits.waiting`."""

    @waiter.setter
    def waiter(self, waiter: Waiter) -> None: ...

    @property
    def shared(self) -> bool:
        """Whether the task holds no lock, so that the node must not be changed."""

    def writing(self) -> AbstractContextManager[None]:
        """Open a transaction for records of the node in ``store``; raise TakenOver when this conductor lost the node.

        Do not wait for a machine inside such a block.
        """

    def change_power(self, target: str, timeout: int | None = None) -> None:
        """Bring the machine to a power state, or restart it, within ``timeout`` seconds (None: as configured).

        Always use this method: the power interface sends no notifications and does not check ``disable_power_off``.
        Pending changes of the node are stored before and after the change, with the new ``target_power_state`` unless
        the caller has stored that one already. Raises PowerStateFailure when ``disable_power_off`` forbids the change
        or the machine does not reach the state in time.
        """

    def choices(self, kind: str) -> Sequence[str]:
        """Return the names of a kind that the node can use on this conductor; none of a classic driver."""

    def alternative(self, kind: str, name: str) -> "BaseInterface[Task]":
        """Return another implementation of a kind that the node can use on this conductor.

        Raise IncompatibleInterface or InterfaceNotFoundInEntrypoint otherwise.
        """
