"""The base class for network interfaces, which connect a machine to the network of each operation and bind virtual
interfaces (VIFs) to its ports.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Self

from ironic.drivers.contract.contract_types import Port, Portgroup, Task
from ironic.drivers.contract.interfaces.base_interface import BaseInterface, unsupported

# The networks of the machine's user; the others have the names that flows give them (`core/flows/flow.py`).
TENANT: Final = "tenant"
# Of these a class with the older names needs methods, and of these it may have some.
_NEEDED: Final = (TENANT, "provisioning", "cleaning")
_POSSIBLE: Final = ("inspection", "rescuing", "servicing")
# A way, and the older name for it by network.
_OLDER_NAMES: Final = {
    "connect": {TENANT: "configure_tenant_networks"}
    | {network: f"add_{network}_network" for network in (*_NEEDED[1:], *_POSSIBLE)},
    "disconnect": {TENANT: "unconfigure_tenant_networks"}
    | {network: f"remove_{network}_network" for network in (*_NEEDED[1:], *_POSSIBLE)},
}
_Way = Callable[..., dict[str, str] | None]


class NetworkInterface(BaseInterface[Task]):
    """Networks of a machine. Every method may be repeated, and raises NetworkError unless another error is named.

    A class has `connect` and `disconnect`, or the older names that published classes have: a pair for each network. The
    other ones are made of those that it has, so that both can be called of every class.
    """

    interface_type: ClassVar[str] = "network"

    # Names of optional features, such as "metadata".
    capabilities: ClassVar[list[str]] = []

    def get_properties(self) -> dict[str, str]:
        """Return the driver_info properties of this interface: none by default."""
        return {}

    def validate(self, task: Task) -> None:
        """Check the node; accept every node by default."""

    # Ports

    @abstractmethod
    def port_changed(self, task: Task, port_obj: Port) -> None:
        """Check a changed port and pass the change to the network service before it is saved; raise Conflict."""

    @abstractmethod
    def portgroup_changed(self, task: Task, portgroup_obj: Portgroup) -> None:
        """Check a changed port group as `port_changed` checks a port."""

    # Virtual interfaces

    @abstractmethod
    def vif_attach(self, task: Task, vif_info: Mapping[str, object]) -> None:
        """Bind the VIF ``vif_info["id"]`` to a free port; raise VifAlreadyAttached or NoFreePhysicalPorts."""

    @abstractmethod
    def vif_detach(self, task: Task, vif_id: str) -> None:
        """Free the port of a VIF; raise VifNotAttached."""

    @abstractmethod
    def vif_list(self, task: Task) -> list[dict[str, object]]:
        """Return the VIFs of the node, each with ``id``."""

    @abstractmethod
    def get_current_vif(self, task: Task, p_obj: Port | Portgroup) -> str | None:
        """Return the ID of the VIF that is attached to a port or port group, or None."""

    # Networks of the operations

    def connect(self, task: Task, network: str) -> dict[str, str] | None:
        """Connect the machine to TENANT or to the network of a flow; return network ports by port UUID, if known."""
        return _by_older_name(NetworkInterface, "connect", self, task, network)

    def disconnect(self, task: Task, network: str) -> None:
        """Disconnect the machine from TENANT or from the network of a flow."""
        _by_older_name(NetworkInterface, "disconnect", self, task, network)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for way, names in _OLDER_NAMES.items():
            if way in vars(cls):
                for network, name in names.items():
                    # What is made here is made anew; a method of the class, or of one that it derives from, stays.
                    if getattr(getattr(cls, name), "__module__", "") == __name__:
                        setattr(cls, name, _older(cls, way, network))
            elif _older_than(way, cls, set(names.values())):
                setattr(cls, way, _of_older(cls, way))

    def __new__(cls, *_arguments: object, **_options: object) -> Self:
        """Make an interface; raise TypeError for a class that has neither a way nor all older names for it."""
        for way, names in _OLDER_NAMES.items():
            missing = [names[network] for network in _NEEDED if getattr(cls, names[network]) is _nothing]
            if missing:
                raise TypeError(
                    f"Can't make an abstract {cls.__name__}: it has neither {way} nor {', '.join(missing)}."
                )
        return super().__new__(cls)

    def validate_rescue(self, task: Task) -> None:
        """Raise InvalidParameterValue or MissingParameterValue when no rescue network is configured."""

    def validate_inspection(self, task: Task) -> None:
        """Raise an error when no inspection network is configured; by default UnsupportedDriverExtension."""
        raise unsupported(task, "validate_inspection")

    # Requirements and data

    def need_power_on(self, task: Task) -> bool:
        """Return whether the machine must be on while its networks change."""
        return False

    def get_node_network_data(self, task: Task) -> dict[str, object]:
        """Return the static network configuration in the format of Nova's network_data.json."""
        return task.node.network_data or {}


def _older_than(way: str, cls: type, names: set[str]) -> bool:
    """Return whether a class has an older name from a class that is more derived than the one that has the way."""
    owner = next(each for each in cls.__mro__ if way in vars(each))
    return any(vars(each).keys() & names for each in cls.__mro__[: cls.__mro__.index(owner)])


def _older(cls: type, way: str, network: str) -> _Way:
    """Return the method of an older name for a class that has ``way``."""

    def method(self: object, task: object) -> dict[str, str] | None:
        found: dict[str, str] | None = vars(cls)[way](self, task, network)
        return found

    return method


def _of_older(cls: type, way: str) -> _Way:
    """Return `connect` or `disconnect` for a class that has older names."""

    def method(self: object, task: object, network: str) -> dict[str, str] | None:
        return _by_older_name(cls, way, self, task, network)

    return method


def _by_older_name(cls: type, way: str, self: object, task: Any, network: str) -> dict[str, str] | None:
    name = _OLDER_NAMES[way].get(network)
    if name is None:
        raise unsupported(task, f"the {network} network")
    mro = type(self).__mro__
    owner = next(each for each in mro if way in vars(each))
    # A more derived class that has the way itself came here by super(), and its older names may lead to it.
    found = self if owner is cls else super(mro[mro.index(cls) - 1], self)
    result: dict[str, str] | None = getattr(found, name)(task)
    return result


def _nothing(self: object, task: object) -> dict[str, str]:
    return {}


for _names in _OLDER_NAMES.values():
    for _name in _names.values():
        setattr(NetworkInterface, _name, _nothing)
