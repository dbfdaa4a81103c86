"""The regular expressions of the product, found in its sources, with the methods by which they are used.

An expression that is computed is not seen here: `Expression.pattern` is None, and who asks has to know what it can be.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import re2

from ironic.tests.product_trees import PRODUCT, product_trees

_USES: Final = frozenset(("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"))
_LIBRARIES: Final = {"re": re, "re2": re2}


class Expression(NamedTuple):
    """One of the product; ``source`` is how its pattern is written, ``where`` the module and the line."""

    where: str
    library: str
    source: str
    pattern: str | bytes | None
    flags: int
    methods: frozenset[str]


def expressions() -> list[Expression]:
    """Return all of the product, each with the methods that are called on its name: in its module, or anywhere."""
    trees = {PRODUCT / place: tree for place, tree in product_trees().items()}
    public: defaultdict[str, set[str]] = defaultdict(set)
    private: defaultdict[Path, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in _USES:
                for name in _names_in(node.value):
                    (private[path] if name.startswith("_") else public)[name].add(node.attr)
    return [found for path, tree in trees.items() for found in _found_in(path, tree, {**public, **private[path]})]


def calls_of(function: str) -> Iterator[ast.Call]:
    """Yield the calls of a function or class of this name in the product."""
    for tree in product_trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and list(_names_in(node.func))[:1] == [function]:
                yield node


def _found_in(path: Path, tree: ast.Module, methods: dict[str, set[str]]) -> Iterator[Expression]:
    module = ".".join(("ironic", *path.relative_to(PRODUCT).with_suffix("").parts))
    names: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            name = next((name for target in targets for name in _names_in(target)), "")
            names.update(dict.fromkeys(ast.walk(node.value), name))
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re" | "re2" as library), attr=used)) if (
                used == "compile" or used in _USES
            ):
                written = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
                given = methods.get(names.get(node, ""), set()) if used == "compile" else {used}
                yield Expression(
                    f"{module}:{node.lineno}",
                    library,
                    ast.unparse(node.args[0]),
                    written if isinstance(written, str | bytes) else None,
                    _flags(node, library, used),
                    frozenset(given or {"search"}),
                )


def _flags(call: ast.Call, library: str, used: str) -> int:
    """Return the flags of a call; they come after the pattern, the text, and what replaces it."""
    place = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(used, 2)
    given = call.args[place] if len(call.args) > place else None
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "flags"), given)
    if given is None or library == "re2":
        return 0
    found = 0
    for name in _names_in(given):
        found |= int(getattr(re, name, 0))
    return found


def _names_in(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr
