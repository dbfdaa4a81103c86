"""Planning is a table: steps go in, a list or the reasons against it come out."""

import pytest

from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import steps
from ironic.core.flows.steps import Step


def offer(name: str, priority: steps.Number | str = 0, **more: object) -> Step:
    """Build what a driver offers from ``interface.step``."""
    interface, step = name.split(".")
    return Step.parse({"interface": interface, "step": step, "priority": priority, **more})


def ask(name: str, **more: object) -> Step:
    """Build what a user asks for from ``interface.step``."""
    interface, step = name.split(".")
    return Step.parse({"interface": interface, "step": step, **more})


def names(plan: list[Step]) -> list[str]:
    return [step.name for step in plan]


CLEAN_OFFER = [
    offer("deploy.erase", 10, abortable=True),
    offer("deploy.erase_metadata", 99),
    offer("raid.delete", 0),
    offer("bios.reset", 0, requires_ramdisk=False),
    offer("bios.apply", 0, argsinfo={"settings": {"description": "what to set", "required": True}}),
]


@pytest.mark.demand("S43", "S47")
@pytest.mark.parametrize(
    "flow, offered, expected",
    [
        pytest.param("clean", [], [], id="nothing offered"),
        pytest.param("clean", [offer("bios.a", 0)], [], id="zero never runs by itself"),
        pytest.param("clean", [offer("bios.a", 1), offer("bios.b", 2)], ["bios.b", "bios.a"], id="highest first"),
        pytest.param(
            "clean",
            [offer("deploy.a", 10), offer("management.a", 10), offer("power.a", 10)],
            ["power.a", "management.a", "deploy.a"],
            id="power, then management, then deploy",
        ),
        pytest.param(
            "clean",
            [offer(f"{kind}.a", 5) for kind in reversed(steps.INTERFACES["clean"])],
            ["vendor.a", "power.a", "management.a", "firmware.a", "deploy.a", "bios.a", "raid.a"],
            id="every interface of cleaning",
        ),
        pytest.param(
            "service",
            [offer("vendor.a", 5), offer("network.a", 5)],
            ["network.a", "vendor.a"],
            id="servicing asks the network interface first",
        ),
        pytest.param("clean", [offer("network.a", 5)], [], id="the network interface is not asked when cleaning"),
        pytest.param(
            "verify",
            [offer("vendor.a", 1), offer("boot.a", 1), offer("management.a", 1), offer("power.a", 1)],
            ["power.a", "management.a", "boot.a", "vendor.a"],
            id="verifying begins with power",
        ),
        pytest.param("clean", [offer("bios.b", 3), offer("bios.a", 3)], ["bios.b", "bios.a"], id="then as found"),
    ],
)
def test_it_orders_automated_steps(flow, offered, expected):
    assert names(steps.automated_plan(flow, offered)) == expected


@pytest.mark.demand("S45")
def test_it_takes_whole_and_broken_priorities():
    plan = steps.automated_plan("clean", [offer("bios.a", 10), offer("bios.b", 10.5), offer("bios.c", "10.25")])
    assert [(step.name, step.priority) for step in plan] == [("bios.b", 10.5), ("bios.c", 10.25), ("bios.a", 10)]


@pytest.mark.parametrize("value", [True, None, [], "much", "", "1e"])
def test_it_refuses_a_priority_that_is_no_number(value):
    with pytest.raises(InvalidParameterValue):
        steps.number(value)


@pytest.mark.parametrize(
    "overrides, expected",
    [
        ({}, ["deploy.erase_metadata", "deploy.erase"]),
        ({"deploy.erase_metadata": "0"}, ["deploy.erase"]),
        ({"raid.delete": 50}, ["deploy.erase_metadata", "raid.delete", "deploy.erase"]),
        ({"deploy.erase": "99.5"}, ["deploy.erase", "deploy.erase_metadata"]),
        ({"deploy.unheard_of": "7"}, ["deploy.erase_metadata", "deploy.erase"]),
    ],
)
def test_it_applies_overrides_before_it_looks_at_priorities(overrides, expected):
    assert names(steps.automated_plan("clean", CLEAN_OFFER, overrides)) == expected


def test_it_leaves_out_steps_that_are_not_allowed():
    assert names(steps.automated_plan("clean", CLEAN_OFFER, {}, ["deploy.erase"])) == ["deploy.erase_metadata"]


DEPLOY_OFFER = [
    offer("deploy.deploy", 100, abortable=True),
    offer("bios.apply", 0, abortable=True, argsinfo={"settings": {"description": "what to set", "required": True}}),
    offer("raid.apply", 0),
]


@pytest.mark.parametrize(
    "asked, expected",
    [
        pytest.param([], ["deploy.deploy"], id="the driver's own"),
        pytest.param([ask("deploy.deploy", priority=0)], [], id="the core step may be switched off"),
        pytest.param(
            [ask("raid.apply", priority=120)], ["raid.apply", "deploy.deploy"], id="a user's step before the core step"
        ),
        pytest.param([ask("raid.apply", priority="90")], ["deploy.deploy", "raid.apply"], id="and after it"),
        pytest.param([ask("deploy.hold", priority=101)], ["deploy.hold", "deploy.deploy"], id="reserved steps stay"),
        pytest.param([ask("raid.unheard_of", priority=0)], ["deploy.deploy"], id="priority 0 asks for nothing"),
    ],
)
def test_it_merges_what_the_user_wants_deployed(asked, expected):
    assert names(steps.deploy_plan(DEPLOY_OFFER, asked)) == expected


def test_it_keeps_the_users_arguments_and_the_drivers_word_on_aborting():
    plan = steps.deploy_plan(DEPLOY_OFFER, [ask("bios.apply", priority=120, args={"settings": []})])
    assert plan[0].as_dict() == {
        "step": "apply",
        "priority": 120,
        "interface": "bios",
        "args": {"settings": []},
        "abortable": True,
    }


@pytest.mark.parametrize(
    "asked, words",
    [
        pytest.param([ask("deploy.deploy", priority=50)], ["deploy.deploy", "replaced"], id="core step replaced"),
        pytest.param([ask("raid.apply", priority=1)] * 2, ["raid.apply", "2 times"], id="given twice"),
        pytest.param([ask("raid.nope", priority=1)], ["no step raid.nope"], id="unknown"),
        pytest.param([ask("bios.apply", priority=1)], ["settings"], id="argument missing"),
        pytest.param([ask("raid.apply", priority=1, args={"x": 1})], ["no argument x"], id="argument too many"),
        pytest.param(
            [ask("raid.nope", priority=1), ask("deploy.deploy", priority=5), ask("bios.apply", priority=1)],
            ["raid.nope", "deploy.deploy", "settings"],
            id="all faults at once",
        ),
    ],
)
def test_it_refuses_a_deployment_that_can_not_be(asked, words):
    with pytest.raises(InvalidParameterValue) as caught:
        steps.deploy_plan(DEPLOY_OFFER, asked)
    assert all(word in str(caught.value) for word in words)


def test_it_lets_steps_pass_that_an_agent_may_still_offer():
    plan = steps.deploy_plan(DEPLOY_OFFER, [ask("deploy.write_image", priority=80)], complete=False)
    assert names(plan) == ["deploy.deploy", "deploy.write_image"]


def test_it_puts_what_only_the_agent_can_have_behind_the_step_that_brings_it():
    asked = [ask("deploy.wipe", priority=150), ask("raid.apply", priority=140), ask("deploy.late", priority=90)]
    expected = ["raid.apply", "deploy.deploy", "deploy.wipe", "deploy.late"]
    assert names(steps.deploy_plan(DEPLOY_OFFER, asked, complete=False)) == expected
    arrived = [*DEPLOY_OFFER, offer("deploy.wipe"), offer("deploy.late")]
    expected = ["deploy.wipe", "raid.apply", "deploy.deploy", "deploy.late"]
    assert names(steps.deploy_plan(arrived, asked)) == expected


@pytest.mark.parametrize(
    "templates, asked, expected",
    [
        pytest.param({"A": []}, [], ["deploy.deploy"], id="an empty one"),
        pytest.param({"A": [ask("raid.apply", priority=120)]}, [], ["raid.apply", "deploy.deploy"], id="adds a step"),
        pytest.param(
            {"A": [ask("raid.apply", priority=120)]},
            [ask("raid.apply", priority=0)],
            ["deploy.deploy"],
            id="user says no",
        ),
        pytest.param({"A": [ask("deploy.deploy", priority=0)]}, [], [], id="switches a step off"),
        pytest.param(
            {"A": [ask("deploy.hold", priority=120)], "B": [ask("bios.wait", priority=130)]},
            [],
            ["bios.wait", "deploy.hold", "deploy.deploy"],
            id="reserved steps",
        ),
    ],
)
def test_it_merges_deploy_templates(templates, asked, expected):
    assert names(steps.deploy_plan(DEPLOY_OFFER, asked, templates=templates)) == expected


@pytest.mark.parametrize(
    "step, expected",
    [
        (ask("bios.a"), False),
        (ask("bios.a", execute_on_child_nodes=True), False),
        (ask("bios.a", execute_on_child_nodes=True, limit_child_node_execution=["x"]), False),
        (ask("bios.a", execute_on_child_nodes=True, limit_child_node_execution=[]), True),
        (ask("bios.a", execute_on_child_nodes=False, limit_child_node_execution=["x"]), True),
        (ask("bios.a", limit_child_node_execution=["x"]), True),
    ],
)
def test_it_knows_a_limit_that_does_not_limit(step, expected):
    assert step.has_empty_limit is expected


