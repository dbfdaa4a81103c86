"""Inspecting: find out what a machine is made of, through its BMC or from the data that a ramdisk posts.

The conductor moves the states and records the times; the inspect interface collects and processes the data. Data for a
node that does not wait for them are answered like data for an unknown node (S76). Sources:
doc/contract/inspection.md#start, doc/contract/inspection.md#continue_inspection, demand S80.
"""

import logging
from typing import Any, Final

from ironic.conductor import bmc_refresh
from ironic.conductor.flows import engine
from ironic.conductor.flows.engine import Operation, bind
from ironic.conductor.flows.outcomes import Failed, attempt
from ironic.conductor.node_events import add_history
from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskManager
from ironic.conductor.transitions import shortened
from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.errors import (
    HardwareInspectionFailure,
    NodeLocked,
    NodeNotFound,
    NoFreeConductorWorker,
    UnsupportedDriverExtension,
)
from ironic.core.errors.failure_texts import Reason
from ironic.core.flows import flow, states
from ironic.core.memory import introspection
from ironic.core.memory.agent_memory import AgentMemory
from ironic.drivers.contract.interfaces.kinds import ReportForwarder
from ironic.drivers.nodes import fast_track
from ironic.inspection import boot_tokens
from ironic.inspection.arrival import rejection_summary
from ironic.inspection.node_lookup import nothing_found

LOG = logging.getLogger(__name__)


def start(task: TaskManager, *, boots_itself: bool = False) -> None:
    """Accept a request to inspect the node; ``boots_itself``: its machine is booted by others."""
    _begin(task, introspection.STARTING, boots_itself=boots_itself)
    for kind in ("power", "inspect"):
        task.driver.require(kind).validate(task)
    fast_track.forget_former_agent(task.node)
    task.process_event("inspect", callback=engine.begin, call_args=(task, INSPECT))


def _begin(task: TaskManager, stage: str, *, boots_itself: bool = False) -> None:
    now = task.node.now()
    task.node.inspection_started_at, task.node.inspection_finished_at = now, None
    introspection.begin(task.node, now, stage=stage, boots_itself=boots_itself)


@rpc_method
def await_inspection_data(task: TaskManager) -> None:
    """Accept a request to inspect a machine that others boot."""
    _check(task)
    start(task, boots_itself=True)


@rpc_method
def reapply_inspection(task: TaskManager, inventory: dict[str, object], plugin_data: dict[str, object]) -> None:
    """Accept a request to process data again; whether they succeed decides between manageable and inspect failed."""
    _check(task)
    if not task.inspect.reapplies_data:
        raise UnsupportedDriverExtension(
            f"Inspect interface {task.node.inspect_interface} of node {task.node.uuid} can't process data again."
        )
    _begin(task, introspection.REAPPLYING)
    task.process_event("inspect", callback=engine.resume, call_args=(task, _REAPPLY, inventory, plugin_data))


def _check(task: TaskManager) -> None:
    node_rules.check_verb(task.node, "inspect", by_holder=True)
    node_rules.check_marks(task.node, "inspect")


@rpc_method
def continue_inspection(task: TaskManager, inventory: dict[str, object], plugin_data: dict[str, object]) -> None:
    """Accept a ramdisk's data, which are processed on a worker; a repeated post changes nothing."""
    state = task.node.provision_state
    if state == states.ENROLL and _is_undiscovered(task.node):
        AgentMemory(task.node).record_contact(task.node.now())
        task.spawn_after(_process_discovered, task, inventory, plugin_data)
        return
    if state != states.INSPECTWAIT:
        LOG.warning("Node %s: inspection data are dropped in state '%s'", task.node.uuid, state)
        raise nothing_found()
    AgentMemory(task.node).record_contact(task.node.now())
    if isinstance(task.inspect, ReportForwarder):
        _hand_on(task, task.inspect, inventory, plugin_data)
        return
    boot_tokens.use_up(task.node)
    introspection.process(task.node)
    task.process_event("resume", callback=engine.resume, call_args=(task, INSPECT, inventory, plugin_data))


