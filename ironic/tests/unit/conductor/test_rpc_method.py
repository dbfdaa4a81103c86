"""A conversation of the test's own: each call takes its node as declared and reaches the function of its name."""

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Protocol

import pytest

from ironic.conductor.rpc_method import endpoint_of, rpc_method
from ironic.conductor.tasks import TaskFactory, TaskManager
from ironic.core.context import RequestContext
from ironic.core.errors import NodeLocked, NodeNotFound
from ironic.core.errors.resource_errors import PortNotFound
from ironic.db import Store
from ironic.rpc import message_format
from ironic.rpc.dispatcher import Dispatcher
from ironic.rpc.in_process import InProcess
from ironic.rpc.rpc_api import EXCLUSIVE, SHARED, call, calls_of
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.conductor.conftest import fake_composition
from ironic.tests.unit.conductor.flows.bench import Inline

CONTEXT = RequestContext(request_id="req-1", user_id="u1")
NOBODY = "00000000-0000-4000-8000-000000000000"


class Talk(Protocol):
    @call(lock=EXCLUSIVE, purpose="polishing {what[name]} {times} times")
    def polish(self, context: RequestContext, node_id: str, what: dict[str, Any], times: int = 2) -> dict[str, Any]: ...

    @call(lock=EXCLUSIVE, purpose="listening to a machine", background=True)
    def listen(self, context: RequestContext, node_id: str) -> dict[str, Any]: ...

    @call(lock=SHARED, purpose="looking")
    def look(self, context: RequestContext, node_id: str) -> dict[str, Any]: ...

    @call(lock=EXCLUSIVE, purpose="dusting port {port_id}")
    def dust_port(self, context: RequestContext, port_id: str) -> dict[str, Any]: ...

    @call(lock=SHARED, purpose="smelling at a group")
    def smell(self, context: RequestContext, portgroup_id: str) -> dict[str, Any]: ...

    @call()
    def greet(self, context: RequestContext, name: str = "guest") -> list[str | None]: ...

    @call()
    def wait(self, context: RequestContext) -> None: ...


def _seen(task: TaskManager, *given: Any) -> dict[str, Any]:
    """Return what a function sees of its node, and what the row says meanwhile."""
    task.spawn_after(lambda: None)
    row = task.store.nodes.row(("reservation", "reservation_purpose"), task.node_id)
    return {"uuid": task.node.uuid, "lock": None if task.shared else task.purpose, "row": list(row), "given": given}


@rpc_method
def polish(task: TaskManager, what: dict[str, Any], times: int) -> dict[str, Any]:
    return _seen(task, what, times)


@rpc_method
def listen(task: TaskManager) -> dict[str, Any]:
    return _seen(task)


@rpc_method
def look(task: TaskManager) -> dict[str, Any]:
    return _seen(task)


@rpc_method
def dust_port(task: TaskManager, port_id: str) -> dict[str, Any]:
    return _seen(task, port_id)


@rpc_method
def smell(task: TaskManager, portgroup_id: str) -> dict[str, Any]:
    return _seen(task, portgroup_id)


@rpc_method
def greet(tasks: TaskFactory, context: RequestContext, name: str) -> list[str | None]:
    return [tasks.host, context.user_id, name]


@rpc_method
def wait(tasks: TaskFactory, context: RequestContext) -> None:
    pass


def unmarked(task: TaskManager) -> None:
    raise AssertionError("this function answers nothing")


ANSWERS = (polish, listen, look, dust_port, smell, greet, wait)


def module(*functions: Callable[..., Any]) -> ModuleType:
    made = ModuleType("parlour")
    vars(made).update({f"{function.__name__}_{index}": function for index, function in enumerate(functions)})
    return made


