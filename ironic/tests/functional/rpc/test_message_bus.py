"""The conversation over a real RabbitMQ: every test makes its own conductor names, so runs don't meet."""

import contextlib
import os
import socket
import socketserver
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import kombu
import pytest

from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.errors import IronicError, NodeLocked
from ironic.core.errors.call_errors import (
    CallHeldBack,
    CallNotUnderstood,
    ConductorAbsent,
    ConductorSilent,
    ConductorUnreachable,
    MessageBusFailure,
)
from ironic.rpc import broker
from ironic.rpc.client import ConductorClients
from ironic.rpc.library import oslo_messaging
from ironic.rpc.message_bus import MessageBus
from ironic.rpc.rpc_api import CALLS, Call
from ironic.tests.live_service import free_port
from ironic.tests.relay import relay
from ironic.tests.unit.rpc.endpoints import NO_HASH_RING, Endpoint

URL = os.environ.get("IRONIC_TEST_RABBITMQ_URL", "rabbit://guest:guest@127.0.0.1:5672/")
CONTEXT = RequestContext(request_id="req-1", user_id="u1", roles=("admin",))

# Not in use on any machine that runs tests: nobody listens there.
NOBODY = "rabbit://guest:guest@127.0.0.1:9/"


# Who would write that the broker can't be reached.
LIBRARIES = {"oslo_messaging", "oslo", "kombu", "amqp"}


class Slow(Endpoint):
    """An endpoint that takes its time, or never answers."""

    def __init__(self):
        super().__init__()
        self.release = threading.Event()
        self.all_here = threading.Barrier(8)

    def get_boot_device(self, context, node_id):
        if node_id == "hangs":
            self.release.wait(30)
        return super().get_boot_device(context, node_id)

    def driver_properties(self, context, hardware_type):
        if hardware_type == "meets the others":
            self.all_here.wait(30)
        else:
            time.sleep(float(hardware_type))
        return {"slept": hardware_type}


@pytest.fixture(scope="module")
def bus():
    bus = MessageBus(URL, liveness_seconds=2)
    yield bus
    bus.close()


@pytest.fixture(scope="module")
def endpoint():
    return Slow()


@pytest.fixture(scope="module")
def host(bus, endpoint):
    host = f"test-{uuid.uuid4()}"
    server = bus.serve(host, endpoint)
    yield host
    endpoint.release.set()
    server.stop()


def raw_client(bus, host):
    """Return the library's client, for messages of other releases."""
    target = broker.target_of_calls(CONF, host)
    target.version = "1.0"
    return oslo_messaging.get_rpc_client(bus._transport, target)


@pytest.fixture
def conductor(bus, host):
    return ConductorClients(bus, NO_HASH_RING).at(host)


def test_a_call_and_its_answer(conductor, endpoint):
    assert conductor.validate_interfaces(CONTEXT, "n1") == {"power": {"result": True}}
    assert endpoint.seen[-1] == (CONTEXT, "n1")


def test_a_large_argument_arrives_whole(conductor, endpoint):
    inventory = {"interfaces": [{"name": f"eth{n}", "text": "ä" * 100} for n in range(5000)]}
    conductor.change_provision_state(CONTEXT, "n1", "inspect", inventory)
    assert endpoint.seen[-1][3] == inventory | {"touched": True}
    assert "touched" not in inventory


def test_an_error_of_ours_arrives_as_itself(conductor):
    with pytest.raises(NodeLocked) as raised:
        conductor.get_boot_device(CONTEXT, "locked")
    assert raised.value.facts == {"node": "locked", "host": "other"}


def test_any_other_error_tells_the_caller_nothing(conductor):
    with pytest.raises(IronicError) as raised:
        conductor.get_boot_device(CONTEXT, "n1")
    assert type(raised.value) is IronicError
    assert "canary" not in str(raised.value)


def test_a_call_of_a_later_release_is_refused_clearly(bus, host):
    later = Call("from_the_future", None, True, CALLS["destroy_node"].signature)
    with pytest.raises(CallNotUnderstood):
        bus.send(host, CONTEXT, later, {"node_id": "n1"})


