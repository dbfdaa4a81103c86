"""The audit filter of keystonemiddleware: a CADF event before and after each request of an authenticated caller.

It stands behind authentication, so that events name the caller. Events go where [audit_middleware_notifications] sends
them: to the message bus, or to the log. Requests without credentials have no caller and are not audited; the access
log has them.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from oslo_config import cfg

from ironic.api import rate_limit
from ironic.api.middleware import masked_query
from ironic.core.permit import PERMIT
from ironic.core.secrets import REPLACEMENT

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]

# Key of the environment that the filter reads: the environment of the request itself.
_REQUEST: Final = "ironic.audited_request"


def wrap(app: WSGI, conf: cfg.ConfigOpts, *, trusts_proxy: bool = False) -> WSGI:
    """Return the application behind the filter if [audit]enabled is on; raises ValueError for an unusable map."""
    if not conf.audit.enabled:
        return app
    from keystonemiddleware.audit import AuditMiddleware

    path = Path(conf.audit.audit_map_file)
    try:
        path.read_text()
        filtered: WSGI = AuditMiddleware(
            lambda shown, start_response: app(shown[_REQUEST], start_response),
            oslo_config_config=conf,
            audit_map_file=str(path),
            ignore_req_list=",".join(conf.audit.ignore_req_list),
        )
    except Exception as error:  # the library has errors of its own for a malformed map
        raise ValueError(f"[audit]audit_map_file {path} can't be used: {error}") from error

    def audited(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        # The message bus may have to be waited for.
        PERMIT.check_may_wait()
        # The filter would pass on secrets of the query and a part of the token, and believe any forwarding header.
        shown = {
            "QUERY_STRING": masked_query(environ.get("QUERY_STRING", "")),
            "HTTP_X_AUTH_TOKEN": REPLACEMENT,
            "HTTP_X_FORWARDED_FOR": rate_limit.client_address(environ, trusted=trusts_proxy) or "",
        }
        return filtered({**environ, **shown, _REQUEST: environ}, start_response)

    return audited
