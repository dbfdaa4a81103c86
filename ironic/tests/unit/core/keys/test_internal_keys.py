"""Keys of driver_internal_info: what counts as their value, and that others name none by a text."""

import ast
from typing import Any

import pytest

from ironic.core.keys.internal_keys import InternalKey
from ironic.tests.product_trees import product_trees
from ironic.tests.repository import tool
from ironic.tests.unit.drivers.machine import Machine

TEXT = InternalKey("a_text", str, "A text.")
NUMBER = InternalKey("a_number", int, "A number.")
LIST = InternalKey("a_list", list[str], "A list.")
ANY = InternalKey("a_value", object, "Anything.")

# The record itself, and who keeps values under keys that it makes of the names of flows, or of kinds of waits.
HOMES = {"core/keys/internal_keys.py", "core/flows/step_cursor.py", "conductor/former_waits.py", "db/record.py"}


def test_a_value_is_set_read_and_deleted() -> None:
    node = Machine()
    assert (TEXT.of(node), TEXT.delete(node)) == (None, None)
    TEXT.set(node, "x")
    assert (TEXT.of(node), node.driver_internal_info) == ("x", {"a_text": "x"})
    assert (TEXT.delete(node), node.driver_internal_info) == ("x", {})


@pytest.mark.parametrize(
    "key, value, is_one",
    [
        (TEXT, "", True),
        (TEXT, 5, False),
        (TEXT, ["x"], False),
        (NUMBER, 0, True),
        (NUMBER, True, False),
        (NUMBER, "5", False),
        (LIST, [], True),
        (LIST, {}, False),
        (ANY, False, True),
        (ANY, {"x": 1}, True),
    ],
)
def test_a_value_of_another_type_counts_as_none(key: InternalKey[Any], value: object, is_one: bool) -> None:
    assert key.read({key.name: value}) == (value if is_one else None)
    node = Machine(driver_internal_info={key.name: value})
    assert key.delete(node) == (value if is_one else None)
    assert node.driver_internal_info == {}


@pytest.mark.parametrize("info", [None, {}])
def test_a_node_may_remember_nothing(info: dict[str, object] | None) -> None:
    assert TEXT.read(info) is None


def by_name(tree: ast.AST) -> list[int]:
    """Return the lines of a module that read or write driver_internal_info by a key."""

    def is_info(found: ast.AST) -> bool:
        if isinstance(found, ast.BoolOp):
            return is_info(found.values[0])
        return isinstance(found, ast.Attribute) and found.attr == "driver_internal_info"

    lines = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="set_driver_internal_info" | "del_driver_internal_info")):
                lines.append(node.lineno)
            case ast.Call(func=ast.Attribute(attr="get" | "pop", value=value)) if is_info(value):
                lines.append(node.lineno)
            case ast.Subscript(value=value) if is_info(value):
                lines.append(node.lineno)
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[value]) if is_info(value):
                lines.append(node.lineno)
    return lines


def test_who_reads_by_name_is_found() -> None:
    source = (
        "n.driver_internal_info.get(K)\n(n.driver_internal_info or {})['k']\nK in n.driver_internal_info\nn.extra[K]\n"
    )
    assert by_name(ast.parse(source)) == [1, 2, 3]


def test_keys_are_read_and_written_by_their_declaration() -> None:
    places = {place: lines for place, tree in product_trees().items() if (lines := by_name(tree))}
    assert places.keys() <= HOMES, places


def test_each_key_is_declared_once_and_says_what_its_value_says() -> None:
    keys = tool("internal_keys_page").declared()
    assert len(keys) > 50
    assert [name for name, key in keys.items() if not key.says.endswith(".")] == []
