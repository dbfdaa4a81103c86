"""The actions of rules, one function each.

The parameters after the workspace are the schema of an action, the name of its entry point is its name. An action
changes the workspace only: calls of other services are collected there, and made before the changes are stored. Actions
marked ``early`` need no node, so rules of the early phase may have them.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from ironic.core.rules.argument_kinds import (
    Backoff,
    DataPath,
    Headers,
    IgnoredPluginData,
    Level,
    Name,
    NodePath,
    PortPath,
    Proxies,
    Retries,
    Timeout,
    Url,
)
from ironic.core.rules.calls import Call
from ironic.core.rules.interpolation import as_bounded_text
from ironic.core.rules.limits import CALLING, LOG_LENGTH, LOGGING, TEXT_LENGTH, Budget, FailRequested, RuleFault
from ironic.core.rules.workspace import Workspace
from ironic.core.texts import syntax
from ironic.core.values.traits import MOST_OF_NODE

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TRAIT: Final = re.compile(r"[A-Z][A-Z0-9_]{0,254}")

_LONGEST_CAPABILITY: Final = 4096  # characters of its value
_CHARACTERS_PER_STEP: Final = 4  # of capabilities that are parsed

_CAPABILITIES: Final = ("properties", "capabilities")


def early(perform: Callable[..., None]) -> Callable[..., None]:
    """Mark an action that needs no node, so that rules of the early phase may have it."""
    perform.supports_early = True  # type: ignore[attr-defined]  # an attribute of the function
    return perform


def calls_out(perform: Callable[..., None]) -> Callable[..., None]:
    """Mark an action after which another service is called: who runs it may wait for long."""
    perform.calls_out = True  # type: ignore[attr-defined]  # functions carry what is hung on them
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
@calls_out
def api_call(
    workspace: Workspace,
    url: Url,
    headers: Headers | None = None,
    proxies: Proxies | None = None,
    timeout: Timeout = Timeout(5),  # noqa: B008 - a constant
    retries: Retries = Retries(3),  # noqa: B008 - a constant
    backoff_factor: Backoff = Backoff(0.3),  # noqa: B008 - a constant
) -> None:
    """Call another service (GET) before the changes of the phase are stored; answers other than 2xx fail the rule."""
    workspace.budget.spend(CALLING)
    workspace.calls.append(Call(url, headers or {}, proxies or {}, timeout, retries, backoff_factor))


def set_attribute(workspace: Workspace, path: NodePath, value: Any) -> None:
    """Set a field of the node or a key within it; missing objects above the key are created."""
    workspace.node.set(path, value)


def extend_attribute(workspace: Workspace, path: NodePath, value: Any, *, unique: bool = False) -> None:
    """Append a value to a list of the node, which is created if missing."""
    workspace.node.extend(path, value, unique=unique)


def del_attribute(workspace: Workspace, path: NodePath) -> None:
    """Remove a field of the node or a key within it, if it exists."""
    workspace.node.remove(path)


def set_port_attribute(workspace: Workspace, port_id: Name, path: PortPath, value: Any) -> None:
    """Set a field of a port, named by UUID or MAC address, or a key within it."""
    workspace.port(port_id).set(path, value)


def extend_port_attribute(
    workspace: Workspace, port_id: Name, path: PortPath, value: Any, *, unique: bool = False
) -> None:
    """Append a value to a list of a port, named by UUID or MAC address."""
    workspace.port(port_id).extend(path, value, unique=unique)


def del_port_attribute(workspace: Workspace, port_id: Name, path: PortPath) -> None:
    """Remove a field of a port, named by UUID or MAC address, or a key within it."""
    workspace.port(port_id).remove(path)


@early
def set_plugin_data(
    workspace: Workspace, path: DataPath, value: Any, *, plugin_data: IgnoredPluginData | None = None
) -> None:
    """Set a value in the plug-in data; missing objects above it are created."""
    workspace.plugin_data.set(path, value)


@early
def extend_plugin_data(
    workspace: Workspace,
    path: DataPath,
    value: Any,
    *,
    unique: bool = False,
    plugin_data: IgnoredPluginData | None = None,
) -> None:
    """Append a value to a list in the plug-in data, which is created if missing."""
    workspace.plugin_data.extend(path, value, unique=unique)


@early
def unset_plugin_data(workspace: Workspace, path: DataPath, *, plugin_data: IgnoredPluginData | None = None) -> None:
    """Remove a value from the plug-in data, if it exists."""
    workspace.plugin_data.remove(path)


def set_capability(workspace: Workspace, name: Name, value: Any) -> None:
    """Set a capability in the node's properties; it replaces one with the same name."""
    _write_capabilities(workspace, capabilities_of(workspace) | {name: capability(workspace.budget, name, value)})


def unset_capability(workspace: Workspace, name: Name) -> None:
    """Remove a capability from the node's properties, if it exists."""
    present = capabilities_of(workspace)
    if present.pop(name, None) is not None:
        _write_capabilities(workspace, present)


def add_trait(workspace: Workspace, name: Name) -> None:
    """Add a trait to the node."""
    check_trait(name)
    traits = traits_of(workspace)
    if len(traits) >= MOST_OF_NODE and name not in traits:
        raise RuleFault(f"the node has {MOST_OF_NODE} traits already, which is the limit")
    workspace.node.extend(("traits",), name, unique=True)


def remove_trait(workspace: Workspace, name: Name) -> None:
    """Remove a trait from the node, if it has it."""
    traits = traits_of(workspace)
    if name in traits:
        workspace.node.remove(("traits", str(traits.index(name))))


def on_one_line(text: str) -> str:
    """Return text without control characters, which could forge log lines or control a terminal."""
    return _CONTROL.sub(" ", text)


def check_trait(name: str) -> None:
    """Refuse a name that no trait can have; raises RuleFault."""
    if not _TRAIT.fullmatch(name):
        raise RuleFault("a trait must have 1 to 255 capital letters, digits and underscores, and begin with a letter")


def capability(budget: Budget, name: str, value: object) -> str:
    """Return the value of a capability as text, or raise RuleFault if there can't be such a capability."""
    text = as_bounded_text(value, budget, _LONGEST_CAPABILITY)
    if ":" in name or "," in name + text or not name or not text or isinstance(value, dict | list):
        raise RuleFault("a capability must have a name without ':' and ',' and a value of text without ','")
    return text


def traits_of(workspace: Workspace) -> list[str]:
    """Return the traits that the node has now."""
    return workspace.node.data.get("traits") or []


def _write_capabilities(workspace: Workspace, wanted: dict[str, str]) -> None:
    # All capabilities are one text: if a machine reported one of them, the whole text counts as reported.
    workspace.writer.reported |= workspace.is_reported("node", _CAPABILITIES)
    workspace.node.set(_CAPABILITIES, syntax.format_capabilities(wanted))


def capabilities_of(workspace: Workspace) -> dict[str, str]:
    """Return the capabilities that the node has now; raises RuleFault."""
    properties = workspace.node.data.get("properties") or {}
    text = properties.get("capabilities")
    if isinstance(text, str) and len(text) > TEXT_LENGTH:
        raise RuleFault(f"the capabilities of the node are longer than {TEXT_LENGTH} characters")
    workspace.budget.spend(len(text) // _CHARACTERS_PER_STEP if isinstance(text, str) else 0)
    try:
        return syntax.parse_capabilities(text)
    except ValueError as error:
        raise RuleFault(f"the capabilities of the node can't be parsed: {error}") from None
