"""Time, threads and chance are handed in: they stand in `core.clock` and `core.threads` alone.

Of the conductor, the drivers, the database, RPC, the services and the core, no other module reads the time, waits,
starts a thread or draws a number by itself.
"""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import ironic

ROOT: Final = Path(ironic.__file__).parent
HELD: Final = ("conductor", "core", "db", "drivers", "rpc", "services")
ROOMS: Final = {"core/clock.py", "core/threads.py"}

# Of these modules all names but these; "threading" has locks, which take no time.
ALLOWED: Final[dict[str, set[str]]] = {
    "time": set(),
    "random": {"Random"},
    "tenacity": set(),
    "futurist": set(),
    "threading": {"BoundedSemaphore", "Lock", "RLock", "Semaphore", "local"},
    "concurrent.futures": {"CancelledError", "Executor", "Future", "InvalidStateError", "wait"},
}
PRESENT: Final = {"now", "today", "utcnow"}

# What is left, each with its reason.
EXCEPTIONS: Final = {
    "core/values/value_types.py": "utc_now, for programs that run once",
    "conductor/periodic_tasks.py": "futurist schedules by our clock; a metric measures what a run computes",
}

# Who uses the clock and the threads of the process by their names: what a process keeps once for all conductors.
BY_NAME: Final = {
    "db/copy_progress.py": "a program of its own, ironic-dbsync",
    "db/exclusive_use.py": "a program of its own, ironic-dbsync",
    "db/takeover/steps.py": "a program of its own, ironic-dbsync",
    "drivers/modules/agent/host_memory.py": "it waits for the memory of this host",
    "drivers/modules/bmc/bmc_gateway.py": "one gateway to a BMC for the whole process",
    "drivers/modules/console/console_processes.py": "it waits for processes of this host",
    "drivers/modules/console/console_servers.py": "the processes of all consoles",
    "drivers/modules/graphical/programs.py": "the containers of all consoles",
    "drivers/modules/ipmi/conversation.py": "one way to a BMC for the whole process",
    "drivers/modules/ipmi/tool_process.py": "it waits for processes of this host",
    "drivers/modules/redfish/wire/connection_cache.py": "the connections of the whole process",
    "drivers/modules/redfish/orders/stored_changes.py": "below the task, at one of these connections",
    "services/process_store.py": "the database of the whole process",
}


@functools.cache
def modules() -> dict[str, ast.Module]:
    """Return the modules outside the two rooms, without their annotations."""
    paths = (path for room in HELD for path in sorted((ROOT / room).rglob("*.py")))
    named = {str(path.relative_to(ROOT)): path for path in paths}
    return {name: WithoutAnnotations.of(path.read_text()) for name, path in named.items() if name not in ROOMS}


class WithoutAnnotations(ast.NodeTransformer):
    """Removes annotations, which may name the types of what was handed in."""

    @classmethod
    def of(cls, text: str) -> ast.Module:
        tree: ast.Module = cls().visit(ast.parse(text))
        return tree

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return self.visit(node.value) if node.value else None

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)


def is_forbidden(module: str, name: str) -> bool:
    return module in ALLOWED and name not in ALLOWED[module]


def own_time(tree: ast.Module) -> Iterator[str]:
    """Yield what a module has of time, threads and chance that was not handed in."""
    imported = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names if is_forbidden(node.module or "", one.name))
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if is_forbidden(imported.get(owner, ""), node.attr):
                yield f"{owner}.{node.attr}"
            if node.attr in PRESENT and owner.rpartition(".")[2] in {"date", "datetime"}:
                yield f"{owner}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id == "utc_now":
            yield node.id


def uses_by_name(tree: ast.Module) -> Iterator[str]:
    """Yield where the clock of the process is used other than as a default of a parameter."""
    defaults = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for default in (*node.args.defaults, *node.args.kw_defaults)
        if default is not None
        for inner in ast.walk(default)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in {"CLOCK", "THREADS"} and id(node) not in defaults:
            yield f"{node.id} in line {node.lineno}"


def test_time_threads_and_chance_are_handed_in() -> None:
    found = {name: sorted(set(own_time(tree))) for name, tree in modules().items()}
    assert {name: what for name, what in found.items() if what and name not in EXCEPTIONS} == {}


def test_no_exception_is_left_over() -> None:
    found = {name for name, tree in modules().items() if any(own_time(tree))}
    assert EXCEPTIONS.keys() - found == set()


def test_only_what_a_process_keeps_once_uses_its_clock_by_name() -> None:
    found = {name: sorted(uses_by_name(tree)) for name, tree in modules().items()}
    assert {name: where for name, where in found.items() if where and name not in BY_NAME} == {}
    assert BY_NAME.keys() - {name for name, where in found.items() if where} == set()


def test_the_look_finds_what_it_looks_for() -> None:
    seen = own_time(
        ast.parse(
            "import time, random, threading\nimport datetime\nfrom random import Random, choice\n"
            "time.sleep(1); random.choice(x); threading.Event(); threading.Lock(); datetime.datetime.now(); node.now()"
        )
    )
    assert sorted(seen) == ["datetime.datetime.now", "random.choice", "random.choice", "threading.Event", "time.sleep"]
    assert list(uses_by_name(ast.parse("def f(clock=CLOCK.now): return CLOCK"))) == ["CLOCK in line 1"]
