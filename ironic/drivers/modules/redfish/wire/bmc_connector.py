"""How requests reach a Redfish BMC: the connector that the sushy library sends them through.

sushy takes a connector of its user. Ours replaces the library's own because that one repeats orders, follows redirects
and links to other servers with the login, and reads answers of any size. Here every request goes through the gateway of
the BMC, has an end, is sent once, and only to the BMC. A read is shared with others that ask the same (`bmc_gateway`).
A login is tried under its guard (`login_guard`); when a session has expired, a new one is begun and the request, which
the BMC has refused, is sent again. At a name that a project chose, all connections go to the address that was judged
first, until one fails.
"""

import itertools
import json
import logging
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from sushy import auth as sushy_auth
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.allowed_addresses import Server, server_of
from ironic.drivers.modules.bmc.bmc_gateway import BmcBusy, CallClass, Exhausted, Gateway, Operation, gateway_to
from ironic.drivers.modules.bmc.error_texts import without_passwords
from ironic.drivers.modules.bmc.login_guard import (
    LONGEST_WAIT,
    LoginGuard,
    LoginRefused,
    LoginUnanswered,
    RepeatedLogin,
)
from ironic.drivers.modules.redfish.wire.bmc_access import Access
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer, UnusableAnswer, unpacked
from ironic.drivers.modules.redfish.wire.etags import candidates
from ironic.drivers.modules.redfish.wire.quirks import Behaviour, shows
from ironic.drivers.modules.redfish.wire.tls_terms import tls_context
from ironic.integrations import http_client
from ironic.integrations.allowed_destinations import UNREACHABLE, SocketAddress, bmc_policy
from ironic.integrations.http_client import BrokenOff, CallFailed, NotAllowed, NotConnected, Terms

LOG = logging.getLogger(__name__)

_MIB: Final = 1024 * 1024
_MOST_REDIRECTS: Final = 3
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_NOT_ACCEPTABLE: Final = 406
_CONDITION_FAILED: Final = (412, 428)
# Other redirects may turn an order into a read.
_KEEPS_ORDER: Final = (307, 308)
_MOST_PAGES: Final = 50
# Answers without which an operation goes on; each may take as long as a BMC has for an answer.
_MOST_LOST: Final = 2
_READS: Final = "GET"
_LOG_OUT_SECONDS: Final = 5.0

_NUMBERS: Final = itertools.count()

_OPERATION: ContextVar[Operation] = ContextVar("redfish_operation")

Headers = dict[str, str]


class LostConnection(sushy_errors.ConnectionError):  # type: ignore[misc]  # the library brings no types
    """The BMC can't be reached or broke the connection off; ``is_passing`` when another attempt may succeed.

    ``has_begun`` when it took the request, and did not answer it to the end.
    """

    def __init__(self, error: CallFailed, access: Access) -> None:
        # A project learns nothing of what is at an address that it has chosen.
        self.details = f"{error}{_hint(error, access)}"
        self.text = UNREACHABLE if access.by_project else self.details
        super().__init__(url="of the BMC", error=self.text)
        self.has_begun = isinstance(error, BrokenOff)
        self.is_passing = not isinstance(error.__cause__, ssl.SSLError | TimeoutError) and not isinstance(
            error, NotAllowed
        )


def _hint(error: CallFailed, access: Access) -> str:
    """Return what may help, with a mark before it."""
    if isinstance(error.__cause__, ssl.SSLCertVerificationError):
        return "; set redfish_verify_ca to the file of the authority that signed it, or to false to trust any"
    if http_client.speaks_no_tls(error.__cause__):
        return "; does the BMC want http? redfish_address has https, which is meant without a scheme too"
    if isinstance(error.__cause__, ssl.SSLError):
        return "; for an old BMC set redfish_tls_minimum_version or redfish_tls_ciphers"
    if isinstance(error, BrokenOff) and access.address.startswith("http://"):
        return "; does the BMC want https? redfish_address begins with http"
    return ""


@contextmanager
def operation(gateway: Gateway, kind: CallClass, *, anew: bool = False, seconds: float | None = None) -> Iterator[None]:
    """Have the requests of the block belong to one operation at the BMC."""
    with gateway.operation(kind, anew=anew, seconds=seconds) as running:
        token = _OPERATION.set(running)
        try:
            yield
        finally:
            _OPERATION.reset(token)


