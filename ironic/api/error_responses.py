"""The bodies and headers of error responses.

Clients depend on six shapes (doc/contract/errors.md#shapes): `fault` for errors that a handler raises, `abort` for
requests that are refused before a handler runs, `raw` for bodies that are too large or too deep, `text` for clients
that do not accept JSON, `basic` for refused logins, and no body at all for HEAD. Only `fault` carries the version
headers. Error texts never quote a value of the request.
"""

from http import HTTPStatus
from typing import Final
from wsgiref.types import WSGIEnvironment

import orjson

from ironic.core.errors import IronicError, NotAcceptable, TemporaryFailure
from ironic.core.errors.hardware_errors import DriverOperationError
from ironic.core.refusal_log import RefusalLog
from ironic.core.secrets.masking import masked_text

Headers = list[tuple[str, str]]

JSON: Final = "application/json"
VERSION_HEADER: Final = "X-OpenStack-Ironic-API-Version"
MINIMUM_HEADER: Final = "X-OpenStack-Ironic-API-Minimum-Version"
MAXIMUM_HEADER: Final = "X-OpenStack-Ironic-API-Maximum-Version"
UNEXPECTED: Final = "An unexpected error occurred. The log of the service has the details under this request's id."
# For a request that was refused before anything was done. The waits are short.
RETRY_SOON: Final[Headers] = [("Retry-After", "5")]
_LONGEST: Final = 1000

# A machine that fails or can't be reached is no failure of this service, although drivers raise such errors as 500.
_BAD_GATEWAY: Final = 502
_OF_ERRORS: Final = range(400, 600)


class Refusal(Exception):
    """A request that is refused outside its handler; the subclass is the shape of the response."""

    def __init__(self, status: int, text: str = "", headers: Headers | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers or []

    def body(self) -> bytes:
        """Return the body of the response."""
        raise TypeError(f"{type(self).__name__} has no shape of its own")


class Refused(Exception):
    """A `fault` whose status depends on the route, not on the class of the error."""

    def __init__(self, status: int, text: str, headers: Headers | None = None) -> None:
        super().__init__(text)
        self.status, self.headers = status, headers or []


class OverLimit(Refused):
    """A `fault` for a request beyond a limit of its sender; ``who`` and ``what`` say so in the log."""

    def __init__(self, status: int, text: str, headers: Headers, who: str, what: str) -> None:
        super().__init__(status, text, headers)
        self.who, self.what = who, what


# The key of the WSGI environment of a request that was refused beyond a limit, for the server, which answers it late;
# the value is whether the log has a line about it.
OVER_LIMIT: Final = "ironic.over_limit"


def note(environ: WSGIEnvironment, refusal: OverLimit, log: RefusalLog) -> None:
    """Mark a request as one beyond a limit, and log that once for each sender and minute."""
    text = "A request is refused with %d: %s %s. Further ones are counted."
    environ[OVER_LIMIT] = log.note(refusal.who, text, refusal.status, refusal.who, refusal.what)


class Abort(Refusal):
    """The shape for an unknown path, a wrong method, a malformed identifier in the path, or a version not served."""

    def body(self) -> bytes:
        """Return the body with code, title and description."""
        return abort(self.status, self.text)


class Raw(Refusal):
    """The shape for a request body that is not parsed."""

    def body(self) -> bytes:
        """Return the body, which is not wrapped in `error_message`."""
        return orjson.dumps({"faultcode": "Client", "faultstring": self.text})


class PlainText(Refusal):
    """The shape for a client that does not accept JSON."""

    def body(self) -> bytes:
        """Return the body whose message is plain text."""
        return orjson.dumps({"error_message": self.text})


class Silent(Refusal):
    """The shape for HEAD where it is not served: a status and no body."""

    def body(self) -> bytes:
        """Return an empty body."""
        return b""


class VersionRefused(Refusal):
    """The shape for a version that is out of range or malformed."""

    def __init__(self, minimum: str, maximum: str, *, readable: bool) -> None:
        headers = [(MINIMUM_HEADER, minimum), (MAXIMUM_HEADER, maximum)] if readable else []
        what = "is not supported" if readable else "is malformed"
        super().__init__(
            406, f"The requested API version {what}; this service supports versions {minimum} to {maximum}.", headers
        )
        self.at_root = False

    def body(self) -> bytes:
        """Return an `abort`; at the root a `fault`, as handlers answer."""
        return fault(self.status, self.text) if self.at_root else abort(self.status, self.text)


def abort(status: int, text: str) -> bytes:
    """Return the encoded body of a request that is refused before its handler."""
    return _wrapped({"code": status, "title": HTTPStatus(status).phrase, "description": _cut(text)})


def fault(status: int, text: str, debuginfo: str | None = None) -> bytes:
    """Return the encoded body of an error that a handler raised; secrets that its text quotes are masked."""
    debuginfo = debuginfo and masked_text(debuginfo)
    code = "Client" if status < 500 else "Server"
    return _wrapped({"faultcode": code, "faultstring": shown_text(text), "debuginfo": debuginfo})


def unread(status: int, text: str) -> bytes:
    """Return the encoded body of a request of which only the login was read; conductors answer callers with it too."""
    return orjson.dumps({"error": {"message": text, "code": status}})


def shown_text(text: str) -> str:
    """Return the text of an error as a response may contain it: without secrets, and not too long."""
    return _cut(masked_text(text))


def _cut(text: str) -> str:
    # The text may quote an identifier of the request, which can be as long as a URL.
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _wrapped(inner: dict[str, object]) -> bytes:
    return orjson.dumps({"error_message": orjson.dumps(inner).decode()})


def status_and_text(error: Exception) -> tuple[int, str]:
    """Return the status and the text with which an exception of a handler is answered."""
    if isinstance(error, DriverOperationError) and error.status == IronicError.status:
        return _BAD_GATEWAY, str(error)
    if isinstance(error, (IronicError, Refused)):
        # A plug-in's error may have any number as its status.
        return error.status if error.status in _OF_ERRORS else 500, str(error)
    return 500, UNEXPECTED


def retry_headers(error: Exception) -> Headers:
    """Return the header Retry-After for an error of a handler after which the same request may be sent again."""
    seconds = error.retry_after if isinstance(error, TemporaryFailure) else None
    return [] if seconds is None else [("Retry-After", str(seconds))]


def unacceptable(what: str, since: int) -> IronicError:
    """Return the error (406) for a part of a request that is newer than its version."""
    return NotAcceptable(what=what, since=f"1.{since}")
