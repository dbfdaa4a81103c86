"""The WSGI application: Pecan's application object with our route table as its router.

A request costs one look-up in the route tree and one call of its handler; Pecan's own argument inspection never runs.
The version headers of routed answers and the responses to errors are written here and nowhere else; what they contain
depends on the API that is served (`ironic.api.served_api`). The programs need `build_app` only.
"""

import logging
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pecan.core
import pecan.hooks
import webob
from oslo_config import cfg

from ironic.api import (
    access,
    answer_check,
    answers,
    crud_notifications,
    error_responses,
    other_middleware,
    rate_limit,
    version_negotiation,
)
from ironic.api.answers import Answer
from ironic.api.error_responses import JSON, Headers, OverLimit, PlainText, Refusal, VersionRefused
from ironic.api.middleware import Middleware
from ironic.api.policy import KeystonePolicy, NoauthPolicy, Policy
from ironic.api.request import REQUEST, Request, Services
from ironic.api.resources import ROUTES
from ironic.api.route_timers import timer_name
from ironic.api.routes import Route, Routes, empty_answer, with_json_suffix
from ironic.api.served_api import BareMetalApi, ServedApi
from ironic.api.settings import ApiSettings
from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.errors import IronicError
from ironic.integrations import metric_table
from ironic.integrations.metrics import METRICS
from ironic.rpc.notifications import NOTIFIER

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.rpc.client import ConductorClients
    from ironic.rpc.hash_ring import HashRingManager

LOG = logging.getLogger(__name__)

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]

CONTEXT: Final = "ironic.context"
# First version that does not remove the suffix `.json` from a path.
_WHOLE_PATHS_SINCE: Final = 91
BARE_METAL: Final = BareMetalApi(ROUTES)
_OPTIONS: Final = Route("OPTIONS", "", empty_answer, public=True)


