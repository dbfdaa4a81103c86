"""All power changes pass through one module."""

import ast

import pytest

from ironic.conductor.locking import LockMode
from ironic.core.errors import ExclusiveLockRequired
from ironic.core.flows import states
from ironic.tests.product_trees import product_trees

ORDERS = {"set_power_state", "reboot"}


def gives_orders(tree: ast.Module) -> bool:
    """Return whether a module orders a power change; an interface that calls itself or its base is not counted."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        isinstance(call, ast.Attribute) and call.attr in ORDERS and ast.unparse(call.value) not in ("self", "super()")
        for call in calls
    )


def test_nothing_else_gives_a_power_interface_its_orders():
    assert {place for place, tree in product_trees().items() if gives_orders(tree)} == {"conductor/power.py"}


def test_it_wants_the_node_for_itself(tasks, context, make_node):
    with (
        tasks.acquire(context, make_node(), mode=LockMode.SHARED, purpose="test") as task,
        pytest.raises(ExclusiveLockRequired),
    ):
        task.change_power(states.POWER_OFF)
