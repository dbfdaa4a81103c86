"""What a driver's answer means: the door through which third-party drivers come."""

import pytest

from ironic.conductor.flows.driver_steps import judge
from ironic.conductor.flows.outcomes import Done, Failed, Wait
from ironic.core.flows import states
from ironic.core.flows.flow import CLEAN, DEPLOY, INSPECT, RESCUE, SERVICE, UNRESCUE, VERIFY


@pytest.mark.parametrize(
    "flow, answer, expected",
    [
        (CLEAN, None, Done()),
        (CLEAN, states.CLEANWAIT, Wait()),
        (DEPLOY, None, Done()),
        (DEPLOY, states.DEPLOYDONE, Done()),
        (DEPLOY, states.DEPLOYWAIT, Wait()),
        (SERVICE, states.SERVICEWAIT, Wait()),
        (VERIFY, None, Done()),
        (INSPECT, None, Done()),
        (INSPECT, states.MANAGEABLE, Done()),
        (INSPECT, states.INSPECTWAIT, Wait()),
        (RESCUE, states.RESCUE, Done()),
        (RESCUE, states.RESCUEWAIT, Wait()),
        (UNRESCUE, states.ACTIVE, Done()),
        (CLEAN, Failed("no"), Failed("no")),
    ],
)
def test_it_understands_the_words_of_a_flow(flow, answer, expected):
    assert judge(flow, answer) == expected


@pytest.mark.parametrize(
    "flow, answer",
    [
        (CLEAN, states.DEPLOYWAIT),
        (CLEAN, states.DEPLOYDONE),
        (DEPLOY, states.CLEANWAIT),
        (SERVICE, states.DEPLOYDONE),
        (VERIFY, states.CLEANWAIT),
        (INSPECT, states.RESCUEWAIT),
        (UNRESCUE, states.RESCUEWAIT),
        (CLEAN, True),
        (CLEAN, ""),
        (CLEAN, []),
    ],
)
def test_it_takes_anything_else_for_a_failure(flow, answer):
    outcome = judge(flow, answer)
    assert isinstance(outcome, Failed)
    assert repr(answer) in str(outcome.reason)