def test_a_conductor_at_work_is_waited_for_longer_than_silence(conductor):
    assert conductor.driver_properties(CONTEXT, "3") == {"slept": "3"}


def test_calls_run_side_by_side(conductor, endpoint):
    meeting = "meets the others"
    with ThreadPoolExecutor(endpoint.all_here.parties) as callers:
        asked = [
            callers.submit(conductor.driver_properties, CONTEXT, meeting) for _ in range(endpoint.all_here.parties)
        ]
        assert [call.result() for call in asked] == [{"slept": meeting}] * len(asked)


def test_a_call_with_a_time_limit_ends_there(bus, host):
    hasty = Call("get_boot_device", 1, True, CALLS["get_boot_device"].signature)
    with pytest.raises(ConductorUnreachable) as raised:
        bus.send(host, CONTEXT, hasty, {"node_id": "hangs"})
    assert raised.value.facts["host"] == host
    assert 0.9 < raised.value.facts["seconds"] < 10


def test_a_call_nobody_waits_for_arrives(bus, host, endpoint):
    told = Call("validate_interfaces", None, False, CALLS["validate_interfaces"].signature)
    assert bus.send(host, CONTEXT, told, {"node_id": "told"}) is None
    until = time.monotonic() + 30
    while (CONTEXT, "told") not in endpoint.seen and time.monotonic() < until:
        time.sleep(0.01)
    assert (CONTEXT, "told") in endpoint.seen


@pytest.fixture
def patient():
    """Yield a bus where to wait for silence and to know at once are far apart."""
    bus = MessageBus(URL, liveness_seconds=60)
    yield bus
    bus.close()


def test_a_conductor_that_never_was_is_known_at_once(patient):
    began = time.monotonic()
    with pytest.raises(ConductorUnreachable) as raised:
        ConductorClients(patient, NO_HASH_RING).at(f"never-{uuid.uuid4()}").destroy_node(CONTEXT, "n1")
    assert raised.value.status == 503
    assert time.monotonic() - began < 30


def test_a_conductor_that_left_is_known_at_once(patient):
    host = f"test-{uuid.uuid4()}"
    patient.serve(host, Endpoint()).stop()
    time.sleep(5)  # the library's thread that listens notices after a while; until then it says that it leaves
    began = time.monotonic()
    with pytest.raises(ConductorAbsent, match="does not listen"):
        ConductorClients(patient, NO_HASH_RING).at(host).destroy_node(CONTEXT, "n1")
    assert time.monotonic() - began < 30


def test_a_conductor_that_is_leaving_says_so_and_ends_what_it_has_begun(bus):
    host, endpoint = f"test-{uuid.uuid4()}", Slow()
    server = bus.serve(host, endpoint)
    conductor = ConductorClients(bus, NO_HASH_RING).at(host)
    answers = []
    caller = threading.Thread(target=lambda: answers.append(conductor.driver_properties(CONTEXT, "1")))
    caller.start()
    time.sleep(0.5)
    server.retire()
    with pytest.raises(ConductorAbsent, match="leaving"):
        conductor.validate_interfaces(CONTEXT, "n1")
    caller.join(10)
    assert answers == [{"slept": "1"}]
    server.stop()


def test_a_message_of_the_first_release_is_understood(bus, host, endpoint):
    answer = raw_client(bus, host).call(
        CONTEXT.to_dict(), "answer", name="validate_interfaces", arguments={"node_id": "first"}
    )
    assert answer["result"] == {"power": {"result": True}}
    assert (CONTEXT, "first") in endpoint.seen


def test_a_message_of_a_later_release_is_understood(bus, host, endpoint):
    later = {"envelope": {"version": "1.7", "invented_later": 1}, "beside_it": [2]}
    answer = raw_client(bus, host).call(
        CONTEXT.to_dict(), "answer", name="validate_interfaces", arguments={"node_id": "later"}, **later
    )
    assert answer["result"] == {"power": {"result": True}}


