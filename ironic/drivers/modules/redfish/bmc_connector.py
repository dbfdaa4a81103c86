"""How requests reach a Redfish BMC: the connector that the sushy library sends them through.

sushy takes a connector of its user. Ours replaces the library's own because that one repeats orders, follows redirects
and links to other servers with the login, and reads answers of any size. Here every request goes through the gateway of
the BMC, has an end, is sent once, and only to the BMC. A read is shared with others that ask the same (`bmc_gateway`).
A login is tried under its guard (`login_guard`); when a session has expired, a new one is begun and the request, which
the BMC has refused, is sent again.
"""

import io
import itertools
import json
import os
import ssl
import threading
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from email.message import Message
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from sushy import auth as sushy_auth
from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.allowed_addresses import server_of
from ironic.drivers.modules.bmc.bmc_gateway import CallClass, Gateway, Operation, gateway_to
from ironic.drivers.modules.bmc.login_guard import LoginGuard, LoginRefused
from ironic.drivers.modules.redfish.bmc_access import Access
from ironic.integrations import http_client
from ironic.integrations.allowed_destinations import BMC_POLICY
from ironic.integrations.http_client import CallFailed, NotConnected, Terms

_MIB: Final = 1024 * 1024
_SMALL: Final = 64 * 1024
_MOST_REDIRECTS: Final = 3
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_NOT_ACCEPTABLE: Final = 406
_PRECONDITION_FAILED: Final = 412
_READS: Final = "GET"
# What zlib takes for the format of gzip.
_GZIP: Final = 16 + zlib.MAX_WBITS

_NUMBERS: Final = itertools.count()

_OPERATION: ContextVar[Operation] = ContextVar("redfish_operation")

Headers = dict[str, str]


class UnusableAnswer(sushy_errors.SushyError):  # type: ignore[misc]  # the library brings no types
    """The answer can't be used, or there is none; ``is_lost`` when the same request may succeed later."""

    message = "%(error)s"

    def __init__(self, error: str, *, is_lost: bool = False) -> None:
        super().__init__(error=error)
        self.is_lost = is_lost


class LostConnection(sushy_errors.ConnectionError):  # type: ignore[misc]  # the library brings no types
    """The BMC can't be reached or broke the connection off; ``is_passing`` when another attempt may succeed."""

    def __init__(self, error: CallFailed) -> None:
        super().__init__(url="of the BMC", error=error)
        self.text = str(error)
        self.is_passing = not isinstance(error.__cause__, ssl.SSLError | TimeoutError)


@contextmanager
def operation(gateway: Gateway, kind: CallClass, *, anew: bool = False) -> Iterator[None]:
    """Have the requests of the block belong to one operation at the BMC."""
    with gateway.operation(kind, anew=anew) as running:
        token = _OPERATION.set(running)
        try:
            yield
        finally:
            _OPERATION.reset(token)


class NoLogin(sushy_auth.AuthBase):  # type: ignore[misc]
    """What the library needs in place of its own logins: the connector logs in itself."""

    def _do_authenticate(self) -> None:
        pass

    def can_refresh_session(self) -> bool:
        return False


class BmcAnswer:
    """An answer, with the attributes of requests.Response that the library reads."""

    def __init__(self, status: int, headers: Message, content: bytes) -> None:
        self.status_code, self.headers, self.content = status, headers, content

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode(errors="replace")

    @property
    def is_small(self) -> bool:
        """Whether it may be kept for a moment."""
        return len(self.content) <= _SMALL

    def json(self) -> Any:
        """Return the document; raises ValueError for anything that is none."""
        try:
            document = json.loads(self.content)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if self.status_code >= 400 and not (isinstance(document, dict) and _is_error(document)):
            raise ValueError("the error has not the form of Redfish")
        return document


