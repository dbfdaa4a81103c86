"""Base classes for network interfaces and storage interfaces.

A network interface connects a machine to the network of each operation and binds virtual interfaces (VIFs) to its
ports. A storage interface attaches remote volumes that a machine uses as disks.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ironic.drivers.contract.contract_types import Port, Portgroup, Task
from ironic.drivers.contract.interfaces.base_interface import BaseInterface, unsupported


class NetworkInterface(BaseInterface[Task]):
    """Networks of a machine. Every method may be repeated, and raises NetworkError unless another error is named."""

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
    def add_provisioning_network(self, task: Task) -> None:
        """Connect the machine to the provisioning network."""

    @abstractmethod
    def remove_provisioning_network(self, task: Task) -> None:
        """Disconnect the machine from the provisioning network."""

    @abstractmethod
    def configure_tenant_networks(self, task: Task) -> None:
        """Connect the machine to the networks of its user."""

    @abstractmethod
    def unconfigure_tenant_networks(self, task: Task) -> None:
        """Disconnect the machine from the networks of its user."""

    @abstractmethod
    def add_cleaning_network(self, task: Task) -> dict[str, str]:
        """Connect the machine to the cleaning network; return network ports by port UUID."""

    @abstractmethod
    def remove_cleaning_network(self, task: Task) -> None:
        """Disconnect the machine from the cleaning network."""

    def validate_rescue(self, task: Task) -> None:
        """Raise InvalidParameterValue or MissingParameterValue when no rescue network is configured."""

    def add_rescuing_network(self, task: Task) -> dict[str, str]:
        """Connect the machine to the rescue network; return network ports by port UUID."""
        return {}

    def remove_rescuing_network(self, task: Task) -> None:
        """Disconnect the machine from the rescue network."""

    def validate_inspection(self, task: Task) -> None:
        """Raise an error when no inspection network is configured; by default UnsupportedDriverExtension."""
        raise unsupported(task, "validate_inspection")

    def add_inspection_network(self, task: Task) -> dict[str, str]:
        """Connect the machine to the inspection network; return network ports by port UUID."""
        return {}

    def remove_inspection_network(self, task: Task) -> None:
        """Disconnect the machine from the inspection network."""

    def add_servicing_network(self, task: Task) -> dict[str, str]:
        """Connect the machine to the servicing network; return network ports by port UUID."""
        return {}

    def remove_servicing_network(self, task: Task) -> None:
        """Disconnect the machine from the servicing network."""

    # Requirements and data

    def need_power_on(self, task: Task) -> bool:
        """Return whether the machine must be on while its networks change."""
        return False

    def get_node_network_data(self, task: Task) -> dict[str, object]:
        """Return the static network configuration in the format of Nova's network_data.json."""
        return task.node.network_data or {}


class StorageInterface(BaseInterface[Task]):
    """Remote volumes of a machine. Every method may be repeated."""

    interface_type: ClassVar[str] = "storage"

    @abstractmethod
    def attach_volumes(self, task: Task) -> None:
        """Attach the node's volumes to the machine in the storage service; a volume that is attached stays so.

        Called when a deployment begins and before an active node is powered on.
        """

    @abstractmethod
    def detach_volumes(self, task: Task) -> None:
        """Detach the node's volumes in the storage service.

        Called at tear-down, after a failed attachment or deployment, and after an active node is powered off.
        """

    @abstractmethod
    def should_write_image(self, task: Task) -> bool:
        """Return whether a deployment writes an image: False when the machine boots from a volume."""
