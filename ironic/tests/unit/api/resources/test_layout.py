"""Where the code of a route is: to be guessed from its path, and found at the first try."""

import ast
import re
from pathlib import Path

import pytest

from ironic import api
from ironic.api.resources import ROUTES
from ironic.api.routes import Refusing, Route

_ROOM = "ironic.api.resources."
_SERVED = [row for row in ROUTES if not isinstance(row.handler, Refusing)]


def _module(method: str, path: str) -> str:
    (found,) = (row for row in ROUTES if (row.method, row.path) == (method, path))
    return found.handler.__module__.removeprefix(_ROOM)


@pytest.mark.parametrize("row", _SERVED, ids=lambda row: f"{row.method} {row.path}")
def test_the_path_names_the_module(row: Route) -> None:
    words = set(re.findall(r"[a-z_]+", re.sub(r"\{\w+\}", "", row.path.removeprefix("/v1"))))
    parts = row.handler.__module__.removeprefix(_ROOM).split(".")
    if row.path in ("/", "/v1"):
        assert parts == ["root"]
    else:
        # One thing is named by its singular where there can be only one.
        assert set(parts) - {"reads", "writes"} <= words | {f"{word}s" for word in words}


@pytest.mark.parametrize(
    ("wanted", "method", "path", "module"),
    [
        ("the list of nodes", "GET", "/v1/nodes", "nodes.reads"),
        ("enrolling a node", "POST", "/v1/nodes", "nodes.writes"),
        ("maintenance", "PUT", "/v1/nodes/{node}/maintenance", "nodes.maintenance"),
        ("the boot device", "PUT", "/v1/nodes/{node}/management/boot_device", "nodes.management"),
        ("inventory", "GET", "/v1/nodes/{node}/inventory", "nodes.inventory"),
        ("NMI", "PUT", "/v1/nodes/{node}/management/inject_nmi", "nodes.management"),
        ("the console", "PUT", "/v1/nodes/{node}/states/console", "nodes.states"),
        ("the RAID target", "PUT", "/v1/nodes/{node}/states/raid", "nodes.states"),
        ("power", "PUT", "/v1/nodes/{node}/states/power", "nodes.states"),
        ("provisioning", "PUT", "/v1/nodes/{node}/states/provision", "nodes.states"),
        ("validation", "GET", "/v1/nodes/{node}/validate", "nodes.validate"),
        ("traits of a node", "PUT", "/v1/nodes/{node}/traits", "nodes.traits"),
        ("virtual media", "POST", "/v1/nodes/{node}/vmedia", "nodes.vmedia"),
        ("virtual network interfaces", "POST", "/v1/nodes/{node}/vifs", "nodes.vifs"),
        ("BIOS settings", "GET", "/v1/nodes/{node}/bios", "nodes.bios"),
        ("the history of a node", "GET", "/v1/nodes/{node}/history", "nodes.history"),
        ("creating a port", "POST", "/v1/ports", "ports"),
        ("traits of a runbook", "PUT", "/v1/runbooks/{runbook}/traits", "runbooks"),
        ("volume targets", "GET", "/v1/volume/targets", "volume"),
        ("heartbeat", "POST", "/v1/heartbeat/{agent_node}", "heartbeat"),
        ("a dry run of rules", "POST", "/v1/inspection_rules/evaluate", "inspection_rules.evaluate"),
    ],
)
def test_guesses_of_a_newcomer(wanted: str, method: str, path: str, module: str) -> None:
    assert _module(method, path) == module


_API = Path(api.__file__).parent
# What opens a transaction of the store, or hangs something on one.
_OPENERS = {"writing", "announcing", "after_commit", "after_rollback", "require_writing", "lock_row"}


def _opened(source: str) -> list[str]:
    """Return the calls in a module that open a transaction of the store."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of_store = ast.unparse(node.func.value).endswith(("store", "transactions"))
            if node.func.attr in _OPENERS or (node.func.attr == "run" and of_store):
                found.append(ast.unparse(node.func))
    return found


def test_no_handler_opens_a_transaction() -> None:
    # Notifications are recorded in the transaction that they are about, wherever it was opened.
    opened = {str(path.relative_to(_API)): _opened(path.read_text()) for path in _API.rglob("*.py")}
    assert {path: calls for path, calls in opened.items() if calls} == {
        "crud_notifications.py": ["request.store.announcing"]
    }


@pytest.mark.parametrize("line", ["request.store.run(f)", "store.writing()", "request.store.nodes.lock_row(1)"])
def test_a_transaction_in_a_handler_would_be_seen(line: str) -> None:
    assert _opened(f"def handler(request):\n    with {line}:\n        pass\n") == [line.partition("(")[0]]
