"""Middleware of other packages around the API, as [api]middleware names it.

Each is called with a WSGI application and returns the one to use in its place. They stand outside authentication, so
they see requests of unknown callers, and inside of the limits for addresses, the health check and the access log. A
request whose body has not arrived is begun again once a middleware reads it.
"""

from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from ironic.core.permit import PERMIT

GROUP: Final = "ironic.api.middleware"


def wrap(app: WSGIApplication, names: Sequence[str]) -> WSGIApplication:
    """Return the application within the named middleware, the last name outermost; ValueError for one that can't be."""
    if not names:
        return app
    published = {point.name: point for point in entry_points(group=GROUP)}
    wrapped = app
    for name in names:
        # What is no entry point is the place of a callable: `module:name`.
        point = published.get(name) or EntryPoint(name, name, GROUP)
        try:
            if name not in published and ":" not in name:
                raise LookupError(f"there is no entry point of this name; there are {', '.join(published) or 'none'}")
            wrapped = point.load()(wrapped)
            if not callable(wrapped):
                raise TypeError("it returns no application")
        except Exception as error:
            raise ValueError(f"[api]middleware {name} can't be used: {type(error).__name__}: {error}") from error

    def outermost(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # It may wait for other services, and must not be called twice for one answer.
        PERMIT.check_may_wait()
        return wrapped(environ, start_response)

    return outermost
