"""The life of a node as one table.

``MOVES`` is the contract, written out row by row. Which verbs a state accepts is read off it; which states work, wait,
are held or failed, and what the target shown to users becomes, is read off the records of the flows (`core/flow.py`).
Who performs a move, and what is recorded with it, is decided above. Source: doc/contract/states.md#moves and
demands S52, S56.
"""

from typing import Final

from ironic.core.errors import InvalidState
from ironic.core.flow import FLOWS, Moves

# Named so that other modules may take them from here.
# isort: off
from ironic.core.state_names import (
    ACTIVE as ACTIVE,
    ADOPTFAIL as ADOPTFAIL,
    ADOPTING as ADOPTING,
    AVAILABLE as AVAILABLE,
    CLEANFAIL as CLEANFAIL,
    CLEANHOLD as CLEANHOLD,
    CLEANING as CLEANING,
    CLEANWAIT as CLEANWAIT,
    DELETED as DELETED,
    DELETING as DELETING,
    DEPLOYDONE as DEPLOYDONE,
    DEPLOYFAIL as DEPLOYFAIL,
    DEPLOYHOLD as DEPLOYHOLD,
    DEPLOYING as DEPLOYING,
    DEPLOYWAIT as DEPLOYWAIT,
    ENROLL as ENROLL,
    ERROR as ERROR,
    INSPECTFAIL as INSPECTFAIL,
    INSPECTING as INSPECTING,
    INSPECTWAIT as INSPECTWAIT,
    MANAGEABLE as MANAGEABLE,
    POWER_OFF as POWER_OFF,
    POWER_ON as POWER_ON,
    REBOOT as REBOOT,
    RESCUE as RESCUE,
    RESCUEFAIL as RESCUEFAIL,
    RESCUEWAIT as RESCUEWAIT,
    RESCUING as RESCUING,
    SERVICEFAIL as SERVICEFAIL,
    SERVICEHOLD as SERVICEHOLD,
    SERVICEWAIT as SERVICEWAIT,
    SERVICING as SERVICING,
    SOFT_POWER_OFF as SOFT_POWER_OFF,
    SOFT_REBOOT as SOFT_REBOOT,
    UNRESCUEFAIL as UNRESCUEFAIL,
    UNRESCUING as UNRESCUING,
    VERIFYING as VERIFYING,
)
# isort: on

