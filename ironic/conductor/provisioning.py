"""What a provision verb starts.

A table from event to what is called. The API has checked form and version of the request; whether the node may do it
is asked of `core.node_rules` here, with the node locked: state first, then maintenance, protection and retirement.
Whether there is room for one more is asked when it moves (`limits`). Sources: doc/contract/states.md#verbs,
demands S52, S56, S57.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
from ironic.conductor.flows.progress import Progress
from ironic.conductor.history import remember
from ironic.conductor.task import Task
from ironic.conf import CONF
from ironic.core import node_rules, states
from ironic.core.errors import InvalidParameterValue, MissingParameterValue

Arguments = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Action:
    """What one event starts, with the names of the arguments it must have and those it may have."""

    start: Callable[..., None]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


@answers
def change_provision_state(task: Task, verb: str, arguments: dict[str, object]) -> None:
    """Begin what the verb asks for, or raise the reason against it; returns before the work is done."""
    event = states.VERBS.get(verb)
    if event is None:
        raise InvalidParameterValue(err=f"There is no provision verb {verb!r}.")
    action = ACTIONS[event]
    given = {name: value for name, value in arguments.items() if value is not None and value != []}
    node_rules.check_verb(task.node, verb, by_holder=True)
    node_rules.check_marks(task.node, verb, offered_in_maintenance=CONF.conductor.allow_provisioning_in_maintenance)
    _check_arguments(verb, action, given)
    action.start(task, **given)


def _check_arguments(verb: str, action: Action, given: Arguments) -> None:
    if foreign := sorted(given.keys() - {*action.needs, *action.takes}):
        raise InvalidParameterValue(err=f"The verb {verb} takes no {', '.join(foreign)}.")
    if missing := [name for name in action.needs if name not in given]:
        raise MissingParameterValue(err=f"The verb {verb} needs {', '.join(missing)}.")


def _manage(task: Task) -> None:
    """Verify a new node; any other is simply taken back from where it stands."""
    if task.node.provision_state == states.ENROLL:
        verifying.start(task)
    else:
        # Where a conductor died in the middle of cleaning the step is shown still.
        Progress(task.node, cleaning.CLEAN).leave()
        task.finish("manage")


def _offer_uncleaned(task: Task) -> None:
    """Skip the cleaning that failed (S56); whoever reads the history shall know that."""
    Progress(task.node, cleaning.CLEAN).forget()
    task.store.run(lambda _: _write_offer(task), repeatable=True)


def _write_offer(task: Task) -> None:
    remember(task, cleaning.CLEAN.topic, "cleaning was skipped by request", severity="WARNING")
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


_INSTANCE: Final = ("configdrive", "deploy_steps", "judged_instance")

ACTIONS: Final[Mapping[str, Action]] = {
    "manage": Action(_manage),
    "provide": Action(cleaning.start_automated),
    "available": Action(_offer_uncleaned),
    "clean": Action(
        cleaning.start_manual,
        needs=("clean_steps",),
        takes=("disable_ramdisk",),
    ),
    "inspect": Action(inspecting.start),
    "adopt": Action(adopting.start),
    "deploy": Action(_deploy, takes=_INSTANCE),
    "rebuild": Action(_rebuild, takes=_INSTANCE),
    "delete": Action(tearing_down.start),
    "rescue": Action(rescuing.start, needs=("rescue_password",)),
    "unrescue": Action(rescuing.start_back),
    "service": Action(
        servicing.start,
        needs=("service_steps",),
        takes=("disable_ramdisk",),
    ),
    "abort": Action(aborting.start),
    "unhold": Action(resuming.unhold),
}
