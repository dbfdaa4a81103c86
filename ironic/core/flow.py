"""The operations that work on a node and may wait, as data: one record each.

A record says in which states the node is meanwhile, which verbs ask for it, where it keeps its place on the node, how
long it may wait and for what, and how its failure is told. Conductor, drivers and API read their tables off these
records; what acts is bound to them by the conductor (`conductor/flows`). The moves between the states are written out
in `core/states.py`. Sources: doc/contract/steps.md, doc/contract/states.md.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ironic.core import errors
from ironic.core import state_names as states

Moves = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """What a user says to have an operation begin.

    ``since`` is the first version that knows it, ``is_late`` whether the state is judged before the version. Of the
    arguments each has its first version too; None marks one that the API adds itself.
    """

    word: str
    event: str
    since: int = 1
    is_late: bool = False
    needs: Mapping[str, int] = field(default_factory=dict)
    takes: Mapping[str, int | None] = field(default_factory=dict)
    # What marks of the node forbid: maintenance, retirement (the node is offered for use), protection.
    refused_in_maintenance: bool = False
    offers_node: bool = False
    undoes_instance: bool = False


@dataclass(frozen=True, slots=True)
class Limit:
    """How many nodes may be busy with it at once: what it is called, and the option of [conductor] that says so."""

    operation: str
    option: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """How an operation waits.

    ``option`` of [conductor] holds the seconds after which it fails, 0 for ever; ``expected`` says in words what ends
    it, ``since`` is the column with its begin. ``hears_agent``: the agent's heartbeats are kept and bring it on.
    """

    option: str
    expected: str = "a heartbeat of the agent"
    since: str = "provision_updated_at"
    hears_agent: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flow:
    """One kind of operation; there is one record of each."""

    # For a flow of steps also the part of names: execute_clean_step, get_clean_steps, agent_cached_clean_steps.
    name: str
    verbs: tuple[Verb, ...] = ()

    # Where the node is meanwhile and afterwards; ``done`` is the target that is shown on the way.
    working: str
    done: str
    failed: str
    waiting: str | None = None
    held: str | None = None
    # Its rows in the table of moves; ours are written out in `core/states.py`.
    moves: Moves = ()

    # What a driver may answer for "finished" besides None; ``waiting`` says that it goes on elsewhere.
    finished_words: tuple[str, ...] = ()

    # The interfaces that are asked for steps; the first one wins when priorities are equal (S47). Of an operation of
    # one built-in step: the one that performs it.
    interfaces: tuple[str, ...] = ()
    is_one_step: bool = False

    # Where it keeps its place: ``column`` shows the running step; without one it stands in driver_internal_info.
    # One that keeps nothing starts over.
    keeps_place: bool = False
    column: str | None = None
    # How some of its keys in driver_internal_info begin.
    gerund: str = ""
    # A user's list is kept beside the plan that is made of it, instead of in its place.
    keeps_users_list: bool = False
    # How the deploy interface calls preparing the machine for a list of steps (prepare_cleaning) and giving it back.
    prepared_as: str | None = None

    # How its end is told: filed in node history under ``topic``; ``fault`` is what a failure marks the node with.
    topic: str
    failure: str
    step_failure: str | None = None
    fault: str | None = None
    aborted: str = "The {flow} operation on node {node} was aborted by request{where}."

    wait: Wait | None = None
    limit: Limit | None = None
    abort_since: int = 1
    # What was prepared is cleared up before the state moves, not afterwards.
    aborts_when_cleared_up: bool = False

    # The ramdisk that the machine boots for it (which kernel and ramdisk are named for it), and in which network.
    ramdisk: str | None = None
    network: str | None = None

    # A failing step does not keep the others from running.
    runs_all: bool = False
    # Steps that it chose itself begin anew when the agent is not the one they were planned with (S60).
    starts_over: bool = False
    # A list that is refused counts as a failure of the machine, although nothing ran.
    blames_refusals: bool = False
    # A held node goes on at once when it is let go, whether an agent is known or not.
    unholds_at_once: bool = False

    @property
    def states(self) -> tuple[str, ...]:
        """The states of a node on which it is under way: working, waiting, held."""
        return tuple(state for state in (self.working, self.waiting, self.held) if state)

    @property
    def busy(self) -> tuple[str, ...]:
        """The states in which a conductor, a BMC or an agent is busy with it: working, waiting."""
        return tuple(state for state in (self.working, self.waiting) if state)

    @property
    def list_verbs(self) -> tuple[str, ...]:
        """The verbs that a user's list of steps goes with; empty where users hand in none."""
        name = f"{self.name}_steps"
        return tuple(verb.word for verb in self.verbs if name in verb.needs or name in verb.takes)

    @property
    def has_steps(self) -> bool:
        """Tell whether drivers offer steps for it."""
        return bool(self.interfaces) and not self.is_one_step

    @property
    def hears_agent(self) -> bool:
        """Tell whether heartbeats are of use to it."""
        return self.wait is not None and self.wait.hears_agent

    def why(self, node: str, reason: str, step: str | None = None) -> str:
        """Return the sentence for last_error, maintenance_reason and node history."""
        if step is not None and self.step_failure is not None:
            return self.step_failure.format(node=node, step=step, reason=reason)
        if step is not None:
            reason = f"step {step} failed: {reason}"
        opening = self.failure.removesuffix("{error}")
        if opening != self.failure and reason.startswith(opening):
            # What hooks and rules of inspection raise begins with the same words already.
            return reason
        return self.failure.format(node=node, reason=reason, error=reason)

    def why_aborted(self, node: str, where: str) -> str:
        """Return the sentence for a node whose operation a user has ended."""
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
    step_failure=errors.CleanStepFailed.text,
    fault="clean failure",
    wait=Wait(option="clean_callback_timeout"),
    limit=_CLEANINGS,
    ramdisk="deploy",
    network="cleaning",
    starts_over=True,
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
    """Have one flow more, with its rows in the table of moves.

    What is read off the flows is read when its module is imported, so this comes first of all in a program.
    """
    if "ironic.core.states" in sys.modules:
        raise RuntimeError(f"The flow {flow.name} comes too late: the tables of states were made already.")
    FLOWS.append(flow)
    _BY_STATE.update(dict.fromkeys(flow.states, flow))


def named(name: str) -> Flow:
    """Return a flow by its name."""
    return next(flow for flow in FLOWS if flow.name == name)


def in_state(state: str) -> Flow | None:
    """Return the flow that is under way on a node in this state; None where nothing is."""
    return _BY_STATE.get(state)
