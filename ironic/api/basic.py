"""Who the caller is, where a file of users says it: `auth_strategy = http_basic`.

Every request but those of public routes has to carry a name and a password of the file; whoever does may do everything.
The file is what Apache's `htpasswd -B` writes and is read again when it changes. Checking a password is made slow on
purpose, so one that was right is remembered, as a keyed digest, until the file changes. Wrong ones are logged, and
limited per client address and name: another client's guesses lock no user out.
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
from typing import Any, Final

import bcrypt
import orjson

from ironic.api import proxies
from ironic.api.errors import JSON
from ironic.api.identity import is_public
from ironic.api.rate_limit import RateLimit, counted_as
from ironic.api.request import printable
from ironic.api.routes import Routes
from ironic.core.permit import PERMIT

LOG = logging.getLogger(__name__)

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]

_CHALLENGE: Final = ("WWW-Authenticate", 'Basic realm="Baremetal API"')
_HASH: Final = re.compile(rb"\$2[aby]\$(0[4-9]|1[0-9])\$[./A-Za-z0-9]{53}")
_STATUS: Final = {400: "400 Bad Request", 401: "401 Unauthorized", 429: "429 Too Many Requests"}
_EXTRA: Final = {401: [_CHALLENGE], 429: [("Retry-After", "60")]}
# What the algorithm looks at; the library refuses longer ones.
_LONGEST: Final = 72
_REMEMBERED: Final = 1000


class BadUserFile(ValueError):
    """The file of users can't be used."""


class Users:
    """The users of a file, as it is now."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._key = secrets.token_bytes(32)
        self._known: frozenset[bytes] = frozenset()
        self._state = self._stat()
        self._hashes = _read(path)

    def remembers(self, name: bytes, password: bytes) -> bool:
        """Tell whether this password was right before, which takes no time."""
        hashes, known = self._current()
        return name in hashes and self._digest(name, hashes[name], password) in known

    def knows(self, name: bytes, password: bytes) -> bool:
        """Tell whether this is a user with that password, in a time that does not depend on whether the name is one."""
        hashes, _ = self._current()
        stored = hashes.get(name) or self._unknown(name, hashes)
        # The library computes without the interpreter lock.
        with PERMIT.waiting():
            is_right = bcrypt.checkpw(password[:_LONGEST], stored)
        if not is_right or name not in hashes:
            return False
        self._remember(self._digest(name, stored, password))
        return True

    def _unknown(self, name: bytes, hashes: Mapping[bytes, bytes]) -> bytes:
        """Return what a name that the file lacks is checked against: always the same user's hash, of a known cost."""
        others = list(hashes.values())
        chosen = hashlib.blake2b(name, key=self._key).digest()
        return others[int.from_bytes(chosen) % len(others)]

    def _digest(self, name: bytes, stored: bytes, password: bytes) -> bytes:
        return hashlib.blake2b(name + b"\0" + stored + b"\0" + password, key=self._key).digest()

    def _remember(self, digest: bytes) -> None:
        with self._lock:
            kept = self._known if len(self._known) < _REMEMBERED else frozenset()
            self._known = kept | {digest}

    def _current(self) -> tuple[Mapping[bytes, bytes], frozenset[bytes]]:
        with self._lock:
            if (state := self._stat()) != self._state:
                self._state = state
                try:
                    self._hashes, self._known = _read(self._path), frozenset()
                except BadUserFile as error:
                    LOG.error("%s The users known until now stay; correct the file.", error)
            return self._hashes, self._known

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: Path) -> dict[bytes, bytes]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise BadUserFile(f"The file of users {path} can't be read: {error.strerror}.") from None
    found: dict[bytes, bytes] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(b"#"):
            continue
        name, colon, stored = line.strip().partition(b":")
        if not name or not colon or not _HASH.fullmatch(stored):
            wanted = "a name, a colon and a bcrypt hash, as `htpasswd -B` writes them"
            raise BadUserFile(f"Line {number} of the file of users {path} is not {wanted}.")
        found[name] = stored
    if not found:
        raise BadUserFile(f"The file of users {path} has none; add one with `htpasswd -B`.")
    return found


class Guesses:
    """How many wrong passwords a client address may send per minute: for one name, and ten times that for all names."""

    def __init__(self, per_minute: int) -> None:
        self._for_name, self._for_all = RateLimit(per_minute), RateLimit(10 * per_minute)

    def begin(self, source: str | None, name: bytes) -> bool:
        """Count an attempt as wrong; tell whether it may be made."""
        return self._for_all.admits(source) and self._for_name.admits(_pair(source, name))

    def was_right(self, source: str | None, name: bytes) -> None:
        """Take the count of an attempt back."""
        self._for_all.give_back(source)
        self._for_name.give_back(_pair(source, name))


def _pair(source: str | None, name: bytes) -> str:
    return f"{counted_as(source)} {hashlib.blake2b(name).hexdigest()}"


class BasicIdentity:
    """Lets public routes through and asks for name and password on all others."""

    def __init__(
        self, app: WSGI, users: Users, routes: Routes, *, guesses: Guesses | None = None, trusts_proxy: bool = False
    ) -> None:
        self._app, self._users, self._routes = app, users, routes
        self._guesses, self._trusts_proxy = guesses, trusts_proxy

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Serve one request."""
        context = environ["ironic.context"]
        if is_public(self._routes, environ):
            context.is_public_api = True
            return self._app(environ, start_response)
        header = environ.get("HTTP_AUTHORIZATION")
        if header is None:
            return _refuse(start_response, 401, "This needs a name and a password.")
        if (given := _credentials(header)) is None:
            return _refuse(start_response, 400, "The Authorization header has to be Basic, with a name and a password.")
        name, password = given
        if not self._users.remembers(name, password):
            source = proxies.client_address(environ, trusted=self._trusts_proxy)
            caller = f"{source} as {printable(name.decode())!r} (request {context.request_id})"
            PERMIT.must_not_hurry()
            if self._guesses and not self._guesses.begin(source, name):
                LOG.warning("Refused without a look at the password: %s has sent too many wrong ones.", caller)
                return _refuse(start_response, 429, "There were too many wrong passwords; retry after a minute.")
            if not self._users.knows(name, password):
                LOG.warning("Refused: %s has sent an unknown name or a wrong password.", caller)
                return _refuse(start_response, 401, "The name or the password is wrong.")
            if self._guesses:
                self._guesses.was_right(source, name)
            LOG.info("Logged in: %s.", caller)
        context.user_id = name.decode("utf-8", "replace")
        return self._app(environ, start_response)


def _credentials(header: str) -> tuple[bytes, bytes] | None:
    scheme, _, encoded = header.strip().partition(" ")
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        name.decode(), password.decode()
    except (binascii.Error, ValueError):
        return None
    return (name, password) if scheme.lower() == "basic" and colon and b"\0" not in password else None


def _refuse(start_response: Any, status: int, text: str) -> list[bytes]:
    body = orjson.dumps({"error": {"message": text, "code": status}})
    headers = [("Content-Type", JSON), ("Content-Length", str(len(body)))]
    start_response(_STATUS[status], [*headers, *_EXTRA.get(status, [])])
    return [body]
