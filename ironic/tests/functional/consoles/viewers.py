"""Viewers of graphical consoles: a node with an open console, and what a viewer does there."""

import contextlib
import http.client
from datetime import timedelta
from typing import Any, Protocol

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from ironic.command.console_proxy import ConsoleProxy
from ironic.core.memory.console_tokens import ConsoleAccess
from ironic.db import Store
from ironic.tests.unit.drivers.machine import Machine

PATIENCE = 60


class Door:
    """A node with an open console, and the way to it."""

    def __init__(self, store: Store, proxy: ConsoleProxy, port: int, *, age: float = 0, **values: Any) -> None:
        access = ConsoleAccess.granted("127.0.0.1", port, store.clock.now() - timedelta(seconds=age))
        access.put(machine := Machine())
        info = {
            "driver": "fake-hardware", "console_enabled": True, "driver_internal_info": machine.driver_internal_info,
        }  # fmt: skip
        self.uuid = store.nodes.create({**info, **values}).uuid
        self.token, self._port = access.token, proxy.port

    def open(self, **changed: Any) -> ClientConnection:
        uuid, token = changed.pop("node", self.uuid), changed.pop("token", self.token)
        url = f"ws://127.0.0.1:{self._port}/websockify?node={uuid}&token={token}"
        return connect(url, proxy=None, open_timeout=PATIENCE, **changed)

    def status(self, **changed: Any) -> int:
        """Return the status with which a session is refused."""
        with pytest.raises(InvalidStatus) as refusal:
            self.open(**changed)
        return refusal.value.response.status_code


class Session(Protocol):
    """What is sent to a VNC server and received from it, by a client of either kind."""

    def send(self, message: bytes, /) -> None: ...
    def recv(self, timeout: float, /) -> str | bytes: ...


def read(session: Session, count: int) -> bytes:
    seen = b""
    while len(seen) < count:
        message = session.recv(PATIENCE)
        assert isinstance(message, bytes)
        seen += message
    return seen


def begin(session: Session) -> bytes:
    """Do what a viewer does; return what the VNC server says of its screen."""
    assert read(session, 12) == b"RFB 003.008\n"
    session.send(b"RFB 003")  # a message ends anywhere
    session.send(b".008\n")
    assert read(session, 2) == b"\1\1"
    session.send(b"\1\1")  # no login, and with it the first of what follows: others may see the screen too
    said = read(session, 4 + 24)
    assert said[:4] == b"\0\0\0\0"
    return said[4:]


def get(proxy: ConsoleProxy, path: str) -> tuple[int, str | None, bytes]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=PATIENCE)) as client:
        client.request("GET", path)
        answer = client.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read()
