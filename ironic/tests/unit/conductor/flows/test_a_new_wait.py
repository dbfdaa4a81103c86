"""doc/add-a-wait.md as a newcomer types it: the interface of the page waits, is looked at, and its step ends."""

import re
from typing import Any

import pytest

from ironic.conductor.locking import LockMode
from ironic.core.flows import node_waits, states
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.tests.repository import ROOT
from ironic.tests.unit.conductor.flows.bench import Bench

PAGE = (ROOT / "doc" / "add-a-wait.md").read_text()
INTERFACE, TEST = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


class Machine:
    """Answers for the BMC of the page."""

    ends = "running"

    def begin_self_test(self, node: Any) -> str:
        return "17"

    def state_of_self_test(self, node: Any, job: str) -> str:
        assert job == "17"
        return self.ends


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def node(bench: Bench, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a node whose management interface is that of the page."""
    names: dict[str, Any] = {
        "begin_self_test": machine.begin_self_test, "state_of_self_test": machine.state_of_self_test,
        "__name__": "acme",
    }  # fmt: skip
    exec(compile(INTERFACE, "add-a-wait.md", "exec"), names)  # the page is ours
    acme = names["AcmeManagement"]()
    driver_for = bench.composition.driver_for

    def with_acme(row: Any) -> Any:
        driver = driver_for(row)
        driver.management = acme
        return driver

    monkeypatch.setattr(bench.composition, "driver_for", with_acme)
    interfaces = {interface_field(kind): bench.composition.default("fake-hardware", kind) for kind in KINDS}
    return bench.store.nodes.create(
        {"driver": "fake-hardware", "provision_state": states.MANAGEABLE, **interfaces, "deploy_interface": "scripted"}
    ).uuid


def begin(bench: Bench, uuid: str) -> None:
    step = {"interface": "management", "step": "self_test", "args": {}}
    assert bench.verb(uuid, "clean", clean_steps=[step])[0] == states.CLEANWAIT
    assert bench.row(uuid).driver_internal_info["waiting_for"].startswith("the BMC to end its self test, until ")


# The test of the page is a test of this module.
exec(compile(TEST, "add-a-wait.md", "exec"))


def test_nothing_is_left_of_a_wait_that_has_ended(bench: Bench, machine: Machine, node: str) -> None:
    begin(bench, node)
    machine.ends = "passed"
    bench.look()
    assert bench.state(node)[0] == states.MANAGEABLE
    assert node_waits.open_kinds(bench.row(node)) == []


def test_its_failure_fails_the_step(bench: Bench, machine: Machine, node: str) -> None:
    begin(bench, node)
    machine.ends = "failed"
    bench.look()
    assert bench.state(node)[0] == states.CLEANFAIL
    assert "the self test ended as failed" in (bench.row(node).last_error or "")


def test_a_user_who_was_faster_wins(bench: Bench, machine: Machine, node: str) -> None:
    begin(bench, node)
    (wait,) = bench.store.node_waits.of(bench.row(node).id)
    with bench.tasks.acquire(bench.context, node, LockMode.PERIODIC_SHARED, purpose="looking") as task:
        with bench.tasks.acquire(bench.context, node, purpose="a user") as other:
            node_waits.end_all(other.node)
            other.node.save()
        machine.ends = "passed"
        name, _ = task.management.looks[wait.kind]
        assert getattr(task.management, name)(task, wait) is None
    assert bench.state(node)[0] == states.CLEANWAIT
