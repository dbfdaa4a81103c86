"""The OpenAPI document of the newest version, as `api-ref/openapi.json`."""

import json

from ironic.api import version_negotiation
from ironic.api.openapi import document
from ironic.api.resources import ROUTES


def page() -> str:
    """Return the document; its address of the service is relative, since a file does not know it."""
    return json.dumps(document(ROUTES, version_negotiation.MAXIMUM, "/"), indent=1, ensure_ascii=False) + "\n"
