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
    """One conductor, seen from outside; nodes and ports are named by UUID."""

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


CALLS: Final = calls_of(ConductorCalls)
