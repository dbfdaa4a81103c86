"""The OpenAPI document of the API, derived from the route table and the fields of the resources."""

from ironic.api.openapi.document import document

__all__ = ["document"]
