"""What a reverse proxy says about a request: scheme, host, mount point and the client's address.

Forwarding headers count only where [oslo_middleware]enable_proxy_headers_parsing is on; any client can send them.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

# A path as it stands in a URL.
_PREFIX: Final = re.compile(r"(/[A-Za-z0-9._~%!$&'()*+;=:@-]*)+")


def apply(environ: dict[str, object]) -> None:
    """Take scheme, host and mount point from the headers a proxy sets; the first of several counts."""
    if (scheme := _first(environ, "HTTP_X_FORWARDED_PROTO").lower()) in ("http", "https"):
        environ["wsgi.url_scheme"] = scheme
    if host := _first(environ, "HTTP_X_FORWARDED_HOST"):
        environ["HTTP_HOST"] = host
    if _PREFIX.fullmatch(prefix := _first(environ, "HTTP_X_FORWARDED_PREFIX")):
        environ["SCRIPT_NAME"] = prefix.rstrip("/")


def client_address(environ: Mapping[str, object], *, trusted: bool) -> str | None:
    """Return the address a request comes from; with a trusted proxy, the one that the proxy itself has seen."""
    if trusted and (hops := environ.get("HTTP_X_FORWARDED_FOR")):
        # What stands before the last comma was there when the request came, and may be made up.
        return str(hops).rpartition(",")[2].strip()
    found = environ.get("REMOTE_ADDR")
    return str(found) if found else None


def _first(environ: Mapping[str, Any], header: str) -> str:
    value: str = environ.get(header, "")
    return value.split(",")[0].strip()
