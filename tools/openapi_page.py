"""The OpenAPI document of the newest version, as `api-ref/openapi.json`."""

import json

from ironic.api import versions
from ironic.api.openapi import document
from ironic.api.resources import ROUTES


def page() -> str:
    """Return the document; where the service is, whoever reads it knows."""
    return json.dumps(document(ROUTES, versions.MAXIMUM, "/"), indent=1, ensure_ascii=False) + "\n"