def test_a_pin_makes_messages_of_the_first_release(bus, conf, endpoint):
    class FirstRelease:
        """What the first release took: nothing beside name and arguments, which would be a TypeError to it."""

        target = oslo_messaging.Target(version="1.0")

        def answer(self, context, name, arguments):
            return {"result": {"name": name, "arguments": arguments}}

    host = f"test-{uuid.uuid4()}"
    target = broker.target_of_calls(CONF, host)
    server = oslo_messaging.get_rpc_server(bus._transport, target, [FirstRelease()])
    server.start()
    conf(pin_release_version="1.0")
    old = ConductorClients(bus, NO_HASH_RING).at(host)
    answer: Any = old.get_boot_device(CONTEXT, "n1")
    assert answer == {"name": "get_boot_device", "arguments": {"node_id": "n1"}}
    with pytest.raises(CallHeldBack):
        bus.send(host, CONTEXT, Call("later", None, True, CALLS["destroy_node"].signature), {"node_id": "n1"})
    server.stop()
    server.wait()


def test_clocks_that_differ_cost_nothing(bus, host, conductor, monkeypatch):
    # The caller's clock is five minutes behind the conductor's: every call would come too late.
    monkeypatch.setattr(bus._conversation._clocks, "there", lambda _host: time.time() - 300)
    with pytest.raises(ConductorUnreachable, match="given up"):
        conductor.validate_interfaces(CONTEXT, "n1")
    monkeypatch.undo()
    bus._conversation._clocks._ahead[host] = -300.0
    assert conductor.validate_interfaces(CONTEXT, "n1") == {"power": {"result": True}}
    assert abs(bus._conversation._clocks._ahead[host]) < 1


def declare_queue(host):
    """Make the queue of a conductor that has stopped in the middle of its life: nobody reads what arrives."""
    exchange = kombu.Exchange(broker.EXCHANGE, type="topic")
    name = f"ironic.conductors.{host}"
    with kombu.Connection(URL.replace("rabbit://", "amqp://")) as connection:
        kombu.Queue(name, exchange, name, durable=False, auto_delete=True, channel=connection.channel()).declare()


def test_a_conductor_that_hangs_is_known_in_seconds_and_then_at_once():
    impatient, host, endpoint = MessageBus(URL, liveness_seconds=2), f"test-{uuid.uuid4()}", Endpoint()
    conductor = ConductorClients(impatient, NO_HASH_RING).at(host)
    declare_queue(host)
    began = time.monotonic()
    with pytest.raises(ConductorSilent):
        conductor.validate_interfaces(CONTEXT, "n1")
    assert 1.9 < time.monotonic() - began < 10
    with pytest.raises(ConductorAbsent, match="sign of life"):
        conductor.validate_interfaces(CONTEXT, "n1")
    time.sleep(2)
    # It comes back: what was told to have failed is not begun, what is asked now is.
    server = impatient.serve(host, endpoint)
    assert conductor.validate_interfaces(CONTEXT, "n2") == {"power": {"result": True}}
    assert [seen[1] for seen in endpoint.seen] == ["n2"]
    server.stop()
    impatient.close()


def test_without_a_broker_the_caller_is_told_soon():
    lonely = MessageBus(NOBODY, liveness_seconds=1)
    began = time.monotonic()
    with pytest.raises(MessageBusFailure) as raised:
        ConductorClients(lonely, NO_HASH_RING).at("c1").destroy_node(CONTEXT, "n1")
    assert raised.value.status == 503
    assert time.monotonic() - began < 10
    lonely.close()


