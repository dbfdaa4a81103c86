"""Making the calls that inspection rules ask for: GET requests of bounded time whose answers nobody reads.

Redirects are not followed, proxies and logins come from the rule alone (no environment, no netrc), and a server can't
prolong a call: an attempt ends with its time, however slowly the answer trickles, and Retry-After is not obeyed.
Failures are told by status or kind of error; URLs and headers may hold credentials and are in no message.
"""

import logging
import math
import socket
import threading
import time
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool, PoolManager, ProxyManager, Retry
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from ironic.core.rules import Call
from ironic.integrations.image_servers import authorities

_METHOD: Final = "GET"
_AGAIN: Final = frozenset({429, *range(500, 600)})
_LONGEST_PAUSE: Final = 10.0  # seconds


class Result(NamedTuple):
    """What became of a call; ``status`` is that of the last answer, None when there was none."""

    status: int | None
    attempts: int
    error: str = ""

    @property
    def failure(self) -> str | None:
        """Why the call failed; None when it did not."""
        if self.status is None:
            return f"the call failed in attempt {self.attempts}: {self.error}"
        if requests.codes.ok <= self.status < requests.codes.multiple_choices:
            return None
        return f"the call was answered with status {self.status} in attempt {self.attempts}"


def make(call: Call, within: float = math.inf) -> Result:
    """Make a call within so many seconds, again as often as it says while the answer is 429 or 5xx."""
    until = time.monotonic() + within
    retry = Retry(
        total=call.retries,
        status_forcelist=_AGAIN,
        backoff_factor=call.backoff_factor,
        backoff_max=_LONGEST_PAUSE,
        respect_retry_after_header=False,
    )
    with requests.Session() as session:
        session.trust_env = False
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Adapter())
        attempts = 1
        while True:
            raw, error = _attempt(session, call, until)
            if raw is None or not retry.total or not retry.is_retry(_METHOD, raw.status):
                return Result(raw.status if raw else None, attempts, error)
            retry = retry.increment(_METHOD, response=raw)
            if time.monotonic() + retry.get_backoff_time() >= until:
                return Result(raw.status, attempts)
            retry.sleep()
            attempts += 1


def _attempt(session: requests.Session, call: Call, until: float) -> tuple[HTTPResponse | None, str]:
    """Return an answer of which the head was read and the connection is closed, or the kind of error."""
    timeout = min(call.timeout, until - time.monotonic())
    if timeout <= 0:
        return None, "Timeout"
    with _Deadline(timeout) as deadline:
        try:
            response = session.get(
                call.url,
                headers=dict(call.headers),
                proxies=dict(call.proxies),
                timeout=timeout,
                verify=authorities(),
                allow_redirects=False,
                stream=True,
            )
        except (OSError, ValueError, HTTPError) as error:
            return None, "Timeout" if deadline.is_over else type(error).__name__
        response.close()
        return (None, "Timeout") if deadline.is_over else (response.raw, "")


class _Deadline:
    """The end of an attempt: connections that are still open then are shut down, which ends every wait for them."""

    def __init__(self, seconds: float) -> None:
        self.is_over = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._token = _DEADLINE.set(self)
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        _DEADLINE.reset(self._token)
        with self._lock:
            for one in self._sockets:
                one.close()
            self._sockets = []

    def watch(self, connected: socket.socket) -> None:
        """Shut this connection down in time."""
        with self._lock:
            # TLS takes the socket over; a second handle reaches the connection whoever has it.
            self._sockets.append(connected.dup())
        if self.is_over:
            self._end()

    def _end(self) -> None:
        self.is_over = True
        with self._lock:
            for one in self._sockets:
                _shut_down(one)


def _shut_down(connected: socket.socket) -> None:
    try:
        connected.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the other side was faster


_DEADLINE: Final[ContextVar[_Deadline]] = ContextVar("deadline")


def _is_of_others(record: logging.LogRecord) -> bool:
    """Drop what libraries log of our calls: it names URLs, into which a rule may have put what nobody is to see."""
    return _DEADLINE.get(None) is None


for _name in ("urllib3.connection", "urllib3.connectionpool"):
    logging.getLogger(_name).addFilter(_is_of_others)


class _Plain(HTTPConnection):
    """A connection that knows when it has to end."""

    def _new_conn(self) -> socket.socket:
        connected = super()._new_conn()
        _DEADLINE.get().watch(connected)
        return connected


class _Secure(HTTPSConnection):
    """The same with TLS."""

    def _new_conn(self) -> socket.socket:
        connected = super()._new_conn()
        _DEADLINE.get().watch(connected)
        return connected


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _Secure


class _Adapter(HTTPAdapter):
    """Uses such connections, with proxies as well."""

    poolmanager: PoolManager

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        _use_our_pools(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **options: Any) -> ProxyManager:
        manager: ProxyManager = super().proxy_manager_for(proxy, **options)
        _use_our_pools(manager)
        return manager


def _use_our_pools(manager: PoolManager) -> None:
    manager.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
