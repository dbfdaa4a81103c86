"""Automated cleaning by a runbook: which one, for which nodes, and what happens when it can't be used."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.resource_errors import InvalidRunbook
from ironic.core.flows import states

TRAIT = "CUSTOM_GOLD"


def runbook(bench, name: str, *steps: str, traits: tuple[str, ...] = (TRAIT,), **values: Any) -> str:
    """Store a runbook with these steps of the vendor interface, in this order; return its UUID."""
    listed = [{"interface": "vendor", "step": step, "args": {}, "order": index} for index, step in enumerate(steps)]
    book = bench.store.runbooks.create_with({"name": name, **values}, list(reversed(listed)))
    bench.store.runbooks.traits.replace(book.id, traits)
    return book.uuid


def node(bench, *, traits: tuple[str, ...] = (TRAIT,), **values: Any) -> str:
    values = {"provision_state": states.MANAGEABLE, "resource_class": "gold", **values}
    uuid = bench.node("vendor", "deploy", **values)
    bench.store.traits.replace(bench.row(uuid).id, traits)
    return uuid


def ran(bench) -> list[str]:
    return [name for name in bench.script.calls if name in ("first", "second", "third", "on_demand")]


@pytest.fixture
def by_runbook(conf):
    conf(conductor__automated_cleaning_step_source="runbook", conductor__automated_cleaning_runbook="usual")


def test_it_runs_the_runbook_in_its_order_instead_of_the_drivers_steps(bench, by_runbook):
    runbook(bench, "usual", "third", "first")
    uuid = node(bench)
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
    assert ran(bench) == ["third", "first"]


@pytest.mark.demand("S49")
def test_it_does_so_after_an_instance_too(bench, by_runbook):
    runbook(bench, "usual", "third", "first")
    uuid = node(bench, provision_state=states.ACTIVE)
    assert bench.verb(uuid, "deleted") == (states.AVAILABLE, None)
    assert ran(bench) == ["third", "first"]


def test_a_runbook_says_nothing_where_the_drivers_do(bench, conf):
    conf(conductor__automated_cleaning_runbook="usual")
    runbook(bench, "usual", "third")
    bench.verb(node(bench), "provide")
    assert ran(bench) == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("by_class", "from_node", "named", "expected"),
    [
        ({}, True, None, "first"),
        ({"gold": "of_class"}, True, None, "second"),
        ({"silver": "of_class"}, True, None, "first"),
        ({"gold": "of_class"}, True, "of_node", "third"),
        ({"gold": "of_class"}, False, "of_node", "second"),
    ],
)
def test_the_nearest_word_wins(bench, by_runbook, conf, by_class, from_node, named, expected):
    conf(conductor__automated_cleaning_runbook_by_resource_class=by_class)
    conf(conductor__automated_cleaning_runbook_from_node=from_node)
    runbook(bench, "usual", "first")
    runbook(bench, "of_class", "second")
    uuid = runbook(bench, "of_node", "third")
    bench.verb(node(bench, driver_info={"cleaning_runbook": uuid} if named else {}), "provide")
    assert ran(bench) == [expected]


@pytest.mark.parametrize(("source", "ends"), [("hybrid", ["first", "second", "third"]), ("runbook", None)])
def test_a_node_that_no_runbook_is_named_for(bench, conf, source, ends):
    conf(conductor__automated_cleaning_step_source=source)
    uuid = node(bench)
    if ends is None:
        with pytest.raises(InvalidParameterValue, match="automated_cleaning_runbook"):
            bench.verb(uuid, "provide")
        assert bench.state(uuid) == (states.MANAGEABLE, None)
    else:
        assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
        assert ran(bench) == ends


UNUSABLE = {
    "unknown runbook": ("unknown", (TRAIT,), "no such runbook"),
    "another trait": ("usual", ("CUSTOM_SILVER",), "no trait in common"),
    "no trait": ("usual", (), "no trait in common"),
}


@pytest.mark.parametrize("source", ["runbook", "hybrid"])
@pytest.mark.parametrize("what", UNUSABLE)
def test_a_runbook_that_can_not_be_used_is_told_and_nothing_else_cleans(bench, conf, what, source):
    name, traits, words = UNUSABLE[what]
    conf(conductor__automated_cleaning_step_source=source, conductor__automated_cleaning_runbook=name)
    runbook(bench, "usual", "first", traits=traits)
    with pytest.raises(InvalidRunbook, match=words):
        bench.verb(node(bench), "provide")
    uuid = node(bench, provision_state=states.ACTIVE)
    assert bench.verb(uuid, "deleted") == (states.CLEANFAIL, states.AVAILABLE)
    row = bench.row(uuid)
    assert words in row.last_error
    assert (row.maintenance, ran(bench)) == (False, [])


@pytest.mark.parametrize("from_node", [True, False])
@pytest.mark.parametrize(("owner", "works"), [("tenants", True), (None, True), ("others", False)])
def test_a_runbook_of_another_project_cleans_no_node(bench, by_runbook, conf, owner, works, from_node):
    conf(conductor__automated_cleaning_runbook_from_node=from_node)
    runbook(bench, "usual", "first", owner=owner)
    uuid = node(bench, owner="tenants", driver_info={"cleaning_runbook": "usual"} if from_node else {})
    if works:
        assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)
        return
    with pytest.raises(InvalidRunbook, match="another project"):
        bench.verb(uuid, "provide")
    assert ran(bench) == []


def test_traits_need_not_match_if_the_operator_says_so(bench, by_runbook, conf):
    conf(conductor__automated_cleaning_runbook_validate_traits=False)
    runbook(bench, "usual", "first", traits=())
    assert bench.verb(node(bench, traits=()), "provide") == (states.AVAILABLE, None)
    assert ran(bench) == ["first"]


@pytest.mark.parametrize(("disable", "boots"), [(True, False), (False, True)])
def test_it_says_whether_the_ramdisk_boots(bench, by_runbook, disable, boots):
    runbook(bench, "usual", "first" if disable else "third", disable_ramdisk=disable)
    assert bench.verb(node(bench), "provide") == (states.AVAILABLE, None)
    assert ("prepare_cleaning" in bench.script.calls) is boots


def test_steps_that_are_not_allowed_are_left_out(bench, by_runbook, conf):
    conf(api__disallow_clean_steps=["vendor.third"])
    runbook(bench, "usual", "third", "first")
    bench.verb(node(bench), "provide")
    assert ran(bench) == ["first"]


def test_a_node_that_is_not_cleaned_needs_none(bench, by_runbook):
    uuid = node(bench, automated_clean=False)
    assert bench.verb(uuid, "provide") == (states.AVAILABLE, None)


@pytest.mark.demand("S59")
def test_the_plan_that_is_shown_is_the_runbooks(bench, by_runbook):
    runbook(bench, "usual", "third", "first")
    shown = bench.endpoint.cleaning_steps(bench.context, node(bench))
    assert [step["step"] for step in shown["steps"]] == ["third", "first"]


@pytest.mark.demand("S56")
def test_cleaning_again_reads_the_runbook_again(bench, by_runbook):
    uuid = runbook(bench, "usual", "on_demand")  # lacks its argument
    broken = node(bench)
    assert bench.verb(broken, "provide") == (states.CLEANFAIL, states.AVAILABLE)
    assert "speed" in bench.row(broken).last_error
    bench.store.runbooks.steps.replace(bench.store.runbooks.get(uuid).id, [
        {"interface": "vendor", "step": "on_demand", "args": {"speed": 1}, "order": 1}
    ])  # fmt: skip
    assert bench.verb(broken, "provide") == (states.AVAILABLE, None)
    assert ran(bench) == ["on_demand"]