MOVES: Final[Moves] = (
    # from           event        to
    (ENROLL,         "manage",    VERIFYING),      # first contact with the BMC
    (MANAGEABLE,     "provide",   CLEANING),
    (MANAGEABLE,     "clean",     CLEANING),
    (MANAGEABLE,     "inspect",   INSPECTING),
    (MANAGEABLE,     "adopt",     ADOPTING),
    (AVAILABLE,      "deploy",    DEPLOYING),
    (AVAILABLE,      "manage",    MANAGEABLE),
    (ACTIVE,         "rebuild",   DEPLOYING),
    (ACTIVE,         "delete",    DELETING),
    (ACTIVE,         "rescue",    RESCUING),
    (ACTIVE,         "service",   SERVICING),
    (ERROR,          "rebuild",   DEPLOYING),
    (ERROR,          "delete",    DELETING),
    (RESCUE,         "rescue",    RESCUING),
    (RESCUE,         "delete",    DELETING),
    (RESCUE,         "unrescue",  UNRESCUING),
    (VERIFYING,      "done",      MANAGEABLE),
    (VERIFYING,      "fail",      ENROLL),
    (DEPLOYING,      "fail",      DEPLOYFAIL),
    (DEPLOYING,      "wait",      DEPLOYWAIT),     # a step runs elsewhere; the agent or a poll brings us back
    (DEPLOYING,      "hold",      DEPLOYHOLD),
    (DEPLOYING,      "done",      ACTIVE),
    (DEPLOYWAIT,     "hold",      DEPLOYHOLD),
    (DEPLOYWAIT,     "resume",    DEPLOYING),
    (DEPLOYWAIT,     "fail",      DEPLOYFAIL),
    (DEPLOYWAIT,     "abort",     DEPLOYFAIL),
    (DEPLOYWAIT,     "delete",    DELETING),
    (DEPLOYFAIL,     "rebuild",   DEPLOYING),
    (DEPLOYFAIL,     "deploy",    DEPLOYING),
    (DEPLOYFAIL,     "delete",    DELETING),
    (DEPLOYHOLD,     "unhold",    DEPLOYWAIT),
    (DEPLOYHOLD,     "abort",     DEPLOYFAIL),
    (CLEANING,       "done",      AVAILABLE),
    (CLEANING,       "fail",      CLEANFAIL),
    (CLEANING,       "wait",      CLEANWAIT),
    (CLEANING,       "hold",      CLEANHOLD),
    (CLEANING,       "manage",    MANAGEABLE),     # manual cleaning ends where it began
    (CLEANWAIT,      "fail",      CLEANFAIL),
    (CLEANWAIT,      "abort",     CLEANFAIL),
    (CLEANWAIT,      "hold",      CLEANHOLD),
    (CLEANWAIT,      "resume",    CLEANING),
    (CLEANFAIL,      "manage",    MANAGEABLE),
    (CLEANFAIL,      "clean",     CLEANING),       # S52: cleaning by request from clean failed too
    (CLEANFAIL,      "provide",   CLEANING),       # S52, S56: clean again
    (CLEANFAIL,      "available", AVAILABLE),      # S56: skip cleaning
    (CLEANHOLD,      "abort",     CLEANFAIL),
    (CLEANHOLD,      "unhold",    CLEANWAIT),
    (DELETING,       "fail",      ERROR),
    (DELETING,       "clean",     CLEANING),
    (INSPECTING,     "done",      MANAGEABLE),
    (INSPECTING,     "fail",      INSPECTFAIL),
    (INSPECTING,     "wait",      INSPECTWAIT),
    (INSPECTFAIL,    "manage",    MANAGEABLE),
    (INSPECTFAIL,    "inspect",   INSPECTING),
    (INSPECTWAIT,    "done",      MANAGEABLE),
    (INSPECTWAIT,    "fail",      INSPECTFAIL),
    (INSPECTWAIT,    "abort",     INSPECTFAIL),
    (INSPECTWAIT,    "resume",    INSPECTING),
    (ADOPTING,       "done",      ACTIVE),
    (ADOPTING,       "fail",      ADOPTFAIL),
    (ADOPTFAIL,      "adopt",     ADOPTING),
    (ADOPTFAIL,      "manage",    MANAGEABLE),
    (RESCUING,       "done",      RESCUE),
    (RESCUING,       "wait",      RESCUEWAIT),
    (RESCUING,       "fail",      RESCUEFAIL),
    (RESCUEWAIT,     "resume",    RESCUING),
    (RESCUEWAIT,     "fail",      RESCUEFAIL),
    (RESCUEWAIT,     "abort",     RESCUEFAIL),
    (RESCUEWAIT,     "delete",    DELETING),
    (RESCUEFAIL,     "rescue",    RESCUING),
    (RESCUEFAIL,     "unrescue",  UNRESCUING),
    (RESCUEFAIL,     "delete",    DELETING),
    (UNRESCUING,     "done",      ACTIVE),
    (UNRESCUING,     "fail",      UNRESCUEFAIL),
    (UNRESCUEFAIL,   "rescue",    RESCUING),
    (UNRESCUEFAIL,   "unrescue",  UNRESCUING),
    (UNRESCUEFAIL,   "delete",    DELETING),
    (SERVICING,      "done",      ACTIVE),
    (SERVICING,      "fail",      SERVICEFAIL),
    (SERVICING,      "wait",      SERVICEWAIT),
    (SERVICING,      "hold",      SERVICEHOLD),
    (SERVICEWAIT,    "hold",      SERVICEHOLD),
    (SERVICEWAIT,    "resume",    SERVICING),
    (SERVICEWAIT,    "fail",      SERVICEFAIL),
    (SERVICEWAIT,    "abort",     SERVICEFAIL),
    (SERVICEWAIT,    "delete",    DELETING),
    (SERVICEFAIL,    "service",   SERVICING),
    (SERVICEFAIL,    "rescue",    RESCUING),
    (SERVICEFAIL,    "wait",      SERVICEWAIT),
    (SERVICEFAIL,    "hold",      SERVICEHOLD),
    (SERVICEFAIL,    "delete",    DELETING),
    (SERVICEFAIL,    "abort",     ACTIVE),
    (SERVICEHOLD,    "service",   SERVICING),
    (SERVICEHOLD,    "unhold",    SERVICEWAIT),
    (SERVICEHOLD,    "fail",      SERVICEFAIL),
    (SERVICEHOLD,    "abort",     SERVICEFAIL),
    *(move for flow in FLOWS for move in flow.moves),
)  # fmt: skip

