"""What a new plan makes of one that is under way: nothing that ran is lost or repeated, and nothing is left out."""

from collections import Counter
from dataclasses import replace
from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from ironic.core.flows.flow import DEPLOY
from ironic.core.flows.step_cursor import StepCursor
from ironic.core.flows.steps import Step

PLANS = st.lists(st.builds(Step, step=st.sampled_from("abcd"), interface=st.sampled_from(["bios", "deploy"])))
NOW = datetime(2026, 1, 1)


def under_way(plan: list[Step], index: int | None, *, again: bool) -> StepCursor:
    """Return the cursor of a node at a step of a plan."""
    cursor = StepCursor(flow=DEPLOY).planned(plan)
    return cursor if index is None else replace(cursor.entered(index, plan[index], NOW), repeats=again)


@given(PLANS, PLANS, st.data())
def test_what_ran_stays_and_the_rest_is_the_new_plans(old, new, data):
    index = data.draw(st.one_of(st.none(), st.integers(0, len(old) - 1)) if old else st.none())
    again = data.draw(st.booleans())
    ran = [] if index is None else old[: index + (not again)]
    merged = under_way(old, index, again=again).merged(new).plan
    assert merged[: len(ran)] == ran
    rest = merged[len(ran) :]
    counted = Counter(step.key for step in ran)
    assert Counter(step.key for step in rest) == Counter(step.key for step in new) - counted
    places = iter(new)
    assert all(step in places for step in rest)  # in the order of the new plan


@given(PLANS.filter(bool), st.data())
def test_the_same_plan_again_changes_nothing(plan, data):
    index = data.draw(st.integers(0, len(plan) - 1))
    cursor = under_way(plan, index, again=False).merged(plan)
    assert [step.key for step in cursor.plan[: index + 1]] == [step.key for step in plan[: index + 1]]
    assert Counter(step.key for step in cursor.plan) == Counter(step.key for step in plan)
    assert cursor.next_index == index + 1