class Api(pecan.core.ExplicitPecan):  # type: ignore[misc]  # Pecan carries no types
    """Pecan's application with four overrides; a test checks that Pecan still calls each of them."""

    def __init__(self, served: ServedApi, services: Services) -> None:
        routes = Routes(served.rows)
        super().__init__(
            self,
            hooks=[_ErrorHook(served, routes, services.settings)],
            force_canonical=False,
            guess_content_type_from_ext=False,
        )
        self._served, self._routes, self._services = served, routes, services
        mode = services.settings.response_validation if isinstance(served, BareMetalApi) else answer_check.IGNORE
        self._check_answer = answer_check.of_mode(mode, served.rows)

    def find_controller(self, state: Any) -> tuple[object, tuple[object, ...], dict[str, object]]:
        """Negotiate the version, find the route of a request and check access to it."""
        environ = state.request.environ
        path: str = environ.get("PATH_INFO", "")
        if not path.isascii():
            # Bytes that are no UTF-8 become characters that no identifier has.
            path = path.encode("latin-1", "replace").decode("utf-8", "replace")
        try:
            minor = self._served.negotiate(environ)
        except VersionRefused as refusal:
            refusal.at_root = path in ("", "/")
            raise
        request = Request(environ, minor, environ.get(CONTEXT) or RequestContext(), self._services)
        # From here on responses to errors name the version that was negotiated.
        environ[REQUEST] = request
        route, values = self._find(request, path)
        if not takes_json(environ.get("HTTP_ACCEPT")):
            raise PlainText(406, "This service answers in JSON only.")
        request.route = route
        self._services.settings.request_limits.count_caller(environ, request.context)
        if route.since > minor and not route.rights_first:
            raise route.too_new()
        if request.stripped:
            values = with_json_suffix(request, route, values)
        access.check(request, route, values)
        if route.rule is not None and route.subject == "node":
            request.node = values[0]
        if route.since > minor:
            raise route.too_new()
        return route.run, (request, *values), {}

    def _find(self, request: Request, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the route of a path and its identifiers; old versions may end any path in `.json`."""
        if request.method == "OPTIONS":
            return _OPTIONS, ()
        if (
            path.endswith(".json")
            and path not in self._routes.whole
            and request.minor < _WHOLE_PATHS_SINCE
            and version_negotiation.asked(request.environ) is not None
        ):
            request.stripped, path = True, path.removesuffix(".json")
        try:
            return self._routes.find(request.method, path, request.minor)
        except error_responses.Abort as refusal:
            if refusal.status == 404 and not takes_json(request.environ.get("HTTP_ACCEPT")):
                raise PlainText(404, "There is no such path.") from None
            raise

    def invoke_controller(self, handler: Any, args: Any, kwargs: Any, state: Any) -> None:
        """Run the route, which reads the arguments and calls its handler, and write the response."""
        request: Request = args[0]
        began = time.perf_counter()
        try:
            if NOTIFIER.on:
                answer = crud_notifications.call_and_notify(request, handler, args)
            else:
                answer = handler(*args)
        finally:
            request.release()
        if self._check_answer is not None:
            self._check_answer(request, answer)
        if METRICS.on and request.route is not None:
            milliseconds = (time.perf_counter() - began) * 1000
            metric_table.REQUESTS.send(milliseconds, timer_name(request.route.method, request.route.path))
        is_routed = request.route is not _OPTIONS
        headers = self._served.version_headers(request.environ, request.minor) if is_routed else []
        if answer.location is not None:
            headers.append(("Location", answer.location))
        if answer.is_secret:
            headers += [answers.NO_STORE, self._served.vary]
        elif answer.status == 200 and answer.body is not None and request.method in ("GET", "HEAD"):
            headers.append(self._served.vary)
            if (tag := answer.tag or answers.etag(answer.body)) is not None:
                headers.append(("ETag", f'"{tag}"'))
                if answers.etag_matches(request.environ, tag):
                    answer = Answer(304)
        _write(state.response, answer.status, answer.body, headers, answer.content_type)
        if request.method == "HEAD":
            # The length stays: it is that of the body that GET would return.
            state.response.app_iter, state.response.headerlist = [], list(state.response.headerlist)

    def determine_hooks(self, controller: object = None) -> object:
        """Return the only hook, which writes responses to errors."""
        return self.hooks

    def _handle_empty_response_body(self, state: object) -> None:
        """Keep Pecan from decoding the body and from turning an empty 200 into 204."""


class _ErrorHook(pecan.hooks.PecanHook):  # type: ignore[misc]  # Pecan carries no types
    """Write the response to any exception of a request."""

    def __init__(self, served: ServedApi, routes: Routes, settings: ApiSettings) -> None:
        self._served, self._routes, self._settings = served, routes, settings

    def on_error(self, state: Any, error: Exception) -> webob.Response:
        """Return the complete response to an exception; errors of the service itself are logged."""
        request: Request | None = state.request.environ.get(REQUEST)
        response = webob.Response()
        try:
            if isinstance(error, Refusal):
                headers = [*error.headers, *self._allow(request, error.status)]
                _write(response, error.status, self._served.refusal(error) or None, headers)
                return response
            if isinstance(error, OverLimit):
                error_responses.note(state.request.environ, error, self._settings.refusals)
            status, text = error_responses.status_and_text(error)
            if request is not None:
                text = access.shown_error(request, error, text)
            debuginfo = None
            if status >= 500:
                if isinstance(error, (IronicError, error_responses.Refused)):
                    self._log_failure(state.request.environ, error, status)
                else:
                    method, path = _asked(state.request.environ)
                    LOG.exception("%s %s failed with status %d.", method, path, status)
                debuginfo = traceback.format_exc() if self._settings.debug_tracebacks else None
            headers = self._served.version_headers(state.request.environ, request.minor if request else None)
            if isinstance(error, error_responses.Refused):
                headers += error.headers
            headers += [*error_responses.retry_headers(error), *self._allow(request, status)]
            _write(response, status, self._served.fault(status, text, debuginfo), headers)
            return response
        finally:
            _clear_frames(error)

    def _log_failure(self, environ: dict[str, Any], error: Exception, status: int) -> None:
        """Log a failure that has a reason; a refusal by this process, which any client may cause, not each time."""
        text, values = "%s %s is answered with status %d: %s", (*_asked(environ), status, error)
        if not isinstance(error, error_responses.Refused):
            LOG.warning(text, *values)
        elif not isinstance(error, OverLimit):
            address = rate_limit.client_address(environ, trusted=self._settings.proxy_headers)
            self._settings.refusals.note(address, text, *values)

    def _allow(self, request: Request | None, status: int) -> error_responses.Headers:
        """Return the header Allow for a 405."""
        if status != 405 or request is None:
            return []
        path = request.environ.get("PATH_INFO", "")
        path = path.removesuffix(".json") if request.stripped else path
        return [("Allow", self._routes.allowed(path, request.minor))]


def _asked(environ: dict[str, Any]) -> tuple[str, str]:
    """Return method and path; not the attribute of the request, which may have no path in UTF-8."""
    return environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")


def _clear_frames(error: BaseException | None) -> None:
    """Drop the local variables of the functions that an error has ended, perhaps a body of many MiB.

    Errors and their tracebacks refer to each other, so the variables would stay until garbage is collected.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def takes_json(accept: str | None) -> bool:
    """Return whether a client accepts JSON, given its Accept header."""
    if accept is None or "*/*" in accept or "json" in accept or "application/*" in accept:
        return True
    return not accept.strip()


def _write(
    response: webob.Response, status: int, body: bytes | list[bytes] | None, headers: Headers, content_type: str = JSON
) -> None:
    """Fill a response; without a body it has no content type."""
    chunks = [] if body is None else [body] if isinstance(body, bytes) else body
    if body is not None:
        headers = [*headers, ("Content-Type", content_type)]
    if status not in (204, 304):
        headers = [*headers, ("Content-Length", str(sum(map(len, chunks))))]
    response.status_int = status
    # In this order: setting the iterator drops the length.
    response.app_iter = chunks
    response.headerlist = headers


def build_app(
    store: "Store",
    conductors: "ConductorClients",
    hash_ring: "HashRingManager",
    settings: ApiSettings,
    conf: cfg.ConfigOpts = CONF,
    served: ServedApi = BARE_METAL,
) -> WSGI:
    """Wire the application behind authentication and middleware; only the libraries in use are imported.

    ``conf`` is read by the libraries of the keystone mode. Raises ValueError for an unknown `auth_strategy`, and for
    middleware of other packages that can't be used.
    """
    keystone = settings.auth_strategy == "keystone"
    policy: Policy = KeystonePolicy.from_conf(conf) if keystone else NoauthPolicy()
    app: WSGI = Api(served, Services(store, conductors, hash_ring, settings, policy))
    match settings.auth_strategy:
        case "noauth":
            pass
        case "keystone":
            from ironic.api import authentication

            app = authentication.wrap_keystone(app, conf, Routes(served.rows), trusts_proxy=settings.proxy_headers)
        case "http_basic":
            from ironic.api.authentication import BasicIdentity, Users

            app = BasicIdentity(
                app,
                Users(Path(settings.user_file)),
                Routes(served.rows),
                guesses=settings.guesses,
                trusts_proxy=settings.proxy_headers,
            )
        case other:
            raise ValueError(f"auth_strategy = {other} is unknown; use noauth, keystone or http_basic.")
    return Middleware(other_middleware.wrap(app, settings.middleware), settings, served)
