"""Values that the service writes into a user's record of a node, and takes back when their reason has ended.

What stood there before is remembered on the node. A value that a user has changed since is the user's, and stays.
"""

from collections.abc import Mapping
from typing import Final, Literal, Protocol, TypeAlias

from ironic.core.keys import internal_keys
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.texts import syntax

Record: TypeAlias = Literal["instance_info", "properties"]

_OWN: Final = InternalKey(
    "own_values",
    dict[str, list[object]],
    "By record and name, what the service wrote there, and what stood there if something did.",
)

_CAPABILITIES: Final = "capabilities"


class Node(internal_keys.Record, Protocol):
    """A node whose records can be changed."""

    instance_info: dict[str, object]
    properties: dict[str, object]


def write(node: Node, record: Record, name: str, value: object) -> None:
    """Write a value into a record; the caller saves the node."""
    values: dict[str, object] = getattr(node, record)
    _remember(node, f"{record}.{name}", value, values)
    values[name] = value


def write_capability(node: Node, record: Record, name: str, value: str) -> None:
    """Set one capability of a record and keep the others, in the form that they have; ValueError if it is malformed."""
    values: dict[str, object] = getattr(node, record)
    capabilities = _parsed(values.get(_CAPABILITIES))
    _remember(node, f"{record}.{_CAPABILITIES}.{name}", value, capabilities)
    _put(values, record, capabilities | {name: value})


def drop_capability(node: Node, record: Record, name: str, value: str) -> None:
    """Remove a capability that has this value; the caller saves the node. What is malformed stays."""
    values: dict[str, object] = getattr(node, record)
    try:
        capabilities = _parsed(values.get(_CAPABILITIES))
    except ValueError:
        return  # it is refused where it is read
    if capabilities.get(name) == value:
        del capabilities[name]
        _put(values, record, capabilities)


def take_back(node: Node, record: Record) -> None:
    """Put back what stood in a record before the service wrote to it; the caller saves the node."""
    values: dict[str, object] = getattr(node, record)
    kept: dict[str, list[object]] = {}
    for path, own in (_OWN.of(node) or {}).items():
        at, _, name = path.partition(".")
        if at != record:
            kept[path] = own
        elif name.startswith(f"{_CAPABILITIES}."):
            _take_capability_back(values, record, name.removeprefix(f"{_CAPABILITIES}."), own)
        else:
            _restore(values, name, own)
    if kept:
        _OWN.set(node, kept)
    else:
        _OWN.delete(node)


def _remember(node: Node, path: str, value: object, values: Mapping[str, object]) -> None:
    name, own = path.rpartition(".")[2], _OWN.of(node) or {}
    known = own.get(path)
    if known is not None and name in values and values[name] == known[0]:
        former = known[1:]  # what stands there is the service's own
    else:
        former = [values[name]] if name in values else []
    _OWN.set(node, {**own, path: [value, *former]})


def _restore(values: dict[str, object], name: str, own: list[object]) -> None:
    if name not in values or values[name] != own[0]:
        return
    if own[1:]:
        values[name] = own[1]
    else:
        del values[name]


def _take_capability_back(values: dict[str, object], record: Record, name: str, own: list[object]) -> None:
    try:
        capabilities = _parsed(values.get(_CAPABILITIES))
    except ValueError:
        return  # a user has written them since
    before = dict(capabilities)
    _restore(capabilities, name, own)
    if capabilities != before:
        _put(values, record, capabilities)


def _parsed(given: object) -> dict[str, object]:
    if isinstance(given, Mapping):
        return {str(name): str(value) for name, value in given.items()}
    return dict(syntax.parse_capabilities(given))


def _put(values: dict[str, object], record: Record, capabilities: dict[str, object]) -> None:
    given = values.get(_CAPABILITIES)
    if not capabilities:
        del values[_CAPABILITIES]
    elif isinstance(given, str) or (record == "properties" and not isinstance(given, Mapping)):
        values[_CAPABILITIES] = syntax.format_capabilities({name: str(one) for name, one in capabilities.items()})
    else:
        values[_CAPABILITIES] = capabilities
