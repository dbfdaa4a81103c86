"""The audit filter of keystonemiddleware: a CADF event before and after each request of an authenticated caller.

It stands behind authentication, so that events name the caller. Events go where [audit_middleware_notifications] sends
them: to the message bus, or to the log. Requests without credentials have no caller and are not audited; the access
log has them. A request whose body has not arrived is begun again with it, so it has events only if its head is
answered.
"""

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import webob
from oslo_config import cfg

from ironic.api import rate_limit
from ironic.api.access_log import masked_query
from ironic.core.permit import HEAD_ALONE, PERMIT
from ironic.core.secrets.masking import REPLACEMENT
from ironic.core.texts.operator_files import content_of

# Key of the environment that the filter reads: what serves the request, with its own environment.
_SERVE: Final = "ironic.audited_request"


def wrap(app: WSGIApplication, conf: cfg.ConfigOpts, *, trusts_proxy: bool = False) -> WSGIApplication:
    """Return the application behind the filter if [audit]enabled is on; raises ValueError for an unusable map."""
    if not conf.audit.enabled:
        return app
    from keystonemiddleware.audit import AuditMiddleware

    path = Path(conf.audit.audit_map_file)
    try:
        content_of(path).decode()
        filtered: WSGIApplication = AuditMiddleware(
            lambda shown, start_response: shown[_SERVE](start_response),
            oslo_config_config=conf,
            audit_map_file=str(path),
            ignore_req_list=",".join(conf.audit.ignore_req_list),
        )
    except Exception as error:  # the library has errors of its own for a malformed map
        raise ValueError(f"[audit]audit_map_file {path} can't be used: {error}") from error

    def audited(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # The message bus may have to be waited for.
        PERMIT.check_may_wait()
        # The filter would pass on secrets of the query and a part of the token, and believe any forwarding header.
        shown = {
            "QUERY_STRING": masked_query(environ.get("QUERY_STRING", "")),
            "HTTP_X_AUTH_TOKEN": REPLACEMENT,
            "HTTP_X_FORWARDED_FOR": rate_limit.client_address(environ, trusted=trusts_proxy) or "",
        }
        # An answer to the head alone is there before its events; MustRead gets past them.
        serving = webob.Request(environ).get_response(app) if HEAD_ALONE in environ else app
        return filtered({**environ, **shown, _SERVE: functools.partial(serving, environ)}, start_response)

    return audited