def _hand_on(
    task: TaskManager, inspect: ReportForwarder, inventory: dict[str, object], plugin_data: dict[str, object]
) -> None:
    """Hand a report on to the service that inspects the machine, with the node unlocked; it changes the node.

    The ramdisk is answered afterwards. Without an answer, because that service is silent or this process has ended, it
    posts its report again.
    """
    uuid = task.node.uuid
    is_wanted = not inspect.has_report(task)
    task.save_and_release()
    if not is_wanted:
        LOG.info("Node %s: a further report of its ramdisk is not handed on", uuid)
        return
    refusal: HardwareInspectionFailure | None = None
    try:
        inspect.hand_report_on(uuid, inventory, plugin_data)
    except HardwareInspectionFailure as error:
        refusal = error
    try:
        with task.acquire_other(uuid, "noting what became of a report") as again:
            if again.node.provision_state != states.INSPECTWAIT:
                return
            if refusal is not None:
                again.spawn_after(end_wait, again, refusal)
                return
            inspect.note_report(again)
            boot_tokens.use_up(again.node)
            again.save_and_release()
    except (NodeLocked, NodeNotFound, NoFreeConductorWorker) as obstacle:
        result = refusal or "its report is handed on"
        LOG.warning("Node %s: %s, which can't be noted now: %s", uuid, result, obstacle)


def end_wait(task: TaskManager, failure: Reason | None) -> None:
    """End the wait for another service that inspects the machine: fetch what it has found, or fail for a reason."""
    if failure is not None:
        engine.fail(task, _FINISH, engine.Failure(failure))
        return
    introspection.process(task.node)
    task.process_event("resume", callback=engine.resume, call_args=(task, _FINISH))


def _is_undiscovered(node: Any) -> bool:
    """Return whether discovery has created the node and its data were not processed yet."""
    done = node.inspection_finished_at is not None or node.last_error
    return bool(CONF.auto_discovery.enabled and node.auto_discovered and not done)


def _process_discovered(task: TaskManager, inventory: dict[str, object], plugin_data: dict[str, object]) -> None:
    """Process the data of a machine that discovery found; its node stays in its state, even after a failure."""
    answer = attempt(task, _continue_discovered, inventory, plugin_data)
    fast_track.release_agent(task.node)
    if isinstance(answer, Failed):
        task.node.last_error = shortened(flow.INSPECT.failure_text(task.node.uuid, answer.reason))
    else:
        task.node.inspection_finished_at, task.node.last_error = task.node.now(), None
        LOG.info("Node %s is discovered; manage it to continue", task.node.uuid)

    def write(_connection: object) -> None:
        if task.node.last_error:
            add_history(task, flow.INSPECT.topic, task.node.last_error, severity="ERROR")
        task.save_and_release()

    task.store.run(write, repeatable=True)


def _continue(task: TaskManager, inventory: dict[str, object], plugin_data: dict[str, object]) -> Any:
    bmc_refresh.refresh_firmware(task, "the report of its ramdisk")
    return task.inspect.continue_inspection(task, inventory, plugin_data)


def _continue_discovered(task: TaskManager, inventory: dict[str, object], plugin_data: dict[str, object]) -> Any:
    try:
        return _continue(task, inventory, plugin_data)
    except UnsupportedDriverExtension:
        raise HardwareInspectionFailure(
            error=f"inspect interface {task.node.inspect_interface} takes no data of a ramdisk. Set "
            "default_inspect_interface to one that does, such as agent, then delete the node and boot the machine again"
        ) from None


def _end(task: TaskManager) -> None:
    fast_track.release_agent(task.node)
    _record_end(task)


def _record_end(task: TaskManager) -> None:
    task.node.inspection_finished_at, task.node.inspection_started_at = task.node.now(), None
    introspection.end(task.node)


def _clean_up(task: TaskManager) -> None:
    """Have the interface clean up after a wait; once the data are processed it has done so itself."""
    try:
        if task.node.provision_state == flow.INSPECT.waiting:
            task.inspect.abort(task)
    finally:
        fast_track.release_agent(task.node)
        _record_failure(task)


def _record_failure(task: TaskManager) -> None:
    task.node.inspection_started_at = None
    introspection.end(task.node)


INSPECT: Final = bind(
    Operation(
        flow=flow.INSPECT,
        act=lambda task: task.inspect.inspect_hardware(task),
        resume=_continue,
        tear_down=_end,
        clean_up=_clean_up,
        end_look=lambda task, reason: end_wait(task, reason),
        timeout_details=lambda task: rejection_summary(task.store, task.node, [port.address for port in task.ports]),
    )
)
# What another service has found is fetched.
_FINISH: Final = Operation(
    flow=flow.INSPECT, resume=lambda task: task.inspect.finish_inspection(task), tear_down=_end, clean_up=_clean_up
)
# Data that are processed again: the machine is not touched, and an agent that runs on it is not forgotten.
_REAPPLY: Final = Operation(
    flow=flow.INSPECT,
    resume=lambda task, inventory, plugin_data: task.inspect.reapply_inspection(task, inventory, plugin_data),
    tear_down=_record_end,
    clean_up=_record_failure,
)