def may_lose_another() -> bool:
    """Count an answer that did not come; return whether the operation may go on without it."""
    running = _OPERATION.get()
    running.lost += 1
    return running.lost <= _MOST_LOST


@contextmanager
def held(lock: "threading.Lock | threading.RLock", gateway: Gateway) -> Iterator[float]:
    """Hold a lock that others hold during requests, waiting no longer than the operation has; return what is left.

    The requests in the block go first: orders may wait for the lock.
    """
    running = _OPERATION.get()
    if not lock.acquire(timeout=max(0.0, running.until - gateway.clock())):
        raise running.too_late()
    before, running.is_awaited = running.is_awaited, True
    try:
        yield max(0.0, running.until - gateway.clock())
    finally:
        running.is_awaited = before
        lock.release()


class NoLogin(sushy_auth.AuthBase):  # type: ignore[misc]  # the library brings no types
    """What the library needs in place of its own logins: the connector logs in itself."""

    def _do_authenticate(self) -> None:
        pass

    def can_refresh_session(self) -> bool:
        return False


class _Session(NamedTuple):
    """A session at a BMC: its token, and the path to log out at, empty if it is not known."""

    token: str
    path: str


class BmcConnector:
    """Sends the requests of one login to one BMC."""

    def __init__(self, access: Access, guard: LoginGuard | None) -> None:
        self._access, self._guard = access, guard
        server = server_of(access.address)
        if server is None:
            raise UnusableAnswer(f"{access.address} is no address of a BMC")
        self._server = server
        self.gateway = gateway_to(f"{server.scheme}://{server.netloc}")
        # Answers are shared within one login only.
        self._number = next(_NUMBERS)
        self._logging_in = threading.RLock()
        self._is_basic = access.auth_type == "basic"
        # The user name and password that come with each request.
        self._repeated_login = None if guard is None else RepeatedLogin(guard)
        self._session: _Session | None = None
        self._had_session = False
        self._sessions = f"{access.root_prefix}SessionService/Sessions"
        self._context: ssl.SSLContext | None = None
        self._pinned: dict[Server, SocketAddress] | None = {} if access.by_project else None

    # What the library calls; it passes further arguments, which have no meaning here

    def set_auth(self, auth: object) -> None:
        """Do nothing: the connector logs in itself."""

    def close(self) -> None:
        """Do nothing: a connection ends with its request."""

    def get(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Read a resource, or share the answer to another thread."""
        url, running = self._url(path), _OPERATION.get()

        def fetch() -> BmcAnswer:
            return self._with_pages(url, self._read(url, headers or {}), headers or {})

        key = f"{self._number} {url}"
        answer = self.gateway.read_once(key, running, fetch, lambda answer: answer.is_small)
        sushy_errors.raise_for_response(_READS, url, answer)
        return answer

    def post(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Send an order."""
        return self._order("POST", path, data, headers or {})

    def put(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Replace a resource."""
        return self._conditional("PUT", path, data, headers or {}, (headers or {}).get("If-Match"))

    def delete(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Delete a resource."""
        return self._conditional("DELETE", path, data, headers or {}, (headers or {}).get("If-Match"))

    def patch(
        self, path: str = "", data: object = None, headers: Headers | None = None, etag: str | None = None, **more: Any
    ) -> BmcAnswer:
        """Change a resource; BMCs want its ETag in many forms (`etags`)."""
        return self._conditional("PATCH", path, data, headers or {}, etag or (headers or {}).get("If-Match"))

    # Logging in

    def find_sessions(self, root: Any) -> None:
        """Take the path of sessions from the service root."""
        links = root.json.get("Links")
        sessions = links.get("Sessions") if isinstance(links, dict) else None
        path = sessions.get("@odata.id") if isinstance(sessions, dict) else None
        self._sessions = path if isinstance(path, str) and path else self._sessions

    def check_login(self) -> None:
        """Raise LoginBarred when the BMC has refused this login too often."""
        if self._guard is not None and (self._is_basic or self._session is None):
            self._guard.check()

    def log_in(self) -> None:
        """Begin a session, where sessions are used."""
        if self._guard is not None and not self._is_basic:
            self._session_but(None)

    def doubt_login(self) -> None:
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
                with operation(self.gateway, CallClass.READ, seconds=_LOG_OUT_SECONDS):
                    self._end(session)
            except (sushy_errors.SushyError, BmcBusy, Exhausted) as error:
                LOG.debug("A session at BMC %s is not logged out: %s", self._access.address, error)

    def _end(self, session: "_Session") -> None:
        if session.path:
            token = {"X-Auth-Token": session.token}
            self._followed(lambda url: self._exchange("DELETE", url, None, token), self._url(session.path))

    def _session_but(self, stale: "_Session | None") -> "_Session | None":
        """Return the session, a new one in place of ``stale``; None when the BMC has no sessions."""
        with held(self._logging_in, self.gateway) as seconds:
            if self._session is not None and self._session != stale:
                return self._session
            assert self._guard is not None
            url = self._url(self._sessions)
            body = {"UserName": self._access.username or "", "Password": self._access.password or ""}
            with suppress(LoginRefused, LoginUnanswered), self._guard.attempt(seconds):
                answer = self._followed(lambda url: self._exchange("POST", url, body, {}), url)
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

    def _logged_in(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        """Send a request with the login; a new session is begun when the BMC refuses the old one."""
        if self._guard is None:
            return self._exchange(method, url, body, headers)
        if url.rstrip("/") == self._url(self._access.root_prefix).rstrip("/"):
            # The service root is for all, so it shows nothing about a login; some BMCs want one for it.
            answer = self._exchange(method, url, body, headers)
            if answer.status_code != _UNAUTHORIZED:
                return answer
        if not self._is_basic and (session := self._session_but(None)) is not None:
            answer = self._exchange(method, url, body, {**headers, "X-Auth-Token": session.token})
            if answer.status_code != _UNAUTHORIZED:
                return answer
            if (renewed := self._session_but(session)) is not None:
                answer = self._exchange(method, url, body, {**headers, "X-Auth-Token": renewed.token})
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
            return repeated.send(lambda: self._exchange(method, url, body, headers), _accepts_login, seconds)

        if repeated.is_proven:
            return send(LONGEST_WAIT)
        with held(self._logging_in, self.gateway) as seconds:
            return send(seconds)

    # Requests

    def _read(self, url: str, headers: Headers) -> BmcAnswer:
        """Send a GET; redirects within the BMC are followed, such as one to the same path with a slash."""
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._acceptable(_READS, url, None, headers)
            target = answer.headers.get("Location")
            if not 300 <= answer.status_code < 400:
                return answer
            if not target:
                break
            url = self._url(urljoin(url, target))
        raise UnusableAnswer("it redirects in circles or to nowhere")

    def _with_pages(self, url: str, answer: BmcAnswer, headers: Headers) -> BmcAnswer:
        """Return a collection with the members of all its pages; one that is not read leaves its link there."""
        seen = {url}
        try:
            for _ in range(_MOST_PAGES):
                place = answer.next_page if answer.status_code < HTTPStatus.BAD_REQUEST else None
                if place is None or (next_url := self._url(urljoin(url, place))) in seen:
                    break
                seen.add(next_url)
                page = self._read(next_url, headers)
                if not page.has_members:
                    raise UnusableAnswer("it has no members")
                answer = answer.with_page(page)
        except (LostConnection, UnusableAnswer, ValueError) as error:
            if isinstance(error, LostConnection) and not (error.has_begun and may_lose_another()):
                raise
            LOG.info("BMC %s: a page of %s can't be read: %s", self._access.address, url, error)
        return answer

    def _conditional(self, method: str, path: str, data: object, headers: Headers, first: str | None) -> BmcAnswer:
        """Send an order under the ETag that the BMC wants; one that it refuses has changed nothing."""
        plain = {name: value for name, value in headers.items() if name != "If-Match"}

        def current() -> Iterator[str | None]:
            with suppress(sushy_errors.HTTPError, UnusableAnswer):
                answer = self.get(path)
                yield answer.headers.get("ETag")
                yield answer.document().get("@odata.etag")

        for tag in candidates(first, current):
            try:
                return self._order(method, path, data, {**plain, "If-Match": tag} if tag else plain)
            except sushy_errors.HTTPError as error:
                if error.status_code not in _CONDITION_FAILED:
                    raise
                refused = error
        raise refused

    def _followed(self, send: Callable[[str], BmcAnswer], url: str) -> BmcAnswer:
        """Send a request again to where the BMC redirects it, if the redirect keeps method and body."""
        for _ in range(_MOST_REDIRECTS + 1):
            answer = send(url)
            target = answer.headers.get("Location")
            if answer.status_code not in _KEEPS_ORDER or not target:
                return answer
            url = self._url(urljoin(url, target))
        raise UnusableAnswer("it redirects in circles")

    def _order(self, method: str, path: str, body: object, headers: Headers) -> BmcAnswer:
        url = self._url(path)
        try:
            answer = self._followed(lambda url: self._acceptable(method, url, body, headers), url)
        finally:
            self.gateway.machine_changes()
        sushy_errors.raise_for_response(method, url, answer)
        if 300 <= answer.status_code < 400:
            raise UnusableAnswer(f"it redirects an order ({method}) to another place, which is not followed")
        return answer

    def _acceptable(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        """Send a request; some BMCs can only send compressed answers and refuse others."""
        answer = self._logged_in(method, url, body, headers)
        if answer.status_code != _NOT_ACCEPTABLE:
            return answer
        return self._logged_in(method, url, body, {**headers, "Accept-Encoding": "gzip"})

    def _exchange(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        """Send one request and read its answer."""
        running = _OPERATION.get()
        kind = running.kind
        longest: float = CONF.redfish.read_timeout if kind.is_patient else CONF.bmc.telemetry_timeout
        with self.gateway.request(running.precedence, running.seconds_left(self.gateway.clock(), longest)):
            seconds = running.seconds_left(self.gateway.clock(), longest)
            terms = Terms(
                self._tls,
                seconds=seconds,
                idle_seconds=seconds,
                connect_seconds=CONF.redfish.connect_timeout,
                most_bytes=CONF.bmc.largest_answer * _MIB,
                policy=bmc_policy(by_project=self._access.by_project),
                pinned=self._pinned,
            )
            given = {"Accept": "application/json", "Accept-Encoding": "identity", **headers}
            given |= {"OData-Version": "4.0", "Connection": "close"}
            content = None if body is None else json.dumps(body).encode()
            if content is not None:
                given["Content-Type"] = "application/json"
            try:
                with http_client.send(method, url, terms, given, content) as answer:
                    received = unpacked(answer.headers, answer.read())
                    path, is_of_order = urlsplit(url).path, method != _READS
                    read = BmcAnswer(
                        answer.status, answer.headers, received, self._server, path, is_of_order=is_of_order
                    )
            except CallFailed as error:
                is_hidden = self._access.by_project and isinstance(error, NotAllowed)
                if not is_hidden and not isinstance(error, NotConnected | BrokenOff):
                    raise UnusableAnswer(str(error)) from error
                if self._pinned is not None and isinstance(error, NotConnected):
                    # The BMC may have moved.
                    self._pinned.clear()
                raise LostConnection(error, self._access) from error
        running.take(len(read.content))
        passwords = (body.get("Password") if isinstance(body, Mapping) else None, self._access.password)
        read.secrets = tuple(each for each in passwords if isinstance(each, str))
        if read.status_code >= HTTPStatus.BAD_REQUEST:  # the library writes errors into the log
            read.content = without_passwords(read.content, *read.secrets)
        read.is_hidden = self._access.by_project
        return read

    def _url(self, path: str) -> str:
        """Return the URL of a path; raise UnusableAnswer for one on another server, which would get the login."""
        base = self._access.address
        try:
            url = urljoin(f"{base}/", path)
            parts, own = urlsplit(url), urlsplit(base)
            is_own = server_of(url) == self._server and "@" not in parts.netloc
            is_secure = (own.scheme, parts.scheme) == ("http", "https") and own.hostname == parts.hostname
        except ValueError:
            is_own = is_secure = False
        if not is_own:
            if is_secure:
                raise UnusableAnswer("it leads to https; does the BMC want https? redfish_address begins with http")
            raise UnusableAnswer("it names a resource on another server, which is not read")
        return url

    def _tls(self) -> ssl.SSLContext:
        """Return the terms of TLS by the node's driver_info."""
        if self._context is None:
            self._context = tls_context(self._access)
        return self._context


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
