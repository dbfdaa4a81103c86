"""How much of the code says what it takes and gives: mypy --strict checks the rest."""

import ast

from ironic.tests.product_trees import product_trees

# The evaluation of rules works on documents of strangers, whatever is in them.
_ANYTHING = "core/rules/"
_MOST = 0.10


def signatures() -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    trees = [tree for place, tree in product_trees().items() if not place.startswith(_ANYTHING)]
    found = [node for tree in trees for node in ast.walk(tree)]
    return [node for node in found if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def has_any(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    places = [one.annotation for one in (*function.args.args, *function.args.kwonlyargs)] + [function.returns]
    return any(isinstance(node, ast.Name) and node.id == "Any" for one in places if one for node in ast.walk(one))


def test_few_signatures_hold_any() -> None:
    found = signatures()
    assert len(found) > 1000
    held = sum(map(has_any, found)) / len(found)
    assert held <= _MOST, f"{held:.1%} of the signatures hold Any; say `object` for what is only passed on"
