"""The operations on a node, as data: one record each.

A record names the states of the node during the operation, the verbs that start it, the keys that hold its progress,
its timeout and what it waits for, and the texts of its failure. Conductor, drivers and API derive their tables from
these records; the conductor binds the actions to them (`conductor/flows`). The transitions between the states are
listed in `core/flows/states.py`. Sources: doc/contract/steps.md, doc/contract/states.md.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ironic.core import errors
from ironic.core.errors.failure_texts import Reason, failure_text, headline_of
from ironic.core.flows import state_names as states

Moves = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb by which a user starts an operation.

    ``since`` is the first API version that has it; ``is_late``: the state is checked before the version. Each argument
    has a first version too; None marks one that the API adds itself.
    """

    word: str
    event: str
    since: int = 1
    is_late: bool = False
    needs: Mapping[str, int] = field(default_factory=dict)
    takes: Mapping[str, int | None] = field(default_factory=dict)
    # Refused in maintenance; on a retired node, because it makes the node available; on a protected node.
    refused_in_maintenance: bool = False
    offers_node: bool = False
    undoes_instance: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """The limit of nodes in one kind of operation: its name, and the option of [conductor] with the number."""

    operation: str
    option: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """How an operation waits.

    ``option`` of [conductor] is the timeout in seconds, 0 for none; ``expected`` names the event that ends the wait,
    ``since`` the column with its begin. ``hears_agent``: heartbeats of the agent are stored and continue the operation.
    """

    option: str
    expected: str = "a heartbeat of the agent"
    since: str = "provision_updated_at"
    hears_agent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flow:
    """One kind of operation; there is one record of each."""

    # Of a flow with steps also part of other names: execute_clean_step, get_clean_steps, agent_cached_clean_steps.
    name: str
    verbs: tuple[Verb, ...] = ()

    # The states of the node during the operation and afterwards; ``done`` is the target state shown meanwhile.
    working: str
    done: str
    failed: str
    waiting: str | None = None
    held: str | None = None
    # Transitions of a flow that a plug-in registers; those of the built-in ones are listed in `core/flows/states.py`.
    moves: Moves = ()

    # Results of a driver that mean "finished", besides None; the ``waiting`` state means that it continues elsewhere.
    finished_words: tuple[str, ...] = ()

    # The interfaces that offer steps; the first one wins among equal priorities (S47). Of an operation with one
    # built-in step: the interface that performs it.
    interfaces: tuple[str, ...] = ()
    is_one_step: bool = False

    # Whether it stores its progress, so that it can continue. The running step is stored in ``column``, without one
    # in driver_internal_info.
    keeps_place: bool = False
    column: str | None = None
    # The prefix of some of its keys in driver_internal_info.
    gerund: str = ""
    # The list of a user is stored beside the plan made from it, instead of being replaced by it.
    keeps_users_list: bool = False
    # Part of the names of the deploy interface's methods before and after a list of steps (prepare_cleaning).
    prepared_as: str | None = None

    # How its end is reported: the event type in node history, and the fault that a failure sets on the node.
    topic: str
    failure: str
    # What a failing step raises; by default the driver's own error.
    step_error: type[errors.IronicError] | None = None
    fault: str | None = None
    aborted: str = "The {flow} operation on node {node} was aborted by request{where}."

    wait: Wait | None = None
    limit: Limit | None = None
    abort_since: int = 1
    # On abort, the clean-up runs before the state changes, not afterwards.
    aborts_when_cleared_up: bool = False

    # Which kernel and ramdisk the machine boots for it, and in which network.
    ramdisk: str | None = None
    network: str = ""

    # The steps after a failed one run all the same.
    runs_all: bool = False
    # An automated plan is started again when another agent arrives than the one it was made with (S60).
    starts_over: bool = False
    # A refused list of steps counts as a failure of the operation, although no step ran.
    blames_refusals: bool = False
    # The interfaces that the instance asks for do not count.
    ignores_instance: bool = False
    # A held node continues at once on unhold, whether an agent is known or not.
    unholds_at_once: bool = False

    @property
    def states(self) -> tuple[str, ...]:
        """The states of a node during the operation: working, waiting, held."""
        return tuple(state for state in (self.working, self.waiting, self.held) if state)

    @property
    def busy(self) -> tuple[str, ...]:
        """The states in which a conductor, a BMC or an agent works on it: working, waiting."""
        return tuple(state for state in (self.working, self.waiting) if state)

    @property
    def list_verbs(self) -> tuple[str, ...]:
        """The verbs that take a list of steps from the user."""
        name = f"{self.name}_steps"
        return tuple(verb.word for verb in self.verbs if name in verb.needs or name in verb.takes)

    @property
    def has_steps(self) -> bool:
        """Return whether drivers offer steps for it."""
        return bool(self.interfaces) and not self.is_one_step

    @property
    def hears_agent(self) -> bool:
        """Return whether heartbeats continue it."""
        return self.wait is not None and self.wait.hears_agent

    def failure_text(self, node: str, reason: Reason, step: str | None = None, stage: str | None = None) -> str:
        """Return the text of a failure; ``stage`` says where outside of its steps it failed ("restarting ...")."""
        of_step = self.step_error.text if self.step_error is not None else None
        what = (step and of_step) or self.failure
        headline = headline_of(what, node=node, step=step)
        if step is not None and of_step is None:
            headline += f" in step {step}"
        if stage is not None:
            headline += f" while {stage}"
        named = node if "{node}" in what else None
        return failure_text(headline, reason, named, said=[(self.failure, {"node": node} if named else {})])

    def abort_text(self, node: str, where: str) -> str:
        """Return the text for a node whose operation was aborted by request."""
        return self.aborted.format(flow=self.name, node=node, where=where)


