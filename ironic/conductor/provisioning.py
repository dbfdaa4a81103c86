"""What a provision verb starts.

A table from event to what is called. The API has checked form and version of the request; whether the node may do it
is asked of `core.node_rules` here, with the node locked: state first, then maintenance, protection and retirement.
Whether there is room for one more is asked when it moves (`limits`). Sources: doc/contract/states.md#verbs,
demands S52, S56, S57.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.conductor.answering import answers
from ironic.conductor.flows import (
    aborting,
    adopting,
    cleaning,
    deploying,
    inspecting,
    rescuing,
    resuming,
    servicing,
    tearing_down,
    verifying,
)
from ironic.conductor.history import remember
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import flow, node_rules, states
from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.core.step_cursor import StepCursor

Arguments = Mapping[str, object]


@answers
def change_provision_state(task: Task, verb: str, arguments: dict[str, object]) -> None:
    """Begin what the verb asks for, or raise the reason against it; returns before the work is done."""
    event = states.VERBS.get(verb)
    if event is None:
        raise InvalidParameterValue(err=f"There is no provision verb {verb!r}.")
    given = {name: value for name, value in arguments.items() if value is not None and value != []}
    node_rules.check_verb(task.node, verb, by_holder=True)
    node_rules.check_marks(task.node, verb, offered_in_maintenance=CONF.conductor.allow_provisioning_in_maintenance)
    _check_arguments(verb, event, given)
    ACTIONS[event](task, **given)


def _check_arguments(verb: str, event: str, given: Arguments) -> None:
    verbs = [known for each in flow.FLOWS for known in each.verbs if known.event == event]
    needs = [name for known in verbs for name in known.needs]
    if foreign := sorted(given.keys() - {*needs, *(name for known in verbs for name in known.takes)}):
        raise InvalidParameterValue(err=f"The verb {verb} takes no {', '.join(foreign)}.")
    if missing := [name for name in needs if name not in given]:
        raise MissingParameterValue(err=f"The verb {verb} needs {', '.join(missing)}.")


def _manage(task: Task) -> None:
    """Verify a new node; any other is simply taken back from where it stands."""
    if task.node.provision_state == states.ENROLL:
        verifying.start(task)
    else:
        # Where a conductor died in the middle of cleaning the step is shown still.
        StepCursor.of(task.node, flow.CLEAN).left().put(task.node)
        task.finish("manage")


def _offer_uncleaned(task: Task) -> None:
    """Skip the cleaning that failed (S56); whoever reads the history shall know that."""
    StepCursor(flow=flow.CLEAN).put(task.node)
    task.store.run(lambda _: _write_offer(task), repeatable=True)


def _write_offer(task: Task) -> None:
    remember(task, flow.CLEAN.topic, "cleaning was skipped by request", severity="WARNING")
    task.finish("available")


def _deploy(task: Task, **arguments: Any) -> None:
    _check_instance_traits(task)
    deploying.start(task, "deploy", **arguments)


def _rebuild(task: Task, **arguments: Any) -> None:
    _check_instance_traits(task)
    deploying.start(task, "rebuild", **arguments)


def _check_instance_traits(task: Task) -> None:
    if asked := task.node.instance_info.get("traits"):
        present = task.store.traits.of([task.node_id])[task.node_id]
        node_rules.check_instance_traits(task.node.uuid, asked, present)


# What each event starts. The names of the arguments it must have and may have stand with the verbs of the flows.
ACTIONS: Final[dict[str, Callable[..., None]]] = {
    "manage": _manage,
    "provide": cleaning.start_automated,
    "available": _offer_uncleaned,
    "clean": cleaning.start_manual,
    "inspect": inspecting.start,
    "adopt": adopting.start,
    "deploy": _deploy,
    "rebuild": _rebuild,
    "delete": tearing_down.start,
    "rescue": rescuing.start,
    "unrescue": rescuing.start_back,
    "service": servicing.start,
    "abort": aborting.start,
    "unhold": resuming.unhold,
}
