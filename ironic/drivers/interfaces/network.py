"""The networks a machine is in at each stage of its life, and the virtual interfaces (VIFs) bound to its ports."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from ironic.drivers.interfaces.base import BaseInterface, unsupported
from ironic.drivers.task import Port, Portgroup, Task


class NetworkInterface(BaseInterface):
    """Networks of a machine. Everything may be repeated; failures are NetworkError unless said otherwise."""

    interface_type: ClassVar[str] = "network"

    # What is asked for by name, such as "metadata".
    capabilities: ClassVar[list[str]] = []

    def get_properties(self) -> dict[str, str]:
        """Return the names this interface understands in driver_info: usually none."""
        return {}

    def validate(self, task: Task) -> None:
        """Check the node; everything is fine here."""

    # Ports

    @abstractmethod
    def port_changed(self, task: Task, port_obj: Port) -> None:
        """Check a changed port, and tell the network about it, before it is saved; raises Conflict."""

    @abstractmethod
    def portgroup_changed(self, task: Task, portgroup_obj: Portgroup) -> None:
        """The same for a port group."""

    # Virtual interfaces

    @abstractmethod
    def vif_attach(self, task: Task, vif_info: Mapping[str, object]) -> None:
        """Bind the VIF ``vif_info["id"]`` to a free port; raises VifAlreadyAttached, NoFreePhysicalPorts."""

    @abstractmethod
    def vif_detach(self, task: Task, vif_id: str) -> None:
        """Free the port of a VIF; raises VifNotAttached."""

    @abstractmethod
    def vif_list(self, task: Task) -> list[dict[str, object]]:
        """Return the VIFs of the node, each with ``id``."""

    @abstractmethod
    def get_current_vif(self, task: Task, p_obj: Port | Portgroup) -> str | None:
        """Return the VIF that a port or port group carries now."""

    # Stages of a machine's life

    @abstractmethod
    def add_provisioning_network(self, task: Task) -> None:
        """Put the machine where the agent deploys it."""

    @abstractmethod
    def remove_provisioning_network(self, task: Task) -> None:
        """Take it out again."""

    @abstractmethod
    def configure_tenant_networks(self, task: Task) -> None:
        """Put the machine where its user wants it."""

    @abstractmethod
    def unconfigure_tenant_networks(self, task: Task) -> None:
        """Take it out again."""

    @abstractmethod
    def add_cleaning_network(self, task: Task) -> dict[str, str]:
        """Put the machine where the agent cleans it; returns network ports by port UUID."""

    @abstractmethod
    def remove_cleaning_network(self, task: Task) -> None:
        """Take it out again."""

    def validate_rescue(self, task: Task) -> None:
        """Raise when there is no network to rescue the machine in."""

    def add_rescuing_network(self, task: Task) -> dict[str, str]:
        """Put the machine where it is rescued; returns network ports by port UUID."""
        return {}

    def remove_rescuing_network(self, task: Task) -> None:
        """Take it out again."""

    def validate_inspection(self, task: Task) -> None:
        """Raise when there is no network to inspect the machine in; unsupported: this interface never has one."""
        raise unsupported(task, "validate_inspection")

    def add_inspection_network(self, task: Task) -> dict[str, str]:
        """Put the machine where it is inspected; returns network ports by port UUID."""
        return {}

    def remove_inspection_network(self, task: Task) -> None:
        """Take it out again."""

    def add_servicing_network(self, task: Task) -> dict[str, str]:
        """Put the machine where the agent services it; returns network ports by port UUID."""
        return {}

    def remove_servicing_network(self, task: Task) -> None:
        """Take it out again."""

    # Questions

    def need_power_on(self, task: Task) -> bool:
        """Tell whether the machine must be on while its networks change."""
        return False

    def get_node_network_data(self, task: Task) -> dict[str, object]:
        """Return the static network configuration, shaped like Nova's network_data.json."""
        return task.node.network_data or {}
