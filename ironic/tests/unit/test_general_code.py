"""General code names no flow, interface, driver, hook or client: what is special about one stands in its own record."""

import ast
import itertools
import re
from collections.abc import Iterator

import pytest

from ironic.core.flows.flow import FLOWS
from ironic.drivers.composition.absent_names import TYPE, names
from ironic.drivers.composition.extensions import installed
from ironic.inspection.hooks.base import installed_hooks
from ironic.tests.product_trees import product_trees

# Where names belong: options, implementations and lists of them, each flow's own modules, hooks that need each other,
# rows of another service, and tables of what is odd about one.
HOMES = (
    "conf/",
    "tests/",
    "drivers/modules/",
    "drivers/(composition/absent_names|fake_driver|fake_hardware|generic|hardware_type|intel_ipmi|ipmi|redfish).py",
    "conductor/flows/(adopting|cleaning|deploying|enrollment|inspecting|rescuing|servicing|tearing_down).py",
    "core/flows/(flow|state_names|states).py",
    "db/(migrations/|takeover/|introspections.py)",
    "inspection/hooks/(inspected_ports|port_connectivity).py",
    "api/inspector/",
    "api/client_faults.py",
)

FLOW_NAMES = {flow.name.upper().replace(" ", "_") for flow in FLOWS}
OF_DRIVERS = {name for points in installed().values() for name in points} | {
    name for kind in (TYPE, "boot", "deploy", "inspect", "management", "power") for name in names(kind)
}
# Words that nothing else is called.
ONLY_NAMES = {name for name in OF_DRIVERS | installed_hooks().keys() if "-" in name} | {"ipmitool", "autodetect"}
CLIENTS = re.compile(r"ironicclient|openstacksdk|metal3|gophercloud|nova-compute", re.IGNORECASE)
OF_KIND = re.compile(r"interface|driver|hook", re.IGNORECASE)

General = dict[str, ast.Module]


def general_code() -> General:
    home = re.compile("|".join(HOMES))
    return {place: tree for place, tree in product_trees().items() if not home.match(place)}


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the values of constants of a module by name."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Name) and (value := getattr(node, "value", None)) is not None:
                found[target.id] = value
    return found


def texts(node: ast.AST, known: dict[str, ast.expr]) -> set[str]:
    """Return the texts of an expression, those of constants that it names too."""
    names = {known[one.id] for one in ast.walk(node) if isinstance(one, ast.Name) and one.id in known}
    parts = itertools.chain(ast.walk(node), *(ast.walk(one) for one in names))
    return {one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def docstrings(tree: ast.Module) -> set[int]:
    return {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }


def flows_in(tree: ast.Module) -> set[str]:
    """Return how a module calls flows, as they stand in expressions."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    direct = {
        name.asname or name.name for node in imports if node.module == "ironic.core.flows.flow" for name in node.names
    }
    return (direct & FLOW_NAMES) | {f"flow.{name}" for name in FLOW_NAMES}


def compares(node: ast.Compare, flows: set[str]) -> bool:
    """Return whether something is compared with a flow or a state of one."""
    sides = {ast.unparse(side) for side in (node.left, *node.comparators)}
    return any(side in flows or side.rpartition(".")[0] in flows for side in sides)


def faults(tree: ast.Module) -> Iterator[str]:
    """Yield the names in a module of general code, each with its line."""
    known, documents, flows = constants(tree), docstrings(tree), flows_in(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            if node.value in ONLY_NAMES:
                yield f"{node.lineno}: {node.value}"
            elif CLIENTS.fullmatch(node.value):
                yield f"{node.lineno}: client {node.value}"
        elif isinstance(node, ast.Compare):
            text = ast.unparse(node)
            if compares(node, flows) or (OF_KIND.search(text) and texts(node, known) & OF_DRIVERS):
                yield f"{node.lineno}: {text}"


@pytest.mark.parametrize(
    ("code", "is_fault"),
    [
        ("from ironic.core.flows.flow import CLEAN\nif one is CLEAN: pass", True),
        ("if state == flow.INSPECT.waiting: pass", True),
        ("if flow.is_one_step or party is SERVICE: pass", False),
        ("NAME = 'inspector'\nfound = row.interface_name == NAME", True),
        ("NAMES = frozenset({'redfish'})\nfound = management_interface in NAMES", True),
        ("found = scheme == 'http'", False),
        ("without = {'validate-interfaces': 1}", True),
        ("AGENT = 'ironicclient'", True),
        ("def f():\n    'ironicclient'", False),
    ],
)
def test_a_name_is_found(code: str, is_fault: bool) -> None:
    assert bool(list(faults(ast.parse(code)))) is is_fault


def test_general_code_names_nothing() -> None:
    code = general_code()
    assert len(code) > 350
    found = {name: list(faults(tree)) for name, tree in code.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}
