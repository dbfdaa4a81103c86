"""The WSGI application: Pecan's object with our route table as its router.

A request costs one look-up in the tree and one call of its handler; Pecan's own argument inspection never runs. The
version headers of routed answers and the shapes of errors are written here and nowhere else. `build_app` is the only
thing the programs need.
"""

import logging
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pecan.core
import pecan.hooks
import webob
from oslo_config import cfg

from ironic.api import access, conditional, errors, named, policy, telling, versions
from ironic.api.answers import Answer
from ironic.api.errors import JSON, Headers, PlainText, Refusal, VersionRefused
from ironic.api.middleware import Middleware
from ironic.api.request import REQUEST, Request, Services
from ironic.api.resources import ROUTES
from ironic.api.routes import Route, Routes, empty_answer
from ironic.api.settings import ApiSettings
from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.core.errors import IronicError
from ironic.rpc.notifications import NOTICES

if TYPE_CHECKING:
    from ironic.db import Store
    from ironic.rpc.conductors import Conductors
    from ironic.rpc.placement import Placement

LOG = logging.getLogger(__name__)

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]

CONTEXT: Final = "ironic.context"
_OPTIONS: Final = Route("OPTIONS", "", empty_answer, public=True)


class Api(pecan.core.ExplicitPecan):  # type: ignore[misc]  # Pecan carries no types
    """Pecan's application; the four overrides below are all it needs (a test holds them)."""

    def __init__(self, routes: Routes, services: Services) -> None:
        super().__init__(
            self,
            hooks=[_ErrorHook(services.settings.debug_tracebacks)],
            force_canonical=False,
            guess_content_type_from_ext=False,
        )
        self._routes, self._services = routes, services

    def find_controller(self, state: Any) -> tuple[object, tuple[object, ...], dict[str, object]]:
        """Find the row of the table, check version and access."""
        environ = state.request.environ
        path = _path(environ)
        try:
            minor = versions.negotiate(environ)
        except VersionRefused as refusal:
            refusal.at_root = path in ("", "/")
            raise
        request = Request(environ, minor, environ.get(CONTEXT) or RequestContext(), self._services)
        # From here on errors know which version they are told in.
        environ[REQUEST] = request
        route, values = self._find(request, path)
        if not takes_json(environ.get("HTTP_ACCEPT")):
            raise PlainText(406, "This service answers in JSON only.")
        request.route = route
        if route.since > minor:
            raise route.too_new()
        if request.stripped:
            values = named.as_named(request, route, values)
        access.check(request, route, values)
        return route.run, (request, *values), {}

    def _find(self, request: Request, path: str) -> tuple[Route, tuple[str, ...]]:
        if request.method == "OPTIONS":
            return _OPTIONS, ()
        if path.endswith(".json") and path not in self._routes.whole and _strips(request):
            request.stripped, path = True, path.removesuffix(".json")
        try:
            return self._routes.find(request.method, path, request.minor)
        except errors.Abort as refusal:
            if refusal.status == 404 and not takes_json(request.environ.get("HTTP_ACCEPT")):
                raise PlainText(404, "There is no such path.") from None
            raise

    def invoke_controller(self, handler: Any, args: Any, kwargs: Any, state: Any) -> None:
        """Run the row, which reads the arguments and calls its handler, and write the answer."""
        request: Request = args[0]
        try:
            answer: Answer = telling.answered(request, handler, args) if NOTICES.on else handler(*args)
        finally:
            request.release()
        headers: Headers = [] if request.route is _OPTIONS else version_headers(request.minor)
        if answer.location is not None:
            headers.append(("Location", answer.location))
        if answer.is_secret:
            headers += [conditional.NO_STORE, conditional.VARY]
        elif answer.status == 200 and answer.body is not None and request.method in ("GET", "HEAD"):
            tag = conditional.tag(answer.body)
            headers += [("ETag", f'"{tag}"'), conditional.VARY]
            if conditional.is_held(request.environ, tag):
                answer = Answer(304)
        _write(state.response, answer.status, answer.body, headers, answer.content_type)
        if request.method == "HEAD":
            # The length stays: it is that of the body a GET would get.
            state.response.app_iter, state.response.headerlist = [], list(state.response.headerlist)

    def determine_hooks(self, controller: object = None) -> object:
        """Return the one hook there is."""
        return self.hooks

    def _handle_empty_response_body(self, state: object) -> None:
        """Keep Pecan from decoding the body and from turning an empty 200 into 204."""


