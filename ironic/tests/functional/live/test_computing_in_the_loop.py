"""GETs that only compute are answered by the event loop; whatever waits, changes or takes long is a thread's."""

import http.client
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

from ironic.command import wsgi_bridge
from ironic.command.http_server import ApiServer, ServerSettings
from ironic.core.permit import PERMIT
from ironic.tests.functional.live.http_server import LOOPBACK, hello, port_of

IN_LOOP = "api-connections"


class Noting:
    """An application that notes which threads call it, and does what the path says."""

    def __init__(self) -> None:
        self.threads: list[str] = []
        self.waited: list[str] = []
        self.seconds = 0.0

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        self.threads.append(threading.current_thread().name.split("_")[0])
        if environ["PATH_INFO"] == "/waits":
            with PERMIT.waiting():
                self.waited.append(self.threads[-1])
        if environ["PATH_INFO"] == "/long":
            until = time.thread_time() + self.seconds
            while time.thread_time() < until:
                pass
        return hello(environ, start_response)


def asked(port: int, *requests: tuple[str, str]) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as client:
        for method, path in requests:
            client.request(method, path, headers={"Content-Length": "0"})
            assert client.getresponse().read() == (b"hello" if method != "HEAD" else b"")


def start(serve: Callable[..., ApiServer], application: Noting) -> int:
    return port_of(serve(application, ServerSettings(LOOPBACK, computes_in_loop=True)))


def test_only_gets_are_answered_by_the_loop(serve: Callable[..., ApiServer]) -> None:
    application = Noting()
    asked(start(serve, application), ("GET", "/"), ("POST", "/"), ("GET", "/"), ("HEAD", "/"))
    assert application.threads == [IN_LOOP, "api", IN_LOOP, "api"]


def test_a_get_that_has_to_wait_is_begun_anew_in_a_thread(serve: Callable[..., ApiServer]) -> None:
    application = Noting()
    asked(start(serve, application), ("GET", "/waits"), ("GET", "/"))
    assert application.threads == [IN_LOOP, "api", IN_LOOP]
    assert application.waited == ["api"]


def test_a_path_that_takes_long_is_left_to_threads_until_it_is_quick(serve: Callable[..., ApiServer]) -> None:
    application = Noting()
    application.seconds = 2 * wsgi_bridge.LONG_SECONDS
    port = start(serve, application)
    asked(port, ("GET", "/long"), ("GET", "/long"), ("GET", "/"))
    application.seconds = 0
    asked(port, ("GET", "/long"))
    assert application.threads == [IN_LOOP, "api", IN_LOOP, "api"]
    asked(port, ("GET", "/long"))
    assert application.threads[-1] == IN_LOOP


def test_paths_that_take_long_are_kept_in_bounds(serve: Callable[..., ApiServer]) -> None:
    application = Noting()
    server = serve(application, ServerSettings(LOOPBACK, computes_in_loop=True))
    server._bridge._long_paths.update(b"/%d" % number for number in range(wsgi_bridge.MOST_LONG_PATHS))
    application.seconds = 2 * wsgi_bridge.LONG_SECONDS
    asked(port_of(server), ("GET", "/long"))
    assert server._bridge._long_paths == {b"/long"}
