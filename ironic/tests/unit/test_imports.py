"""No module imports itself through others, imports within functions and for types alone included."""

import ast
import graphlib
from collections.abc import Iterator

import pytest

from ironic.tests.product_trees import product_trees


def modules() -> dict[str, ast.Module]:
    return {
        f"ironic.{place.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__"): tree
        for place, tree in product_trees().items()
    }


def imported(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    """Yield what each import anywhere in a module may mean, the most exact name first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0
            yield from ((f"{node.module}.{alias.name}", node.module) for alias in node.names)


def circle(trees: dict[str, ast.Module]) -> list[str]:
    """Return the modules of a circle, the first of them again at the end; none without one."""
    graph = {
        name: {found for several in imported(tree) if (found := next((one for one in several if one in trees), ""))}
        for name, tree in trees.items()
    }
    try:
        graphlib.TopologicalSorter({name: others - {name, ""} for name, others in graph.items()}).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize(
    "text",
    [
        "from b import thing",
        "def work():\n    import b",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from b import Thing",
    ],
)
def test_a_circle_is_found(text: str) -> None:
    assert set(circle({"a": ast.parse(text), "b": ast.parse("import a")})) == {"a", "b"}
    assert circle({"a": ast.parse(text), "b": ast.parse("import c"), "c": ast.parse("")}) == []


def test_no_module_imports_itself_through_others() -> None:
    trees = modules()
    assert len(trees) > 500
    assert circle(trees) == []
