"""What holds for every plan, whatever drivers offer and people ask for."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import steps
from ironic.core.flows.steps import INTERFACES, Step

FLOWS = st.sampled_from(sorted(INTERFACES))
PRIORITIES = st.one_of(
    st.integers(-5, 300), st.floats(0, 300, allow_nan=False).map(lambda number: round(number, 3)), st.just(0)
)
KINDS = st.sampled_from(INTERFACES["verify"])
NAMES = st.sampled_from(["a", "b", "c", "d"])
RESERVED = st.sampled_from(sorted(steps.RESERVED))


def step(**more: Any) -> st.SearchStrategy[Step]:
    return st.builds(Step, interface=KINDS, step=NAMES, **more)


def distinct(strategy: st.SearchStrategy[Step], **more: Any) -> st.SearchStrategy[list[Step]]:
    return st.lists(strategy, unique_by=lambda one: one.key, **more)


OFFERED = distinct(step(priority=PRIORITIES))
DEPLOY_KINDS = st.sampled_from(INTERFACES["deploy"])
ASKED = distinct(st.builds(Step, interface=DEPLOY_KINDS, step=NAMES, priority=st.integers(0, 300)))
DEPLOY_OFFERED = distinct(st.builds(Step, interface=DEPLOY_KINDS, step=NAMES, priority=st.integers(0, 300))).map(
    lambda offered: [Step("deploy", 100, "deploy"), *offered]
)


def names(plan: list[Step]) -> list[str]:
    return [one.name for one in plan]


@given(FLOWS, OFFERED)
def test_an_automated_plan_is_what_is_enabled_and_nothing_else(flow, offered):
    plan = steps.automated_plan(flow, offered)
    expected = [one for one in offered if one.priority != 0 and one.interface in INTERFACES[flow]]
    assert sorted(names(plan)) == sorted(names(expected))


@given(FLOWS, OFFERED)
def test_it_descends_by_priority_then_by_interface(flow, offered):
    place = INTERFACES[flow].index
    keys = [(-(one.priority or 0), place(one.interface)) for one in steps.automated_plan(flow, offered)]
    assert keys == sorted(keys)


@given(FLOWS, OFFERED, st.randoms(use_true_random=False))
def test_the_order_of_discovery_counts_only_within_an_interface(flow, offered, random):
    """Steps of different interfaces, or of different priority, come in the same order however they were found."""
    unlike = list({(one.priority, one.interface): one for one in offered}.values())
    shuffled = random.sample(unlike, len(unlike))
    assert steps.automated_plan(flow, unlike) == steps.automated_plan(flow, shuffled)


@given(FLOWS, OFFERED, st.dictionaries(st.tuples(KINDS, NAMES).map(".".join), PRIORITIES.map(str)))
def test_overrides_are_as_if_the_driver_had_said_so(flow, offered, overrides):
    said = [Step(one.step, steps.number(overrides.get(one.name, one.priority)), one.interface) for one in offered]
    assert steps.automated_plan(flow, offered, overrides) == steps.automated_plan(flow, said)


@given(OFFERED, st.lists(st.one_of(step(), st.builds(Step, interface=DEPLOY_KINDS, step=RESERVED))))
def test_a_users_list_is_kept_whole_and_in_order_or_refused(offered, asked):
    known = {one.key for one in offered}
    unknown = [one for one in asked if not one.is_reserved and one.key not in known]
    try:
        plan = steps.requested_plan(offered, asked)
    except InvalidParameterValue as refusal:
        assert unknown
        assert all(one.name in str(refusal) for one in unknown)
    else:
        assert not unknown
        assert names(plan) == names(asked)


@given(OFFERED, st.lists(st.one_of(step(), st.builds(Step, interface=DEPLOY_KINDS, step=RESERVED))))
def test_nothing_is_lost_from_a_list_before_the_agent_has_come(offered, asked):
    assert names(steps.requested_plan(offered, asked, complete=False)) == names(asked)


@given(DEPLOY_OFFERED, ASKED, ASKED, st.booleans())
def test_the_nearest_word_decides_about_every_step_of_a_deployment(offered, templated, asked, complete):
    """The user's before the template's before the driver's; 0 switches off; nothing else runs or is left out."""
    said = {one.key: one.priority for one in (*offered, *templated, *asked)}
    known = {one.key for one in offered}
    unknown = {key for key, priority in said.items() if priority and key not in known}
    try:
        plan = steps.deploy_plan(offered, asked, templates={"T": templated}, complete=complete)
    except InvalidParameterValue:
        assert complete
        assert unknown
    else:
        assert {one.key: one.priority for one in plan} == {key: priority for key, priority in said.items() if priority}
        assert not (complete and unknown)


@given(DEPLOY_OFFERED, ASKED)
def test_what_only_an_agent_can_have_never_runs_before_it_comes(offered, asked):
    plan = steps.deploy_plan(offered, asked, complete=False)
    known = {one.key for one in offered}
    core = [one.key for one in plan].index(steps.CORE_DEPLOY)
    assert all(one.key in known for one in plan[:core])
    before, after = plan[:core], plan[core + 1 :]
    for part in (before, after):
        priorities = [one.priority or 0 for one in part]
        assert priorities == sorted(priorities, reverse=True)


@given(DEPLOY_OFFERED, ASKED, ASKED)
def test_two_templates_that_differ_are_named_and_never_merged_by_chance(offered, one, other):
    both = {"ONE": one, "OTHER": other}
    differ = {mine.name for mine in one for its in other if mine.key == its.key and mine != its}
    try:
        steps.deploy_plan(offered, [], templates=both, complete=False)
    except InvalidParameterValue as refusal:
        assert differ
        assert all(f"ONE and OTHER define step {name} differently" in str(refusal) for name in differ)
    else:
        assert not differ


@given(st.builds(Step, interface=DEPLOY_KINDS, step=NAMES, priority=PRIORITIES, order=st.integers(), args=st.just({})))
def test_it_reads_what_it_writes(one):
    assert Step.parse(one.as_dict()) == one
