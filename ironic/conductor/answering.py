"""From a call of the conversation to the function that answers it.

The call says how it takes its node. The function has the call's name and is marked ``@answers``. In place of context
and node it gets the task, or the conductor's tasks and the context where the call takes no node; then what the call
takes besides. Both are put together when the conductor is imported, and a call without a function, a function without
a call or one that takes something else is a TypeError then: no conductor starts with it.
"""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ironic.core.errors import MissingParameterValue
from ironic.rpc.call import SHARED, Call, calls_of

if TYPE_CHECKING:
    from ironic.conductor.tasks import Tasks
    from ironic.core.context import RequestContext

Function = TypeVar("Function", bound=Callable[..., Any])

_MARK: Final = "__answers__"

# A call that takes a node names it first, or a part of it: then the part's repository in the store knows the node.
_NODE: Final = "node_id"
_PARTS: Final = {"port_id": "ports", "portgroup_id": "portgroups"}


def answers(function: Function) -> Function:
    """Mark the function that answers the call of its name."""
    setattr(function, _MARK, True)
    return function


class _Endpoint:
    """One conductor's side of a conversation."""

    def __init__(self, tasks: "Tasks") -> None:
        self._tasks = tasks


def endpoint_of(conversation: type, modules: Iterable[ModuleType]) -> Callable[["Tasks"], Any]:
    """Return the class that answers a conversation with the marked functions of these modules.

    Raise TypeError if the two don't match.
    """
    calls, functions = calls_of(conversation), _marked(modules)
    if faults := list(_faults(calls, functions)):
        raise TypeError(f"{conversation.__name__} can't be answered: {'; '.join(faults)}")
    methods = {name: _method(call, functions[name][0]) for name, call in calls.items()}
    return type("Endpoint", (_Endpoint, conversation), methods)


def _marked(modules: Iterable[ModuleType]) -> Mapping[str, list[Callable[..., object]]]:
    """Return the marked functions by name; a module may have imported some that are another's."""
    found: dict[str, list[Callable[..., Any]]] = defaultdict(list)
    for module in modules:
        for value in vars(module).values():
            if inspect.isfunction(value) and hasattr(value, _MARK) and value not in found[value.__name__]:
                found[value.__name__].append(value)
    return dict(found)


def _faults(calls: Mapping[str, Call], functions: Mapping[str, Sequence[Callable[..., object]]]) -> Iterator[str]:
    for name in functions.keys() - calls.keys():
        yield f"{name} is marked as an answer and is no call"
    for name, call in calls.items():
        if len(found := functions.get(name, [])) != 1:
            yield f"{name} needs one function marked as its answer and has {len(found)}"
        elif call.lock and not {one.name for one in call.parameters[:1]} & {_NODE, *_PARTS}:
            yield f"{name} takes a node and does not name it first"
        elif not _fits(found[0], call):
            yield f"{found[0].__module__}.{name}{inspect.signature(found[0])} is no answer to {name}{call.signature}"


def _fits(function: Callable[..., object], call: Call) -> bool:
    """Compare names and types; defaults are the call's, and how the first arguments are annotated does not matter."""
    signature = inspect.signature(function)
    first = ["task"] if call.lock else ["tasks", "context"]
    rest = [one for one in call.parameters if not (call.lock and one.name == _NODE)]
    return (
        list(signature.parameters)[: len(first)] == first
        and _types(list(signature.parameters.values())[len(first) :]) == _types(rest)
        and signature.return_annotation == call.signature.return_annotation
    )


def _types(parameters: Iterable[inspect.Parameter]) -> list[tuple[object, ...]]:
    return [(one.name, one.kind, one.annotation) for one in parameters]


def _purpose(call: Call, given: Mapping[str, object]) -> str:
    try:
        return call.purpose.format_map(given)
    except (KeyError, TypeError) as error:
        # What is named is a part of an argument, as the caller may have left it out.
        raise MissingParameterValue(err=f"{call.name} can't be done: its arguments lack {error}.") from None


def _method(call: Call, function: Callable[..., object]) -> Callable[..., object]:
    """Return the method of the endpoint for a call: take the node as declared, and hand all the rest on."""
    defaults = {one.name: one.default for one in call.parameters if one.default is not one.empty}

    if call.lock is None:

        def answer(self: _Endpoint, context: "RequestContext", *args: Any, **kwargs: Any) -> object:
            return function(self._tasks, context, **defaults | call.arguments(*args, **kwargs))

        return answer

    named, shared = call.parameters[0].name, call.lock is SHARED

    def answer_with_node(self: _Endpoint, context: "RequestContext", *args: Any, **kwargs: Any) -> object:
        given = defaults | call.arguments(*args, **kwargs)
        purpose = _purpose(call, given)
        if named == _NODE:
            node = given.pop(_NODE)
        else:
            node = getattr(self._tasks.store, _PARTS[named]).row(("node_id",), given[named])[0]
        with self._tasks.acquire(context, node, shared=shared, purpose=purpose, background=call.background) as task:
            return function(task, **given)

    return answer_with_node
