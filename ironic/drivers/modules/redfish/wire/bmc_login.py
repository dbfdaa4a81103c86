"""The login at a Redfish BMC: a session, or the user name and password with each request.

A login is tried under its guard (`login_guard`); when a session has expired, a new one is begun and the request, which
the BMC has refused, is sent again.
"""

import logging
import threading
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.bmc.bmc_gateway import BmcBusy, CallClass, Exhausted
from ironic.drivers.modules.bmc.login_guard import (
    LONGEST_WAIT,
    LoginGuard,
    LoginRefused,
    LoginUnanswered,
    RepeatedLogin,
)
from ironic.drivers.modules.redfish.wire.bmc_access import Access
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.differences import Behaviour
from ironic.drivers.modules.redfish.wire.quirks import shows
from ironic.drivers.modules.redfish.wire.transport import Headers, Transport
from ironic.integrations import http_client

LOG = logging.getLogger(__name__)

_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_LOG_OUT_SECONDS: Final = 5.0


class _Session(NamedTuple):
    """A session at a BMC: its token, and the path to log out at, empty if it is not known."""

    token: str
    path: str


class BmcLogin:
    """Sends requests to one BMC with one login."""

    def __init__(self, access: Access, guard: LoginGuard | None, transport: Transport) -> None:
        self._access, self._guard, self._transport = access, guard, transport
        self._logging_in = threading.RLock()
        self._is_basic = access.auth_type == "basic"
        # The user name and password that come with each request.
        self._repeated_login = None if guard is None else RepeatedLogin(guard)
        self._session: _Session | None = None
        self._had_session = False
        self._sessions = f"{access.root_prefix}SessionService/Sessions"
        self._root_url = transport.url(access.root_prefix).rstrip("/")

    def find_sessions(self, root: Any) -> None:
        """Take the path of sessions from the service root."""
        links = root.json.get("Links")
        sessions = links.get("Sessions") if isinstance(links, dict) else None
        path = sessions.get("@odata.id") if isinstance(sessions, dict) else None
        self._sessions = path if isinstance(path, str) and path else self._sessions

    def check(self) -> None:
        """Raise LoginBarred when the BMC has refused this login too often."""
        if self._guard is not None and (self._is_basic or self._session is None):
            self._guard.check()

    def log_in(self) -> None:
        """Begin a session, where sessions are used."""
        if self._guard is not None and not self._is_basic:
            self._session_but(None)

    def doubt(self) -> None:
        """Begin with the way to log in that the node asks for: a BMC that restarts may have had no sessions yet."""
        if self._session is None:
            self._is_basic = self._access.auth_type == "basic"
            if self._repeated_login is not None:
                self._repeated_login.doubt()

    @property
    def has_session(self) -> bool:
        """Whether there is a session to log out of."""
        return self._session is not None

    def log_out(self) -> None:
        """End the session; a BMC that does not answer soon ends it by itself, when it has been idle for long."""
        session, self._session = self._session, None
        if session is not None:
            try:
                with self._transport.gateway.operation(CallClass.READ, seconds=_LOG_OUT_SECONDS):
                    self._end(session)
            except (sushy_errors.SushyError, BmcBusy, Exhausted) as error:
                LOG.debug("A session at BMC %s is not logged out: %s", self._access.address, error)

    def _end(self, session: "_Session") -> None:
        if session.path:
            token = {"X-Auth-Token": session.token}
            self._transport.followed(
                lambda url: self._transport.exchange("DELETE", url, None, token), self._transport.url(session.path)
            )

    def _session_but(self, stale: "_Session | None") -> "_Session | None":
        """Return the session, a new one in place of ``stale``; None when the BMC has no sessions."""
        with self._transport.gateway.held(self._logging_in) as seconds:
            if self._session is not None and self._session != stale:
                return self._session
            assert self._guard is not None
            url = self._transport.url(self._sessions)
            body = {"UserName": self._access.username or "", "Password": self._access.password or ""}
            with suppress(LoginRefused, LoginUnanswered), self._guard.attempt(seconds):
                answer = self._transport.followed(lambda url: self._transport.exchange("POST", url, body, {}), url)
                self._session, is_refused = _session_in(answer, self._sessions), _refuses_login(url, answer)
                if is_refused:
                    raise LoginRefused
                if self._session is None:
                    raise LoginUnanswered
            if self._session is None:
                # A password that was good for a session is refused as one, too.
                if self._access.auth_type != "auto" or (is_refused and self._had_session):
                    if is_refused:
                        # Of other requests status 403 says what the user may not do.
                        answer.status_code = _UNAUTHORIZED
                    sushy_errors.raise_for_response("POST", url, answer)
                    raise UnusableAnswer("it began a session without a token; set redfish_auth_type to basic")
                self._is_basic = True
            self._had_session = self._had_session or self._session is not None
            return self._session

    def send(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        """Send a request with the login; a new session is begun when the BMC refuses the old one."""
        if self._guard is None:
            return self._transport.exchange(method, url, body, headers)
        if url.rstrip("/") == self._root_url:
            # The service root is for all, so it shows nothing about a login; some BMCs want one for it.
            answer = self._transport.exchange(method, url, body, headers)
            if answer.status_code != _UNAUTHORIZED:
                return answer
        if not self._is_basic and (session := self._session_but(None)) is not None:
            answer = self._transport.exchange(method, url, body, {**headers, "X-Auth-Token": session.token})
            if answer.status_code != _UNAUTHORIZED:
                return answer
            if (renewed := self._session_but(session)) is not None:
                answer = self._transport.exchange(method, url, body, {**headers, "X-Auth-Token": renewed.token})
                if answer.status_code == _UNAUTHORIZED:
                    # The session was good, and the user may not do this.
                    with suppress(sushy_errors.SushyError):
                        self._end(session)
                return answer
        return self._with_password(method, url, body, headers)

    def _with_password(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        login = http_client.Login(self._access.username or "", self._access.password or "")
        headers = {**headers, "Authorization": login.header}
        repeated = self._repeated_login
        assert repeated is not None

        def send(seconds: float) -> BmcAnswer:
            return repeated.send(lambda: self._transport.exchange(method, url, body, headers), _accepts_login, seconds)

        if repeated.is_proven:
            return send(LONGEST_WAIT)
        with self._transport.gateway.held(self._logging_in) as seconds:
            return send(seconds)


def _accepts_login(answer: BmcAnswer) -> bool | None:
    """Return whether an answer accepts the password that came with its request; None when it says nothing of it."""
    if answer.status_code == _UNAUTHORIZED:
        return False
    return True if 200 <= answer.status_code < 300 else None


def _refuses_login(url: str, answer: BmcAnswer) -> bool:
    """Return whether an answer refuses to begin a session because of the user name or the password."""
    if answer.status_code in (_UNAUTHORIZED, _FORBIDDEN):
        return True
    return answer.status_code >= HTTPStatus.BAD_REQUEST and shows(
        sushy_errors.HTTPError("POST", url, answer), Behaviour.REFUSES_LOGIN_AS_BAD_REQUEST
    )


def _session_in(answer: BmcAnswer, sessions: str) -> _Session | None:
    """Return the session that an answer begins, None for a refusal or an answer without a token.

    ``sessions`` is the path of all sessions.
    """
    token = answer.headers.get("X-Auth-Token", "").strip() if answer.status_code < 400 else ""
    if not token:
        return None
    document, below = answer.document(), f"{sessions.rstrip('/')}/"
    place = answer.headers.get("Location") or document.get("@odata.id") or document.get("Id")
    path = ""
    with suppress(ValueError):
        # Some BMCs call themselves by another name, or leave out where the session is.
        path = urlsplit(place.strip()).path if isinstance(place, str) else ""
    if path and not path.startswith("/"):
        path = f"/{path}" if f"/{path}".startswith(below) else f"{below}{path.rpartition('/')[2]}"
    return _Session(token, path)
