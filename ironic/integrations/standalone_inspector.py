"""Client of the standalone ironic-inspector, API version 1.

`keystone_service` finds it and logs in, as the options of [inspector] say, and bounds the time and the size of answers.
Texts of the inspector are cut and made printable before they are used. No text contains credentials.
Source: doc/contract/inspection.md#api-of-the-standalone-inspector.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import orjson

from ironic.conf import CONF
from ironic.core.errors import IronicError
from ironic.core.texts.syntax import plain_text
from ironic.integrations.http_client import CallFailed
from ironic.integrations.keystone_service import KeystoneService

GROUP: Final = "inspector"
_VERSION: Final = {"X-OpenStack-Ironic-Inspector-API-Version": "1.17", "Accept": "application/json"}
_KIB: Final = 1024
# Status and errors are short.
_MOST_BYTES: Final = 64 * _KIB
_SECONDS: Final = 30.0
_LONGEST_TEXT: Final = 500
_PROCESSING: Final = "processing"


class InspectorFailed(IronicError):
    """A call failed; ``is_silent`` when there was no complete answer, ``answered`` is the status if there was one."""

    text = "The standalone inspector can't {operation}: {error}."
    is_silent = False
    answered: int | None = None


class Introspection(NamedTuple):
    """The state of an introspection; ``error`` is empty when there is none, ``has_report`` once a report is there."""

    is_finished: bool
    error: str
    has_report: bool


class Inspector:
    """The standalone inspector of this site; safe to use from any thread."""

    def __init__(self) -> None:
        """Read the options; raises InspectorFailed when they name no usable credentials."""
        try:
            self._service = KeystoneService(GROUP)
        except CallFailed as error:
            raise InspectorFailed(operation="be found", error=str(error)) from error

    def start(self, uuid: str, *, manages_boot: bool) -> None:
        """Start the introspection of a node; the inspector boots the machine itself if ``manages_boot``."""
        query = urlencode({"manage_boot": int(manages_boot)})
        self._call("POST", f"/introspection/{uuid}?{query}", "start the introspection")

    def state(self, uuid: str) -> Introspection:
        """Return the state of a node's introspection."""
        found = self._document("GET", f"/introspection/{uuid}", "show the state of the introspection")
        if not isinstance(found.get("finished"), bool):
            raise _failed("show the state of the introspection", "its answer does not say whether it is finished")
        error, has_report = found.get("error"), found["finished"] or found.get("state") == _PROCESSING
        return Introspection(found["finished"], plain_text(error, _LONGEST_TEXT) if error else "", has_report)

    def data(self, uuid: str) -> dict[str, Any] | None:
        """Return what the inspector has stored of a node, None if it stores nothing."""
        most = 2 * CONF.inventory.size_limit * _KIB
        try:
            return self._document("GET", f"/introspection/{uuid}/data", "give the data", most_bytes=most)
        except InspectorFailed as error:
            if error.answered == HTTPStatus.NOT_FOUND:
                return None
            raise

    def abort(self, uuid: str) -> None:
        """Abort the introspection of a node."""
        self._call("POST", f"/introspection/{uuid}/abort", "abort the introspection")

    def hand_on(self, report: Mapping[str, object]) -> None:
        """Hand a ramdisk's report on, as if the ramdisk had posted it to the inspector."""
        body = orjson.dumps(report, default=str, option=orjson.OPT_NON_STR_KEYS)
        self._call("POST", "/continue", "take the report of the ramdisk", body)

    def _document(self, method: str, path: str, operation: str, *, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
        content = self._call(method, path, operation, most_bytes=most_bytes)
        try:
            found = orjson.loads(content)
        except orjson.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise _failed(operation, "its answer is no JSON object")
        return found

    def _call(
        self, method: str, path: str, operation: str, body: bytes | None = None, *, most_bytes: int = _MOST_BYTES
    ) -> bytes:
        """Return the body of an answer."""
        kind = {"Content-Type": "application/json"} if body is not None else {}
        seconds = min(CONF.inspector.timeout or _SECONDS, _SECONDS)
        try:
            url = f"{self._service.endpoint().removesuffix('/v1')}/v1{path}"
            status, _, content = self._service.call(
                method, url, {**_VERSION, **kind}, body, most_bytes=most_bytes, seconds=seconds, idle_seconds=seconds
            )
        except CallFailed as error:
            raise _failed(operation, str(error), is_silent=True) from error
        if 200 <= status < 300:
            return content
        raise _failed(operation, f"it answers with status {status}{_reason(content)}", status=status)


def _failed(operation: str, error: str, *, is_silent: bool = False, status: int | None = None) -> InspectorFailed:
    made = InspectorFailed(operation=operation, error=error)
    made.is_silent, made.answered = is_silent, status
    return made


def _reason(content: bytes) -> str:
    """Return what the inspector says is wrong, after a colon; empty when it says nothing."""
    try:
        message = orjson.loads(content)["error"]["message"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return ""
    return f": {plain_text(str(message), _LONGEST_TEXT)}"
