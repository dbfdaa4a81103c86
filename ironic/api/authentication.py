"""Authenticate the caller, in the modes `keystone` and `http_basic`.

keystone: every request has to carry a token that Keystone accepts, except requests of public routes, whose tokens are
not checked, so that a ramdisk never waits for Keystone. The body of the 401 is keystonemiddleware's own. While Keystone
does not answer, requests get a 503 in the shape of this API.

http_basic: every request except those of public routes has to carry a name and a password of the user file; each user
may do everything. The file is what Apache's `htpasswd -B` writes, and is read again when it changes. Checking a
password is slow on purpose, so a correct one is remembered, as a keyed digest, until the file changes. Wrong ones are
logged and limited per client address and name, so that the guesses of another client lock no user out.
"""

import base64
import binascii
import hashlib
import logging
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import bcrypt
from oslo_config import cfg

from ironic.api import audit, rate_limit
from ironic.api.error_responses import JSON, Refused, unread
from ironic.api.rate_limit import Guesses
from ironic.api.request import printable
from ironic.api.routes import Routes
from ironic.core.context import RequestContext
from ironic.core.permit import PERMIT
from ironic.core.texts.operator_files import content_of

LOG = logging.getLogger(__name__)


class KeystoneIdentity:
    """Middleware that passes public routes on and lets keystonemiddleware check and audit all other requests."""

    def __init__(
        self,
        app: WSGIApplication,
        audited: WSGIApplication,
        protect: Callable[[WSGIApplication], WSGIApplication],
        routes: Routes,
    ) -> None:
        self._app, self._audited, self._routes = app, audited, routes
        self._protected = protect(self._known)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        if self._routes.is_public(environ):
            environ["ironic.context"].is_public_api = True
            return self._app(environ, start_response)
        return self._protected(environ, start_response)

    def _known(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        fill_context(environ["ironic.context"], environ)
        return self._audited(environ, start_response)


def fill_context(context: RequestContext, environ: WSGIEnvironment) -> None:
    """Copy the caller's identity from what keystonemiddleware has put into the environment to the context."""
    context.user_id = environ.get("HTTP_X_USER_ID")
    context.project_id = environ.get("HTTP_X_PROJECT_ID")
    context.project_name = environ.get("HTTP_X_PROJECT_NAME")
    # Not the header: where a service sends a token of its own beside the user's, that is the scope of the service.
    is_of_system = environ["keystone.token_info"]["token"].get("system", {}).get("all")
    context.system_scope = "all" if is_of_system else None
    context.domain_id = environ.get("HTTP_X_DOMAIN_ID")
    context.user_domain_id = environ.get("HTTP_X_USER_DOMAIN_ID")
    context.project_domain_id = environ.get("HTTP_X_PROJECT_DOMAIN_ID")
    context.is_admin_project = environ.get("HTTP_X_IS_ADMIN_PROJECT", "true").lower() == "true"
    context.roles = tuple(role.strip() for role in environ.get("HTTP_X_ROLES", "").split(",") if role.strip())


def wrap_keystone(
    app: WSGIApplication, conf: cfg.ConfigOpts, routes: Routes, *, trusts_proxy: bool = False
) -> WSGIApplication:
    """Return the application behind keystonemiddleware, which [keystone_authtoken] and [audit] configure.

    Raises ValueError for options that no token can be checked with, and for an unusable audit map.
    """
    from ironic.api import token_check

    audited = audit.wrap(app, conf, trusts_proxy=trusts_proxy)
    return KeystoneIdentity(app, audited, lambda inner: token_check.wrap(inner, conf), routes)


_CHALLENGE: Final = ("WWW-Authenticate", 'Basic realm="Baremetal API"')
_HASH: Final = re.compile(rb"\$2[aby]\$(0[4-9]|1[0-9])\$[./A-Za-z0-9]{53}")
_STATUS: Final = {400: "400 Bad Request", 401: "401 Unauthorized"}
_EXTRA: Final = {401: [_CHALLENGE]}
_RETRY_LATER: Final = [("Retry-After", "60")]
# The algorithm uses no more bytes of a password; the library refuses longer ones.
_LONGEST: Final = 72
_REMEMBERED: Final = 1000


class BadUserFile(ValueError):
    """The user file can't be read or has a malformed line."""


class MissingUserFile(BadUserFile):
    """There is no user file."""


class Users:
    """The users of the file, read again when it changes; none while there is no file."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._key = secrets.token_bytes(32)
        self._known: frozenset[bytes] = frozenset()
        self._state = self._stat()
        self._hashes = _read(path)

    def remembers(self, name: bytes, password: bytes) -> bool:
        """Return whether this password was correct before, which is fast."""
        hashes, known = self._current()
        return name in hashes and self._digest(name, hashes[name], password) in known

    def knows(self, name: bytes, password: bytes) -> bool:
        """Return whether the user has this password, in a time that does not depend on whether the user exists."""
        hashes, _ = self._current()
        if not hashes:
            return False
        if (stored := hashes.get(name)) is None:
            # For an unknown name always the same user's hash, so that the cost of the check is that of a user.
            others, digest = list(hashes.values()), hashlib.blake2b(name, key=self._key).digest()
            stored = others[int.from_bytes(digest) % len(others)]
        # The library releases the interpreter lock.
        with PERMIT.waiting():
            is_right = bcrypt.checkpw(password[:_LONGEST], stored)
        if not is_right or name not in hashes:
            return False
        with self._lock:
            kept = self._known if len(self._known) < _REMEMBERED else frozenset()
            self._known = kept | {self._digest(name, stored, password)}
        return True

    def _digest(self, name: bytes, stored: bytes, password: bytes) -> bytes:
        return hashlib.blake2b(name + b"\0" + stored + b"\0" + password, key=self._key).digest()

    def _current(self) -> tuple[Mapping[bytes, bytes], frozenset[bytes]]:
        with self._lock:
            if (state := self._stat()) != self._state:
                self._state = state
                try:
                    self._hashes, self._known = _read(self._path), frozenset()
                except MissingUserFile as error:
                    self._hashes, self._known = {}, frozenset()
                    LOG.error("%s All requests that need a log-in are refused until the file exists again.", error)
                except BadUserFile as error:
                    LOG.error("%s The users read before stay valid; correct the file.", error)
            return self._hashes, self._known

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: Path) -> dict[bytes, bytes]:
    try:
        lines = content_of(path).splitlines()
    except FileNotFoundError:
        raise MissingUserFile(f"The user file {path} does not exist.") from None
    except OSError as error:
        raise BadUserFile(f"The user file {path} can't be read: {error.strerror}.") from None
    except ValueError as error:
        raise BadUserFile(f"The user file {path} can't be read: {error}.") from None
    found: dict[bytes, bytes] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        name, colon, stored = line.strip().partition(b":")
        if not name or not colon or not _HASH.fullmatch(stored):
            wanted = "a name, a colon and a bcrypt hash, as `htpasswd -B` writes them"
            raise BadUserFile(f"Line {number} of the user file {path} is not {wanted}.")
        found[name] = stored
    if not found:
        raise BadUserFile(f"The user file {path} has no users; add one with `htpasswd -B`.")
    return found


class BasicIdentity:
    """Middleware that passes public routes on and checks name and password of all other requests."""

    def __init__(
        self,
        app: WSGIApplication,
        users: Users,
        routes: Routes,
        *,
        guesses: Guesses | None = None,
        trusts_proxy: bool = False,
    ) -> None:
        self._app, self._users, self._routes = app, users, routes
        self._guesses, self._trusts_proxy = guesses, trusts_proxy

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request; raises Refused (429) after too many wrong passwords."""
        context = environ["ironic.context"]
        if self._routes.is_public(environ):
            context.is_public_api = True
            return self._app(environ, start_response)
        header = environ.get("HTTP_AUTHORIZATION")
        if header is None:
            return _refuse(start_response, 401, "This request needs a user name and a password.")
        if (given := _credentials(header)) is None:
            return _refuse(
                start_response, 400, "The Authorization header has to be Basic, with a user name and a password."
            )
        name, password = given
        if not self._users.remembers(name, password):
            source = rate_limit.client_address(environ, trusted=self._trusts_proxy)
            caller = f"{source} as {printable(name.decode())!r} (request {context.request_id})"
            PERMIT.check_may_wait()
            if self._guesses and not self._guesses.begin(source, name):
                LOG.warning("Log-in refused without a check of the password: too many wrong ones from %s.", caller)
                raise Refused(429, "There were too many wrong passwords; retry after a minute.", _RETRY_LATER)
            if not self._users.knows(name, password):
                LOG.warning("Log-in refused: unknown name or wrong password from %s.", caller)
                return _refuse(start_response, 401, "The user name or the password is wrong.")
            if self._guesses:
                self._guesses.was_right(source, name)
            LOG.info("Logged in: %s.", caller)
        context.user_id = name.decode("utf-8", "replace")
        return self._app(environ, start_response)


def _credentials(header: str) -> tuple[bytes, bytes] | None:
    """Return user name and password of an Authorization header, None for a malformed one."""
    scheme, _, encoded = header.strip().partition(" ")
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        name.decode(), password.decode()
    except (binascii.Error, ValueError):
        return None
    return (name, password) if scheme.lower() == "basic" and colon and b"\0" not in password else None


def _refuse(start_response: StartResponse, status: int, text: str) -> list[bytes]:
    body = unread(status, text)
    headers = [("Content-Type", JSON), ("Content-Length", str(len(body)))]
    start_response(_STATUS[status], [*headers, *_EXTRA.get(status, [])])
    return [body]
