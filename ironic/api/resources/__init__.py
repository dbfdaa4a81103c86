"""The resources. One that takes several files is a package of one layout, the others are a module each.

In a package `computed` makes what is in no column, `reads` lists and shows, `writes` creates, changes and deletes. What
stands below one thing in its path is the module of that name: `/v1/nodes/{node}/management/...` is `nodes.management`.
The route table is the rows of all modules together: a module that has `ROUTES` is found, it is registered nowhere.
"""

import pkgutil
from collections.abc import Iterator
from importlib import import_module

from ironic.api.resources import openapi
from ironic.api.routes import Route


def _rows() -> Iterator[Route]:
    for found in pkgutil.walk_packages(__path__, f"{__name__}."):
        yield from getattr(import_module(found.name), "ROUTES", ())


# In the order of their paths, which is that of the reference pages.
_ROUTES: tuple[Route, ...] = tuple(sorted(_rows(), key=lambda row: row.path))

ROUTES: tuple[Route, ...] = (*_ROUTES, *openapi.routes(_ROUTES))
