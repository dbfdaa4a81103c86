"""The bodies of answers that are errors.

Five shapes are promised to clients (doc/contract/errors.md#shapes): `fault` for everything a handler raises, `abort`
for what is refused before a handler is entered, `raw` for bodies that are too big or too deep, `text` for clients that
don't take JSON, and none at all for HEAD. Only `fault` says which version was used. Texts never quote a value that was
sent.
"""

from http import HTTPStatus
from typing import Final

import orjson

from ironic.core.errors import IronicError, NotAcceptable
from ironic.core.management_errors import DriverOperationError
from ironic.core.secrets import masked_text

Headers = list[tuple[str, str]]

JSON: Final = "application/json"
VERSION_HEADER: Final = "X-OpenStack-Ironic-API-Version"
MINIMUM_HEADER: Final = "X-OpenStack-Ironic-API-Minimum-Version"
MAXIMUM_HEADER: Final = "X-OpenStack-Ironic-API-Maximum-Version"
UNEXPECTED: Final = "An unexpected error occurred. The log of the service has the details under this request's id."
_LONGEST: Final = 1000

# A machine that refuses or can't be reached is no failure of this service, though plug-ins know such errors as 500.
_NOT_OURS: Final = 502


class Refusal(Exception):
    """A request that is answered before or beside its handler; the subclass is the shape."""

    def __init__(self, status: int, text: str = "", headers: Headers | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers or []

    def body(self) -> bytes:
        """Return the body of the answer."""
        raise TypeError(f"{type(self).__name__} has no shape of its own")


class Refused(Exception):
    """An ordinary `fault` whose status belongs to a row of the route table, not to a kind of error."""

    def __init__(self, status: int, text: str, headers: Headers | None = None) -> None:
        super().__init__(text)
        self.status, self.headers = status, headers or []


class Abort(Refusal):
    """Unknown path, method not allowed, malformed identifier in the path, version not served."""

    def body(self) -> bytes:
        """Return the shape that carries code, title and description."""
        return abort(self.status, self.text)


class Raw(Refusal):
    """A body that is not even looked at."""

    def body(self) -> bytes:
        """Return the shape that is not wrapped."""
        return orjson.dumps({"faultcode": "Client", "faultstring": self.text})


class PlainText(Refusal):
    """An answer to a client that takes no JSON."""

    def body(self) -> bytes:
        """Return the shape whose message is plain text."""
        return orjson.dumps({"error_message": self.text})


class Silent(Refusal):
    """HEAD where it is not served: a status and nothing else."""

    def body(self) -> bytes:
        """Return nothing."""
        return b""


class VersionRefused(Refusal):
    """The version asked for is out of range, or no version at all."""

    def __init__(self, minimum: str, maximum: str, *, readable: bool) -> None:
        headers = [(MINIMUM_HEADER, minimum), (MAXIMUM_HEADER, maximum)] if readable else []
        what = "is not served" if readable else "can't be read"
        super().__init__(406, f"The requested API version {what}: versions {minimum} to {maximum} are.", headers)
        self.at_root = False

    def body(self) -> bytes:
        """Return the shape of aborts, except at the root, which answers as a handler."""
        return fault(self.status, self.text) if self.at_root else abort(self.status, self.text)


def abort(status: int, text: str) -> bytes:
    """Encode the shape of what is refused before a handler."""
    return _wrapped({"code": status, "title": HTTPStatus(status).phrase, "description": _cut(text)})


def fault(status: int, text: str, debuginfo: str | None = None) -> bytes:
    """Encode the shape of every error that a handler raises; drivers quote what they were given."""
    debuginfo = debuginfo and masked_text(debuginfo)
    code = "Client" if status < 500 else "Server"
    return _wrapped({"faultcode": code, "faultstring": _cut(masked_text(text)), "debuginfo": debuginfo})


def _cut(text: str) -> str:
    # A caller's name for something may stand in it, and be as long as a URL can be.
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _wrapped(inner: dict[str, object]) -> bytes:
    return orjson.dumps({"error_message": orjson.dumps(inner).decode()})


def status_and_text(error: Exception) -> tuple[int, str]:
    """Say what a caller may know about an exception that left a handler."""
    if isinstance(error, DriverOperationError) and error.status == IronicError.status:
        return _NOT_OURS, str(error)
    if isinstance(error, (IronicError, Refused)):
        return error.status, str(error)
    return 500, UNEXPECTED


def unacceptable(what: str, since: int) -> IronicError:
    """Build the error for a part of a request that is newer than its version."""
    return NotAcceptable(what=what, since=f"1.{since}")