def _is_error(document: Mapping[str, Any]) -> bool:
    error = document.get("error", {})
    notes = error.get("@Message.ExtendedInfo") if isinstance(error, dict) else 0
    items = notes if isinstance(notes, list) else [notes or {}]
    return isinstance(error, dict) and all(isinstance(item, dict) for item in items)


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
        # Whether the BMC has accepted the user name and password that come with each request.
        self._is_proven = False
        self._token: str | None = None
        self._had_session = False
        self._sessions = f"{access.root_prefix}SessionService/Sessions"
        # The service root is read without a login.
        self._has_root = False
        self._context: ssl.SSLContext | None = None

    # What the library calls; it passes further arguments, which have no meaning here

    def set_auth(self, auth: object) -> None:
        """Do nothing: the connector logs in itself."""

    def close(self) -> None:
        """Do nothing: a connection ends with its request."""

    def get(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Read a resource, or share the answer to another thread."""
        url, running = self._url(path), _OPERATION.get()

        def fetch() -> BmcAnswer:
            return self._read(url, headers or {})

        key = f"{self._number} {url}"
        answer = self.gateway.read_once(key, running, fetch, lambda answer: answer.is_small)
        sushy_errors.raise_for_response(_READS, url, answer)
        return answer

    def post(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Send an order."""
        return self._order("POST", path, data, headers or {})

    def put(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Replace a resource."""
        return self._order("PUT", path, data, headers or {})

    def delete(self, path: str = "", data: object = None, headers: Headers | None = None, **more: Any) -> BmcAnswer:
        """Delete a resource."""
        return self._order("DELETE", path, data, headers or {})

    def patch(
        self, path: str = "", data: object = None, headers: Headers | None = None, etag: str | None = None, **more: Any
    ) -> BmcAnswer:
        """Change a resource; BMCs that refuse the ETag they have sent get its strong form, and then none."""
        plain = {name: value for name, value in (headers or {}).items() if name != "If-Match"}
        first = etag or (headers or {}).get("If-Match")
        tags = [first, first.removeprefix("W/")] if first else []
        for tag in dict.fromkeys(tags):
            try:
                return self._order("PATCH", path, data, {**plain, "If-Match": tag})
            except sushy_errors.HTTPError as error:
                if error.status_code != _PRECONDITION_FAILED:
                    raise
        return self._order("PATCH", path, data, plain)

    # Logging in

    def find_sessions(self, root: Any) -> None:
        """Take the path of sessions from the service root."""
        links = root.json.get("Links")
        sessions = links.get("Sessions") if isinstance(links, dict) else None
        path = sessions.get("@odata.id") if isinstance(sessions, dict) else None
        self._sessions = path if isinstance(path, str) and path else self._sessions
        self._has_root = True

    def check_login(self) -> None:
        """Raise LoginBarred when the BMC has refused this login too often."""
        if self._guard is not None and (self._is_basic or self._token is None):
            self._guard.check()

    def log_in(self) -> None:
        """Begin a session, where sessions are used."""
        if self._guard is not None and not self._is_basic:
            self._session(None)

    def forget_session(self) -> None:
        """Forget the session: a request to end it at an unreachable BMC would only take time."""
        self._token = None

    def _session(self, stale: str | None) -> str | None:
        """Return the token of the session, a new one in place of ``stale``; None when the BMC has no sessions."""
        with self._logging_in:
            if self._token is not None and self._token != stale:
                return self._token
            assert self._guard is not None
            url = self._url(self._sessions)
            body = {"UserName": self._access.username or "", "Password": self._access.password or ""}
            falls_back = self._access.auth_type == "auto" and not self._had_session
            try:
                with self._guard.attempt():
                    answer = self._exchange("POST", url, body, {})
                    if answer.status_code in (_UNAUTHORIZED, _FORBIDDEN):
                        raise LoginRefused
            except LoginRefused:
                if not falls_back:
                    raise sushy_errors.AccessError("POST", url, answer) from None
            self._token = answer.headers.get("X-Auth-Token") if answer.status_code < 400 else None
            if self._token is None:
                if not falls_back:
                    sushy_errors.raise_for_response("POST", url, answer)
                    raise UnusableAnswer("it began a session without a token; set redfish_auth_type to basic")
                self._is_basic = True
            self._had_session = self._had_session or self._token is not None
            return self._token

    def _logged_in(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        """Send a request with the login; a new session is begun when the BMC refuses the old one."""
        if self._guard is None:
            return self._exchange(method, url, body, headers)
        if not self._has_root:
            # The service root is for all; some BMCs want a login for it.
            answer = self._exchange(method, url, body, headers)
            if answer.status_code != _UNAUTHORIZED:
                return answer
        if not self._is_basic and (token := self._session(None)) is not None:
            answer = self._exchange(method, url, body, {**headers, "X-Auth-Token": token})
            renewed = self._session(token) if answer.status_code == _UNAUTHORIZED else None
            if renewed is None:
                return answer
            return self._exchange(method, url, body, {**headers, "X-Auth-Token": renewed})
        return self._with_password(method, url, body, headers)

    def _with_password(self, method: str, url: str, body: object, headers: Headers) -> BmcAnswer:
        login = http_client.Login(self._access.username or "", self._access.password or "")
        headers = {**headers, "Authorization": login.header}
        assert self._guard is not None
        if self._is_proven:
            answer = self._exchange(method, url, body, headers)
            if answer.status_code == _UNAUTHORIZED:
                self._is_proven = False
                # It counts, although it was not reserved.
                with suppress(LoginRefused), self._guard.attempt():
                    raise LoginRefused
            return answer
        with self._logging_in, suppress(LoginRefused), self._guard.attempt():
            answer = self._exchange(method, url, body, headers)
            if answer.status_code == _UNAUTHORIZED:
                raise LoginRefused
            self._is_proven = True
        return answer

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

    def _order(self, method: str, path: str, body: object, headers: Headers) -> BmcAnswer:
        url = self._url(path)
        try:
            answer = self._acceptable(method, url, body, headers)
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
        with self.gateway.request(kind, running.seconds_left(self.gateway.clock(), longest)):
            seconds = running.seconds_left(self.gateway.clock(), longest)
            terms = Terms(
                self._tls,
                seconds=seconds,
                idle_seconds=seconds,
                connect_seconds=CONF.redfish.connect_timeout,
                most_bytes=CONF.bmc.largest_answer * _MIB,
                policy=BMC_POLICY,
            )
            given = {"Accept": "application/json", "Accept-Encoding": "identity", **headers}
            given |= {"OData-Version": "4.0", "Connection": "close"}
            content = None if body is None else json.dumps(body).encode()
            if content is not None:
                given["Content-Type"] = "application/json"
            try:
                with http_client.send(method, url, terms, given, content) as answer:
                    read = BmcAnswer(answer.status, answer.headers, _unpacked(answer.headers, answer.read()))
            except NotConnected as error:
                raise LostConnection(error) from error
            except http_client.BrokenOff as error:
                raise LostConnection(error) from error
            except CallFailed as error:
                raise UnusableAnswer(str(error)) from error
        return read

    def _url(self, path: str) -> str:
        """Return the URL of a path; raise UnusableAnswer for one on another server, which would get the login."""
        base = self._access.address
        try:
            url = urljoin(f"{base}/", path)
            is_own = server_of(url) == self._server and "@" not in urlsplit(url).netloc
        except ValueError:
            is_own = False
        if not is_own:
            raise UnusableAnswer("it names a resource on another server, which is not read")
        return url

    def _tls(self) -> ssl.SSLContext:
        """Return the terms of TLS by the node's driver_info."""
        if self._context is None:
            self._context = _context_of(self._access)
        return self._context


def _context_of(access: Access) -> ssl.SSLContext:
    path = access.verify if isinstance(access.verify, str) else None
    is_folder = path is not None and os.path.isdir(path)
    context = ssl.create_default_context(cafile=None if is_folder else path, capath=path if is_folder else None)
    if access.verify is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if access.tls_minimum_version:
        context.minimum_version = ssl.TLSVersion[f"TLSv{access.tls_minimum_version.replace('.', '_')}"]
    if access.tls_ciphers:
        try:
            context.set_ciphers(access.tls_ciphers)
        except ssl.SSLError:
            raise UnusableAnswer("no cipher of redfish_tls_ciphers is known") from None
    return context


def _unpacked(headers: Message, content: bytes) -> bytes:
    """Return the body, unpacked where it is compressed; a small body may not become a large one."""
    most = CONF.bmc.largest_answer * _MIB
    if headers.get("Content-Encoding", "").lower() == "gzip":
        unpacker = zlib.decompressobj(_GZIP)
        try:
            content = unpacker.decompress(content, most)
        except zlib.error:
            raise UnusableAnswer("its answer is compressed in a wrong way") from None
        if unpacker.unconsumed_tail:
            raise UnusableAnswer(f"its answer is larger than {most} bytes, the limit")
    if headers.get_content_type() == "application/zip":
        # The library unpacks archives of registries, as far as their directory says.
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                size = sum(member.file_size for member in archive.infolist())
        except (zipfile.BadZipFile, ValueError):
            raise UnusableAnswer("its archive is broken") from None
        if size > most:
            raise UnusableAnswer(f"its archive is larger than {most} bytes, the limit")
    return content
