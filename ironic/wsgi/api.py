"""The same WSGI callable, `ironic.wsgi.api:application`, under the name that deployment tools use."""

from ironic.wsgi import application

__all__ = ["application"]