def test_a_broker_that_hangs_is_told_from_an_error_of_the_service_and_soon_at_once(host, endpoint, conf):
    conf(rpc_response_timeout=30)
    with relay("127.0.0.1", 5672) as way:
        url = f"rabbit://guest:guest@127.0.0.1:{way.port}/?heartbeat_timeout_threshold=6"
        hanging = MessageBus(url, liveness_seconds=2)
        conductor = ConductorClients(hanging, NO_HASH_RING).at(host)
        assert conductor.validate_interfaces(CONTEXT, "n1")
        way.freeze()
        took, errors = [], []
        for _ in range(3):
            began = time.monotonic()
            with pytest.raises(IronicError) as raised:
                conductor.validate_interfaces(CONTEXT, "n1")
            took.append(time.monotonic() - began)
            errors.append(raised.value)
        assert {error.status for error in errors} == {503}, (errors, took)
        assert isinstance(errors[-1], MessageBusFailure)
        assert took[-1] < 5
        way.thaw()
        until = time.monotonic() + 60
        while True:
            try:
                assert conductor.validate_interfaces(CONTEXT, "n1")
                break
            except IronicError:
                assert time.monotonic() < until
        hanging.close()


def ended(threads):
    """Wait until the threads begun since then have ended, and return those that have not."""
    until = time.monotonic() + 60  # the library's threads notice after a while
    while set(threading.enumerate()) - threads and time.monotonic() < until:
        time.sleep(0.1)
    return set(threading.enumerate()) - threads


@pytest.mark.parametrize(
    "url",
    [NOBODY, NOBODY.removesuffix("/") + ",guest:guest@127.0.0.1:10/", URL.replace("guest:guest@", "guest:canary@")],
    ids=["nobody", "two hosts", "wrong password"],
)
def test_a_broker_is_looked_for_no_longer_once_the_bus_is_closed(url, caplog):
    before = set(threading.enumerate())
    lonely = MessageBus(url, liveness_seconds=1)
    assert not lonely.is_open(1.5)
    lonely.close()
    assert ended(before) == set()
    assert caplog.text.count("can't be used yet") == 1
    assert "canary" not in "".join(one.getMessage() for one in caplog.records if one.name.startswith("ironic.rpc.mess"))
    caplog.clear()
    assert not lonely.is_open(5)
    # The calls that earlier tests gave up are still answered by their servers, to callers that are gone.
    told = [
        one.getMessage()
        for one in caplog.records
        if (one.name.partition(".")[0] in LIBRARIES or "bus" in one.name)
        and not one.getMessage().startswith("No calling threads waiting for msg_id")
    ]
    assert (told, ended(before)) == ([], set())


class Onward(socketserver.BaseRequestHandler):
    """Hands on what comes to the broker of the tests, and back."""

    def handle(self):
        address = urlsplit(URL)
        with socket.create_connection((address.hostname, address.port or 5672)) as broker_side:
            threading.Thread(target=self._hand_on, args=(broker_side, self.request), daemon=True).start()
            self._hand_on(self.request, broker_side)

    @staticmethod
    def _hand_on(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def forwarded(port):
    """Have the broker answer on that port too."""
    server = socketserver.ThreadingTCPServer(("127.0.0.1", port), Onward)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield
    server.shutdown()
    server.server_close()


def test_a_broker_that_comes_later_is_found():
    port = free_port()
    patient = MessageBus(
        f"rabbit://{urlsplit(URL).username}:{urlsplit(URL).password}@127.0.0.1:{port}/", liveness_seconds=2
    )
    assert not patient.is_open(0.5)
    with forwarded(port):
        assert patient.is_open(10)
        host, endpoint = f"test-{uuid.uuid4()}", Endpoint()
        server = patient.serve(host, endpoint)
        assert ConductorClients(patient, NO_HASH_RING).at(host).validate_interfaces(CONTEXT, "n1")
        server.stop()
        patient.close()


def test_nothing_runs_on_after_the_bus_is_closed():
    before = set(threading.enumerate())
    bus = MessageBus(URL, liveness_seconds=2)
    host = f"test-{uuid.uuid4()}"
    server = bus.serve(host, Endpoint())
    ConductorClients(bus, NO_HASH_RING).at(host).validate_interfaces(CONTEXT, "n1")
    server.stop()
    bus.close()
    assert ended(before) == set()
