"""The state machine of nodes: provision states and the moves between them, as one table.

``MOVES`` is the contract, row by row; it says which verbs a state accepts. Which states are working, waiting, held or
failed, and which target is shown to users, comes from the records of the flows (`core/flows/flow.py`). The conductor
performs the moves and records them. Sources: doc/contract/states.md#moves, demands S52, S56.
"""

from typing import Final

from ironic.core.errors import InvalidState
from ironic.core.flows.flow import FLOWS, Moves

# Re-exported: other modules import the names of states from here.
# isort: off
from ironic.core.flows.state_names import (
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
    (DEPLOYING,      "wait",      DEPLOYWAIT),     # until the agent or a poll reports that the step has ended
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

# The target shown for an unstable state, unless the caller requested another one.
DEFAULT_TARGET: Final = {state: flow.done for flow in FLOWS for state in flow.states} | _ENDED_BADLY

ALL: Final = STABLE | frozenset(DEFAULT_TARGET)

FAILED: Final = frozenset(_ENDED_BADLY)
HELD: Final = frozenset(flow.held for flow in FLOWS if flow.held)
WAITING: Final = frozenset(flow.waiting for flow in FLOWS if flow.waiting)

# A conductor works on the node in these; if it dies, the operation has failed.
WORKING: Final = frozenset(flow.working for flow in FLOWS)

# A conductor, a BMC or an agent is busy in these; boot mode and the like must not change meanwhile.
TRANSIENT: Final = WORKING | WAITING

# Power states are not synchronized in these: an operation owns the power, or the node is not managed.
NO_POWER_SYNC: Final = TRANSIENT | HELD | {ENROLL, ADOPTFAIL}

DELETABLE: Final = frozenset({ENROLL, MANAGEABLE, ADOPTFAIL})
# In SERVICING the machine may still run its instance; its ramdisk runs in the waiting state.
LOOKUP_ALLOWED: Final = frozenset(state for flow in FLOWS if flow.ramdisk for state in flow.busy) - {SERVICING}
# A node may be edited in these although it has a target state.
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

# All verbs of the API, with their events. The verbs of a flow start it; `available` leaves clean failed without another
# cleaning (S56).
VERBS: Final = {
    **{verb.word: verb.event for flow in FLOWS for verb in flow.verbs},
    **{word: word for word in ("abort", "unhold", "available")},
}

# The power state that each power change leads to.
POWER_TARGET: Final = {
    POWER_ON: POWER_ON,
    REBOOT: POWER_ON,
    SOFT_REBOOT: POWER_ON,
    POWER_OFF: POWER_OFF,
    SOFT_POWER_OFF: POWER_OFF,
}


def allows(state: str, event: str) -> bool:
    """Return whether the event is possible in this state."""
    return (state, event) in _NEXT


def after(state: str, event: str) -> str:
    """Return the state that follows, or raise InvalidState."""
    try:
        return _NEXT[state, event]
    except KeyError:
        raise InvalidState(state=state, event=event) from None


def target_after(new_state: str, target: str | None) -> str | None:
    """Return the target to show in ``new_state``; ``target`` is the previous one or the one that the caller requested.

    A requested target (manual cleaning ends in manageable) stays until it is reached.
    """
    if new_state in STABLE:
        return None
    return target or DEFAULT_TARGET[new_state]


def verbs_of(state: str) -> frozenset[str]:
    """Return the verbs a user may send to a node in this state."""
    return frozenset(verb for verb, event in VERBS.items() if allows(state, event))
