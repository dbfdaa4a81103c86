"""The modules of the product as syntax trees, for the tests that look through all of them."""

import ast
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from ironic.tests.repository import ROOT

PRODUCT = ROOT / "ironic"


@cache
def product_trees() -> Mapping[str, ast.Module]:
    """Return the tree of each module by its place in the product, as "core/flows/flow.py"; they are not to be changed.

    Parsing all of them takes seconds.
    """
    places = {path: path.relative_to(PRODUCT).as_posix() for path in sorted(PRODUCT.rglob("*.py"))}
    return MappingProxyType(
        {place: ast.parse(path.read_text()) for path, place in places.items() if not place.startswith("tests/")}
    )
