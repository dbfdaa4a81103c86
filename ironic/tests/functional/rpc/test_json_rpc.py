"""Calls by JSON-RPC over real connections: TCP, TLS and Unix sockets, every way to log in, and every way to break."""

import base64
import contextlib
import http.client
import json
import logging
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import bcrypt
import pytest
import requests
from keystoneauth1 import loading

from ironic.api.error_responses import unread
from ironic.command.http_server import largest_body
from ironic.command.json_rpc_listener import JsonRpcListener, caller_of
from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.errors import IronicError, NodeLocked
from ironic.core.errors.call_errors import (
    CallHeldBack,
    CallNotUnderstood,
    CallRefused,
    ConductorAbsent,
    ConductorOutOfReach,
    ConductorSilent,
    ConductorUnreachable,
    ConnectionBroken,
)
from ironic.core.texts.syntax import host_in_url
from ironic.rpc.client import ConductorClients
from ironic.rpc.conductor_address import address_of
from ironic.rpc.json_rpc import JsonRpc, JsonRpcServer
from ironic.rpc.json_rpc_format import is_refusal
from ironic.rpc.rpc_api import CALLS, Call
from ironic.tests.conftest import Setter
from ironic.tests.live_service import free_port
from ironic.tests.redfish_bmc import write_certificate
from ironic.tests.relay import relay
from ironic.tests.unit.rpc.endpoints import NO_HASH_RING, Endpoint

CONTEXT = RequestContext(request_id="req-1", user_id="u1", roles=("admin",))


class PluginFault(IronicError):
    """An error that only the process with the plug-in knows."""

    status = 418
    text = "Teapot {kind} is empty."


