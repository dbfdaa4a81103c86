"""The one WSGI layer around the application.

Gives every request an id and a line in the access log, applies forwarding headers when told to, refuses what a foreign
web page makes a browser send, answers the health path when it is switched on, and turns whatever escaped the
application into a plain 500. One layer instead of six costs an eighth of the time.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from ironic.api import access_log, errors, proxies
from ironic.api.request import REQUEST
from ironic.api.settings import ApiSettings
from ironic.core.context import RequestContext
from ironic.core.permit import PERMIT, MustWait

LOG = logging.getLogger(__name__)

# What refers to the environment it is in: such circles, with a body in them, would stay until garbage is collected.
_REFER_BACK: Final = (REQUEST, "pecan.locals", "pecan.original_exception")

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]
StartResponse = Callable[..., object]


class Middleware:
    """Request ids, access log, forwarding headers, origins, health path, last resort."""

    def __init__(self, app: WSGI, settings: ApiSettings, health: WSGI | None = None) -> None:
        self._app, self._settings = app, settings
        self._health = (health or _health_app()) if settings.healthcheck else None

    def __call__(self, environ: dict[str, object], start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        refused = self._settings.origins.refusal(environ)
        if self._settings.proxy_headers:
            proxies.apply(environ)
        if self._health is not None and environ.get("PATH_INFO") == "/healthcheck":
            return self._health(environ, start_response)
        began = time.monotonic()
        context = RequestContext()
        environ["ironic.context"] = context
        environ["openstack.request_id"] = context.request_id
        ids = [("openstack-request-id", context.request_id), ("x-openstack-request-id", context.request_id)]
        answered, is_over = "", True

        def start(status: str, headers: list[tuple[str, str]], exc_info: object = None) -> object:
            nonlocal answered
            answered = status
            return start_response(status, headers + ids, exc_info)

        try:
            if refused is not None:
                return _plain(start, "403 Forbidden", refused)
            with PERMIT.computing():
                return self._app(environ, start)
        except MustWait:
            is_over = False
            raise
        except Exception:
            LOG.exception("Request %s failed outside its handler.", context.request_id)
            return _plain(start, "500 Internal Server Error", errors.UNEXPECTED)
        finally:
            if is_over:
                seconds = time.monotonic() - began
                access_log.write(environ, context, answered, seconds, trusts_proxy=self._settings.proxy_headers)
            for name in _REFER_BACK:
                environ.pop(name, None)


def _plain(start: StartResponse, status: str, text: str) -> list[bytes]:
    body = errors.fault(int(status[:3]), text)
    start(status, [("Content-Type", errors.JSON), ("Content-Length", str(len(body)))])
    return [body]


def _health_app() -> WSGI:
    # Only as an application mounted by path: wrapped around another it answers every path.
    from oslo_middleware.healthcheck import Healthcheck

    app: WSGI = Healthcheck.app_factory({"detailed": "False"})
    return app
