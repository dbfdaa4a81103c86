"""Inspecting: finding out what a machine is made of, through its BMC or by what a ramdisk posts.

The conductor moves the states and keeps the times; what is found and what is made of it is the inspect interface's
business. Data that arrive when nobody waits for them are answered like data for a node that does not exist (S76).
Sources: doc/contract/inspection.md#start, doc/contract/inspection.md#continue_inspection, demand S80.
"""

import logging
from typing import Any, Final

from ironic.conductor.answering import answers
from ironic.conductor.flows import engine
from ironic.conductor.flows.operation import Operation, bind
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.history import remember
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import flow, states
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import HardwareInspectionFailure, UnsupportedDriverExtension
from ironic.drivers import agent_link
from ironic.inspection import boot_token
from ironic.inspection.lookup import nothing_found
from ironic.inspection.rejections import told_of

LOG = logging.getLogger(__name__)


def start(task: Task) -> None:
    """Accept a request to inspect the node."""
    for kind in ("power", "inspect"):
        task.driver.require(kind).validate(task)
    agent_link.begin_anew(task.node)
    task.node.inspection_started_at = task.node.now()
    task.node.inspection_finished_at = None
    task.process_event("inspect", callback=engine.begin, call_args=(task, INSPECT))


@answers
def continue_inspection(task: Task, inventory: dict[str, object], plugin_data: dict[str, object]) -> None:
    """Accept what a ramdisk found; it is processed in the background. A repeated post changes nothing."""
    state = task.node.provision_state
    if state == states.ENROLL and _is_new_here(task.node):
        AgentMemory(task.node).note_life(task.node.now())
        task.spawn_after(_process_discovered, task, inventory, plugin_data)
        return
    if state != states.INSPECTWAIT:
        LOG.warning("Node %s: inspection data came in state '%s' and are dropped", task.node.uuid, state)
        raise nothing_found()
    AgentMemory(task.node).note_life(task.node.now())
    boot_token.use_up(task.node)
    task.process_event("resume", callback=engine.go_on, call_args=(task, INSPECT, inventory, plugin_data))


def _is_new_here(node: Any) -> bool:
    """Tell whether the node was made of a machine that reported itself, and its data were never looked at."""
    done = node.inspection_finished_at is not None or node.last_error
    return bool(CONF.auto_discovery.enabled and node.auto_discovered and not done)


def _process_discovered(task: Task, inventory: dict[str, object], plugin_data: dict[str, object]) -> None:
    """Process what an unknown machine reported; its node stays where it is, whatever comes of that."""
    answer = attempt(task, _continue_discovered, inventory, plugin_data)
    agent_link.leave(task.node)
    if isinstance(answer, Failed):
        task.node.last_error = shortened(flow.INSPECT.why(task.node.uuid, answer.reason))
    else:
        task.node.inspection_finished_at, task.node.last_error = task.node.now(), None
        LOG.info("Node %s is discovered; manage it to go on", task.node.uuid)
    task.store.run(lambda _: _write_discovered(task), repeatable=True)


def _write_discovered(task: Task) -> None:
    if task.node.last_error:
        remember(task, flow.INSPECT.topic, task.node.last_error, severity="ERROR")
    task.save_and_release()


def _inspect(task: Task) -> object:
    return task.inspect.inspect_hardware(task)


def _continue(task: Task, inventory: dict[str, object], plugin_data: dict[str, object]) -> Any:
    return task.inspect.continue_inspection(task, inventory, plugin_data)


def _continue_discovered(task: Task, inventory: dict[str, object], plugin_data: dict[str, object]) -> Any:
    try:
        return _continue(task, inventory, plugin_data)
    except UnsupportedDriverExtension:
        raise HardwareInspectionFailure(
            error=f"inspect interface {task.node.inspect_interface} takes no data of a ramdisk. Set "
            "default_inspect_interface to one that does, such as agent, then delete the node and boot the machine again"
        ) from None


def _end(task: Task) -> None:
    agent_link.leave(task.node)
    task.node.inspection_finished_at, task.node.inspection_started_at = task.node.now(), None


def _give_up(task: Task) -> None:
    """Have the interface clear up after a wait; once the data are processed it has done so itself."""
    try:
        if task.node.provision_state == flow.INSPECT.waiting:
            task.inspect.abort(task)
    finally:
        agent_link.leave(task.node)
        task.node.inspection_started_at = None


def _why_nothing_came(task: Task) -> str:
    return told_of(task.store, task.node, [port.address for port in task.ports])


INSPECT: Final = bind(
    Operation(
        flow=flow.INSPECT,
        act=_inspect,
        resume=_continue,
        tear_down=_end,
        give_up=_give_up,
        why_nothing_came=_why_nothing_came,
    )
)
