"""Begin and end of every step, for people: in the log always, in node history if the operator wants it."""

import logging

from ironic.conductor.flows.flow import Flow
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core.steps import Step

LOG = logging.getLogger(__name__)


def write_down(task: Task, flow: Flow, *, ended: Step | None = None, begins: Step | None = None) -> None:
    """Note the end of one step and the beginning of the next; part of the transaction that the caller has open."""
    if ended is not None:
        _note(task, flow, f"{flow.name} step {ended.name} ended")
    if begins is not None:
        _note(task, flow, f"{flow.name} step {begins.name} begins")


def _note(task: Task, flow: Flow, event: str) -> None:
    LOG.info("Node %s: %s", task.node.uuid, event)
    if CONF.conductor.record_step_flows_in_history:
        remember(task, flow.topic, event)


def remember(task: Task, topic: str, event: str, severity: str = "INFO") -> None:
    """Write one line into node history, if one is kept."""
    if not CONF.conductor.node_history:
        return
    task.store.history.add(
        task.node.id,
        event=event,
        event_type=topic,
        severity=severity,
        conductor=task.host,
        user=task.context.user_id,
        project=task.context.project_id,
        state=task.node.provision_state,
        target=task.node.target_provision_state,
    )
