"""The base class for network interfaces, which connect a machine to the network of each operation and bind virtual
interfaces (VIFs) to its ports.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

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

    @abstractmethod
    def connect(self, task: Task, network: str) -> dict[str, str] | None:
        """Connect the machine to TENANT or to the network of a flow; return network ports by port UUID, if known."""

    @abstractmethod
    def disconnect(self, task: Task, network: str) -> None:
        """Disconnect the machine from TENANT or from the network of a flow."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for way, names in _OLDER_NAMES.items():
            if way in vars(cls):
                for network in names.keys() - {each for each, name in names.items() if name in vars(cls)}:
                    setattr(cls, names[network], _older(vars(cls)[way], network))
            else:
                owner = next(each for each in cls.__mro__ if way in vars(each))
                derived = cls.__mro__[: cls.__mro__.index(owner)]
                has_older = any(vars(each).keys() & set(names.values()) for each in derived)
                if has_older and all(hasattr(cls, names[network]) for network in _NEEDED):
                    setattr(cls, way, _of_older(cls, names))

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


def _older(way: _Way, network: str) -> _Way:
    """Return the method of an older name for a class that has ``way``."""

    def method(self: object, task: object) -> dict[str, str] | None:
        return way(self, task, network)

    return method


def _of_older(cls: type, names: Mapping[str, str]) -> _Way:
    """Return `connect` or `disconnect` for a class that has older names: its own, as derived classes may have both."""

    def way(self: object, task: Any, network: str) -> dict[str, str] | None:
        if network not in names:
            raise unsupported(task, f"the {network} network")
        found: dict[str, str] | None = getattr(cls, names[network])(self, task)
        return found

    return way


def _nothing(self: object, task: object) -> dict[str, str]:
    return {}


for _names in _OLDER_NAMES.values():
    for _network in _POSSIBLE:
        setattr(NetworkInterface, _names[_network], _nothing)
