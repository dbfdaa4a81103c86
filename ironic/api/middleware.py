"""The WSGI middleware around the application.

One layer gives every request an ID and a line in the access log, applies forwarding headers if that is enabled, counts
every request for the limits of its address, refuses those that a page of another site makes a browser send, answers the
health check if it is enabled, and turns an exception that leaves the application into a plain 500. One layer instead of
six costs an eighth of the time.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from ironic.api import access_log, client_faults, error_responses, rate_limit
from ironic.api.error_responses import OVER_LIMIT, RETRY_SOON, OverLimit, Refused
from ironic.api.request import REQUEST
from ironic.api.routes import Routes
from ironic.api.served_api import ServedApi
from ironic.api.settings import ApiSettings
from ironic.core.context import RequestContext, global_request_id, logged
from ironic.core.permit import NO_ROOM, PERMIT, MustMove, MustRead, MustWait

if TYPE_CHECKING:
    from _typeshed import OptExcInfo

LOG = logging.getLogger(__name__)

# Keys whose values refer to the environment: the cycle, with a body in it, would stay until garbage is collected.
_REFER_BACK: Final = (REQUEST, "pecan.locals", "pecan.original_exception")

_NO_ROOM: Final = "Too many large requests arrive at the same time. Try again in a moment."


class Middleware:
    """The middleware around the application."""

    def __init__(self, app: WSGIApplication, settings: ApiSettings, served: ServedApi) -> None:
        """Take the application and the API that it serves."""
        self._app, self._settings, self._served = app, settings, served
        self._routes = Routes(served.rows)
        self._health: WSGIApplication | None = None
        if settings.healthcheck:
            # Mounted by path: wrapped around another application the health check answers every path.
            from oslo_middleware.healthcheck import Healthcheck

            self._health = Healthcheck.app_factory({"detailed": "False"})

    def __call__(self, environ: dict[str, object], start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        refused = self._settings.origins.refusal(environ)
        if self._settings.proxy_headers:
            rate_limit.apply_proxy_headers(environ)
        is_health = self._health is not None and environ.get("PATH_INFO") == "/healthcheck"
        began = time.monotonic()
        context = RequestContext(global_request_id=global_request_id(environ.get("HTTP_X_OPENSTACK_REQUEST_ID")))
        environ["ironic.context"] = context
        environ["openstack.request_id"] = context.request_id
        ids = [("openstack-request-id", context.request_id), ("x-openstack-request-id", context.request_id)]
        answered, is_over = "", True
        unusable = client_faults.unusable_headers(str(environ.get("HTTP_USER_AGENT", "")))

        def start(
            status: str, headers: list[tuple[str, str]], exc_info: "OptExcInfo | None" = None, /
        ) -> Callable[[bytes], object]:
            nonlocal answered
            answered = status
            return start_response(status, client_faults.without(headers, unusable) + ids, exc_info)

        try:
            if NO_ROOM in environ:
                raise self._without_room(environ)
            with logged(context):
                return self._limited(environ, start, refused)
        except MustWait:
            is_over = False
            raise
        except Refused as refusal:
            if isinstance(refusal, OverLimit):
                error_responses.note(environ, refusal, self._settings.refusals)
            return self._plain(start, refusal.status, str(refusal), refusal.headers)
        except Exception:
            LOG.exception("Request %s failed outside its handler.", context.request_id)
            return self._plain(start, 500, error_responses.UNEXPECTED)
        finally:
            # A request beyond a limit has a line where the log of the service has one, a health check has none.
            if is_over and environ.get(OVER_LIMIT, not is_health):
                seconds = time.monotonic() - began
                access_log.write(environ, context, answered, seconds, trusts_proxy=self._settings.proxy_headers)
            for name in _REFER_BACK:
                environ.pop(name, None)

    def _limited(self, environ: WSGIEnvironment, start: StartResponse, refused: str | None) -> Iterable[bytes]:
        """Answer a request unless its address exceeds a limit; raises Refused. No path leads past this place."""
        limits = self._settings.request_limits
        is_of_ramdisk = self._routes.is_of_ramdisks(environ, self._served.negotiate)
        if not limits.counts_addresses(is_of_ramdisk=is_of_ramdisk):
            return self._answer(environ, start, refused)
        address = rate_limit.client_address(environ, trusted=self._settings.proxy_headers)
        with limits.of_address(address, environ, is_of_ramdisk=is_of_ramdisk):
            try:
                return self._answer(environ, start, refused)
            except (MustMove, MustRead):
                limits.take_back_caller(environ)
                raise
            except MustWait:
                limits.take_back(environ, address, is_of_ramdisk=is_of_ramdisk)
                raise

    def _without_room(self, environ: WSGIEnvironment) -> Refused:
        """Return the error for a request that its head did not refuse, and for whose body the server has no memory."""
        address = rate_limit.client_address(environ, trusted=self._settings.proxy_headers)
        self._settings.refusals.note(address, "A large body of %s finds no room: too many arrive", address)
        headers = self._served.version_headers(environ, self._served.negotiate(environ))
        return Refused(503, _NO_ROOM, [*RETRY_SOON, *headers])

    def _answer(self, environ: WSGIEnvironment, start: StartResponse, refused: str | None) -> Iterable[bytes]:
        """Answer a request that is within the limits; ``refused`` is why a browser may not send it."""
        if refused is not None:
            raise Refused(403, refused)
        if self._health is not None and environ.get("PATH_INFO") == "/healthcheck":
            return self._health(environ, start)
        with PERMIT.computing():
            return self._app(environ, start)

    def _plain(
        self, start: StartResponse, status: int, text: str, headers: Sequence[tuple[str, str]] = ()
    ) -> list[bytes]:
        body = self._served.fault(status, text)
        lines = [("Content-Type", error_responses.JSON), ("Content-Length", str(len(body))), *headers]
        start(f"{status} {HTTPStatus(status).phrase}", lines)
        return [body]
