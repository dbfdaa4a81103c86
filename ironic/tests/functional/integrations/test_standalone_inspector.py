"""The client of the standalone inspector with servers that answer wrongly, endlessly or never."""

import http.server
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ironic.conf import CONF
from ironic.integrations.standalone_inspector import Inspector, InspectorFailed

UUID = "11111111-0000-4000-8000-000000000001"


@contextmanager
def answering(status: int, content: bytes, *, announced: int | None = None) -> Iterator[str]:
    """Run a server that gives one answer to every request; it may announce more bytes than it sends."""
    is_over = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.send_header("Content-Length", str(announced or len(content)))
            self.end_headers()
            self.wfile.write(content)
            if announced:
                is_over.wait(30)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        is_over.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def seconds() -> Iterator[None]:
    """Let calls end soon."""
    CONF.set_override("timeout", 1, "inspector")
    yield
    for name in ("timeout", "endpoint_override"):
        CONF.clear_override(name, "inspector")


def failure(url: str) -> InspectorFailed:
    """Return the error of a question for the state."""
    CONF.set_override("endpoint_override", url, "inspector")
    with pytest.raises(InspectorFailed) as caught:
        Inspector().state(UUID)
    return caught.value


@pytest.mark.demand("S111")
@pytest.mark.parametrize(
    ("status", "content"),
    [
        (200, b"<html>"),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'{"finished": "yes"}'),
        (200, b"[" * 60000),
        (302, b""),
        (500, b"\xff"),
        (404, b'{"error": 1}'),
        (400, b'{"error": {"message": null}}'),
    ],
)
def test_garbage_is_an_error(status: int, content: bytes) -> None:
    with answering(status, content) as url:
        assert not failure(url).is_silent


@pytest.mark.demand("S111")
def test_an_answer_that_is_too_large_or_late_is_an_error() -> None:
    with answering(200, b"x" * 100000) as url:
        assert "larger than" in str(failure(url))
    with answering(200, b"{", announced=100) as url:
        assert failure(url).is_silent


@pytest.mark.demand("S111")
def test_the_text_of_the_inspector_is_cut_and_made_plain() -> None:
    with answering(400, b'{"error": {"message": "<b>no\\n' + b"x" * 5000 + b'"}}') as url:
        text = str(failure(url))
    assert "status 400: no x" in text
    assert len(text) < 700


@pytest.mark.parametrize("option", ["cafile", "certfile", "keyfile"])
def test_a_certificate_that_is_no_file_fails_at_once(tmp_path: Path, option: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    CONF.set_override(option, str(tmp_path / "pipe"), "inspector")
    try:
        assert f"[inspector]{option} is no regular file" in str(failure("https://127.0.0.1:9"))
    finally:
        CONF.clear_override(option, "inspector")
