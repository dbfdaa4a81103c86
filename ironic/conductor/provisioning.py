"""The provision verbs: a table from event to the function that starts it.

The API has checked form and version of the request. Whether the node may do it is asked of `core.node_rules` here, with
the node locked: state first, then maintenance, protection and retirement. The limit of concurrent operations is checked
when the node moves (`transitions`). Sources: doc/contract/states.md#verbs, demands S52, S56, S57.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.conductor.flows import (
    cleaning,
    deploying,
    enrollment,
    inspecting,
    rescuing,
    servicing,
    tearing_down,
    wait_ends,
)
from ironic.conductor.node_events import add_history
from ironic.conductor.rpc_method import rpc_method
from ironic.conductor.tasks import TaskManager
from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.flows import flow, states
from ironic.core.flows.step_cursor import StepCursor
from ironic.integrations import metric_table


@rpc_method
def change_provision_state(task: TaskManager, verb: str, arguments: dict[str, object]) -> None:
    """Start what the verb asks for on a worker, or raise the reason against it."""
    event = states.VERBS.get(verb)
    if event is None:
        raise InvalidParameterValue(err=f"There is no provision verb {verb!r}.")
    given = {name: value for name, value in arguments.items() if value is not None and value != []}
    node_rules.check_verb(task.node, verb, by_holder=True)
    node_rules.check_marks(task.node, verb, offered_in_maintenance=CONF.conductor.allow_provisioning_in_maintenance)
    _check_arguments(verb, event, given)
    metric_table.VERBS.timer(event)(ACTIONS[event])(task, **given)


def _check_arguments(verb: str, event: str, given: Mapping[str, object]) -> None:
    """Refuse arguments that no flow with this event takes, and a call without those that it needs."""
    verbs = [known for each in flow.FLOWS for known in each.verbs if known.event == event]
    needs = [name for known in verbs for name in known.needs]
    if foreign := sorted(given.keys() - {*needs, *(name for known in verbs for name in known.takes)}):
        raise InvalidParameterValue(err=f"The verb {verb} takes no {', '.join(foreign)}.")
    if missing := [name for name in needs if name not in given]:
        raise MissingParameterValue(err=f"The verb {verb} needs {', '.join(missing)}.")


def _manage(task: TaskManager) -> None:
    """Verify a new node; any other becomes manageable at once."""
    if task.node.provision_state == states.ENROLL:
        enrollment.start_verifying(task)
    else:
        # The step of a cleaning that died with its conductor is still shown; it is removed here.
        StepCursor.of(task.node, flow.CLEAN).ended().put(task.node)
        task.finish("manage")


def _offer_uncleaned(task: TaskManager) -> None:
    """Offer the node without the cleaning that failed (S56), with a line in its history."""
    StepCursor(flow=flow.CLEAN).put(task.node)

    def write(_connection: object) -> None:
        add_history(task, flow.CLEAN.topic, "cleaning was skipped by request", severity="WARNING")
        task.finish("available")

    task.store.run(write, repeatable=True)


def _deploy(task: TaskManager, **arguments: Any) -> None:
    _check_instance_traits(task)
    deploying.start(task, "deploy", **arguments)


def _rebuild(task: TaskManager, **arguments: Any) -> None:
    _check_instance_traits(task)
    deploying.start(task, "rebuild", **arguments)


def _check_instance_traits(task: TaskManager) -> None:
    if task.node.instance_info.get("traits"):
        present = task.store.traits.of([task.node_id])[task.node_id]
        node_rules.check_instance_traits(task.node.uuid, task.node.instance_info, present)


# What each event starts. The verbs of the flows (`core.flow`) name the arguments that it needs and takes.
ACTIONS: Final[dict[str, Callable[..., None]]] = {
    "manage": _manage,
    "provide": cleaning.start_automated,
    "available": _offer_uncleaned,
    "clean": cleaning.start_manual,
    "inspect": inspecting.start,
    "adopt": enrollment.start_adopting,
    "deploy": _deploy,
    "rebuild": _rebuild,
    "delete": tearing_down.start,
    "rescue": rescuing.start,
    "unrescue": rescuing.start_unrescue,
    "service": servicing.start,
    "abort": wait_ends.abort,
    "unhold": wait_ends.unhold,
}
