"""What a conductor can be asked: the whole conversation, said once.

Clients and servers of every transport are derived from ``ConductorCalls``; a new call is a method here and one in
the conductor's endpoint. Arguments and results are plain JSON-able values, the caller's context comes first. What a
call decides is documented where it is decided; here stands only what the caller can rely on.
"""

from abc import abstractmethod
from typing import Any, Final

from ironic.core.context import RequestContext
from ironic.rpc.call import call, calls_of
from ironic.rpc.driver_calls import DriverCalls
from ironic.rpc.management_calls import ManagementCalls


class ConductorCalls(ManagementCalls, DriverCalls):
    """One conductor, seen from outside; nodes, ports and port groups are named by UUID."""

    @call()
    @abstractmethod
    def change_node_power_state(
        self, context: RequestContext, node_id: str, target: str, timeout: int | None = None
    ) -> None:
        """Begin a power change; answers once it is accepted, the change itself goes on in the background."""

    @call()
    @abstractmethod
    def change_provision_state(
        self, context: RequestContext, node_id: str, verb: str, arguments: dict[str, Any]
    ) -> None:
        """Begin what a provision verb asks for; ``arguments`` has only what the user gave."""

    @call()
    @abstractmethod
    def destroy_node(self, context: RequestContext, node_id: str) -> None:
        """Delete a node with everything that belongs to it."""

    @call()
    @abstractmethod
    def validate_interfaces(self, context: RequestContext, node_id: str) -> dict[str, dict[str, Any]]:
        """Return ``{kind: {"result": True, False or None, "reason": text if not True}}`` of the node's interfaces."""

    @call()
    @abstractmethod
    def update_port(self, context: RequestContext, port_id: str, changes: dict[str, Any]) -> None:
        """Change fields of a port; the node's network interface has a say."""

    @call()
    @abstractmethod
    def destroy_port(self, context: RequestContext, port_id: str) -> None:
        """Delete a port; the node's network interface has a say."""

    @call()
    @abstractmethod
    def update_portgroup(self, context: RequestContext, portgroup_id: str, changes: dict[str, Any]) -> None:
        """Change fields of a port group; the node's network interface has a say."""

    @call()
    @abstractmethod
    def destroy_portgroup(self, context: RequestContext, portgroup_id: str) -> None:
        """Delete a port group that has no ports."""

    @call()
    @abstractmethod
    def heartbeat(self, context: RequestContext, node_id: str, beat: dict[str, Any]) -> None:
        """Take note of an agent's sign of life; the API has checked its token against the row.

        ``beat`` has callback_url, agent_version, agent_verify_ca, agent_status and agent_status_message.
        """

    @call()
    @abstractmethod
    def continue_inspection(
        self, context: RequestContext, node_id: str, inventory: dict[str, Any], plugin_data: dict[str, Any]
    ) -> None:
        """Go on with an inspection from what the ramdisk found; answers before the data are processed."""

    @call()
    @abstractmethod
    def continue_flow(self, context: RequestContext, node_id: str) -> None:
        """Go on with the steps of a node that waits; for whoever polls a machine and saw a step come to its end."""

    @call()
    @abstractmethod
    def cleaning_steps(self, context: RequestContext, node_id: str) -> dict[str, Any]:
        """Return the ``steps`` that automated cleaning would run, and since when an agent's are known (``source``)."""

    @call()
    @abstractmethod
    def process_allocation(self, context: RequestContext, allocation_id: str) -> None:
        """Look for a node for a stored allocation; answers once the work is accepted, the result is in its row."""


CALLS: Final = calls_of(ConductorCalls)