@pytest.mark.parametrize(
    "name, expected", [("bios.a", True), ("power.power_on", True), ("deploy.hold", False), ("deploy.wait", False)]
)
def test_it_knows_which_steps_are_done_to_children(name, expected):
    assert ask(name, execute_on_child_nodes=True).is_for_children is expected
    assert ask(name).is_for_children is False


@pytest.mark.demand("S53")
def test_it_runs_a_users_list_as_given():
    asked = [ask("raid.delete"), ask("deploy.hold"), ask("bios.reset"), ask("raid.delete")]
    plan = steps.requested_plan(CLEAN_OFFER, asked)
    assert names(plan) == ["raid.delete", "deploy.hold", "bios.reset", "raid.delete"]
    assert plan[0].as_dict() == {"step": "delete", "priority": 0, "interface": "raid", "abortable": False}
    assert plan[1].as_dict() == {"step": "hold", "interface": "deploy"}


@pytest.mark.parametrize(
    "asked, disable_ramdisk, words",
    [
        ([ask("bios.nope")], False, ["no step bios.nope"]),
        ([ask("bios.reset", args={"odd": 1})], False, ["bios.reset takes no argument odd"]),
        ([ask("bios.apply")], False, ["bios.apply needs the argument settings"]),
        ([ask("raid.delete")], True, ["raid.delete needs the ramdisk"]),
        ([ask("bios.nope"), ask("bios.apply", args={"x": 1, "y": 2})], False, ["nope", "settings", " x", " y"]),
    ],
)
def test_it_refuses_a_users_list_and_names_every_fault(asked, disable_ramdisk, words):
    with pytest.raises(InvalidParameterValue) as caught:
        steps.requested_plan(CLEAN_OFFER, asked, disable_ramdisk=disable_ramdisk)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("name", sorted(steps.RESERVED))
def test_it_never_drops_a_reserved_step(name):
    asked = [Step(name, interface="deploy"), ask("bios.reset")]
    assert steps.requested_plan(CLEAN_OFFER, asked, disable_ramdisk=True)[0] == asked[0]


def test_it_leaves_steps_of_child_nodes_to_them():
    asked = [ask("bios.only_the_child_has_it", execute_on_child_nodes=True)]
    assert steps.requested_plan(CLEAN_OFFER, asked, disable_ramdisk=True) == asked


@pytest.mark.parametrize(
    "asked, expected",
    [
        ([ask("bios.reset")], False),
        ([ask("bios.reset"), ask("raid.delete")], True),
        ([ask("deploy.hold")], False),
        ([ask("deploy.unheard_of")], True),
        ([ask("raid.delete", execute_on_child_nodes=True)], False),
        ([], False),
    ],
)
def test_it_knows_whether_the_ramdisk_must_boot(asked, expected):
    assert steps.plan_needs_ramdisk(CLEAN_OFFER, asked) is expected


def test_it_reads_what_it_writes():
    document = {
        "step": "apply",
        "priority": 1.5,
        "interface": "bios",
        "args": {"settings": [1]},
        "abortable": False,
        "argsinfo": {"settings": {"description": "d"}},
        "requires_ramdisk": True,
        "order": 2,
        "abort_after": True,
    }
    assert Step.parse({**document, "of_another_release": 1}).as_dict() == document
    assert list(Step.parse(document).as_dict())[:3] == ["step", "priority", "interface"]


@pytest.mark.parametrize("document", [{}, {"interface": "bios"}, {"interface": "bios", "step": ""}])
def test_it_refuses_a_step_without_a_name(document):
    with pytest.raises(InvalidParameterValue):
        steps.parse_all([document])


@pytest.mark.parametrize(
    "step, expected",
    [
        (offer("bios.a", abortable=True), True),
        (offer("bios.a", abortable=False), False),
        (ask("bios.a"), False),
        (ask("deploy.hold"), True),
        (ask("deploy.wait"), True),
    ],
)
def test_it_tells_which_waits_may_be_interrupted(step, expected):
    assert step.may_abort is expected


@pytest.mark.parametrize(
    "step, fault",
    [
        (ask("deploy.wait", args={"seconds": 5}), None),
        (ask("deploy.wait", args={"seconds": 0.5}), None),
        (ask("deploy.wait"), None),
        (ask("deploy.wait", args={"seconds": "long"}), "seconds"),
        (ask("deploy.wait", args={"seconds": -1}), "seconds"),
        (ask("deploy.wait", args={"minutes": 1}), "no argument minutes"),
        (ask("deploy.hold", args={"seconds": 1}), "no argument seconds"),
    ],
)
def test_it_checks_the_arguments_of_reserved_steps(step, fault):
    if fault is None:
        assert steps.requested_plan([], [step]) == [step]
        return
    with pytest.raises(InvalidParameterValue, match=fault):
        steps.requested_plan([], [step])