class Pool(Inline):
    """Records the slots that are taken."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[str, bool]] = []

    def take(self, purpose: str, party: object = None, *, background: bool = False) -> Inline:
        self.noted.append((purpose, background))
        return super().take(purpose, background=background)


@pytest.fixture
def store(tmp_path: Any, conf: Any) -> Iterator[Store]:
    conf(conductor__node_locked_retry_attempts=1)
    store = sqlite_store(tmp_path)
    yield store
    store.close()


@pytest.fixture
def pool() -> Any:
    return Pool()


@pytest.fixture
def endpoint(store: Store, pool: Any) -> Any:
    # One function is found in two modules, as one that imports it from the other.
    make = endpoint_of(Talk, [module(*ANSWERS, unmarked), module(greet)])
    return make(TaskFactory(store, fake_composition(), pool, "c1"))


@pytest.fixture(params=["in process", "dispatcher"])
def ask(request: pytest.FixtureRequest, endpoint: Any) -> Callable[..., Any]:
    """Return how a call is made; both ways end at the endpoint, and none of them knows the conversation beforehand."""
    if request.param == "dispatcher":
        dispatcher = Dispatcher("c1", endpoint)
        return lambda name, /, **given: message_format.result_of(dispatcher.answer(CONTEXT.to_dict(), name, given))
    transport = InProcess()
    transport.register("c1", endpoint)
    return lambda name, /, **given: transport.send("c1", CONTEXT, calls_of(Talk)[name], given)


def node(store: Store, **values: Any) -> str:
    return store.nodes.create({"driver": "fake-hardware", "provision_state": "manageable", **values}).uuid


def part(store: Store, uuid: str, kind: str, **values: Any) -> str:
    found: str = getattr(store, kind).create({"node_id": store.nodes.get(uuid).id, **values}).uuid
    return found


def test_an_exclusive_call_holds_the_node_and_says_what_for(ask: Any, store: Store, pool: Any) -> None:
    uuid = node(store)
    purpose = "polishing {lamp} 2 times"
    assert ask("polish", node_id=uuid, what={"name": "{lamp}"}) == {
        "uuid": uuid,
        "lock": purpose,
        "row": ["c1", purpose],
        "given": [{"name": "{lamp}"}, 2],
    }
    assert pool.noted == [(f"{purpose} of node {uuid}", False)]
    assert store.nodes.get(uuid).reservation is None
    assert ask("polish", node_id=uuid, what={"name": "x"}, times=3)["given"] == [{"name": "x"}, 3]


def test_a_background_call_leaves_the_reserved_workers_to_users(ask: Any, store: Store, pool: Any) -> None:
    uuid = node(store)
    assert ask("listen", node_id=uuid)["row"] == ["c1", "listening to a machine"]
    assert pool.noted == [(f"listening to a machine of node {uuid}", True)]


def test_a_shared_call_does_not_mind_who_holds_the_node(ask: Any, store: Store, pool: Any) -> None:
    uuid = node(store, reservation="c2", reservation_purpose="theirs")
    assert ask("look", node_id=uuid) == {"uuid": uuid, "lock": None, "row": ["c2", "theirs"], "given": []}
    assert pool.noted == [(f"looking of node {uuid}", False)]


@pytest.mark.parametrize("name, given", [("polish", {"what": {"name": "x"}}), ("listen", {})])
def test_an_exclusive_call_waits_for_who_holds_the_node(
    ask: Any, store: Store, pool: Any, name: str, given: dict[str, Any]
) -> None:
    uuid = node(store, reservation="c2")
    with pytest.raises(NodeLocked):
        ask(name, node_id=uuid, **given)
    assert (store.nodes.get(uuid).reservation, pool.noted) == ("c2", [])


def test_a_call_about_a_part_takes_the_node_of_it(ask: Any, store: Store) -> None:
    uuid, other = node(store), node(store)
    port = part(store, uuid, "ports", address="52:54:00:00:00:01")
    part(store, other, "ports", address="52:54:00:00:00:02")
    group = part(store, other, "portgroups")
    purpose = f"dusting port {port}"
    assert ask("dust_port", port_id=port) == {"uuid": uuid, "lock": purpose, "row": ["c1", purpose], "given": [port]}
    assert ask("smell", portgroup_id=group) == {"uuid": other, "lock": None, "row": [None, None], "given": [group]}


def test_what_is_not_there_is_not_found(ask: Any) -> None:
    with pytest.raises(NodeNotFound):
        ask("look", node_id=NOBODY)
    with pytest.raises(PortNotFound):
        ask("dust_port", port_id=NOBODY)


def test_a_call_without_a_lock_takes_no_node(ask: Any, pool: Any) -> None:
    assert ask("greet", name="n1") == ["c1", "u1", "n1"]
    assert ask("greet") == ["c1", "u1", "guest"]
    assert ask("wait") is None
    assert pool.noted == []


# What keeps a conductor from starting


def _answer(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    function.__name__ = name
    return rpc_method(function)


def _without(name: str) -> list[Callable[..., Any]]:
    return [function for function in ANSWERS if function.__name__ != name]


def _later_argument(task: TaskManager, what: dict[str, Any], times: int, slowly: bool = False) -> dict[str, Any]:
    return what


def _no_times(task: TaskManager, what: dict[str, Any]) -> dict[str, Any]:
    return {"times": 0}


def _other_order(task: TaskManager, times: int, what: dict[str, Any]) -> dict[str, Any]:
    return what


def _other_type(task: TaskManager, what: dict[str, Any], times: str) -> dict[str, Any]:
    return what


def _other_result(task: TaskManager, what: dict[str, Any], times: int) -> list[Any]:
    return [what]


def _by_place(task: TaskManager, what: dict[str, Any], times: int, /) -> dict[str, Any]:
    return what


def _no_task(tasks: TaskFactory, what: dict[str, Any], times: int) -> dict[str, Any]:
    return what


MISFITS = (_later_argument, _no_times, _other_order, _other_type, _other_result, _by_place, _no_task)


@pytest.mark.parametrize("misfit", MISFITS, ids=[function.__name__ for function in MISFITS])
def test_a_function_that_does_not_fit_its_call_is_refused(misfit: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"Talk can't be answered: .*\.polish\(.* is no RPC method for polish\("):
        endpoint_of(Talk, [module(*_without("polish"), _answer(misfit, "polish"))])


def test_a_call_without_a_lock_gets_no_task() -> None:
    def greet(task: TaskManager, name: str) -> list[str | None]:
        return [name]

    with pytest.raises(TypeError, match="is no RPC method for greet"):
        endpoint_of(Talk, [module(*_without("greet"), rpc_method(greet))])


def test_a_call_without_a_function_is_refused() -> None:
    with pytest.raises(TypeError, match="look needs one function marked as its RPC method and has 0"):
        endpoint_of(Talk, [module(*_without("look"), _answer(lambda task: None, "see"))])


def test_a_function_without_a_call_is_refused() -> None:
    with pytest.raises(TypeError, match="see is marked as an RPC method and is no call"):
        endpoint_of(Talk, [module(*ANSWERS, _answer(lambda task: None, "see"))])


def test_a_second_function_for_a_call_is_refused() -> None:
    with pytest.raises(TypeError, match="look needs one function marked as its RPC method and has 2"):
        endpoint_of(Talk, [module(*ANSWERS), module(_answer(lambda task: {}, "look"))])


def test_a_lock_needs_a_node() -> None:
    class Odd(Protocol):
        @call(lock=SHARED, purpose="looking")
        def look(self, context: RequestContext, chassis_id: str) -> None: ...

    with pytest.raises(TypeError, match="look takes a node and does not name it first"):
        endpoint_of(Odd, [module(look)])


def test_a_shared_call_is_no_background_call() -> None:
    class Odd(Protocol):
        @call(lock=SHARED, purpose="looking", background=True)
        def look(self, context: RequestContext, node_id: str) -> dict[str, Any]: ...

    with pytest.raises(TypeError, match="look takes a shared lock in the background"):
        endpoint_of(Odd, [module(look)])


@pytest.mark.parametrize(
    "terms, reason",
    [
        ({"lock": SHARED}, "both a lock and a purpose"),
        ({"purpose": "looking"}, "both a lock and a purpose"),
        ({"lock": SHARED, "purpose": "looking at {what} of {node_id}"}, "names what"),
        ({"lock": SHARED, "purpose": "looking at {what[0]}"}, "names what"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(terms: dict[str, Any], reason: str) -> None:
    def look(self: Any, context: RequestContext, node_id: str) -> None: ...

    with pytest.raises(TypeError, match=f"look: .*{reason}"):
        call(**terms)(look)