def _strips(request: Request) -> bool:
    """Tell whether a version, asked for expressly, takes '.json' off paths."""
    return request.minor < 91 and versions.asked(request.environ) is not None


class _ErrorHook(pecan.hooks.PecanHook):  # type: ignore[misc]  # Pecan carries no types
    """Writes the answer to anything that was raised."""

    def __init__(self, debug: bool) -> None:
        self._debug = debug

    def on_error(self, state: Any, error: Exception) -> webob.Response:
        """Return the complete response."""
        request: Request | None = state.request.environ.get(REQUEST)
        response = webob.Response()
        try:
            self._fill(response, state, request, error)
        finally:
            _forget(error)
        return response

    def _fill(self, response: webob.Response, state: Any, request: Request | None, error: Exception) -> None:
        if isinstance(error, Refusal):
            _write(response, error.status, error.body() or None, error.headers)
            return
        status, text = errors.status_and_text(error)
        if request is not None:
            text = access.without_host(request, error, text)
        debuginfo = None
        if status >= 500:
            _log(state.request, status, error)
            debuginfo = traceback.format_exc() if self._debug else None
        headers = version_headers(request.minor) if request else version_headers(versions.MINIMUM)
        if isinstance(error, errors.Refused):
            headers += error.headers
        _write(response, status, errors.fault(status, text, debuginfo), headers)


def _forget(error: BaseException | None) -> None:
    """Drop what the functions held that an error has ended, perhaps a body of many MiB.

    Errors and their tracebacks refer to each other, so it would stay until garbage is collected.
    """
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def _log(request: Any, status: int, error: Exception) -> None:
    """Note what is not the caller's fault; only the unexpected needs its traceback."""
    if isinstance(error, (IronicError, errors.Refused)):
        LOG.warning("%s %s is answered with %d: %s", request.method, request.path_info, status, error)
    else:
        LOG.exception("%s %s failed with status %d.", request.method, request.path_info, status)


def _path(environ: dict[str, Any]) -> str:
    """Return the path; bytes that are no text become characters no identifier has."""
    path: str = environ.get("PATH_INFO", "")
    return path if path.isascii() else path.encode("latin-1", "replace").decode("utf-8", "replace")


def takes_json(accept: str | None) -> bool:
    """Tell whether a client takes JSON."""
    if accept is None or "*/*" in accept or "json" in accept or "application/*" in accept:
        return True
    return not accept.strip()


def version_headers(minor: int) -> Headers:
    """Return the three headers of every routed answer."""
    return [
        (errors.MINIMUM_HEADER, versions.TEXTS[versions.MINIMUM]),
        (errors.MAXIMUM_HEADER, versions.TEXTS[versions.MAXIMUM]),
        (errors.VERSION_HEADER, versions.TEXTS[minor]),
    ]


def _write(
    response: webob.Response, status: int, body: bytes | list[bytes] | None, headers: Headers, content_type: str = JSON
) -> None:
    """Fill a response; without a body there is no content type."""
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
    conductors: "Conductors",
    placement: "Placement",
    settings: ApiSettings,
    conf: cfg.ConfigOpts = CONF,
) -> WSGI:
    """Wire the API; `conf` is needed only by the libraries of the keystone mode."""
    app: WSGI = Api(Routes(ROUTES), Services(store, conductors, placement, settings, _policy(settings, conf)))
    return Middleware(_identified(app, settings, conf), settings)


def _policy(settings: ApiSettings, conf: cfg.ConfigOpts) -> policy.Policy:
    return policy.Keystone.from_conf(conf) if settings.auth_strategy == "keystone" else policy.Noauth()


def _identified(app: WSGI, settings: ApiSettings, conf: cfg.ConfigOpts) -> WSGI:
    """Put what finds out who a caller is before the application; only what is used is imported."""
    match settings.auth_strategy:
        case "noauth":
            return app
        case "keystone":
            from ironic.api import identity

            return identity.wrap(app, conf, Routes(ROUTES))
        case "http_basic":
            from ironic.api.basic import BasicIdentity, Guesses, Users

            return BasicIdentity(
                app,
                Users(Path(settings.user_file)),
                Routes(ROUTES),
                guesses=Guesses(settings.wrong_passwords) if settings.wrong_passwords else None,
                trusts_proxy=settings.proxy_headers,
            )
        case other:
            raise ValueError(f"auth_strategy = {other} is unknown; there are noauth, keystone and http_basic.")
