"""The states that plug-ins know: those sets of the state machine are the ones that they expect."""

import pytest

from ironic.common import states

WAITING = {"wait call-back", "clean wait", "inspect wait", "rescue wait", "service wait"}
WORKING = {
    *("deploying", "cleaning", "verifying", "inspecting", "adopting", "rescuing", "unrescuing", "deleting"),
    "servicing",
}
LOOKUP = {*("deploying", "cleaning", "inspecting", "rescuing"), *WAITING}
FAILED = {f"{verb} failed" for verb in ("service", "rescue", "adopt", "clean", "deploy", "inspect", "unrescue")}
EXPECTED = {
    "SERVICING_STATES": {"servicing", "service wait", "service failed", "service hold"},
    "INSPECTION_STATES": {"inspecting", "inspect wait", "inspect failed"},
    "DELETE_ALLOWED_STATES": {"manageable", "enroll", "adopt failed"},
    "STABLE_STATES": {"enroll", "manageable", "available", "active", "error", "rescue"},
    "UPDATE_ALLOWED_STATES": {
        *("deploy failed", "inspecting", "inspect failed", "inspect wait", "clean failed", "error", "verifying"),
        *("adopt failed", "rescue failed", "unrescue failed", "service", "service hold", "service failed"),
    },
    "UNSTABLE_STATES": WORKING | WAITING,
    "STUCK_STATES_TREATED_AS_FAIL": WORKING,
    "FAILURE_STATES": FAILED,
    "LOOKUP_ALLOWED_STATES": LOOKUP,
    "_LOOKUP_ALLOWED_STATES": LOOKUP,
    "FASTTRACK_LOOKUP_ALLOWED_STATES": LOOKUP | {"enroll", "manageable", "available", "servicing", "service hold"},
    "ALL_STATES": WORKING
    | WAITING
    | FAILED
    | {"enroll", "manageable", "available", "active", "error", "rescue"}
    | {"deploy hold", "clean hold", "service hold"},
}
WORDS = {
    "DEPLOY": "deploy",
    "UNDEPLOY": "undeploy",
    "REBUILD": "rebuild",
    "SERVICE": "service",
    "VERIFY": "verify",
    "ALLOCATING": "allocating",
    "PROVISIONING": "provisioning",
    "TAKEOVER": "takeover",
    "INTROSPECTION": "introspection",
    "CONDUCTOR": "conductor",
    "TRANSITION": "transition",
    "STARTFAIL": "startup failure",
    "UNPROVISION": "unprovision",
    "ADOPTION": "adoption",
    "CONSOLE": "console",
    "MONITORING": "monitoring",
}
SAME = ("manage", "provide", "inspect", "abort", "clean", "adopt", "rescue", "unrescue", "unhold", "service")


@pytest.mark.parametrize("name", EXPECTED)
def test_sets(name: str) -> None:
    assert getattr(states, name) == EXPECTED[name]
    # Plug-ins share it with the state machine.
    assert isinstance(getattr(states, name), frozenset)


@pytest.mark.parametrize("name", WORDS)
def test_words(name: str) -> None:
    assert getattr(states, name) == WORDS[name]


def test_no_state_is_none() -> None:
    assert states.NOSTATE is None
    assert states._FASTTRACK_LOOKUP_ALLOWED_STATES is states.FASTTRACK_LOOKUP_ALLOWED_STATES


def test_verbs() -> None:
    known = {verb: verb for verb in SAME} | {"active": "deploy", "deploy": "deploy"}
    known |= {"deleted": "delete", "undeploy": "delete"}
    more = {"rebuild": "rebuild", "available": "available"}
    assert dict(states.VERBS) == known | more
