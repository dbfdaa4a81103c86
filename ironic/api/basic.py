"""Who the caller is, where a file of users says it: `auth_strategy = http_basic`.

Every request but those of public routes has to carry a name and a password of the file; whoever does may do everything.
The file is what Apache's `htpasswd -B` writes and is read again when it changes. Checking a password is made slow on
purpose, so one that was right is remembered, as a keyed digest, until the file changes.
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

from ironic.api.errors import JSON
from ironic.api.identity import is_public
from ironic.api.routes import Routes

LOG = logging.getLogger(__name__)

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]

_CHALLENGE: Final = ("WWW-Authenticate", 'Basic realm="Baremetal API"')
_HASH: Final = re.compile(rb"\$2[aby]\$(0[4-9]|1[0-9])\$[./A-Za-z0-9]{53}")
_STATUS: Final = {400: "400 Bad Request", 401: "401 Unauthorized"}
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
        # Compared with when nobody has the name, so that the time taken doesn't tell which names there are.
        self._nobody = bcrypt.hashpw(self._key, bcrypt.gensalt())
        self._known: frozenset[bytes] = frozenset()
        self._state = self._stat()
        self._hashes = _read(path)

    def knows(self, name: bytes, password: bytes) -> bool:
        """Tell whether this is a user with that password."""
        hashes, known = self._current()
        stored = hashes.get(name, self._nobody)
        digest = hashlib.blake2b(name + b"\0" + stored + b"\0" + password, key=self._key).digest()
        if digest in known:
            return True
        if not bcrypt.checkpw(password[:_LONGEST], stored) or name not in hashes:
            return False
        self._remember(digest)
        return True

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


class BasicIdentity:
    """Lets public routes through and asks everybody else for name and password."""

    def __init__(self, app: WSGI, users: Users, routes: Routes) -> None:
        self._app, self._users, self._routes = app, users, routes

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
        if not self._users.knows(name, password):
            LOG.warning("Request %s had a wrong name or password.", context.request_id)
            return _refuse(start_response, 401, "The name or the password is wrong.")
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
    start_response(_STATUS[status], [*headers, _CHALLENGE] if status == 401 else headers)
    return [body]