class Slow(Endpoint):
    """An endpoint that takes its time, or never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.release = threading.Event()
        self.begun = 0

    def get_boot_device(self, context: RequestContext, node_id: str) -> Any:
        if node_id == "hangs":
            self.begun += 1
            self.release.wait(30)
            return {"boot_device": "pxe"}
        if node_id == "odd":
            # Its class exists on one side only.
            raise type("Elsewhere", (PluginFault,), {})(kind="blue")
        return super().get_boot_device(context, node_id)

    def driver_properties(self, context: RequestContext, hardware_type: str) -> Any:
        if hardware_type == "deep":
            found: Any = 1
            for _ in range(253):
                found = [found]
            return {"deep": found}
        time.sleep(float(hardware_type))
        return {"slept": hardware_type}

    def heartbeat(self, context: RequestContext, node_id: str, beat: Any) -> None:
        time.sleep(beat.get("takes", 0))
        self.seen.append((context, node_id, beat))


class Running:
    """A conductor at a port of its own, and those who call it."""

    def __init__(self, conf: Setter, **options: Any) -> None:
        self.port = free_port()
        self._server: JsonRpcServer | None = None
        self.endpoint, self._callers = Slow(), list[JsonRpc]()
        CONF.register_opts(loading.get_auth_plugin_conf_options("http_basic"), group="json_rpc")
        usual = {"host_ip": "127.0.0.1", "port": self.port, "auth_strategy": "noauth"}
        conf(rpc_transport="json-rpc", **{f"json_rpc__{name}": value for name, value in {**usual, **options}.items()})
        conf(host="127.0.0.1")
        self._listener = JsonRpcListener(CONF)
        self._listener.start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> "Running":
        self._callers.append(caller_of(CONF, self._listener))
        self._server = self._callers[-1].serve(self.host, self.endpoint)
        return self

    def retire(self) -> None:
        assert self._server
        self._server.retire()

    def reload(self) -> None:
        self._listener.reload()

    def stop(self) -> None:
        self.endpoint.release.set()
        if self._server:
            self._server.stop()
        self._listener.stop()

    def close(self) -> None:
        self.stop()
        for caller in self._callers:
            caller.close()

    def caller(self, liveness_seconds: float = 4) -> JsonRpc:
        made = caller_of(CONF)
        self._callers += [made, JsonRpc(made._login, made._tls, liveness_seconds=liveness_seconds)]
        return self._callers[-1]

    def conductor(self) -> Any:
        return ConductorClients(self.caller(), NO_HASH_RING).at(self.host)

    def post(self, body: bytes | None = None, **settings: Any) -> requests.Response:
        """Send a request as any program would."""
        request = {"jsonrpc": "2.0", "method": "validate_interfaces", "id": 7}
        request |= {"params": {"context": CONTEXT.to_dict(), "arguments": {"node_id": "n1"}}}
        data = json.dumps(request).encode() if body is None else body
        headers = {"Content-Type": "application/json", **settings.pop("headers", {})}
        return requests.post(f"http://{self.host}/any/path", data=data, headers=headers, timeout=30, **settings)


@pytest.fixture
def run(conf: Setter) -> Iterator[Callable[..., Running]]:
    """Return what starts a conductor with options of [json_rpc]."""
    with contextlib.ExitStack() as stack:

        def start(**options: Any) -> Running:
            running = Running(conf, **options)
            stack.callback(running.close)
            return running.start()

        yield start


@pytest.fixture
def running(run: Callable[..., Running]) -> Running:
    return run()


def users(directory: Path, **passwords: str) -> Path:
    """Write a user file."""
    path = directory / "htpasswd"
    lines = [f"{name}:{bcrypt.hashpw(word.encode(), bcrypt.gensalt(4)).decode()}" for name, word in passwords.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


# What the conversation is, whatever carries it


@pytest.fixture(params=["tcp", "tls", "unix"])
def anywhere(request: pytest.FixtureRequest, run: Callable[..., Running], conf: Setter, tmp_path: Path) -> Running:
    """Run a conductor that is reached by one of the ways there are."""
    if request.param == "tls":
        certificate, key = write_certificate(tmp_path)
        return run(use_ssl=True, cert_file=certificate, key_file=key, cafile=certificate)
    if request.param == "unix":
        started = run(unix_socket=str(tmp_path / "rpc.socket"), unix_socket_mode="0600")
        conf(host=started.host)
        return started
    return run()


def test_a_call_and_its_answer(anywhere: Running) -> None:
    conductor = anywhere.conductor()
    assert conductor.validate_interfaces(CONTEXT, "n1") == {"power": {"result": True}}
    assert anywhere.endpoint.seen[-1] == (CONTEXT, "n1")
    with pytest.raises(NodeLocked) as raised:
        conductor.get_boot_device(CONTEXT, "locked")
    assert raised.value.facts == {"node": "locked", "host": "other"}


def test_the_socket_is_for_its_own_user_and_goes_with_the_conductor(
    run: Callable[..., Running], tmp_path: Path
) -> None:
    path = tmp_path / "rpc.socket"
    path.touch()
    path.unlink()
    started = run(unix_socket=str(path), unix_socket_mode="0600")
    assert path.stat().st_mode & 0o777 == 0o600
    started.stop()
    assert not path.exists()


def test_a_large_argument_arrives_whole(running: Running) -> None:
    inventory = {"interfaces": [{"name": f"eth{n}", "text": "ä" * 100} for n in range(5000)]}
    running.conductor().change_provision_state(CONTEXT, "n1", "inspect", inventory)
    assert running.endpoint.seen[-1][3] == inventory | {"touched": True}


def test_any_other_error_shows_the_caller_nothing(running: Running) -> None:
    with pytest.raises(IronicError) as raised:
        running.conductor().get_boot_device(CONTEXT, "n1")
    assert type(raised.value) is IronicError
    assert "canary" not in str(raised.value)


def test_an_error_of_a_plug_in_keeps_status_and_text(running: Running) -> None:
    with pytest.raises(PluginFault) as raised:
        running.conductor().get_boot_device(CONTEXT, "odd")
    assert (raised.value.status, str(raised.value)) == (418, "Teapot blue is empty.")


def test_a_call_of_a_later_release_is_refused_clearly(running: Running) -> None:
    later = Call("from_the_future", None, True, CALLS["destroy_node"].signature)
    with pytest.raises(CallNotUnderstood):
        running.caller().send(running.host, CONTEXT, later, {"node_id": "n1"})


def test_a_pin_holds_back_what_the_other_release_lacks(running: Running, conf: Setter) -> None:
    conf(pin_release_version="1.0")
    assert running.conductor().validate_interfaces(CONTEXT, "n1") == {"power": {"result": True}}
    with pytest.raises(CallHeldBack):
        running.conductor().cleaning_steps(CONTEXT, "n1")


def test_a_call_without_an_answer_is_made(running: Running) -> None:
    alone = Call("validate_interfaces", None, False, CALLS["validate_interfaces"].signature)
    assert running.caller().send(running.host, CONTEXT, alone, {"node_id": "alone"}) is None
    assert (CONTEXT, "alone") in running.endpoint.seen


def test_a_conductor_at_work_is_waited_for_longer_than_silence(running: Running) -> None:
    patient = ConductorClients(running.caller(liveness_seconds=2.5), NO_HASH_RING).at(running.host)
    assert patient.driver_properties(CONTEXT, "5") == {"slept": "5"}


def test_a_call_with_a_time_limit_ends_there(running: Running) -> None:
    hasty = Call("get_boot_device", 1, True, CALLS["get_boot_device"].signature)
    with pytest.raises(ConductorUnreachable) as raised:
        running.caller().send(running.host, CONTEXT, hasty, {"node_id": "hangs"})
    assert not isinstance(raised.value, ConductorSilent)
    assert 0.9 < raised.value.facts["seconds"] < 10


def test_signs_of_life_do_not_prolong_the_time_limit(run: Callable[..., Running]) -> None:
    running = run(timeout=3)
    with pytest.raises(ConductorUnreachable) as raised:
        running.caller(liveness_seconds=4).send(running.host, CONTEXT, CALLS["get_boot_device"], {"node_id": "hangs"})
    assert 2.9 < raised.value.facts["seconds"] < 10


def test_clocks_that_differ_cost_nothing(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = running.caller()
    clocks = caller._conversation._clocks
    clocks._ahead[running.host] = -300.0
    assert ConductorClients(caller, NO_HASH_RING).at(running.host).validate_interfaces(CONTEXT, "n1")
    assert abs(clocks._ahead[running.host]) < 1
    monkeypatch.setattr(clocks, "there", lambda _host: time.time() - 300)
    with pytest.raises(ConductorUnreachable, match="given up"):
        ConductorClients(caller, NO_HASH_RING).at(running.host).validate_interfaces(CONTEXT, "n1")


def test_heartbeats_come_through_while_forty_calls_are_slow(running: Running) -> None:
    with ThreadPoolExecutor(40) as slow:
        waiting = [slow.submit(running.conductor().get_boot_device, CONTEXT, "hangs") for _ in range(40)]
        until = time.monotonic() + 30
        while running.endpoint.begun < 40:
            assert time.monotonic() < until
            time.sleep(0.01)
        running.conductor().heartbeat(CONTEXT, "n1", {"callback_url": "http://192.0.2.1:9999"})
        assert not any(call.done() for call in waiting)
        running.endpoint.release.set()
        assert {call.result()["boot_device"] for call in waiting} == {"pxe"}


def test_what_machines_send_comes_through_while_all_places_are_taken(running: Running) -> None:
    with ThreadPoolExecutor(70) as slow:
        waiting = [slow.submit(running.conductor().get_boot_device, CONTEXT, "hangs") for _ in range(64)]
        until = time.monotonic() + 30
        while running.endpoint.begun < 64:
            assert time.monotonic() < until
            time.sleep(0.01)
        beats = [f"n{n}" for n in range(20)]
        for one in beats:
            running.conductor().heartbeat(CONTEXT, one, {"callback_url": "http://192.0.2.1:9999"})
        assert [node for _, node, _ in running.endpoint.seen] == beats
        # More at once than have a place wait for each other, not for what users ask for.
        at_once, conductor = [f"m{n}" for n in range(40)], running.conductor()
        with ThreadPoolExecutor(len(at_once)) as machines:
            list(machines.map(lambda one: conductor.heartbeat(CONTEXT, one, {"takes": 0.05}), at_once))
        assert {node for _, node, _ in running.endpoint.seen} == {*beats, *at_once}
        # What users ask for has no place there.
        with pytest.raises(ConductorSilent):
            ConductorClients(running.caller(1), NO_HASH_RING).at(running.host).validate_interfaces(CONTEXT, "n1")
        running.endpoint.release.set()
        assert {call.result()["boot_device"] for call in waiting} == {"pxe"}
    assert len(running.endpoint.seen) == len(beats) + len(at_once)


def test_a_call_of_its_own_process_takes_no_connection(conf: Setter, run: Callable[..., Running]) -> None:
    running = run()
    listener = Running(conf)
    own = caller_of(CONF, listener._listener)
    listener._callers.append(own)
    server = own.serve("own name, which is no address", running.endpoint)
    conductor = ConductorClients(own, NO_HASH_RING).at("own name, which is no address")
    assert conductor.validate_interfaces(CONTEXT, "n1") == {"power": {"result": True}}
    server.stop()
    with pytest.raises(ConductorAbsent):
        conductor.validate_interfaces(CONTEXT, "n1")
    listener.close()


# What is no conductor, or not any more


def test_a_conductor_that_left_or_never_was_is_known_at_once(running: Running) -> None:
    patient = running.caller(liveness_seconds=60)
    absent = ConductorClients(patient, NO_HASH_RING).at(f"127.0.0.1:{free_port()}")
    with pytest.raises(ConductorAbsent, match="does not listen at its address"):
        absent.destroy_node(CONTEXT, "n1")
    here = ConductorClients(patient, NO_HASH_RING).at(running.host)
    assert here.validate_interfaces(CONTEXT, "n1")
    running.stop()
    with pytest.raises(ConductorAbsent, match="does not listen at its address"):
        here.validate_interfaces(CONTEXT, "n1")
    with pytest.raises(ConductorAbsent, match="does not listen at its address"):
        ConductorClients(patient, NO_HASH_RING).at("no-such-host.invalid").destroy_node(CONTEXT, "n1")


@pytest.mark.parametrize("name", ["a/b", "127.0.0.1:0", "[::1", "[::1]8089", "c1:http", "x@y", "a b", "", "c:99999"])
def test_a_name_that_is_no_address_is_never_called(running: Running, name: str) -> None:
    with pytest.raises(ConductorAbsent, match="neither the name of a host nor an address"):
        ConductorClients(running.caller(), NO_HASH_RING).at(name).destroy_node(CONTEXT, "n1")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("c1.example.com", ("c1.example.com", 8089)),
        ("ironic_conductor_1:18089", ("ironic_conductor_1", 18089)),
        ("192.0.2.1:6189", ("192.0.2.1", 6189)),
        ("[2001:db8::1]:6189", ("2001:db8::1", 6189)),
        ("[2001:db8::1]", ("2001:db8::1", 8089)),
        ("2001:db8::1", ("2001:db8::1", 8089)),
    ],
)
def test_the_name_is_the_address(name: str, address: tuple[str, int]) -> None:
    assert address_of(name) == address


def test_an_address_of_ipv6_is_called(run: Callable[..., Running], conf: Setter) -> None:
    running = run(host_ip="::1")
    conductor = ConductorClients(running.caller(), NO_HASH_RING).at(f"[::1]:{running.port}")
    assert conductor.validate_interfaces(CONTEXT, "n1") == {"power": {"result": True}}


def test_a_conductor_that_is_not_ready_says_so(conf: Setter) -> None:
    running = Running(conf)
    with pytest.raises(ConductorAbsent, match="it is starting"):
        running.conductor().validate_interfaces(CONTEXT, "n1")
    running.start()
    assert running.conductor().validate_interfaces(CONTEXT, "n1")
    running.close()


def test_a_port_in_use_is_known_before_the_conductor_takes_its_name(running: Running) -> None:
    with pytest.raises(OSError, match=r"\[json_rpc\]port"):
        JsonRpcListener(CONF).start()


def test_a_socket_in_use_or_out_of_reach_is_named(run: Callable[..., Running], conf: Setter, tmp_path: Path) -> None:
    path = tmp_path / "rpc.socket"
    run(unix_socket=str(path))
    for wrong in (path, tmp_path / "missing" / "rpc.socket", tmp_path / ("x" * 200)):
        conf(json_rpc__unix_socket=str(wrong))
        with pytest.raises(OSError, match="rpc.socket|unix_socket") as raised:
            JsonRpcListener(CONF).start()
        assert str(wrong) in str(raised.value)
    assert path.exists()


@pytest.mark.parametrize("name", ["[::1]", "127.0.0.1:7777", "a b", f"{'x' * 64}.example.com", "a..b"])
def test_a_name_that_nothing_can_call_ends_the_start(conf: Setter, name: str) -> None:
    conf(rpc_transport="json-rpc", host=f"{host_in_url(name)}:18089", json_rpc__auth_strategy="noauth")
    with pytest.raises(ValueError, match=r"\[DEFAULT\]host"):
        JsonRpcListener(CONF)


def test_a_conductor_that_is_leaving_says_so_and_ends_what_it_has_begun(running: Running) -> None:
    conductor = running.conductor()
    with ThreadPoolExecutor(1) as other:
        answer = other.submit(conductor.driver_properties, CONTEXT, "1")
        time.sleep(0.5)
        running.retire()
        with pytest.raises(ConductorAbsent, match="leaving"):
            conductor.validate_interfaces(CONTEXT, "n1")
        assert answer.result() == {"slept": "1"}


def test_a_connection_that_breaks_in_a_call_leaves_the_outcome_open_and_is_not_repeated(running: Running) -> None:
    with relay("127.0.0.1", running.port) as way, ThreadPoolExecutor(1) as other:
        conductor = ConductorClients(running.caller(), NO_HASH_RING).at(f"127.0.0.1:{way.port}")
        call = other.submit(conductor.get_boot_device, CONTEXT, "hangs")
        until = time.monotonic() + 30
        while not running.endpoint.begun:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert way.cut()
        with pytest.raises(ConnectionBroken, match="Check the state of the node") as raised:
            call.result()
        assert (raised.value.status, raised.value.retry_after) == (503, None)
        # The conductor is there, so the next call is not held back.
        assert conductor.validate_interfaces(CONTEXT, "n1")
        assert running.endpoint.begun == 1


def test_a_conductor_that_hangs_is_known_in_seconds_and_then_at_once(running: Running) -> None:
    with relay("127.0.0.1", running.port) as way:
        conductor = ConductorClients(running.caller(2), NO_HASH_RING).at(f"127.0.0.1:{way.port}")
        way.freeze()
        with pytest.raises(ConductorSilent):
            conductor.validate_interfaces(CONTEXT, "late")
        with pytest.raises(ConductorAbsent, match="sign of life"):
            conductor.validate_interfaces(CONTEXT, "n1")
        time.sleep(2.1)
        # What is said to have failed is not begun when it arrives at last, what is asked now is.
        way.thaw()
        assert conductor.validate_interfaces(CONTEXT, "n2")
        time.sleep(0.5)
        assert [seen[1] for seen in running.endpoint.seen] == ["n2"]


def test_a_host_that_drops_packets_is_known_in_seconds_then_at_once_and_nothing_was_begun(running: Running) -> None:
    # A full queue of connections, from which none is accepted: the kernel drops what comes.
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf, contextlib.ExitStack() as fillers:
        for _ in range(3):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(deaf.getsockname())
        time.sleep(0.2)
        host = f"127.0.0.1:{deaf.getsockname()[1]}"
        conductor = ConductorClients(running.caller(1), NO_HASH_RING).at(host)
        with pytest.raises(ConductorOutOfReach, match="does not respond"):
            conductor.destroy_node(CONTEXT, "n1")
        with pytest.raises(ConductorAbsent, match="sign of life"):
            conductor.destroy_node(CONTEXT, "n1")


def read_request(client: socket.socket) -> None:
    """Read a request to its end: what is closed before is reset, and the other side may miss the answer."""
    head, found, body = b"", b"", b""
    while not found:
        head += client.recv(65536)
        head, found, body = head.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.lower().splitlines() if line.startswith(b"content-length:"))
    while len(body) < length:
        body += client.recv(65536)


def test_what_is_no_conductor_is_no_answer(conf: Setter, running: Running) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:

        def answer() -> None:
            for body in (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", b"HTTP/1.1 502 Bad Gateway\r\n\r\n"):
                client, _ = stranger.accept()
                read_request(client)
                client.sendall(body)
                client.close()

        threading.Thread(target=answer, daemon=True).start()
        conductor = ConductorClients(running.caller(), NO_HASH_RING).at(f"127.0.0.1:{stranger.getsockname()[1]}")
        with pytest.raises(ConnectionBroken, match="can't be read"):
            conductor.validate_interfaces(CONTEXT, "n1")
        # The call may have been handed on before: a gateway says nothing of that.
        with pytest.raises(ConnectionBroken, match="status 502"):
            conductor.validate_interfaces(CONTEXT, "n1")


ODD = [
    {"code": 409, "message": "m", "data": {"classes": [{"a": 1}, "NodeLocked", None], "facts": {"node": [1]}}},
    {"code": "x", "message": "m", "data": {"classes": "NodeLocked", "facts": [1]}},
    {"code": -32603, "message": "m"},
    {"code": 409, "message": "m", "data": [1]},
]


@pytest.mark.parametrize("error", ODD)
def test_an_odd_error_of_what_answers_is_an_error_of_the_call(conf: Setter, running: Running, error: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:

        def answer() -> None:
            client, _ = stranger.accept()
            read_request(client)
            body = json.dumps({"jsonrpc": "2.0", "error": error, "clock": "late"}).encode()
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            client.close()

        threading.Thread(target=answer, daemon=True).start()
        conductor = ConductorClients(running.caller(), NO_HASH_RING).at(f"127.0.0.1:{stranger.getsockname()[1]}")
        with pytest.raises(IronicError, match="^m$"):
            conductor.validate_interfaces(CONTEXT, "n1")


# Who may call

NEEDED = "This request needs a user name and a password."


def test_a_name_and_a_password_are_needed(run: Callable[..., Running], tmp_path: Path) -> None:
    path = users(tmp_path, ironic="s3cret")
    options = {"auth_strategy": "http_basic", "http_basic_auth_user_file": str(path)}
    running = run(**options, username="ironic", password="s3cret")
    assert running.conductor().validate_interfaces(CONTEXT, "n1")
    seen = len(running.endpoint.seen)
    # Nothing of a request is judged before its login.
    for body in (None, b"no JSON", b"[" * 5000):
        answer = running.post(body)
        assert (answer.status_code, answer.content) == (401, unread(401, NEEDED))
        assert answer.headers["WWW-Authenticate"] == 'Basic realm="Baremetal API"'
    assert running.post(auth=("ironic", "wrong")).status_code == 401
    assert running.post(auth=("ironic", "wrong")).json() != running.post().json()
    assert running.post(headers={"Authorization": "Bearer abc"}).status_code == 400
    assert requests.get(f"http://{running.host}/", timeout=30).status_code == 401
    assert len(running.endpoint.seen) == seen
    assert running.post(auth=("ironic", "s3cret")).json()["result"] == {"power": {"result": True}}


def test_a_refused_login_shows_no_address_and_no_password(
    run: Callable[..., Running], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = {"auth_strategy": "http_basic", "http_basic_auth_user_file": str(users(tmp_path, ironic="s3cret"))}
    running = run(**options, username="ironic", password="canary")
    with caplog.at_level(logging.DEBUG), pytest.raises(CallRefused, match="does not know the name") as raised:
        running.conductor().validate_interfaces(CONTEXT, "n1")
    assert (raised.value.status, "http" in str(raised.value)) == (503, False)
    assert "canary" not in caplog.text


def test_a_user_is_added_without_a_restart(run: Callable[..., Running], tmp_path: Path) -> None:
    path = users(tmp_path, other="x")
    running = run(auth_strategy="http_basic", http_basic_auth_user_file=str(path), username="ironic", password="s3cret")
    with pytest.raises(CallRefused):
        running.conductor().validate_interfaces(CONTEXT, "n1")
    users(tmp_path, other="x", ironic="s3cret")
    assert running.conductor().validate_interfaces(CONTEXT, "n1")


def test_guesses_of_passwords_are_limited(run: Callable[..., Running], tmp_path: Path) -> None:
    options = {"auth_strategy": "http_basic", "http_basic_auth_user_file": str(users(tmp_path, ironic="s3cret"))}
    running = run(**options, username="ironic", password="s3cret")
    statuses = [running.post(auth=("ironic", f"guess {n}")).status_code for n in range(30)]
    assert statuses[0] == 401
    assert statuses[-1] == 429
    assert running.endpoint.seen == []


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"auth_strategy": "http_basic", "http_basic_auth_user_file": "/nowhere/users"}, "does not exist"),
        ({"use_ssl": True}, "cert_file"),
        ({"use_ssl": True, "cert_file": "/nowhere.pem", "key_file": "/nowhere.key"}, r"\[json_rpc\]cert_file"),
    ],
)
def test_options_that_no_caller_can_meet_end_the_start(conf: Setter, options: dict[str, Any], text: str) -> None:
    conf(rpc_transport="json-rpc", **{f"json_rpc__{name}": value for name, value in options.items()})
    with pytest.raises(ValueError, match=text):
        JsonRpcListener(CONF)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"auth_strategy": "http_basic"}, "needs username and password"),
        ({"auth_strategy": "keystone"}, "auth_type is not set"),
        ({"auth_strategy": "noauth", "use_ssl": True, "cafile": "/nowhere.pem"}, "cafile is no regular file"),
    ],
)
def test_options_with_which_no_call_can_be_made_end_the_start(conf: Setter, options: dict[str, Any], text: str) -> None:
    conf(rpc_transport="json-rpc", **{f"json_rpc__{name}": value for name, value in options.items()})
    with pytest.raises(ValueError, match=text):
        caller_of(CONF)


def test_an_open_conductor_is_warned_of(conf: Setter, caplog: pytest.LogCaptureFixture) -> None:
    conf(rpc_transport="json-rpc", json_rpc__auth_strategy="noauth", json_rpc__host_ip="127.0.0.1")
    JsonRpcListener(CONF)
    assert "without authentication" not in caplog.text
    conf(json_rpc__host_ip="::")
    JsonRpcListener(CONF)
    assert "without authentication" in caplog.text


# What is no call


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "method": "x"}]', -32600),
        (b'{"jsonrpc": "1.0", "method": "x", "params": {}}', -32600),
        (b'{"jsonrpc": "2.0", "method": ["x"], "params": {}}', -32600),
        (b'{"jsonrpc": "2.0", "method": "x", "params": [1]}', -32602),
        (b'{"jsonrpc": "2.0", "method": "x", "params": {"arguments": 1}}', -32602),
        (b'{"jsonrpc": "2.0", "method": "__init__", "params": {}, "id": 1}', 500),
        (b'{"jsonrpc": "2.0", "method": "seen", "params": {}, "id": 1}', 500),
        (b'{"jsonrpc": "2.0", "method": "destroy_node", "params": {"arguments": {"x": 1}}, "id": 1}', 500),
        (b'{"jsonrpc": "2.0", "method": "destroy_node", "params": {"envelope": {"version": "9.0"}}, "id": 1}', 500),
        (b'{"jsonrpc": "2.0", "method": "destroy_node", "params": {"context": {"roles": 5}}, "id": 1}', 500),
    ],
)
def test_what_is_no_call_is_answered_as_an_error(running: Running, body: bytes, code: int) -> None:
    answer = running.post(body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, code), answer.text
    assert running.endpoint.seen == []
    assert running.conductor().validate_interfaces(CONTEXT, "n1")


def test_other_methods_and_large_bodies_are_refused(running: Running) -> None:
    answer = requests.get(f"http://{running.host}/", timeout=30)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
    # The API and conductors have one shape for this, and callers know it.
    assert answer.content == unread(405, "Calls are sent by POST.")
    assert is_refusal(answer.content, 405)
    largest = largest_body(CONF)
    assert running.post(b" " * (5 * 1024 * 1024)).status_code == 200
    assert running.post(b" " * (largest + 1)).status_code == 413
    assert running.conductor().validate_interfaces(CONTEXT, "n1")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, 415),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_a_web_page_can_not_call(running: Running, headers: dict[str, str], status: int) -> None:
    answer = running.post(headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, status)
    assert running.endpoint.seen == []


def test_a_result_that_is_too_deep_to_send_is_an_error_of_the_conductor(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(IronicError) as raised:
        running.conductor().driver_properties(CONTEXT, "deep")
    assert (type(raised.value), raised.value.status) == (IronicError, 500)
    assert "can't be sent" in caplog.text


# TLS


def test_a_certificate_is_checked_unless_that_is_switched_off(
    run: Callable[..., Running], conf: Setter, tmp_path: Path
) -> None:
    certificate, key = write_certificate(tmp_path)
    running = run(use_ssl=True, cert_file=certificate, key_file=key)
    with pytest.raises(CallRefused, match="TLS fails"):
        running.conductor().validate_interfaces(CONTEXT, "n1")
    conf(json_rpc__insecure=True)
    assert running.conductor().validate_interfaces(CONTEXT, "n1")


def test_the_caller_uses_tls_where_something_in_front_of_the_conductor_has_it(
    run: Callable[..., Running], conf: Setter, tmp_path: Path
) -> None:
    running = run()
    conf(json_rpc__client_use_ssl=True)
    with pytest.raises(CallRefused, match="TLS fails"):
        running.conductor().validate_interfaces(CONTEXT, "n1")


@pytest.mark.parametrize("size", [1, 3_000_000])
def test_a_caller_without_tls_reads_that_nothing_was_begun_and_why(
    run: Callable[..., Running], conf: Setter, tmp_path: Path, size: int
) -> None:
    certificate, key = write_certificate(tmp_path)
    running = run(use_ssl=True, cert_file=certificate, key_file=key)
    conf(json_rpc__use_ssl=False)
    conductor = running.conductor()
    with pytest.raises(CallRefused, match="before it was begun: .*does the conductor speak TLS"):
        conductor.change_provision_state(CONTEXT, "n1", "inspect", {"text": "x" * size})
    assert running.endpoint.seen == []
    with pytest.raises(CallRefused):
        conductor.validate_interfaces(CONTEXT, "n1")


def test_a_reload_reads_the_certificate_again(run: Callable[..., Running], conf: Setter, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    certificate, key = write_certificate(tmp_path / "old")
    running = run(use_ssl=True, cert_file=certificate, key_file=key, cafile=certificate)
    renewed, new_key = write_certificate(tmp_path / "new")
    os.replace(renewed, certificate)
    os.replace(new_key, key)
    running.reload()
    served = ssl.get_server_certificate(("127.0.0.1", running.port))
    assert served.strip() == Path(certificate).read_text().strip()
    assert running.conductor().validate_interfaces(CONTEXT, "n1")


def test_a_caller_trusts_a_new_certificate_after_a_reload(
    run: Callable[..., Running], conf: Setter, tmp_path: Path
) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    certificate, key = write_certificate(tmp_path / "old")
    running = run(use_ssl=True, cert_file=certificate, key_file=key, cafile=certificate)
    transport = running.caller()
    conductor = ConductorClients(transport, NO_HASH_RING).at(running.host)
    assert conductor.validate_interfaces(CONTEXT, "n1")
    for renewed, old in zip(write_certificate(tmp_path / "new"), (certificate, key), strict=True):
        os.replace(renewed, old)
    running.reload()
    for _ in range(3):
        transport.renew()
    assert conductor.validate_interfaces(CONTEXT, "n1")


# The log


@pytest.mark.parametrize("is_brief", [True, False])
def test_arguments_are_logged_only_where_asked_for_and_never_a_secret(
    running: Running, conf: Setter, caplog: pytest.LogCaptureFixture, is_brief: bool
) -> None:
    conf(json_rpc__debug_log_request_id_only=is_brief)
    with caplog.at_level(logging.DEBUG, "ironic.rpc"):
        running.conductor().heartbeat(CONTEXT, "n1", {"agent_token": "canary", "callback_url": "http://192.0.2.1"})
    assert ("192.0.2.1" in caplog.text) is not is_brief
    assert "canary" not in caplog.text


def test_a_login_in_clear_text_is_warned_of(conf: Setter, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = {"auth_strategy": "http_basic", "http_basic_auth_user_file": str(users(tmp_path, ironic="s3cret"))}
    conf(rpc_transport="json-rpc", **{f"json_rpc__{name}": value for name, value in options.items()})
    conf(json_rpc__host_ip="127.0.0.1")
    JsonRpcListener(CONF)
    assert "clear text" not in caplog.text
    conf(json_rpc__host_ip="::")
    JsonRpcListener(CONF)
    assert "clear text" in caplog.text


def test_logins_of_one_address_do_not_hold_up_those_of_another(
    run: Callable[..., Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"auth_strategy": "http_basic", "http_basic_auth_user_file": str(users(tmp_path, ironic="s3cret"))}
    released, held = threading.Event(), threading.Semaphore(0)
    check = bcrypt.checkpw

    def slow(password: bytes, stored: bytes) -> bool:
        if password == b"slow":
            held.release()
            released.wait(30)
        return check(password, stored)

    monkeypatch.setattr(bcrypt, "checkpw", slow)
    running = run(**options, username="ironic", password="s3cret")
    with ThreadPoolExecutor(8) as crowd:
        wrong = [crowd.submit(running.post, auth=(f"user {n}", "slow")) for n in range(8)]
        assert held.acquire(timeout=30) and held.acquire(timeout=30)
        try:
            client = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20, source_address=("127.0.0.2", 0))
            login = base64.b64encode(b"ironic:s3cret").decode()
            headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
            client.request("POST", "/", b"{}", headers)
            assert client.getresponse().status == 200
            client.close()
            assert not any(one.done() for one in wrong)
        finally:
            released.set()
        assert {one.result().status_code for one in wrong} <= {401, 429}
