"""Power of a parent node and its children: who follows whom, and what stops a change."""

from typing import Any

import pytest

from ironic.core.errors import IronicError
from ironic.core.flows import states
from ironic.drivers.contract.task import Waiter

ON, OFF = states.POWER_ON, states.POWER_OFF


def machine(bench, power: str | None = ON, parent: str | None = None, **values: Any) -> str:
    return bench.node("power", "vendor", power_state=power, parent_node=parent, **values)


def power(bench, uuid: str, target: str) -> Any:
    bench.endpoint.change_node_power_state(bench.context, uuid, target, None)
    return bench.row(uuid)


@pytest.fixture
def orders(bench) -> list[tuple[str, str]]:
    """Return the orders that machines got, with their nodes."""
    got: list[tuple[str, str]] = []
    for target in states.POWER_TARGET:
        bench.script.answers[f"set {target}"] = lambda task, target=target: got.append((task.node.uuid, target))
    return got


@pytest.mark.parametrize("target", [OFF, states.SOFT_POWER_OFF])
def test_children_go_off_before_their_parent(bench, orders, target):
    top = machine(bench)
    child = machine(bench, parent=top)
    other = machine(bench, parent=top)
    grandchild = machine(bench, parent=child)
    is_off = machine(bench, OFF, parent=top)
    power(bench, top, target)
    assert orders == [(uuid, target) for uuid in (grandchild, child, other, top)]
    assert {bench.row(uuid).power_state for uuid in (top, child, other, grandchild, is_off)} == {OFF}
    assert all(bench.row(uuid).reservation is None for uuid in (top, child, other, grandchild, is_off))


@pytest.mark.parametrize("target", [ON, states.REBOOT, states.SOFT_REBOOT])
def test_a_parent_comes_on_before_its_child(bench, orders, target):
    top = machine(bench, OFF)
    middle = machine(bench, OFF, parent=top)
    child, sibling = machine(bench, OFF, parent=middle), machine(bench, OFF, parent=middle)
    power(bench, child, target)
    assert orders == [(top, ON), (middle, ON), (child, target)]
    assert bench.row(sibling).power_state == OFF


@pytest.mark.parametrize("parent, child, target", [(ON, OFF, ON), (OFF, OFF, OFF), (ON, ON, OFF)])
def test_a_parent_stays_as_it_is_otherwise(bench, orders, parent, child, target):
    top = machine(bench, parent)
    power(bench, machine(bench, child, parent=top), target)
    assert bench.row(top).power_state == parent
    assert top not in dict(orders)


def test_a_parent_that_restarts_leaves_its_children_alone(bench, orders):
    top = machine(bench)
    machine(bench, parent=top)
    power(bench, top, states.REBOOT)
    assert orders == [(top, states.REBOOT)]


@pytest.mark.parametrize("mark", [True, "true", "YES"])
def test_a_child_with_a_supply_of_its_own_is_no_concern_of_its_parent(bench, orders, mark):
    top = machine(bench)
    child = machine(bench, parent=top, driver_info={"has_dedicated_power_supply": mark})
    power(bench, top, OFF)
    power(bench, child, states.REBOOT)
    assert orders == [(top, OFF), (child, states.REBOOT)]
    assert bench.row(top).power_state == OFF


@pytest.mark.parametrize("mark", ["perhaps", 7, ["true"]])
def test_an_odd_mark_stops_the_change(bench, orders, mark):
    top = machine(bench)
    machine(bench, parent=top, driver_info={"has_dedicated_power_supply": mark})
    assert "must be true or false" in power(bench, top, OFF).last_error
    assert not orders


@pytest.mark.parametrize(
    "values, said",
    [
        ({"disable_power_off": True}, "disable_power_off"),
        ({"provision_state": states.CLEANWAIT}, "clean wait"),
        ({"owner": "other"}, "another owner"),
    ],
)
def test_a_child_that_must_not_go_off_keeps_its_parent_on(bench, orders, values, said):
    top = machine(bench)
    child = machine(bench, parent=top, **values)
    node = power(bench, top, OFF)
    assert (node.power_state, node.target_power_state, node.reservation) == (ON, None, None)
    assert child in node.last_error
    assert said in node.last_error
    assert not orders
    assert bench.row(child).reservation is None
    assert bench.history(top) == [("ERROR", "power", node.last_error)]


def test_a_parent_that_must_stay_on_keeps_its_children_on(bench, orders):
    top = machine(bench)
    child = machine(bench, parent=top)
    bench.store.nodes.update(top, {"disable_power_off": True})
    with bench.tasks.acquire(bench.context, top, purpose="test") as task, pytest.raises(IronicError):
        task.change_power(OFF)
    assert not orders
    assert bench.row(child).power_state == ON


def test_a_failure_of_a_child_is_the_parents_too(bench):
    top = machine(bench)
    child = machine(bench, parent=top)
    bench.script.answers["set power off"] = IronicError("the card hangs")
    node = power(bench, top, OFF)
    assert (node.power_state, bench.row(child).power_state) == (ON, ON)
    assert "the card hangs" in node.last_error
    assert child in node.last_error
    assert bench.row(child).target_power_state is None


def test_a_parent_whose_power_its_interface_can_not_know_is_switched_on(bench, orders):
    top = machine(bench, None)
    child = machine(bench, OFF, parent=top)
    power(bench, child, ON)
    assert orders == [(top, ON), (child, ON)]


@pytest.mark.parametrize("is_child", [True, False])
def test_nothing_is_ordered_of_a_related_node_whose_power_is_odd(bench, orders, is_child):
    if is_child:
        changed = machine(bench)
        odd = machine(bench, "error", parent=changed)
    else:
        odd = machine(bench, "error")
        changed = machine(bench, OFF, parent=odd)
    node = power(bench, changed, OFF if is_child else ON)
    assert not orders
    assert f"nothing was ordered of node {odd}" in node.last_error
    assert (node.power_state, node.target_power_state) == (ON if is_child else OFF, None)


def test_a_child_has_shut_down_before_its_parent_goes_off(bench):
    top = machine(bench)
    machine(bench, parent=top)
    waits: list[bool] = []

    def shut_down(task: Any) -> None:
        waits.append(task.waiter is not Waiter.REQUEST)

    bench.script.answers["set soft power off"] = shut_down
    power(bench, top, states.SOFT_POWER_OFF)
    assert waits == [True, False]


def test_a_circle_ends(bench, orders):
    one = machine(bench)
    other = machine(bench, parent=one)
    bench.store.nodes.update(one, {"parent_node": other})
    power(bench, one, OFF)
    assert orders == [(other, OFF), (one, OFF)]
    orders.clear()
    power(bench, one, ON)
    assert orders == [(other, ON), (one, ON)]


def test_a_parent_that_is_gone_stops_no_child(bench, orders):
    child = machine(bench, OFF, parent="7d1c7d8c-0d5e-4d86-9a2c-5ac1f4f6e001")
    assert power(bench, child, ON).power_state == ON


def test_a_step_on_children_switches_on_the_parent_whose_step_it_is(bench, orders):
    top = machine(bench, OFF, provision_state=states.MANAGEABLE)
    child = machine(bench, OFF, parent=top, provision_state=states.MANAGEABLE)
    step = {"interface": "power", "step": "power_on", "execute_on_child_nodes": True}
    bench.verb(top, "clean", clean_steps=[step])
    assert orders[:2] == [(top, ON), (child, ON)]
