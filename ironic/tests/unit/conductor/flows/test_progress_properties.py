"""What a new plan makes of one that is under way: nothing that ran is lost or repeated, and nothing is left out."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ironic.conductor.flows.deploying import DEPLOY
from ironic.conductor.flows.progress import Progress
from ironic.core.steps import Step
from ironic.db import utc_now

PLANS = st.lists(st.builds(Step, step=st.sampled_from("abcd"), interface=st.sampled_from(["bios", "deploy"])))


def under_way(plan: list[Step], index: int | None, *, again: bool) -> Progress:
    """Return the progress of a node at a step of a plan."""
    memory: dict[str, Any] = {}
    node: Any = SimpleNamespace(
        driver_internal_info=memory,
        set_driver_internal_info=memory.__setitem__,
        del_driver_internal_info=lambda key: memory.pop(key, None),
        now=utc_now,
        deploy_step={},
    )
    progress = Progress(node, DEPLOY)
    progress.adopt(plan)
    if index is not None:
        progress.enter(index, plan[index])
        if again:
            progress.repeat()
    return progress


@given(PLANS, PLANS, st.data())
def test_what_ran_stays_and_the_rest_is_the_new_plans(old, new, data):
    index = data.draw(st.one_of(st.none(), st.integers(0, len(old) - 1)) if old else st.none())
    again = data.draw(st.booleans())
    progress = under_way(old, index, again=again)
    ran = [] if index is None else old[: index + (not again)]
    progress.merge(new)
    merged = progress.plan
    assert merged[: len(ran)] == ran
    rest = merged[len(ran) :]
    counted = Counter(step.key for step in ran)
    assert Counter(step.key for step in rest) == Counter(step.key for step in new) - counted
    places = iter(new)
    assert all(step in places for step in rest)  # in the order of the new plan


@given(PLANS.filter(bool), st.data())
def test_the_same_plan_again_changes_nothing(plan, data):
    index = data.draw(st.integers(0, len(plan) - 1))
    progress = under_way(plan, index, again=False)
    progress.merge(plan)
    assert [step.key for step in progress.plan[: index + 1]] == [step.key for step in plan[: index + 1]]
    assert Counter(step.key for step in progress.plan) == Counter(step.key for step in plan)
    assert progress.next_index() == index + 1
