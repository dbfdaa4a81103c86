"""What readings of the power state lead to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ironic.core.bmc_readings import NO_READINGS, PowerReadings, ReadingLimits, Verdict, judge_power_reading
from ironic.core.flows import states

ON, OFF = states.POWER_ON, states.POWER_OFF
LIMITS = ReadingLimits(agreeing=3, retries=2, force=True)
FOLLOWING = ReadingLimits(agreeing=2, retries=2, force=False)


def judged(recorded, readings, limits=LIMITS):
    """Return the verdicts on readings in a row."""
    memory, verdicts = NO_READINGS, []
    for seen in readings:
        verdict, memory = judge_power_reading(recorded, seen, memory, limits)
        verdicts.append(verdict.name)
    return verdicts


@pytest.mark.parametrize(
    ("recorded", "readings", "verdicts"),
    [
        (ON, [ON, ON], ["FINE", "FINE"]),
        (None, [OFF], ["RECORD"]),
        ("error", [ON], ["RECORD"]),
        (ON, [OFF, OFF, OFF], ["DOUBTFUL", "DOUBTFUL", "FORCE"]),
        (ON, [OFF, ON, OFF], ["DOUBTFUL", "FINE", "DOUBTFUL"]),
        (ON, [OFF, OFF, None, OFF], ["DOUBTFUL", "DOUBTFUL", "UNREADABLE", "DOUBTFUL"]),
        (ON, [None, None, None], ["UNREADABLE", "UNREADABLE", "GIVE_UP"]),
        (ON, [None, None, ON, None], ["UNREADABLE", "UNREADABLE", "FINE", "UNREADABLE"]),
    ],
)
def test_readings_in_a_row(recorded, readings, verdicts):
    assert judged(recorded, readings) == verdicts


def test_the_record_follows_when_nothing_is_forced():
    assert judged(ON, [OFF, OFF], FOLLOWING) == ["DOUBTFUL", "RECORD"]


def test_a_machine_that_does_not_stay_is_given_up():
    assert judged(ON, [OFF] * 9)[2::3] == ["FORCE", "FORCE", "GIVE_UP"]


@given(st.lists(st.sampled_from([None, "error", "unknown"]), max_size=20), st.sampled_from([ON, OFF, None]))
def test_no_answer_is_never_taken_for_a_state(readings, recorded):
    assert {"RECORD", "FORCE", "FINE", "DOUBTFUL"}.isdisjoint(judged(recorded, readings))


@given(st.lists(st.sampled_from([ON, OFF, None]), max_size=30))
def test_nothing_is_done_about_less_than_the_agreeing_readings(readings):
    memory: PowerReadings = NO_READINGS
    for place, seen in enumerate(readings):
        verdict, memory = judge_power_reading(ON, seen, memory, LIMITS)
        if verdict in (Verdict.FORCE, Verdict.RECORD):
            assert readings[place - 2 : place + 1] == [OFF, OFF, OFF]
