"""A conductor that gives no sign of life costs one caller a wait, not all of them."""

import pytest

from ironic.core.errors import NodeLocked
from ironic.core.errors.call_errors import ConductorAbsent, ConductorSilent
from ironic.rpc.circuit_breaker import CircuitBreaker


class Time:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Time()


@pytest.fixture
def silence(clock):
    return CircuitBreaker(4, clock=clock)


def ask(silence, host="c1", error=None):
    """Call a conductor that answers or fails; return the result."""
    try:
        with silence.guard(host, "destroy_node"):
            if error is not None:
                raise error
    except (ConductorAbsent, ConductorSilent, NodeLocked) as told:
        return type(told)
    return None


SILENT = ConductorSilent(host="c1", call="destroy_node", seconds=4)


def test_one_that_answers_is_asked_again(silence):
    assert ask(silence, error=NodeLocked(node="n", host="c2")) is NodeLocked
    assert ask(silence) is None


def test_one_that_was_silent_is_left_alone_for_a_while(silence, clock):
    assert ask(silence, error=SILENT) is ConductorSilent
    clock.now = 3.9
    assert ask(silence) is ConductorAbsent
    assert ask(silence, "c2") is None
    clock.now = 4.0
    assert ask(silence) is None
    assert ask(silence) is None


def test_then_one_caller_at_a_time_finds_out(silence, clock):
    ask(silence, error=SILENT)
    clock.now = 5
    with silence.guard("c1", "first"):
        assert ask(silence) is ConductorAbsent
    assert ask(silence) is None


def test_one_that_stays_silent_stays_alone(silence, clock):
    ask(silence, error=SILENT)
    clock.now = 5
    assert ask(silence, error=SILENT) is ConductorSilent
    clock.now = 8
    assert ask(silence) is ConductorAbsent


def test_one_that_is_known_to_be_gone_is_not_called_silent(silence):
    assert ask(silence, error=ConductorAbsent(host="c1", call="x", reason="gone")) is ConductorAbsent
    assert ask(silence) is None
