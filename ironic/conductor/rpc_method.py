"""Build the RPC endpoint from the functions marked as RPC methods: each call takes its node's lock and calls one.

The declaration of a call (`ironic.rpc.rpc_api`) says how it takes its node. The function has the call's name and is
marked ``@rpc_method``. In place of context and node it gets the task, or the conductor's tasks and the context where
the call takes no node; then the other arguments of the call. Both are matched when the conductor is imported: a call
without a function, a function without a call or one with other parameters is a TypeError then, and no conductor starts.
"""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ironic.conductor.locking import LockMode
from ironic.core.errors import MissingParameterValue
from ironic.integrations import metric_table
from ironic.rpc.rpc_api import SHARED, Call, calls_of

if TYPE_CHECKING:
    from ironic.conductor.tasks import TaskFactory
    from ironic.core.context import RequestContext

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK: Final = "__rpc_method__"


# A call that takes a node names it first, or a part of it: then the part's repository in the store knows the node.
_NODE: Final = "node_id"
_PARTS: Final = {"port_id": "ports", "portgroup_id": "portgroups"}


def rpc_method(function: Function) -> Function:
    """Mark the function that carries out the call of its name."""
    setattr(function, _MARK, True)
    return function


class _Endpoint:
    """Base of the endpoint of one conductor."""

    def __init__(self, tasks: "TaskFactory") -> None:
        self._tasks = tasks


def endpoint_of(api: type, modules: Iterable[ModuleType]) -> Callable[["TaskFactory"], Any]:
    """Return the class that carries out the calls of an API with the marked functions of these modules.

    Raise TypeError if the two don't match.
    """
    calls = calls_of(api)
    functions: dict[str, list[Callable[..., Any]]] = defaultdict(list)
    for module in modules:
        for value in vars(module).values():
            # A module may have imported marked functions of another.
            if inspect.isfunction(value) and hasattr(value, _MARK) and value not in functions[value.__name__]:
                functions[value.__name__].append(value)
    if faults := list(_faults(calls, functions)):
        raise TypeError(f"{api.__name__} can't be answered: {'; '.join(faults)}")
    methods = {name: metric_table.CALLS.timer(name)(_method(call, functions[name][0])) for name, call in calls.items()}
    return type("Endpoint", (_Endpoint, api), methods)


def _faults(calls: Mapping[str, Call], functions: Mapping[str, Sequence[Callable[..., object]]]) -> Iterator[str]:
    for name in functions.keys() - calls.keys():
        yield f"{name} is marked as an RPC method and is no call"
    for name, call in calls.items():
        if len(found := functions.get(name, [])) != 1:
            yield f"{name} needs one function marked as its RPC method and has {len(found)}"
        elif call.lock and not {one.name for one in call.parameters[:1]} & {_NODE, *_PARTS}:
            yield f"{name} takes a node and does not name it first"
        elif call.lock is SHARED and call.background:
            yield f"{name} takes a shared lock in the background, for which there is no lock mode"
        elif not _fits(found[0], call):
            function = f"{found[0].__module__}.{name}{inspect.signature(found[0])}"
            yield f"{function} is no RPC method for {name}{call.signature}"


def _fits(function: Callable[..., object], call: Call) -> bool:
    """Compare names and types; defaults are the call's, and how the first arguments are annotated does not matter."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    first = ["task"] if call.lock else ["tasks", "context"]
    rest = [one for one in call.parameters if not (call.lock and one.name == _NODE)]
    return (
        list(signature.parameters)[: len(first)] == first
        and _types(parameters[len(first) :]) == _types(rest)
        and signature.return_annotation == call.signature.return_annotation
    )


def _types(parameters: Iterable[inspect.Parameter]) -> list[tuple[object, ...]]:
    return [(one.name, one.kind, one.annotation) for one in parameters]


def _method(call: Call, function: Callable[..., object]) -> Callable[..., object]:
    """Return the endpoint's method for a call: it takes the node as declared and passes the other arguments on."""
    defaults = {one.name: one.default for one in call.parameters if one.default is not one.empty}

    if call.lock is None:

        def method(self: _Endpoint, context: "RequestContext", *args: Any, **kwargs: Any) -> object:
            return function(self._tasks, context, **defaults | call.arguments(*args, **kwargs))

        return method

    named = call.parameters[0].name
    exclusive = LockMode.REPORT if call.background else LockMode.EXCLUSIVE
    mode = LockMode.SHARED if call.lock is SHARED else exclusive

    def method_with_node(self: _Endpoint, context: "RequestContext", *args: Any, **kwargs: Any) -> object:
        given = defaults | call.arguments(*args, **kwargs)
        try:
            purpose = call.purpose.format_map(given)
        except (KeyError, TypeError) as error:
            # The purpose names a key of an argument that the caller has left out.
            raise MissingParameterValue(err=f"{call.name} can't be done: its arguments lack {error}.") from None
        if named == _NODE:
            node = given.pop(_NODE)
        else:
            node = getattr(self._tasks.store, _PARTS[named]).row(("node_id",), given[named])[0]
        with self._tasks.acquire(context, node, mode, purpose=purpose) as task:
            return function(task, **given)

    return method_with_node
