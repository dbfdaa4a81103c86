"""The guard that is on in every test sees calls while a transaction is open, and one function alone moves nodes."""

import ast
import http.client
import os
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ironic.core.context import RequestContext
from ironic.core.errors import NodeNotFound
from ironic.db import Store
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.in_process import InProcess
from ironic.tests import transaction_guard
from ironic.tests.databases import sqlite_store
from ironic.tests.product_trees import product_trees
from ironic.tests.transaction_guard import CallInTransaction


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = sqlite_store(tmp_path)
    yield made
    made.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def _connects(listener: socket.socket) -> None:
    with socket.socket() as client:
        client.connect(listener.getsockname())


def _requests_on_a_kept_connection(listener: socket.socket) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, closing(http.client.HTTPConnection("127.0.0.1")) as client:
        client.sock = ours
        client.request("GET", "/")


def _starts_a_child(listener: socket.socket) -> None:
    subprocess.run([sys.executable, "-c", ""], check=True)


CALLS = [_connects, _requests_on_a_kept_connection, _starts_a_child]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["reading", "writing"])
def test_what_leaves_the_process_in_a_transaction_is_refused(
    store: Store, listener: socket.socket, call: Callable[[socket.socket], None], kind: str
) -> None:
    call(listener)
    with getattr(store, kind)(), pytest.raises(CallInTransaction):
        call(listener)
    assert len(transaction_guard.seen) == 1
    transaction_guard.seen.clear()
    with getattr(store, kind)(), transaction_guard.lifted():
        call(listener)


def test_a_conductor_of_the_same_process_is_not_called_either(store: Store) -> None:
    conductors = ConductorClients(InProcess(), HashRingManager(store, heartbeat_timeout=60))
    with store.writing(), pytest.raises(CallInTransaction, match="destroy_node"):
        conductors.at("c1").destroy_node(RequestContext(), "u")
    transaction_guard.seen.clear()


def test_programs_that_tests_start_are_watched_too(tmp_path: Path) -> None:
    script = """
        import socket
        from pathlib import Path
        from ironic.tests.databases import sqlite_store
        listener = socket.create_server(("127.0.0.1", 0))
        with sqlite_store(Path(".")).writing():
            socket.create_connection(listener.getsockname())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "CallInTransaction" in done.stderr
    assert "guarded_programs" in os.environ["PYTHONPATH"]


def test_another_database_may_be_used_meanwhile(store: Store, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = sqlite_store(tmp_path / "other")
    with store.writing(), pytest.raises(NodeNotFound):
        other.nodes.get("nobody")
    other.close()


# One function moves nodes

_STATE = "provision_state"


def _writes(tree: ast.AST) -> Iterator[str]:
    """Yield the functions that set the provision state of something: by assignment, setattr, key or update."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            if _sets_state(node):
                yield function.name


def _sets_state(node: ast.AST) -> bool:
    if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return _STATE in (getattr(node, "attr", None), getattr(getattr(node, "slice", None), "value", None))
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        texts = [one.value for one in node.args if isinstance(one, ast.Constant)]
        keys = [key for one in node.args if isinstance(one, ast.Dict) for key in one.keys]
        named = any(isinstance(key, ast.Constant) and key.value == _STATE for key in keys)
        return (called == "setattr" and _STATE in texts) or (called in ("create", "update") and named)
    return False


def _of_product() -> Iterator[tuple[str, str]]:
    for place, tree in product_trees().items():
        if not place.startswith("db/migrations/"):
            yield from ((place, name) for name in _writes(tree))


def test_one_function_alone_writes_the_provision_state() -> None:
    # Of new nodes, and of rows that were another release's.
    first = {
        ("api/resources/nodes/writes.py", "create"),
        ("inspection/discovery.py", "enroll"),
        ("db/takeover/rows.py", "_node"),
    }
    assert set(_of_product()) - first == {("conductor/transitions.py", "_write")}


@pytest.mark.parametrize(
    "line",
    [
        "node.provision_state = 'x'",
        "a, node.provision_state = 1, 'x'",
        "values['provision_state'] = 'x'",
        "setattr(node, 'provision_state', 'x')",
        "store.nodes.update(1, {'provision_state': 'x'})",
    ],
)
def test_another_one_would_be_seen(line: str) -> None:
    assert list(_writes(ast.parse(f"def other():\n    {line}\n"))) == ["other"]