_NEXT: Final = {(state, event): target for state, event, target in MOVES}

STABLE: Final = frozenset({ENROLL, MANAGEABLE, AVAILABLE, ACTIVE, ERROR, RESCUE})

_ENDED_BADLY: Final = {flow.failed: flow.done for flow in FLOWS if flow.failed not in STABLE}

# What an unstable state is on its way to; shown as the target unless the caller asked for another one.
DEFAULT_TARGET: Final = {state: flow.done for flow in FLOWS for state in flow.states} | _ENDED_BADLY

ALL: Final = STABLE | DEFAULT_TARGET.keys()

FAILED: Final = frozenset(_ENDED_BADLY)
HELD: Final = frozenset(flow.held for flow in FLOWS if flow.held)
WAITING: Final = frozenset(flow.waiting for flow in FLOWS if flow.waiting)

# A conductor is at work in these; when it dies there, the work has failed.
WORKING: Final = frozenset(flow.working for flow in FLOWS)

# A BMC or an agent is busy in these; boot mode and the like must not change under it.
TRANSIENT: Final = WORKING | WAITING

# The power of a machine is nobody's business in these: something waits or somebody looks at it, or it is not managed.
NO_POWER_SYNC: Final = WAITING | HELD | {ENROLL, ADOPTFAIL}

DELETABLE: Final = frozenset({ENROLL, MANAGEABLE, ADOPTFAIL})
# A machine that is serviced runs its instance until its ramdisk is waited for.
LOOKUP_ALLOWED: Final = frozenset(state for flow in FLOWS if flow.ramdisk for state in flow.busy) - {SERVICING}
# A node may be edited in these although it is on its way somewhere.
EDITABLE_WITH_TARGET: Final = frozenset(
    {
        DEPLOYFAIL,
        INSPECTING,
        INSPECTFAIL,
        INSPECTWAIT,
        CLEANFAIL,
        ERROR,
        VERIFYING,
        ADOPTFAIL,
        RESCUEFAIL,
        UNRESCUEFAIL,
        SERVICEHOLD,
        SERVICEFAIL,
    }
)
INTERFACES_EDITABLE: Final = frozenset({ENROLL, INSPECTING, INSPECTWAIT, MANAGEABLE, AVAILABLE})

# What users call an event; a verb missing here is no verb. Those of the flows begin one; `available` is S56's way out
# of clean failed.
VERBS: Final = {
    **{verb.word: verb.event for flow in FLOWS for verb in flow.verbs},
    **{word: word for word in ("abort", "unhold", "available")},
}

# What is left of a power change once it is under way.
POWER_TARGET: Final = {
    POWER_ON: POWER_ON,
    REBOOT: POWER_ON,
    SOFT_REBOOT: POWER_ON,
    POWER_OFF: POWER_OFF,
    SOFT_POWER_OFF: POWER_OFF,
}


def allows(state: str, event: str) -> bool:
    """Tell whether the event is possible in this state."""
    return (state, event) in _NEXT


def after(state: str, event: str) -> str:
    """Return the state that follows, or raise InvalidState."""
    try:
        return _NEXT[state, event]
    except KeyError:
        raise InvalidState(state=state, event=event) from None


def target_after(new_state: str, target: str | None) -> str | None:
    """Return the target to show once ``new_state`` is reached; ``target`` is the one before or the caller's own.

    A target that was asked for (manual cleaning aims at manageable) stays until it is reached.
    """
    if new_state in STABLE:
        return None
    return target or DEFAULT_TARGET[new_state]


def verbs_of(state: str) -> frozenset[str]:
    """Return the verbs a user may send to a node in this state."""
    return frozenset(verb for verb, event in VERBS.items() if allows(state, event))
