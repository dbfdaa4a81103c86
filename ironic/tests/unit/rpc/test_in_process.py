import logging
from typing import Any

import pytest

from ironic.core.context import RequestContext
from ironic.core.errors import IronicError, NodeLocked
from ironic.core.errors.call_errors import CallNotUnderstood, ConductorUnreachable
from ironic.rpc.client import ConductorClients
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.in_process import InProcess
from ironic.rpc.rpc_api import CALLS
from ironic.tests.unit.rpc.endpoints import NO_HASH_RING, Endpoint

CONTEXT = RequestContext(request_id="req-1", user_id="u1", project_id="p1", roles=("admin", "reader"))


@pytest.fixture
def endpoint():
    return Endpoint()


@pytest.fixture
def transport(endpoint):
    transport = InProcess()
    transport.register("c1", endpoint)
    return transport


@pytest.fixture
def conductor(transport):
    return ConductorClients(transport, NO_HASH_RING).at("c1")


def test_a_call_reaches_the_endpoint_and_its_answer_the_caller(conductor, endpoint):
    assert conductor.validate_interfaces(CONTEXT, "n1") == {"power": {"result": True}}
    assert endpoint.seen == [(CONTEXT, "n1")]


def test_the_context_is_a_copy_with_all_it_held(conductor, endpoint):
    conductor.validate_interfaces(CONTEXT, "n1")
    received = endpoint.seen[0][0]
    assert received == CONTEXT
    assert received is not CONTEXT


def test_arguments_are_not_shared(conductor, endpoint):
    arguments = {"clean_steps": [{"step": "erase", "interface": "deploy"}]}
    conductor.change_provision_state(CONTEXT, "n1", "clean", arguments)
    assert arguments == {"clean_steps": [{"step": "erase", "interface": "deploy"}]}
    assert endpoint.seen[0][3]["touched"] is True


def test_arguments_may_be_named(conductor, endpoint):
    conductor.change_provision_state(CONTEXT, node_id="n1", arguments={}, verb="manage")
    assert endpoint.seen[0][1:3] == ("n1", "manage")


def test_arguments_that_are_no_json_are_a_mistake_of_the_caller(conductor, endpoint):
    with pytest.raises(TypeError):
        conductor.change_provision_state(CONTEXT, "n1", "clean", {"steps": object()})
    assert endpoint.seen == []


def test_an_error_of_ours_arrives_as_itself(conductor):
    with pytest.raises(NodeLocked) as raised:
        conductor.get_boot_device(CONTEXT, "locked")
    assert raised.value.facts == {"node": "locked", "host": "other"}


def test_any_other_error_is_logged_with_its_request_and_tells_the_caller_nothing(conductor, caplog):
    with pytest.raises(IronicError) as raised:
        conductor.get_boot_device(CONTEXT, "n1")
    assert type(raised.value) is IronicError
    assert raised.value.status == 500
    assert "canary" not in str(raised.value)
    assert raised.value.__cause__ is None
    record = next(record for record in caplog.records if record.levelno == logging.ERROR)
    assert "req-1" in record.getMessage()
    assert "node_id=n1" in record.getMessage()
    assert "canary" in str(record.exc_info[1])


def test_an_answer_that_is_no_json_is_an_error(conductor):
    with pytest.raises(IronicError):
        conductor.supported_boot_devices(CONTEXT, "n1")


def test_values_of_arguments_stay_out_of_the_log(caplog):
    class Breaking(Endpoint):
        def change_provision_state(self, context, node_id, verb, arguments):
            raise RuntimeError("broken")

    Dispatcher("c1", Breaking()).answer(
        {}, "change_provision_state", {"node_id": "n1", "verb": "rescue", "arguments": {"rescue_password": "canary"}}
    )
    assert "broken" in caplog.text
    assert "canary" not in caplog.text


def test_a_conductor_that_is_not_here_can_not_be_reached(transport):
    with pytest.raises(ConductorUnreachable) as raised:
        ConductorClients(transport, NO_HASH_RING).at("c2").validate_interfaces(CONTEXT, "n1")
    assert raised.value.status == 503
    assert raised.value.facts["host"] == "c2"


def test_a_conductor_that_left_can_not_be_reached(transport, conductor):
    transport.unregister("c1")
    transport.unregister("c1")
    with pytest.raises(ConductorUnreachable):
        conductor.validate_interfaces(CONTEXT, "n1")


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("from_the_future", {"node_id": "n1"}),
        ("__init__", {}),
        ("validate_interfaces", {"node_id": "n1", "newer": 1}),
        ("validate_interfaces", {}),
    ],
)
def test_a_call_of_another_release_is_refused_clearly(endpoint, name, arguments):
    envelope: Any = Dispatcher("c1", endpoint).answer(CONTEXT.to_dict(), name, arguments)
    assert envelope["error"]["classes"][0] == CallNotUnderstood.__name__
    assert envelope["error"]["facts"]["call"] == name
    assert "c1" in envelope["error"]["message"]
    assert endpoint.seen == []


def test_a_context_of_a_later_release_is_understood(endpoint):
    context = CONTEXT.to_dict() | {"invented_later": 1}
    Dispatcher("c1", endpoint).answer(context, "validate_interfaces", {"node_id": "n1"})
    assert endpoint.seen == [(CONTEXT, "n1")]


def test_a_proxy_has_all_calls(conductor):
    assert all(callable(getattr(conductor, name)) for name in CALLS)
