"""The proxy of graphical consoles with a real VNC server and a real client of WebSockets."""

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from ironic.command import console_proxy, rfb_handshake
from ironic.command.console_proxy import ConsoleProxy
from ironic.conf import CONF
from ironic.db import Store
from ironic.tests.conftest import Setter
from ironic.tests.functional.consoles.lines import until
from ironic.tests.functional.consoles.viewers import PATIENCE, Door, begin, get, read


def test_who_has_the_token_sees_and_uses_the_screen(door: Door) -> None:
    with door.open() as session:
        screen = begin(session)
        assert (int.from_bytes(screen[:2]), int.from_bytes(screen[2:4])) == (320, 240)
        session.send(b"\2\0\0\1\0\0\0\0")  # pixels as they are
        session.send(b"\3\0" + bytes(4) + (320).to_bytes(2) + (240).to_bytes(2))
        picture = read(session, 320 * 240 * 4)
        assert len(picture) >= 320 * 240 * 4


def test_several_may_look_at_once(door: Door) -> None:
    with door.open() as one, door.open() as two:
        begin(one)
        begin(two)


def test_the_subprotocol_of_older_viewers_is_spoken(door: Door) -> None:
    with door.open(subprotocols=["binary", "base64"]) as session:
        assert session.subprotocol == "binary"
        begin(session)


@pytest.mark.parametrize(
    "changed",
    [
        {"token": "wrong"},
        {"token": "%ff%00"},
        {"node": "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11"},
        {"node": "../../etc/passwd"},
        {"node": "%27%20or%201=1"},
    ],
)
def test_without_the_right_token_nothing_is_shown(door: Door, changed: dict[str, str]) -> None:
    assert door.status(**changed) == 403


@pytest.mark.parametrize(
    "changed", [{"token": ""}, {"token": "a&token=b"}, {"node": ""}, {"token": "a" + "&more=1" * 9}]
)
def test_a_request_names_one_node_and_one_token(door: Door, changed: dict[str, str]) -> None:
    assert door.status(**changed) == 400


def test_an_old_token_and_a_closed_console_show_nothing(store: Store, proxy: ConsoleProxy, vnc_port: int) -> None:
    assert Door(store, proxy, vnc_port, age=601).status() == 403
    assert Door(store, proxy, vnc_port, console_enabled=False).status() == 403
    assert Door(store, proxy, vnc_port, driver_internal_info={}).status() == 403


def test_a_session_ends_with_its_token(store: Store, proxy: ConsoleProxy, vnc_port: int) -> None:
    with Door(store, proxy, vnc_port, age=597).open() as session:
        begin(session)
        with pytest.raises(ConnectionClosed):
            while True:
                session.recv(PATIENCE)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example.org"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1", "X-Forwarded-Proto": "https"},
    ],
)
def test_a_page_of_another_origin_is_refused(door: Door, headers: dict[str, str]) -> None:
    assert door.status(additional_headers=headers) == 403


def test_a_page_of_the_proxy_is_served(door: Door, proxy: ConsoleProxy) -> None:
    with door.open(origin=f"http://127.0.0.1:{proxy.port}") as session:
        begin(session)
    headers = {"X-Forwarded-Proto": "https"}
    with door.open(origin=f"https://127.0.0.1:{proxy.port}", additional_headers=headers) as session:
        begin(session)


def test_pages_are_served(proxy: ConsoleProxy) -> None:
    assert get(proxy, "/vnc_lite.html?path=x") == (200, "text/html", b"<html>screen</html>")
    assert get(proxy, "/core/rfb.js") == (200, "text/javascript", b"export {}")


@pytest.mark.parametrize(
    "path",
    ["/", "/core", "/missing", "/.hidden", "/leads_out", "/../secret", "/%2e%2e/secret", "/core/..%2f..%2fsecret"]
    + ["/%00", "//etc/passwd", "/" + "x" * 5000],
)
def test_nothing_else_is_served(proxy: ConsoleProxy, path: str) -> None:
    assert get(proxy, path)[0] == 404


def test_a_directory_that_is_asked_for_stays_closed(proxy: ConsoleProxy, pages: Path) -> None:
    for _ in range(3):
        assert get(proxy, "/core")[0] == 404
    opened = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    assert str(pages / "core") not in opened


