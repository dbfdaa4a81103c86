"""The inspector's API as the application serves it: its route table, its versions, and the shape of its errors.

Handlers and everything below them work as for callers of the newest microversion of the bare metal API. An error is
`{"error": {"message": text}}`, whatever refused the request.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from ironic.api import error_responses, version_negotiation
from ironic.api.error_responses import Headers, Refusal
from ironic.api.inspector import (
    inspector_versions,
    introspection,
    introspection_data,
    introspection_rules,
    ramdisk_data,
    versions_document,
)
from ironic.api.routes import Route

_VARY: Final = ("Vary", f"{inspector_versions.HEADER}, OpenStack-API-Version, X-Auth-Token, Authorization")


class InspectorApi:
    """The API of the standalone inspector."""

    rows: Final[tuple[Route, ...]] = (
        *versions_document.ROUTES,
        *ramdisk_data.ROUTES,
        *introspection.ROUTES,
        *introspection_data.ROUTES,
        *introspection_rules.ROUTES,
    )
    vary: Final = _VARY

    def negotiate(self, environ: Mapping[str, Any]) -> int:
        """Check the inspector's version; return the microversion of what lies below."""
        inspector_versions.negotiate(environ)
        return version_negotiation.MAXIMUM

    def version_headers(self, environ: Mapping[str, Any], minor: int | None) -> Headers:
        """Return the range of versions, and the one that was negotiated."""
        if minor is None:
            return list(inspector_versions.RANGE)
        asked = inspector_versions.text(inspector_versions.negotiate(environ))
        return [*inspector_versions.RANGE, (inspector_versions.HEADER, asked)]

    def refusal(self, error: Refusal) -> bytes:
        """Return the body for a request that is refused outside its handler; HEAD gets none."""
        return _error(error.text) if error.text else b""

    def fault(self, status: int, text: str, debuginfo: str | None = None) -> bytes:
        """Return the body for an error that a handler raised."""
        return _error(text)


def _error(text: str) -> bytes:
    return orjson.dumps({"error": {"message": error_responses.shown_text(text)}})
