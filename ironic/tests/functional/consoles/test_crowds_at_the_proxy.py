"""Crowds at the proxy of graphical consoles: idle clients, slow ones, many viewers, many guesses."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.command import console_clients, console_proxy, tls_listener
from ironic.command.console_proxy import ConsoleProxy
from ironic.conf import CONF
from ironic.db import Store
from ironic.tests.conftest import Setter
from ironic.tests.functional.consoles.viewers import PATIENCE, Door, begin, get
from ironic.tests.redfish_bmc import write_certificate


@contextlib.contextmanager
def idle(proxy: ConsoleProxy, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connect so many clients that say something and then read nothing."""
    with contextlib.ExitStack() as stack:
        clients = []
        for _each in range(count):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(PATIENCE)
            client.connect(("127.0.0.1", proxy.port))
            client.sendall(said)
            clients.append(client)
        yield clients


def are_gone(clients: list[socket.socket]) -> bool:
    """Return whether the proxy has ended these connections."""
    for client in clients:
        with contextlib.suppress(ConnectionError):
            while client.recv(65536):
                pass
    return True


def test_idle_clients_keep_nobody_out(
    door: Door, proxy: ConsoleProxy, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(console_clients, "MOST_CONNECTIONS", 5)
    with door.open() as session, idle(proxy, 30) as clients:
        begin(session)
        assert get(proxy, "/vnc_lite.html")[0] == 200
        with door.open() as other:
            begin(other)
        assert session.ping().wait(PATIENCE)
        assert are_gone(clients[:20])
    assert caplog.text.count("has 5 connections; the earliest ones without a session are closed") == 1


def test_a_crowd_of_one_address_does_not_end_what_another_has_begun(
    door: Door, proxy: ConsoleProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_clients, "MOST_CONNECTIONS", 5)
    request = f"GET /websockify?node={door.uuid} HTTP/1.1\r\nHost: 127.0.0.1\r\n".encode()
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE, source_address=("127.0.0.2", 0)) as early:
        early.sendall(request)
        with idle(proxy, 30) as clients:
            assert are_gone(clients[:20])
            # It came before all of them, and is answered.
            early.sendall(b"\r\n")
            assert early.recv(65536).startswith(b"HTTP/1.1 ")


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give clients of the proxy that is started next a second for a request."""
    monkeypatch.setattr(console_proxy, "_REQUEST_SECONDS", 1)


def test_idle_clients_are_sent_away(in_a_hurry: None, proxy: ConsoleProxy) -> None:
    with idle(proxy, 3) as silent, idle(proxy, 3, b"GET / HTTP/1.1\r\n") as slow:
        assert are_gone(silent + slow)


def test_who_takes_no_page_gives_way_to_others(
    proxy: ConsoleProxy, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_clients, "MOST_PAGES", 3)
    # More than the buffers of the kernel take.
    (pages / "large.js").write_bytes(bytes(2 * 1024 * 1024))
    with idle(proxy, 12, b"GET /large.js HTTP/1.1\r\nHost: x\r\n\r\n") as clients:
        assert len(get(proxy, "/large.js")[2]) == 2 * 1024 * 1024
        assert are_gone(clients[:9])


def test_a_page_that_is_too_large_is_not_served(proxy: ConsoleProxy, pages: Path) -> None:
    (pages / "huge.js").write_bytes(bytes(2 * 1024 * 1024 + 1))
    assert get(proxy, "/huge.js")[0] == 404


def test_a_console_has_so_many_viewers(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console_clients, "MOST_VIEWERS", 2)
    with door.open() as one, door.open() as two:
        begin(one)
        begin(two)
        assert door.status() == 503
    with door.open() as next_one:
        begin(next_one)


def test_guesses_do_not_fill_the_log(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(30):
        assert door.status(token=f"guess-{number}") == 403
    assert caplog.text.count("A console is refused to 127.0.0.1: its token is wrong") <= 2


def test_clients_that_begin_no_tls_session_are_limited(
    store: Store, pages: Path, conf: Setter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls_listener, "MOST_HANDSHAKES", 5)
    # Nobody goes because the time of a handshake is over.
    monkeypatch.setattr(console_proxy, "_REQUEST_SECONDS", 600)
    certificate, key = write_certificate(pages.parent)
    conf(vnc__enable_ssl=True, vnc__cert_file=certificate, vnc__key_file=key)
    proxy = ConsoleProxy(store, CONF)
    proxy.start()
    try:
        with idle(proxy, 40) as clients:
            assert are_gone(clients[:35])
    finally:
        proxy.stop()
