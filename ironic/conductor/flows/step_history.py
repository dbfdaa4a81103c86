"""Begin and end of every step, for people: in the log always, in node history and syslog if the operator wants it."""

import logging
import syslog

from ironic.conductor.history import remember
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core.flow import Flow
from ironic.core.steps import Step

LOG = logging.getLogger(__name__)


def write_down(
    task: Task, flow: Flow, *, ended: Step | None = None, begins: Step | None = None, seconds: int | None = None
) -> None:
    """Note the end of one step and the beginning of the next; part of the transaction that the caller has open.

    ``seconds`` is how long the one that ended took.
    """
    if ended is not None:
        note(task, flow, f"{flow.name} step {ended.name} ended", seconds=seconds)
    if begins is not None:
        note(task, flow, f"{flow.name} step {begins.name} begins")


def note(task: Task, flow: Flow, event: str, severity: str = "INFO", *, seconds: int | None = None) -> None:
    """Note what happens to a node in the course of a flow."""
    LOG.info("Node %s: %s", task.node.uuid, event)
    if CONF.conductor.log_step_flows_to_syslog:
        syslog.syslog(syslog.LOG_INFO, f"ironic: node {task.node.uuid}: {event}")
    if CONF.conductor.record_step_flows_in_history:
        remember(task, flow.topic, event, severity, seconds=seconds)
