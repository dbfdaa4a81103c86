"""Actions of third parties, run so that they can do no more than ours.

A plug-in gets a task and a rule made for it: plain copies of node, ports, inventory and plug-in data, with secrets
masked as its rule has to see them. What it changed is read off the copies afterwards and goes through the same checks
as the writes of our own actions, so a dry run, a failure and the list of writable fields hold for plug-ins too.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ironic.core.rules.documents import Document
from ironic.core.rules.faults import RuleFault
from ironic.core.rules.limits import LOG_LENGTH, Budget, copied
from ironic.core.rules.paths import Path, pointer
from ironic.core.rules.workspace import Workspace
from ironic.core.secrets import REPLACEMENT

_TOP: Final = 2**64

Difference = tuple[Literal["set", "extend", "remove"], Path, object]


class Thing:
    """A node or a port: attributes over plain data, whose changes are read off when the plug-in returns."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, object]) -> None:
        object.__setattr__(self, "_data", data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._data:
            raise AttributeError(f"rules know no field {name}")
        return self._data[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._data[name] = value

    def save(self) -> None:
        """Do nothing: changes are stored when the phase ends."""


class SeenRule:
    """The rule at work, and the data it works on in every phase."""

    def __init__(self, workspace: Workspace) -> None:
        rule = workspace.rule
        self.uuid, self.description, self.phase = rule.uuid, rule.description, rule.phase
        self.sensitive = rule.sensitive
        self._workspace = workspace

    @functools.cached_property
    def inventory(self) -> object:
        """A copy of the inventory; changing it changes nothing."""
        return copied(self._workspace.scope.find("inventory"), self._workspace.budget)

    @functools.cached_property
    def plugin_data(self) -> object:
        """The plug-in data, which may be changed."""
        return copied(self._workspace.plugin_data.data, self._workspace.budget)

    @property
    def has_looked(self) -> bool:
        """Whether the plug-in has asked for what the machine reported."""
        return not vars(self).keys().isdisjoint(("inventory", "plugin_data"))


class SeenTask:
    """The machine at work."""

    def __init__(self, workspace: Workspace, rule: SeenRule) -> None:
        self._rule = rule
        self.node = Thing(copied(workspace.node.data, workspace.budget))
        self.ports = [Thing(copied(port.data, workspace.budget)) for port in workspace.ports]

    @property
    def inventory(self) -> object:
        """The same as the rule's."""
        return self._rule.inventory

    @property
    def plugin_data(self) -> object:
        """The same as the rule's."""
        return self._rule.plugin_data


@dataclass(frozen=True, slots=True)
class PluginAction:
    """A third party's action under its name."""

    name: str
    plugin: Any

    def __call__(self, workspace: Workspace, **arguments: Any) -> None:
        """Run it, then take over what it changed."""
        rule = SeenRule(workspace)
        # Arguments may be part of the facts or of the rule: a plug-in gets its own.
        own = {name: copied(value, workspace.budget) for name, value in arguments.items()}
        task = SeenTask(workspace, rule) if workspace.has_node else None
        try:
            if task is None:
                self.plugin.call_early(rule, **own)
            else:
                self.plugin(task, rule, **own)
        except RuleFault:
            raise
        except Exception as error:
            raise RuleFault(f"action {self.name} failed: {type(error).__name__}: {str(error)[:LOG_LENGTH]}") from None
        if not getattr(self.plugin, "vouches", False):
            # Code that looked at the report may have written any part of it anywhere.
            workspace.writer.reported |= rule.has_looked
        _take_over(workspace, rule, task)


def _take_over(workspace: Workspace, rule: SeenRule, task: SeenTask | None) -> None:
    if task is not None:
        _write(workspace.node, task.node._data, workspace.budget)
        for document, port in zip(workspace.ports, task.ports, strict=False):
            _write(document, port._data, workspace.budget)
    if "plugin_data" in vars(rule):
        _write(workspace.plugin_data, rule.plugin_data, workspace.budget)


def _write(document: Document, wanted: object, budget: Budget) -> None:
    """Do to a document what leads to the wanted data."""
    for kind, path, value in list(_differences(document.data, wanted, budget)):
        if not path:
            raise RuleFault("plug-in data became something else than an object")
        document.require_writable(path)
        if kind == "remove":
            document.remove(path)
        elif kind == "extend":
            document.extend(path, _plain(value, path), unique=False)
        else:
            document.set(path, _plain(value, path))


def _differences(before: object, after: object, budget: Budget, path: Path = ()) -> Iterator[Difference]:
    budget.spend(1)
    if isinstance(before, dict) and isinstance(after, dict):
        yield from (("remove", (*path, key), None) for key in before if key not in after)
        for key, value in after.items():
            if key in before:
                yield from _differences(before[key], value, budget, (*path, str(key)))
            else:
                yield "set", (*path, str(key)), value
    elif isinstance(before, list) and isinstance(after, list) and len(after) >= len(before):
        for index, value in enumerate(before):
            yield from _differences(value, after[index], budget, (*path, str(index)))
        yield from (("extend", path, value) for value in after[len(before) :])
    elif type(before) is not type(after) or before != after:
        if _hides(before):
            raise RuleFault(f"{pointer(path)} holds secrets that the rule doesn't see, and can't be written as a whole")
        yield "set", path, after


def _hides(value: object) -> bool:
    """Tell whether a container holds something masked; a masked value itself may well be replaced."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(one == REPLACEMENT or _hides(one) for one in inner)


def _plain(value: object, path: Path) -> object:
    """Return a value that JSON can hold."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(inner, path) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, path) for inner in value]
    if value is None or isinstance(value, str | bool | float) or (isinstance(value, int) and -_TOP <= value < _TOP):
        return value
    raise RuleFault(f"{pointer(path)} can't hold a value of type {type(value).__name__}")
