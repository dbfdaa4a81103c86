"""Power of related nodes: a child node, such as a card with a computer of its own, gets its power from its parent.

Before a machine is switched off, its children are; before a child is switched on or restarted, its parent is switched
on. ``has_dedicated_power_supply`` in the driver_info of a child says that neither concerns it. What a user may not
order of the other node itself is not ordered of it here either, and fails the change of this one.
"""

import logging
from contextlib import AbstractContextManager
from typing import Final, Protocol

from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue, IronicError, NodeNotFound, PowerStateFailure, TakenOver
from ironic.core.flows import states
from ironic.core.texts import syntax
from ironic.drivers.contract.power_reading import known_power
from ironic.drivers.contract.task import Task

LOG = logging.getLogger(__name__)

DEDICATED_SUPPLY: Final = "has_dedicated_power_supply"

_OFF: Final = (states.POWER_OFF, states.SOFT_POWER_OFF)


class PoweredTask(Task, Protocol):
    """A task that can take further nodes for its work."""

    changes_power: bool

    def holder_of(self, uuid: str) -> "PoweredTask | None": ...
    def acquire_other(
        self, ident: str | int, purpose: str, *, shared: bool = False
    ) -> AbstractContextManager["PoweredTask"]: ...
    def upgrade_lock(self) -> None: ...
    def save_and_release(self) -> None: ...


def prepare(task: PoweredTask, target: str) -> None:
    """Bring related nodes to the power state that a change of this one needs.

    Raises PowerStateFailure, which names the other node and what it has against that.
    """
    node = task.node
    if target in _OFF:
        for uuid, owner in task.store.nodes.rows(("uuid", "owner"), filters={"parent_node": node.uuid}):
            if task.holder_of(uuid) is None:
                _bring(task, "Child", uuid, owner, target)
    elif node.parent_node is not None and not has_own_supply(node.uuid, node.driver_info):
        try:
            (owner,) = task.store.nodes.row(("owner",), node.parent_node)
        except NodeNotFound:
            return  # deleted in maintenance
        if (holder := task.holder_of(node.parent_node)) is None:
            _bring(task, "Parent", node.parent_node, owner, states.POWER_ON)
        elif not holder.changes_power and known_power(holder, states.POWER_ON) != states.POWER_ON:
            holder.change_power(states.POWER_ON)


def has_own_supply(uuid: str, driver_info: "dict[str, object]") -> bool:
    """Return whether a child node has power when its parent has none; InvalidParameterValue if that can't be read."""
    given = driver_info.get(DEDICATED_SUPPLY)
    if given is None:
        return False
    if (yes := syntax.truth_of(str(given))) is None:
        raise InvalidParameterValue(err=f"{DEDICATED_SUPPLY} in driver_info of node {uuid} must be true or false.")
    return yes


def _bring(task: PoweredTask, who: str, uuid: str, owner: str | None, target: str) -> None:
    try:
        if owner != task.node.owner:
            raise InvalidParameterValue(err="It belongs to another owner.")
        with task.acquire_other(uuid, f"power change of the related node {task.node.uuid}", shared=True) as other:
            _follow(other, target)
    except TakenOver as error:
        # The lock of the other node was lost, not that of the node whose power changes.
        raise PowerStateFailure(target=target, reason=f"{who} node {uuid} has another conductor now: {error}") from None
    except IronicError as error:
        advice = f"Correct that node, set {DEDICATED_SUPPLY} in the driver_info of the child, or remove its parent_node"
        said = str(error)
        text = f"{who} node {uuid} can't be brought to '{states.POWER_TARGET[target]}' before: {said}"
        raise PowerStateFailure(target=target, reason=text if advice in said else f"{text} {advice}.") from error


def _follow(other: PoweredTask, target: str) -> None:
    """Bring the other machine to the state that ``target`` leads to, unless it is there or needs not be."""
    reached = states.POWER_TARGET[target]
    if reached == states.POWER_OFF and has_own_supply(other.node.uuid, other.node.driver_info):
        return
    if known_power(other, target) == reached:
        return
    other.upgrade_lock()
    if target not in other.power.get_supported_power_states(other):
        target = reached
    node_rules.check_power(other.node, target)
    LOG.info("Node %s: '%s' because of a power change of its parent or child node", other.node.uuid, target)
    # Its own task waits: its machine has to be there before the change that needs it begins.
    other.change_power(target)
    other.save_and_release()
