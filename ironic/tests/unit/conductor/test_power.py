"""All power changes pass through one module."""

import ast
from pathlib import Path

import pytest

import ironic
from ironic.conductor.locking import LockMode
from ironic.core.errors import ExclusiveLockRequired
from ironic.core.flows import states

ROOT = Path(ironic.__file__).parent
ORDERS = {"set_power_state", "reboot"}


def orders_in(path: Path) -> list[str]:
    """Return the calls that order a power change; an interface that calls itself or its base is not counted."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for call in calls
        if isinstance(call, ast.Attribute)
        and call.attr in ORDERS
        and ast.unparse(call.value) not in ("self", "super()")
    ]


def test_nothing_else_gives_a_power_interface_its_orders():
    sources = [path for path in ROOT.rglob("*.py") if "tests" not in path.relative_to(ROOT).parts]
    found = [call for path in sources for call in orders_in(path)]
    assert {call.partition(":")[0] for call in found} == {"conductor/power.py"}


def test_it_wants_the_node_for_itself(tasks, context, make_node):
    with (
        tasks.acquire(context, make_node(), mode=LockMode.SHARED, purpose="test") as task,
        pytest.raises(ExclusiveLockRequired),
    ):
        task.change_power(states.POWER_OFF)
