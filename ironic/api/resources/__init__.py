"""The resources of the API: one module each, or a package where one module would be too long.

In a package, `reads` lists and shows, `writes` creates, changes and deletes. What is below an item in its path is the
module of that name: `/v1/nodes/{node}/management/...` is `nodes.management`. Every module has the same order:
constants, computed fields, handlers, and its rows of the route table, `ROUTES`. The route table is the `ROUTES` of all
modules together; they are found by iteration.
"""

import pkgutil
from importlib import import_module

from ironic.api.resources import openapi
from ironic.api.routes import Route

_MODULES = [import_module(found.name) for found in pkgutil.walk_packages(__path__, f"{__name__}.")]
_ROWS: list[Route] = [row for module in _MODULES for row in getattr(module, "ROUTES", ())]

# In the order of their paths, which is that of the reference pages.
_ROWS.sort(key=lambda row: row.path)

ROUTES: tuple[Route, ...] = (*_ROWS, *openapi.routes(_ROWS))
