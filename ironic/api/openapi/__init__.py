"""The description of the API that machines read, derived from the tables that the service itself works by."""

from ironic.api.openapi.document import document

__all__ = ["document"]
