"""The actions of rules: one function each; the signature behind the workspace is the schema, the entry point the name.

An action changes the workspace and nothing else; calls of other services are noted there, and made by who stores the
changes. ``early`` ones need no node, so they may stand in the early phase.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from ironic.core import capabilities
from ironic.core.rules.calls import Call
from ironic.core.rules.faults import FailRequested, RuleFault
from ironic.core.rules.interpolation import as_bounded_text
from ironic.core.rules.kinds import (
    Backoff,
    DataPath,
    Headers,
    Leftover,
    Level,
    Name,
    NodePath,
    PortPath,
    Proxies,
    Retries,
    Timeout,
    Url,
)
from ironic.core.rules.limits import CALLING, LOG_LENGTH, LOGGING, TEXT_LENGTH
from ironic.core.rules.workspace import Workspace

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TRAIT: Final = re.compile(r"[A-Z][A-Z0-9_]{0,254}")
_MOST_TRAITS: Final = 50
_LONGEST_CAPABILITY: Final = 4096  # characters of its value
_CHARACTERS_PER_STEP: Final = 4  # of capabilities that are taken apart

_CAPABILITIES: Final = ("properties", "capabilities")


def early(perform: Callable[..., None]) -> Callable[..., None]:
    """Mark an action that needs no node, and so may stand in the early phase."""
    perform.supports_early = True  # type: ignore[attr-defined]  # functions carry what is hung on them
    return perform


@early
def fail(workspace: Workspace, msg: str) -> None:
    """Fail the inspection with a message."""
    raise FailRequested(on_one_line(msg[:LOG_LENGTH]))


@early
def log(workspace: Workspace, msg: str, level: Level = Level("info")) -> None:  # noqa: B008 - a constant
    """Write a message to the log of the service."""
    workspace.budget.spend(LOGGING)
    workspace.log.append((level, on_one_line(msg[:LOG_LENGTH])))


@early
def api_call(
    workspace: Workspace,
    url: Url,
    headers: Headers | None = None,
    proxies: Proxies | None = None,
    timeout: Timeout = Timeout(5),  # noqa: B008 - a constant
    retries: Retries = Retries(3),  # noqa: B008 - a constant
    backoff_factor: Backoff = Backoff(0.3),  # noqa: B008 - a constant
) -> None:
    """Call another service (GET) before what the phase changed is stored; an answer other than 2xx fails the rule."""
    workspace.budget.spend(CALLING)
    workspace.calls.append(Call(url, headers or {}, proxies or {}, timeout, retries, backoff_factor))


def set_attribute(workspace: Workspace, path: NodePath, value: Any) -> None:
    """Set a field of the node or a key within it; objects on the way are created."""
    workspace.node.set(path, value)


def extend_attribute(workspace: Workspace, path: NodePath, value: Any, *, unique: bool = False) -> None:
    """Add a value to a list on the node, which is created when there is none."""
    workspace.node.extend(path, value, unique=unique)


def del_attribute(workspace: Workspace, path: NodePath) -> None:
    """Remove a field of the node or a key within it; a key that is missing is no fault."""
    workspace.node.remove(path)


def set_port_attribute(workspace: Workspace, port_id: Name, path: PortPath, value: Any) -> None:
    """Set a field of a port, named by UUID or MAC address, or a key within it."""
    workspace.port(port_id).set(path, value)


def extend_port_attribute(
    workspace: Workspace, port_id: Name, path: PortPath, value: Any, *, unique: bool = False
) -> None:
    """Add a value to a list on a port, named by UUID or MAC address."""
    workspace.port(port_id).extend(path, value, unique=unique)


def del_port_attribute(workspace: Workspace, port_id: Name, path: PortPath) -> None:
    """Remove a field of a port, named by UUID or MAC address, or a key within it."""
    workspace.port(port_id).remove(path)


@early
def set_plugin_data(workspace: Workspace, path: DataPath, value: Any, *, plugin_data: Leftover | None = None) -> None:
    """Set a value in the plug-in data; objects on the way are created."""
    workspace.plugin_data.set(path, value)


@early
def extend_plugin_data(
    workspace: Workspace, path: DataPath, value: Any, *, unique: bool = False, plugin_data: Leftover | None = None
) -> None:
    """Add a value to a list in the plug-in data, which is created when there is none."""
    workspace.plugin_data.extend(path, value, unique=unique)


@early
def unset_plugin_data(workspace: Workspace, path: DataPath, *, plugin_data: Leftover | None = None) -> None:
    """Remove a value from the plug-in data; one that is missing is no fault."""
    workspace.plugin_data.remove(path)


def set_capability(workspace: Workspace, name: Name, value: Any) -> None:
    """Set a capability in the node's properties, in place of one of the same name."""
    text = as_bounded_text(value, workspace.budget, _LONGEST_CAPABILITY)
    if ":" in name or "," in name + text or not text or isinstance(value, dict | list):
        raise RuleFault("a capability has a name without ':' and ',' and a value that is text without ','")
    _write_capabilities(workspace, _present(workspace) | {name: text})


def unset_capability(workspace: Workspace, name: Name) -> None:
    """Remove a capability from the node's properties; one that is missing is no fault."""
    present = _present(workspace)
    if present.pop(name, None) is not None:
        _write_capabilities(workspace, present)


def add_trait(workspace: Workspace, name: Name) -> None:
    """Give the node a trait."""
    if not _TRAIT.fullmatch(name):
        raise RuleFault("a trait is written in capital letters, digits and underscores, at most 255 of them")
    traits = _traits(workspace)
    if len(traits) >= _MOST_TRAITS and name not in traits:
        raise RuleFault(f"the node has {_MOST_TRAITS} traits already, which is the limit")
    workspace.node.extend(("traits",), name, unique=True)


def remove_trait(workspace: Workspace, name: Name) -> None:
    """Take a trait from the node; one that it has not is no fault."""
    traits = _traits(workspace)
    if name in traits:
        workspace.node.remove(("traits", str(traits.index(name))))


def on_one_line(text: str) -> str:
    """Return text that can't pretend to be several lines of a log or control a terminal."""
    return _CONTROL.sub(" ", text)


def _traits(workspace: Workspace) -> list[str]:
    return workspace.node.data.get("traits") or []


def _write_capabilities(workspace: Workspace, wanted: dict[str, str]) -> None:
    # One text holds them all: with one that a machine reported, all of it is reported.
    workspace.writer.reported |= workspace.is_reported("node", _CAPABILITIES)
    workspace.node.set(_CAPABILITIES, capabilities.render(wanted))


def _present(workspace: Workspace) -> dict[str, str]:
    properties = workspace.node.data.get("properties") or {}
    text = properties.get("capabilities")
    if isinstance(text, str) and len(text) > TEXT_LENGTH:
        raise RuleFault(f"the capabilities of the node are longer than {TEXT_LENGTH} characters")
    workspace.budget.spend(len(text) // _CHARACTERS_PER_STEP if isinstance(text, str) else 0)
    try:
        return capabilities.parse(text)
    except ValueError as error:
        raise RuleFault(f"the capabilities of the node can't be read: {error}") from None
