"""What a conductor answers: the conversation of rpc/, each call a lock and one function.

No decision lives here; what a call means is documented where it is decided, and errors travel as they are. The answer
to a call that starts work comes when the work is accepted and has its worker.
"""

from typing import Any

from ironic.conductor import deletion, heartbeats, portgroups, ports, provisioning, step_plans, validation
from ironic.conductor.allocations import Allocator
from ironic.conductor.driver_endpoint import DriverEndpoint
from ironic.conductor.flows import inspecting, power, resuming
from ironic.conductor.management_endpoint import ManagementEndpoint
from ironic.conductor.task import Task
from ironic.conductor.tasks import Tasks
from ironic.core.context import RequestContext
from ironic.rpc.conversation import ConductorCalls


class Endpoint(ManagementEndpoint, DriverEndpoint, ConductorCalls):
    """One conductor's side of the conversation."""

    def __init__(self, tasks: Tasks, allocator: Allocator | None = None) -> None:
        super().__init__(tasks)
        self._allocator = allocator or Allocator(tasks)

    def change_node_power_state(
        self, context: RequestContext, node_id: str, target: str, timeout: int | None = None
    ) -> None:
        with self._exclusive(context, node_id, f"changing the power state to '{target}'") as task:
            power.start(task, target, timeout)

    def change_provision_state(
        self, context: RequestContext, node_id: str, verb: str, arguments: dict[str, Any]
    ) -> None:
        with self._exclusive(context, node_id, f"provision verb {verb}") as task:
            provisioning.start(task, verb, arguments)

    def destroy_node(self, context: RequestContext, node_id: str) -> None:
        with self._exclusive(context, node_id, "deletion") as task:
            deletion.destroy(task)

    def validate_interfaces(self, context: RequestContext, node_id: str) -> dict[str, dict[str, Any]]:
        with self._shared(context, node_id, "validation") as task:
            return validation.validate_interfaces(task)

    def update_port(self, context: RequestContext, port_id: str, changes: dict[str, Any]) -> None:
        with self._exclusive(context, self._node_of(port_id), f"changing port {port_id}") as task:
            ports.update(task, ports.belonging_to(task, port_id), changes)

    def destroy_port(self, context: RequestContext, port_id: str) -> None:
        with self._exclusive(context, self._node_of(port_id), f"deleting port {port_id}") as task:
            ports.destroy(task, ports.belonging_to(task, port_id))

    def update_portgroup(self, context: RequestContext, portgroup_id: str, changes: dict[str, Any]) -> None:
        with self._exclusive(context, self._node_of_group(portgroup_id), f"changing port group {portgroup_id}") as task:
            portgroups.update(task, portgroups.belonging_to(task, portgroup_id), changes)

    def destroy_portgroup(self, context: RequestContext, portgroup_id: str) -> None:
        with self._exclusive(context, self._node_of_group(portgroup_id), f"deleting port group {portgroup_id}") as task:
            portgroups.destroy(task, portgroups.belonging_to(task, portgroup_id))

    def heartbeat(self, context: RequestContext, node_id: str, beat: dict[str, Any]) -> None:
        with self._for_agent(context, node_id, "heartbeat of the agent") as task:
            heartbeats.receive(task, beat)

    def continue_inspection(
        self, context: RequestContext, node_id: str, inventory: dict[str, Any], plugin_data: dict[str, Any]
    ) -> None:
        with self._for_agent(context, node_id, "processing inspection data") as task:
            inspecting.resume(task, inventory, plugin_data)

    def continue_flow(self, context: RequestContext, node_id: str) -> None:
        with self._for_agent(context, node_id, "going on with its steps") as task:
            resuming.resume(task)

    def cleaning_steps(self, context: RequestContext, node_id: str) -> dict[str, Any]:
        with self._shared(context, node_id, "listing clean steps") as task:
            return step_plans.cleaning(task)

    def process_allocation(self, context: RequestContext, allocation_id: str) -> None:
        self._allocator.start(context, allocation_id)

    def _for_agent(self, context: RequestContext, node_id: str, purpose: str) -> Task:
        """Take the node for an agent, which comes again by itself and leaves the reserved workers to users."""
        return self._tasks.acquire(context, node_id, purpose=purpose, background=True)

    def _node_of(self, port_id: str) -> int:
        node_id: int = self._tasks.store.ports.row(("node_id",), port_id)[0]
        return node_id

    def _node_of_group(self, portgroup_id: str) -> int:
        node_id: int = self._tasks.store.portgroups.row(("node_id",), portgroup_id)[0]
        return node_id
