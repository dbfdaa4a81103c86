"""What a ramdisk runs from is taken away when its machine is off, on every way out of every operation."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from ironic.conductor.flows import wait_ends
from ironic.conductor.locking import LockMode
from ironic.core.flows import states
from ironic.tests.agent_double import AgentDouble
from ironic.tests.functional.agent.conftest import NotingBoot, NotingPower, beat
from ironic.tests.functional.agent.test_direct import IMAGE
from ironic.tests.unit.conductor.flows.bench import Bench

MAC: Final = "52:54:00:00:00:01"
INVENTORY: Final[dict[str, object]] = {
    "interfaces": [{"name": "eth0", "mac_address": MAC}],
    "boot": {"pxe_interface": MAC},
}

# Operation: the verb, the state before it and the option that keeps the machine on after a failure.
STARTS: Final[dict[str, tuple[str, str, str]]] = {
    "deploy": ("active", states.AVAILABLE, "deploy__power_off_after_deploy_failure"),
    "clean": ("provide", states.MANAGEABLE, "conductor__poweroff_in_cleanfail"),
    "inspect": ("inspect", states.MANAGEABLE, "inspector__power_off"),
    "rescue": ("rescue", states.ACTIVE, ""),
    "service": ("service", states.ACTIVE, "conductor__poweroff_in_servicefail"),
}
NOOP: Final = {"interface": "deploy", "step": "loopback_noop", "args": {}}
ARGUMENTS: Final[dict[str, dict[str, object]]] = {
    "rescue": {"rescue_password": "canary"},
    "service": {"service_steps": [NOOP]},
}


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch, done: list[str]) -> list[str | None]:
    """Return the power states of the machine when the boot interface took away what its ramdisk runs from."""
    seen: list[str | None] = []

    def take(_boot: object, task: Any) -> None:
        seen.append(task.power.get_power_state(task))

    monkeypatch.setattr(NotingBoot, "holds_ramdisk", True)
    monkeypatch.setattr(NotingBoot, "clean_up_ramdisk", take)
    monkeypatch.setattr(NotingBoot, "clean_up_instance", take)
    for name in ("validate_inspection", "prepare_ramdisk"):
        monkeypatch.setattr(NotingBoot, name, lambda *_: None)
    return seen


def running(bench: Bench, agent: AgentDouble, operation: str, taken: list[str | None]) -> str:
    """Begin an operation; return the node, which waits for its ramdisk, or runs a step of it."""
    verb, state, _option = STARTS[operation]
    uuid = bench.node(
        "boot", "power", "network", provision_state=state, deploy_interface="direct", rescue_interface="agent",
        inspect_interface="agent", management_interface="noop", vendor_interface="no-vendor", power_state="power on",
        instance_info=IMAGE, automated_clean=operation == "clean",
    )  # fmt: skip
    bench.verb(uuid, verb, **ARGUMENTS.get(operation, {}))
    assert bench.state(uuid)[0] in states.WAITING, bench.row(uuid).last_error
    if operation != "inspect":
        node = bench.row(uuid)
        node.set_driver_internal_info("agent_secret_token", agent.memory()["agent_secret_token"])
        node.save()
    assert bench.row(uuid).power_state == "power on"
    taken.clear()
    return uuid


# The ways out


def fail(bench: Bench, agent: AgentDouble, uuid: str) -> None:
    state = bench.state(uuid)[0]
    if state == states.INSPECTWAIT:
        bench.endpoint.continue_inspection(bench.context, uuid, INVENTORY, {"error": "it burns"})
        return
    if state == states.RESCUEWAIT:
        agent.refusals["rescue.finalize_rescue"] = (500, "no such user")
        beat(bench, agent, uuid)
        return
    beat(bench, agent, uuid)
    agent.end("FAILED", error="no")
    beat(bench, agent, uuid)


def abort(bench: Bench, _agent: AgentDouble, uuid: str) -> None:
    bench.verb(uuid, "deleted" if bench.state(uuid)[0] == states.DEPLOYWAIT else "abort")


def time_out(bench: Bench, _agent: AgentDouble, uuid: str) -> None:
    with bench.tasks.acquire(bench.context, uuid, LockMode.PERIODIC, purpose="ending a wait") as task:
        task.spawn_after(wait_ends.end_wait, task, "late")


Way = Callable[[Bench, AgentDouble, str], None]
FAILURES: Final[tuple[Way, ...]] = (fail, time_out)
# Ways out after which the machine is left on when its option says so; the others end with it off, or restarted.
STAYING: Final = {
    ("deploy", fail), ("deploy", time_out), ("clean", fail), ("clean", time_out),
    ("inspect", fail), ("inspect", time_out), ("inspect", abort),
}  # fmt: skip
CASES: Final = [
    pytest.param(operation, way, stays, id=f"{operation}-{way.__name__}-{'stays' if stays else 'goes off'}")
    for operation in STARTS
    for way in (*FAILURES, abort)
    for stays in (True, False)
    if (STARTS[operation][2] or not stays)
]


@pytest.mark.parametrize(("operation", "way", "stays"), CASES)
def test_the_machine_is_off_when_its_ramdisk_loses_what_it_runs_from(
    bench, secure_agent, conf, taken, operation, way, stays
):
    option = STARTS[operation][2]
    if option:
        conf(**{option: not stays})
    uuid = running(bench, secure_agent, operation, taken)
    way(bench, secure_agent, uuid)
    assert bench.state(uuid)[0] not in states.WAITING
    assert set(taken) <= {states.POWER_OFF}
    if stays and (operation, way) in STAYING:
        assert bench.row(uuid).power_state == states.POWER_ON
        assert taken == []
    else:
        assert taken != []


@pytest.mark.parametrize("operation", ["deploy", "inspect"])
def test_a_machine_that_can_not_be_switched_off_keeps_it(bench, secure_agent, monkeypatch, taken, operation):
    uuid = running(bench, secure_agent, operation, taken)

    def refuse(*_arguments: object) -> None:
        raise RuntimeError("the BMC is away")

    monkeypatch.setattr(NotingPower, "set_power_state", refuse)
    time_out(bench, secure_agent, uuid)
    assert (taken, bench.row(uuid).power_state) == ([], states.POWER_ON)


@pytest.mark.parametrize("operation", ["deploy", "clean"])
def test_what_a_failure_has_left_is_taken_away_by_the_next_operation(bench, secure_agent, conf, taken, operation):
    conf(deploy__power_off_after_deploy_failure=False, conductor__poweroff_in_cleanfail=False)
    uuid = running(bench, secure_agent, operation, taken)
    time_out(bench, secure_agent, uuid)
    assert taken == []
    for verb in ["deleted"] if operation == "deploy" else ["manage", "provide", "abort"]:
        bench.verb(uuid, verb)
    assert set(taken) == {states.POWER_OFF}
