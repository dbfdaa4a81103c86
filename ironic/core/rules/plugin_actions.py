"""Run actions of third parties with the same restrictions as the built-in ones.

A plug-in gets a task and a rule with copies of node, ports, inventory and plug-in data, in which secrets are masked as
for its rule. Afterwards the changed copies are compared with the documents, and the differences are written with the
same checks as those of built-in actions. So dry runs, failures and the list of writable fields apply to plug-ins too.
"""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ironic.core.rules.documents import Document
from ironic.core.rules.limits import LOG_LENGTH, Budget, RuleFault, copied
from ironic.core.rules.paths import Path, pointer
from ironic.core.rules.workspace import Workspace
from ironic.core.secrets.masking import REPLACEMENT

_TOP: Final = 2**64

Difference = tuple[Literal["set", "extend", "remove"], Path, object]


class ResourceCopy:
    """A copy of a node or port with its fields as attributes; changes are found when the plug-in returns."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, object]) -> None:
        object.__setattr__(self, "_data", data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._data:
            raise AttributeError(f"rules can't read a field {name}")
        return self._data[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._data[name] = value

    def save(self) -> None:
        """Do nothing: changes are stored when the phase ends."""


class RuleView:
    """The current rule, with the data that all phases have."""

    def __init__(self, workspace: Workspace) -> None:
        rule = workspace.rule
        self.uuid, self.description, self.phase = rule.uuid, rule.description, rule.phase
        self.sensitive = rule.sensitive
        self._workspace = workspace

    @functools.cached_property
    def inventory(self) -> object:
        """A copy of the inventory; changes of it have no effect."""
        return copied(self._workspace.scope.find("inventory"), self._workspace.budget)

    @functools.cached_property
    def plugin_data(self) -> object:
        """A copy of the plug-in data; changes of it are written."""
        return copied(self._workspace.plugin_data.data, self._workspace.budget)

    @property
    def was_read(self) -> bool:
        """Whether the plug-in has read data that the machine reported."""
        return not vars(self).keys().isdisjoint(("inventory", "plugin_data"))


class TaskView:
    """The node and the ports that the action may change."""

    def __init__(self, workspace: Workspace, rule: RuleView) -> None:
        self._rule = rule
        self.node = ResourceCopy(copied(workspace.node.data, workspace.budget))
        self.ports = [ResourceCopy(copied(port.data, workspace.budget)) for port in workspace.ports]

    @property
    def inventory(self) -> object:
        """The inventory of the rule."""
        return self._rule.inventory

    @property
    def plugin_data(self) -> object:
        """The plug-in data of the rule."""
        return self._rule.plugin_data


@dataclass(frozen=True, slots=True)
class PluginAction:
    """A third-party action with its name."""

    name: str
    plugin: Any

    def __call__(self, workspace: Workspace, **arguments: Any) -> None:
        """Run the action, then write its changes; raises RuleFault."""
        rule = RuleView(workspace)
        # Arguments may be parts of the facts or of the rule, so the plug-in gets copies.
        own = {name: copied(value, workspace.budget) for name, value in arguments.items()}
        task = TaskView(workspace, rule) if workspace.has_node else None
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
            # Code that has read the report may have written any part of it.
            workspace.writer.reported |= rule.was_read
        _write_changes(workspace, rule, task)


def _write_changes(workspace: Workspace, rule: RuleView, task: TaskView | None) -> None:
    if task is not None:
        _write(workspace.node, task.node._data, workspace.budget)
        for document, port in zip(workspace.ports, task.ports, strict=False):
            _write(document, port._data, workspace.budget)
    if "plugin_data" in vars(rule):
        _write(workspace.plugin_data, rule.plugin_data, workspace.budget)


def _write(document: Document, wanted: object, budget: Budget) -> None:
    """Change a document to the wanted data."""
    for kind, path, value in list(_differences(document.data, wanted, budget)):
        if not path:
            raise RuleFault("the plug-in data must stay an object")
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
    """Return whether a container has a masked value; a masked value alone may be replaced."""
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, list) and any(one == REPLACEMENT or _hides(one) for one in value)


def _plain(value: object, path: Path) -> object:
    """Return a copy of a value, or raise RuleFault if JSON can't represent it."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(inner, path) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, path) for inner in value]
    if value is None or isinstance(value, str | bool | float) or (isinstance(value, int) and -_TOP <= value < _TOP):
        return value
    raise RuleFault(f"{pointer(path)} can't hold a value of type {type(value).__name__}")
