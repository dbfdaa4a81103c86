"""Inspecting: finding out what a machine is made of, through its BMC or by what a ramdisk posts.

The conductor moves the states and keeps the times; what is found and what is made of it is the inspect interface's
business. Data that arrive when nobody waits for them are answered like data for a node that does not exist (S76).
Sources: doc/contract/inspection.md#start, doc/contract/inspection.md#continue_inspection, demand S80.
"""

import logging
from collections.abc import Callable
from typing import Any, Final

from ironic.conductor.answering import answers
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.history import remember
from ironic.conductor.moves import shortened
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import states
from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import HardwareInspectionFailure, UnsupportedDriverExtension
from ironic.drivers import agent_link
from ironic.inspection import boot_token
from ironic.inspection.lookup import nothing_found
from ironic.inspection.rejections import told_of

LOG = logging.getLogger(__name__)

_FINISHED: Final = (None, states.MANAGEABLE)
_TOPIC: Final = "introspection"
_OPENING: Final = HardwareInspectionFailure.text.partition("{")[0]


def start(task: Task) -> None:
    """Accept a request to inspect the node."""
    for kind in ("power", "inspect"):
        task.driver.require(kind).validate(task)
    agent_link.begin_anew(task.node)
    task.node.inspection_started_at = task.node.now()
    task.node.inspection_finished_at = None
    task.process_event("inspect", callback=_work, call_args=(task, _inspect))


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
    task.process_event("resume", callback=_work, call_args=(task, _continue, inventory, plugin_data))


def _is_new_here(node: Any) -> bool:
    """Tell whether the node was made of a machine that reported itself, and its data were never looked at."""
    done = node.inspection_finished_at is not None or node.last_error
    return bool(CONF.auto_discovery.enabled and node.auto_discovered and not done)


def _process_discovered(task: Task, inventory: dict[str, Any], plugin_data: dict[str, Any]) -> None:
    """Process what an unknown machine reported; its node stays where it is, whatever comes of that."""
    answer = attempt(task, _continue_discovered, inventory, plugin_data)
    agent_link.leave(task.node)
    if isinstance(answer, Failed):
        task.node.last_error = shortened(_told(answer.reason))
    else:
        task.node.inspection_finished_at, task.node.last_error = task.node.now(), None
        LOG.info("Node %s is discovered; manage it to go on", task.node.uuid)
    task.store.run(lambda _: _write_discovered(task), repeatable=True)


def _write_discovered(task: Task) -> None:
    if task.node.last_error:
        remember(task, _TOPIC, task.node.last_error, severity="ERROR")
    task.save_and_release()


def abort(task: Task) -> None:
    """Accept a user's request to wait no longer; the state changes once everything is cleared up."""
    task.spawn_after(_give_up, task, "abort", "The wait was aborted by request.")


def give_up(task: Task, reason: str) -> None:
    """Fail an inspection that was waited for too long."""
    _give_up(task, "fail", reason + told_of(task.store, task.node, [port.address for port in task.ports]))


def _inspect(task: Task) -> Any:
    return task.inspect.inspect_hardware(task)


def _continue(task: Task, inventory: dict[str, Any], plugin_data: dict[str, Any]) -> Any:
    return task.inspect.continue_inspection(task, inventory, plugin_data)


def _continue_discovered(task: Task, inventory: dict[str, Any], plugin_data: dict[str, Any]) -> Any:
    try:
        return _continue(task, inventory, plugin_data)
    except UnsupportedDriverExtension:
        raise HardwareInspectionFailure(
            error=f"inspect interface {task.node.inspect_interface} takes no data of a ramdisk. Set "
            "default_inspect_interface to one that does, such as agent, then delete the node and boot the machine again"
        ) from None


def _give_up(task: Task, event: str, reason: str) -> None:
    """Have the interface clear up, then fail the inspection, whether that went well or not."""
    answer = attempt(task, _clear_up)
    if isinstance(answer, Failed):
        reason += f" Clearing up failed as well: {answer.reason}"
    _end_badly(task, event, reason)


def _clear_up(task: Task) -> None:
    task.inspect.abort(task)


def _work(task: Task, act: Callable[..., Any], *data: Any) -> None:
    """Do one stretch of an inspection on a worker and move the node by what came of it."""
    answer = attempt(task, act, *data)
    if isinstance(answer, Failed):
        _end_badly(task, "fail", answer.reason)
    elif answer == states.INSPECTWAIT:
        task.finish("wait")
    elif answer in _FINISHED:
        _end(task)
    else:
        _end_badly(task, "fail", f"the inspect interface answered {answer!r}, which means nothing here")


def _end(task: Task) -> None:
    agent_link.leave(task.node)
    task.node.inspection_finished_at, task.node.inspection_started_at = task.node.now(), None
    task.finish("done")


def _end_badly(task: Task, event: str, reason: str) -> None:
    agent_link.leave(task.node)
    task.node.inspection_started_at = None
    task.finish(event, last_error=_told(reason))


def _told(reason: str) -> str:
    """Return the text for users; what hooks and rules raise begins with the same words already."""
    return reason if reason.startswith(_OPENING) else str(HardwareInspectionFailure(error=reason))
