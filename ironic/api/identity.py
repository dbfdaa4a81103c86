"""Who the caller is, in keystone mode.

Every request has to carry a token that Keystone knows, except those of public routes; those are let through without
anybody looking at a token, so that a ramdisk never waits for Keystone. The body of the 401 is the middleware's own.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from oslo_config import cfg

from ironic.api.errors import Refusal
from ironic.api.routes import Routes
from ironic.core.context import RequestContext
from ironic.core.errors import IronicError
from ironic.core.permit import PERMIT

WSGI = Callable[[dict[str, Any], Any], Iterable[bytes]]

# How a public path names a thing. Ramdisks use UUIDs; whoever uses other names can say who he is.
_PLAIN: Final = re.compile(r"[a-z0-9-]+")


class Identity:
    """Lets public routes through and sends the others past Keystone."""

    def __init__(self, app: WSGI, protect: Callable[[WSGI], WSGI], routes: Routes) -> None:
        self._app, self._routes = app, routes
        self._protected = protect(self._known)

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Serve one request."""
        if not is_public(self._routes, environ):
            return self._protected(environ, start_response)
        environ["ironic.context"].is_public_api = True
        return self._app(environ, start_response)

    def _known(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        describe(environ["ironic.context"], environ)
        return self._app(environ, start_response)


def is_public(routes: Routes, environ: Mapping[str, Any]) -> bool:
    """Tell whether a request needs nobody to be known."""
    try:
        route, values = routes.find(environ["REQUEST_METHOD"], environ.get("PATH_INFO", ""))
    except (Refusal, IronicError):
        return False
    return route.public and all(map(_PLAIN.fullmatch, values))


def describe(context: RequestContext, environ: dict[str, Any]) -> None:
    """Take down what the middleware found out about the caller."""
    context.user_id = environ.get("HTTP_X_USER_ID")
    context.project_id = environ.get("HTTP_X_PROJECT_ID")
    context.project_name = environ.get("HTTP_X_PROJECT_NAME")
    context.system_scope = environ.get("HTTP_OPENSTACK_SYSTEM_SCOPE")
    context.domain_id = environ.get("HTTP_X_DOMAIN_ID")
    context.user_domain_id = environ.get("HTTP_X_USER_DOMAIN_ID")
    context.project_domain_id = environ.get("HTTP_X_PROJECT_DOMAIN_ID")
    context.is_admin_project = environ.get("HTTP_X_IS_ADMIN_PROJECT", "true").lower() == "true"
    context.roles = tuple(role.strip() for role in environ.get("HTTP_X_ROLES", "").split(",") if role.strip())


def wrap(app: WSGI, conf: cfg.ConfigOpts, routes: Routes) -> WSGI:
    """Put the application behind keystonemiddleware, set up by [keystone_authtoken]."""
    from keystonemiddleware import auth_token

    class AuthProtocol(auth_token.AuthProtocol):  # type: ignore[misc]  # keystonemiddleware carries no types
        def fetch_token(self, token: str, **options: Any) -> object:
            """Ask the cache, or keystone, about a token."""
            with PERMIT.waiting():
                return super().fetch_token(token, **options)

    def protect(inner: WSGI) -> WSGI:
        protected: WSGI = AuthProtocol(inner, {"oslo_config_config": conf})
        return protected

    return Identity(app, protect, routes)
