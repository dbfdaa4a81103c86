"""What a conductor makes of the envelope around a call: older and later releases, calls that came too late."""

import time

import pytest

from ironic.core.context import RequestContext
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.message_format import Clocks, Envelope
from ironic.rpc.rpc_versions import FIRST, PRESENT, Version
from ironic.tests.unit.rpc.endpoints import Endpoint

CONTEXT = RequestContext(request_id="req-1").to_dict()


@pytest.fixture
def endpoint():
    return Endpoint()


@pytest.fixture
def dispatcher(endpoint):
    return Dispatcher("c1", endpoint)


def ask(dispatcher, *envelope, **arguments):
    return dispatcher.answer(CONTEXT, "validate_interfaces", {"node_id": "n1", **arguments}, *envelope)


def test_a_call_of_the_first_release_has_no_envelope(dispatcher, endpoint):
    assert ask(dispatcher)["result"] == {"power": {"result": True}}
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize(
    "envelope",
    [
        {"version": str(PRESENT), "begin_before": None},
        {"version": "1.99", "invented_later": {"by": ["somebody"]}},
        {},
    ],
)
def test_what_a_later_release_adds_is_not_looked_at(dispatcher, envelope):
    assert "result" in ask(dispatcher, envelope)


def test_a_later_argument_that_says_nothing_is_not_looked_at(dispatcher, endpoint):
    assert "result" in ask(dispatcher, {"version": "1.99"}, invented_later=None)
    assert "error" in ask(dispatcher, {"version": "1.99"}, invented_later=False)
    assert len(endpoint.seen) == 1


@pytest.mark.parametrize("version", ["2.0", "0.9"])
def test_another_major_version_is_refused_clearly(dispatcher, endpoint, version):
    error = ask(dispatcher, {"version": version})["error"]
    assert error["classes"][0] == "CallNotUnderstood"
    assert f"version {version}" in error["message"] and f"speaks {PRESENT}" in error["message"]
    assert endpoint.seen == []


@pytest.mark.parametrize("envelope", [{"version": "new"}, {"version": None}, {"begin_before": "soon"}])
def test_an_envelope_that_can_not_be_read_is_refused(dispatcher, endpoint, envelope):
    assert ask(dispatcher, envelope)["error"]["classes"][0] == "CallNotUnderstood"
    assert endpoint.seen == []


def test_a_call_whose_caller_has_given_up_is_not_begun(dispatcher, endpoint):
    error = ask(dispatcher, {"version": "1.1", "begin_before": time.time() - 3})["error"]
    assert error["classes"][:2] == ["CallCameTooLate", "ConductorUnreachable"]
    assert 2.9 < error["facts"]["seconds"] < 10
    assert endpoint.seen == []
    assert "result" in ask(dispatcher, {"version": "1.1", "begin_before": time.time() + 3})


def test_a_conductor_that_is_leaving_begins_nothing(dispatcher, endpoint):
    dispatcher.retire()
    assert ask(dispatcher)["error"]["classes"][0] == "ConductorAbsent"
    assert endpoint.seen == []


def test_an_envelope_arrives_as_it_was_sent():
    sent = Envelope(Version(1, 1), 12.5)
    assert Envelope.read(sent.to_wire()) == sent
    assert Envelope.read({}) == Envelope(FIRST, None)


def test_the_clock_of_a_conductor_is_learned_from_its_answers():
    clocks = Clocks()
    assert abs(clocks.there("c1") - time.time()) < 10
    clocks.learn("c1", {"clock": time.time() + 100})
    clocks.learn("c1", {"result": None})
    assert 90 < clocks.there("c1") - time.time() < 110
    assert abs(clocks.there("c2") - time.time()) < 10
