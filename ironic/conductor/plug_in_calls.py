"""What third-party drivers call in a conductor beside power and flows: boot device, history, the agent's token."""

import logging
import secrets
from typing import Final

from ironic.conductor import management
from ironic.conductor.flows.wait_ends import continue_flow
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import states
from ironic.core.memory.agent_memory import AgentMemory
from ironic.db import NodeRecord
from ironic.drivers.contract.power_reading import certain_power
from ironic.drivers.nodes import fast_track, node_attributes
from ironic.services import process_store

LOG = logging.getLogger(__name__)

_BYTES: Final = 32


def set_boot_device(task: TaskManager, device: str, persistent: bool = False) -> None:
    """Set the boot device, persistently as driver_info may require; a node that is being adopted stays as it is."""
    if task.node.provision_state == states.ADOPTING:
        return
    lasts = node_attributes.is_boot_device_persistent(task.node, default=persistent)
    management.set_boot_device(task, device, persistent=lasts)


def continue_operation(task: TaskManager, operation: str) -> None:
    """Resume the flow in which the node waits; raises InvalidParameterValue when that is another operation."""
    if operation not in ("clean", "deploy", "service"):
        raise InvalidParameterValue(err=f"Node {task.node.uuid} waits in no operation {operation}.")
    continue_flow(task)


def change_secure_boot(task: TaskManager, secure_boot_target: bool) -> None:
    """Turn secure boot on or off while the caller waits, and save the node."""
    task.management.set_secure_boot_state(task, secure_boot_target)
    task.node.secure_boot = secure_boot_target
    task.node.save()


def power_on_if_needed(task: TaskManager) -> str | None:
    """Switch the machine on if its network needs that; return its power state before, None for another network.

    Raise PowerStateFailure when the power state is not known, so that no other one is restored afterwards.
    """
    if not task.network.need_power_on(task):
        return None
    before = certain_power(task, states.POWER_ON)
    if before != states.POWER_ON:
        task.change_power(states.POWER_ON)
    return before


def restore_power_state(task: TaskManager, power_state_to_restore: str | None) -> None:
    """Bring the machine back to the state that `power_on_if_needed` has returned."""
    if power_state_to_restore:
        task.change_power(power_state_to_restore)


def add_history(
    node: NodeRecord,
    conductor: str | None = None,
    event: str | None = None,
    event_type: str | None = None,
    user: str | None = None,
    error: bool = False,
    project: str | None = None,
) -> None:
    """Add one line to node history, if history is kept; with ``error`` it is the node's last_error too, unsaved."""
    if error:
        node.last_error = event
    if CONF.conductor.node_history:
        process_store.database().store.history.add(
            node.id,
            event=event or "",
            event_type=event_type or "",
            severity="ERROR" if error else "INFO",
            conductor=conductor or CONF.host,
            user=user,
            project=project,
            state=node.provision_state,
            target=node.target_provision_state,
            seconds=None,
        )


def add_secret_token(node: NodeRecord, pregenerated: bool = False) -> None:
    """Give the node's agent a new token, unsaved; ``pregenerated``: it is built into the ramdisk's image."""
    token = secrets.token_urlsafe(_BYTES)
    if pregenerated:
        AgentMemory(node).store_built_in_token(token)
    else:
        AgentMemory(node).store_token(token, None)


def wipe_token_and_url(task: TaskManager) -> None:
    """Forget the node's agent with its token and URL, unsaved."""
    AgentMemory(task.node).forget()


def is_fast_track(task: TaskManager) -> bool:
    """Return whether the operation can go on with the ramdisk that runs on the machine now."""
    return fast_track.can_continue(task.node)


def is_fast_track_possible(task: TaskManager) -> bool:
    """Return whether fast track is enabled for the node and none of its errors is in its way."""
    return fast_track.is_wanted(task.node) and not task.node.last_error
