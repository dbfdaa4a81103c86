"""The life of a node as one table.

``MOVES`` is the contract, written out row by row; everything else here is read off it: which verbs a state accepts,
which states are stable, waiting or failed, what the target shown to users becomes. Who performs a move, and what is
recorded with it, is decided above. Source: doc/contract/states.md#moves and demands S52, S56.
"""

from typing import Final

from ironic.core.errors import InvalidState

ENROLL: Final = "enroll"
VERIFYING: Final = "verifying"
MANAGEABLE: Final = "manageable"
AVAILABLE: Final = "available"
ACTIVE: Final = "active"
DEPLOYING: Final = "deploying"
DEPLOYWAIT: Final = "wait call-back"
DEPLOYFAIL: Final = "deploy failed"
DEPLOYHOLD: Final = "deploy hold"
CLEANING: Final = "cleaning"
CLEANWAIT: Final = "clean wait"
CLEANFAIL: Final = "clean failed"
CLEANHOLD: Final = "clean hold"
DELETING: Final = "deleting"
ERROR: Final = "error"
INSPECTING: Final = "inspecting"
INSPECTWAIT: Final = "inspect wait"
INSPECTFAIL: Final = "inspect failed"
ADOPTING: Final = "adopting"
ADOPTFAIL: Final = "adopt failed"
RESCUE: Final = "rescue"
RESCUING: Final = "rescuing"
RESCUEWAIT: Final = "rescue wait"
RESCUEFAIL: Final = "rescue failed"
UNRESCUING: Final = "unrescuing"
UNRESCUEFAIL: Final = "unrescue failed"
SERVICING: Final = "servicing"
SERVICEWAIT: Final = "service wait"
SERVICEFAIL: Final = "service failed"
SERVICEHOLD: Final = "service hold"

# Words a driver may return that are no provision states.
DELETED: Final = "deleted"
DEPLOYDONE: Final = "deploy complete"

POWER_ON: Final = "power on"
POWER_OFF: Final = "power off"
REBOOT: Final = "rebooting"
SOFT_REBOOT: Final = "soft rebooting"
SOFT_POWER_OFF: Final = "soft power off"

MOVES: Final = (
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
)  # fmt: skip

_NEXT: Final = {(state, event): target for state, event, target in MOVES}

STABLE: Final = frozenset({ENROLL, MANAGEABLE, AVAILABLE, ACTIVE, ERROR, RESCUE})

# What an unstable state is on its way to; shown as the target unless the caller asked for another one.
DEFAULT_TARGET: Final = {
    VERIFYING: MANAGEABLE,
    DEPLOYING: ACTIVE,
    DEPLOYWAIT: ACTIVE,
    DEPLOYFAIL: ACTIVE,
    DEPLOYHOLD: ACTIVE,
    CLEANING: AVAILABLE,
    CLEANWAIT: AVAILABLE,
    CLEANFAIL: AVAILABLE,
    CLEANHOLD: AVAILABLE,
    DELETING: AVAILABLE,
    INSPECTING: MANAGEABLE,
    INSPECTFAIL: MANAGEABLE,
    INSPECTWAIT: MANAGEABLE,
    ADOPTING: ACTIVE,
    ADOPTFAIL: ACTIVE,
    RESCUING: RESCUE,
    RESCUEWAIT: RESCUE,
    RESCUEFAIL: RESCUE,
    UNRESCUING: ACTIVE,
    UNRESCUEFAIL: ACTIVE,
    SERVICING: ACTIVE,
    SERVICEWAIT: ACTIVE,
    SERVICEFAIL: ACTIVE,
    SERVICEHOLD: ACTIVE,
}

ALL: Final = STABLE | DEFAULT_TARGET.keys()

FAILED: Final = frozenset({ADOPTFAIL, CLEANFAIL, DEPLOYFAIL, INSPECTFAIL, RESCUEFAIL, SERVICEFAIL, UNRESCUEFAIL})
HELD: Final = frozenset({CLEANHOLD, DEPLOYHOLD, SERVICEHOLD})
WAITING: Final = frozenset({DEPLOYWAIT, CLEANWAIT, INSPECTWAIT, RESCUEWAIT, SERVICEWAIT})

# A conductor is at work in these; when it dies there, the work has failed.
WORKING: Final = frozenset(DEFAULT_TARGET.keys() - FAILED - HELD - WAITING)

# A BMC or an agent is busy in these; boot mode and the like must not change under it.
TRANSIENT: Final = WORKING | WAITING

DELETABLE: Final = frozenset({ENROLL, MANAGEABLE, ADOPTFAIL})
LOOKUP_ALLOWED: Final = frozenset(
    {
        DEPLOYING,
        DEPLOYWAIT,
        CLEANING,
        CLEANWAIT,
        INSPECTING,
        INSPECTWAIT,
        RESCUING,
        RESCUEWAIT,
        SERVICEWAIT,
    }
)
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

# What users call an event; a verb missing here is no verb. `available` is S56's way out of clean failed.
VERBS: Final = {
    "active": "deploy",
    "deploy": "deploy",
    "rebuild": "rebuild",
    "deleted": "delete",
    "undeploy": "delete",
    "manage": "manage",
    "provide": "provide",
    "inspect": "inspect",
    "abort": "abort",
    "clean": "clean",
    "adopt": "adopt",
    "rescue": "rescue",
    "unrescue": "unrescue",
    "unhold": "unhold",
    "service": "service",
    "available": "available",
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