_STEPPING: Final = ("vendor", "power", "management", "firmware", "deploy", "bios", "raid")
_DEPLOYMENTS: Final = Limit("deployment", "max_concurrent_deploy")
_CLEANINGS: Final = Limit("cleaning", "max_concurrent_clean")
_OF_INSTANCES: Final = {"configdrive": 1, "deploy_steps": 69, "judged_instance": None}

VERIFY: Final = Flow(
    name="verify",
    verbs=(Verb(word="manage", event="manage", since=4),),
    working=states.VERIFYING,
    done=states.MANAGEABLE,
    failed=states.ENROLL,
    interfaces=(
        *("power", "management", "firmware", "inspect", "deploy", "boot", "bios", "raid", "vendor", "network"),
        *("storage", "console", "rescue"),
    ),
    topic="verify",
    failure=errors.NodeVerifyFailure.text,
    runs_all=True,
)
CLEAN: Final = Flow(
    name="clean",
    verbs=(
        Verb(word="provide", event="provide", since=4, offers_node=True),
        Verb(
            word="clean",
            event="clean",
            since=15,
            needs={"clean_steps": 15},
            takes={"disable_ramdisk": 70},
            refused_in_maintenance=True,
        ),
    ),
    working=states.CLEANING,
    waiting=states.CLEANWAIT,
    held=states.CLEANHOLD,
    failed=states.CLEANFAIL,
    done=states.AVAILABLE,
    interfaces=_STEPPING,
    keeps_place=True,
    column="clean_step",
    gerund="cleaning",
    prepared_as="cleaning",
    topic="cleaning",
    failure=errors.NodeCleaningFailure.text,
    step_error=errors.CleanStepFailed,
    fault="clean failure",
    wait=Wait(option="clean_callback_timeout"),
    limit=_CLEANINGS,
    ramdisk="deploy",
    network="cleaning",
    starts_over=True,
    ignores_instance=True,
)
DEPLOY: Final = Flow(
    name="deploy",
    verbs=(
        Verb(word="active", event="deploy", takes=_OF_INSTANCES, refused_in_maintenance=True),
        Verb(word="deploy", event="deploy", since=73, takes={"configdrive": 1}, refused_in_maintenance=True),
        Verb(word="rebuild", event="rebuild", takes=_OF_INSTANCES, refused_in_maintenance=True, undoes_instance=True),
    ),
    working=states.DEPLOYING,
    waiting=states.DEPLOYWAIT,
    held=states.DEPLOYHOLD,
    failed=states.DEPLOYFAIL,
    done=states.ACTIVE,
    finished_words=(states.DEPLOYDONE,),
    interfaces=_STEPPING,
    keeps_place=True,
    column="deploy_step",
    gerund="deployment",
    keeps_users_list=True,
    topic="deploying",
    failure=errors.InstanceDeployFailure.text,
    wait=Wait(option="deploy_callback_timeout"),
    limit=_DEPLOYMENTS,
    abort_since=110,
    ramdisk="deploy",
    network="provisioning",
)
SERVICE: Final = Flow(
    name="service",
    verbs=(
        Verb(
            word="service",
            event="service",
            since=87,
            is_late=True,
            needs={"service_steps": 87},
            takes={"disable_ramdisk": 108},
            refused_in_maintenance=True,
        ),
    ),
    working=states.SERVICING,
    waiting=states.SERVICEWAIT,
    held=states.SERVICEHOLD,
    failed=states.SERVICEFAIL,
    done=states.ACTIVE,
    interfaces=("network", *_STEPPING),
    keeps_place=True,
    column="service_step",
    gerund="servicing",
    prepared_as="service",
    topic="servicing",
    failure=errors.NodeServicingFailure.text,
    fault="service failure",
    wait=Wait(option="service_callback_timeout"),
    ramdisk="deploy",
    network="servicing",
    blames_refusals=True,
    unholds_at_once=True,
)
INSPECT: Final = Flow(
    name="inspect",
    verbs=(Verb(word="inspect", event="inspect", since=6),),
    working=states.INSPECTING,
    waiting=states.INSPECTWAIT,
    failed=states.INSPECTFAIL,
    done=states.MANAGEABLE,
    finished_words=(states.MANAGEABLE,),
    interfaces=("inspect",),
    is_one_step=True,
    topic="introspection",
    failure=errors.HardwareInspectionFailure.text,
    aborted="The wait was aborted by request.",
    aborts_when_cleared_up=True,
    wait=Wait(
        option="inspect_wait_timeout",
        expected="the inspection data of the ramdisk",
        since="inspection_started_at",
        hears_agent=False,
    ),
    abort_since=41,
    ramdisk="deploy",
    network="inspection",
)
RESCUE: Final = Flow(
    name="rescue",
    verbs=(Verb(word="rescue", event="rescue", since=38, needs={"rescue_password": 38}, refused_in_maintenance=True),),
    working=states.RESCUING,
    waiting=states.RESCUEWAIT,
    failed=states.RESCUEFAIL,
    done=states.RESCUE,
    finished_words=(states.RESCUE, states.ACTIVE),
    interfaces=("rescue",),
    is_one_step=True,
    topic="rescue",
    failure=errors.InstanceRescueFailure.text,
    aborted="The rescue was aborted by request.",
    wait=Wait(option="rescue_callback_timeout"),
    ramdisk="rescue",
    network="rescuing",
)
UNRESCUE: Final = Flow(
    name="unrescue",
    verbs=(Verb(word="unrescue", event="unrescue", since=38, refused_in_maintenance=True),),
    working=states.UNRESCUING,
    failed=states.UNRESCUEFAIL,
    done=states.ACTIVE,
    finished_words=(states.RESCUE, states.ACTIVE),
    interfaces=("rescue",),
    is_one_step=True,
    topic="rescue",
    failure=errors.InstanceUnrescueFailure.text,
)
ADOPT: Final = Flow(
    name="adopt",
    verbs=(Verb(word="adopt", event="adopt", since=17),),
    working=states.ADOPTING,
    failed=states.ADOPTFAIL,
    done=states.ACTIVE,
    is_one_step=True,
    topic="adoption",
    failure="Adopting node {node} failed: {reason}",
)
TEAR_DOWN: Final = Flow(
    name="tear down",
    verbs=(
        Verb(word="deleted", event="delete", undoes_instance=True),
        Verb(word="undeploy", event="delete", undoes_instance=True),
    ),
    working=states.DELETING,
    failed=states.ERROR,
    done=states.AVAILABLE,
    is_one_step=True,
    topic="unprovision",
    failure="Removing the instance of node {node} failed: {reason}",
    limit=_CLEANINGS,
)

FLOWS: Final[list[Flow]] = [CLEAN, DEPLOY, INSPECT, RESCUE, UNRESCUE, SERVICE, ADOPT, TEAR_DOWN, VERIFY]
_BY_STATE: Final = {state: flow for flow in FLOWS for state in flow.states}


def register(flow: Flow) -> None:
    """Add a flow with its transitions.

    Tables are derived from the flows when their modules are imported, so call this before any other import.
    Raises RuntimeError when it is too late.
    """
    if "ironic.core.flows.states" in sys.modules:
        raise RuntimeError(
            f"The flow {flow.name} is registered too late: ironic.core.flows.states is imported already."
        )
    FLOWS.append(flow)
    _BY_STATE.update(dict.fromkeys(flow.states, flow))


def named(name: str) -> Flow:
    """Return a flow by its name."""
    return next(flow for flow in FLOWS if flow.name == name)


def in_state(state: str) -> Flow | None:
    """Return the flow of a node in this state; None in a state without one."""
    return _BY_STATE.get(state)
