"""A door for third-party plug-ins: the context of a request, and that of work that no user has requested."""

from ironic.core.context import RequestContext
from ironic.core.context import service_context as get_admin_context

__all__ = ["RequestContext", "get_admin_context"]