def test_a_token_is_in_no_line_of_the_log(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    with door.open() as session:
        begin(session)
    assert door.status(token="wrong-one") == 403
    until(lambda: "a viewer has disconnected" in caplog.text, "the session has ended")
    said = "\n".join(record.getMessage() for record in caplog.records if record.name != "websockets.client")
    assert f"Node {door.uuid}: a viewer at" in said
    assert door.token not in said
    assert "wrong-one" not in said


def test_sessions_are_recorded(door: Door, conf: Setter, store: Store, pages: Path, tmp_path: Path) -> None:
    conf(vnc__novnc_record=str(tmp_path / "screen"))
    recording = ConsoleProxy(store, CONF)
    recording.start()
    try:
        with Door(store, recording, _port_of(store, door)).open() as session:
            begin(session)
        (file,) = until(lambda: [*tmp_path.glob("screen.*")], "there is a recording")
        until(lambda: file.stat().st_size, "it is written")
        assert file.stat().st_mode & 0o777 == 0o600
        seconds, _shown = json.loads(file.read_text().splitlines()[0])
        assert seconds >= 0
    finally:
        recording.stop()


def _port_of(store: Store, door: Door) -> int:
    port: int = store.nodes.get(door.uuid).driver_internal_info["vnc_port"]
    return port


@pytest.fixture
def say(store: Store, proxy: ConsoleProxy) -> Iterator[Callable[[bytes], Door]]:
    """Return a function that makes a console whose server says something and then nothing."""
    listeners = []

    def serve(text: bytes) -> Door:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def once() -> None:
            with contextlib.suppress(OSError):
                client, _address = listener.accept()
                with client:
                    client.sendall(text)
                    while client.recv(4096):
                        pass

        threading.Thread(target=once, daemon=True).start()
        return Door(store, proxy, listener.getsockname()[1])

    yield serve
    for listener in listeners:
        listener.close()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"RFB 003.003\n", "not RFB 3.8"),
        (b"HTTP/1.1 200 OK\r\n", "not RFB 3.8"),
        (b"RFB 003.008\n\0\0\0\0\7go away", "refuses: 'go away'"),
        (b"RFB 003.008\n\0\xff\xff\xff\xff" + b"x" * 1000, "refuses"),
        (b"RFB 003.008\n\1\2", "wants a login of the types [2]"),
    ],
)
def test_a_server_that_does_not_fit_is_said(
    say: Callable[[bytes], Door], said: bytes, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with say(said).open() as session, pytest.raises(ConnectionClosed):
        session.recv(PATIENCE)
    assert reason in caplog.text


def test_a_server_that_says_nothing_is_left(
    say: Callable[[bytes], Door], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(console_proxy, "_BEGIN_SECONDS", 0.2)
    with say(b"").open() as session, pytest.raises(ConnectionClosed):
        session.recv(PATIENCE)
    assert "did not agree" in caplog.text


def test_a_server_that_is_not_there_is_said(
    store: Store, proxy: ConsoleProxy, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Door(store, proxy, port).open() as session, pytest.raises(ConnectionClosed):
        session.recv(PATIENCE)
    assert "can't be shown" in caplog.text


@pytest.mark.parametrize("answer", ["text", b"RFB 003.003\n", b"\0" * 12, rfb_handshake.VERSION + b"\2"])
def test_a_viewer_that_does_not_fit_is_sent_away(door: Door, answer: bytes | str) -> None:
    with door.open() as session:
        session.send(answer)
        with pytest.raises(ConnectionClosed):
            while True:
                session.recv(PATIENCE)


@pytest.mark.parametrize("size", [2 * 1024 * 1024, 100 * 1024 * 1024])
def test_a_message_that_is_too_long_ends_its_session(door: Door, size: int) -> None:
    with door.open() as session:
        begin(session)
        # The beginning of the frame says how long it is; nothing of it is waited for.
        session.socket.sendall(b"\x82\xff" + size.to_bytes(8) + bytes(4))
        with pytest.raises(ConnectionClosed) as end:
            while True:
                session.recv(PATIENCE)
    assert end.value.rcvd and end.value.rcvd.code == 1009


def test_a_message_in_too_many_pieces_ends_its_session(door: Door) -> None:
    with door.open() as session:
        begin(session)
        with pytest.raises(ConnectionClosed) as end:
            session.send(bytes(64 * 1024) for _ in range(17))
            while True:
                session.recv(PATIENCE)
    assert end.value.rcvd and end.value.rcvd.code == 1009


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"\x82\x01x", 1002),  # not masked
        (b"\x09\x80" + bytes(4), 1002),  # a ping in pieces
        (b"\x89\xfe\x00\x7e" + bytes(4 + 126), 1002),  # a ping that is too long
        (b"\x88\x81" + bytes(4) + b"\x03", 1002),  # half a status of a close
        (b"\x83\x80" + bytes(4), 1002),  # an unknown kind
        (b"\xc2\x80" + bytes(4), 1002),  # an extension that was not agreed on
        (b"\x80\x80" + bytes(4), 1002),  # the rest of nothing
        (b"\x02\x80" + bytes(4) + b"\x82\x80" + bytes(4), 1002),  # a message within another
        (b"\x82\xff\xff" + bytes(7 + 4), 1009),  # a length with the highest bit
        (b"\x81\x82" + bytes(4) + b"\xc3\x28", 1007),  # text that is not UTF-8
    ],
)
def test_a_frame_that_breaks_the_protocol_ends_its_session(
    door: Door, proxy: ConsoleProxy, frame: bytes, code: int
) -> None:
    with door.open() as other:
        begin(other)
        with door.open() as session:
            begin(session)
            session.socket.sendall(frame)
            with pytest.raises(ConnectionClosed) as end:
                while True:
                    session.recv(PATIENCE)
        assert end.value.rcvd and end.value.rcvd.code == code
        assert other.ping().wait(PATIENCE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vnc__novnc_web": "/nowhere"}, "novnc_web"),
        ({"vnc__enable_ssl": True}, "cert_file"),
    ],
)
def test_options_that_can_not_work_stop_the_start(
    store: Store, pages: Path, conf: Setter, options: dict[str, Any], message: str
) -> None:
    conf(**options)
    with pytest.raises(ValueError, match=message):
        ConsoleProxy(store, CONF).start()
