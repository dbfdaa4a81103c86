"""The effects of actions in the dialect of the standalone inspector: made, recognised as a rule's own, taken back.

An effect belongs to a rule if the rule has made it: what was there before, by an operator or another rule, is not the
rule's. It is taken back only while it is as the rule has left it. Equal entries of a list are only counted. The
decisions per action are in doc/inspector-rules.md#what-a-rule-takes-back.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.core.rules import actions
from ironic.core.rules.documents import CLEAR
from ironic.core.rules.inspector import bound_actions, node_info, rule_plugins
from ironic.core.rules.inspector.bound_actions import DRIVER
from ironic.core.rules.limits import LOG_LENGTH, FailRequested, RuleFault, TooMuchWork, pay
from ironic.core.rules.paths import Path, copy, find, holds, parsed
from ironic.core.rules.rule_outcomes import Effect
from ironic.core.rules.workspace import Workspace

_CHANGED: Final = "it was changed since"
_REMOVED: Final = "it was removed since"

# How many equal entries of a list are taken by rules of this run.
Claims = Counter[bytes]


class MaintenanceRequested(FailRequested):
    """A rule fails the inspection and wants the node in maintenance."""


@dataclass(frozen=True, slots=True)
class _Place:
    """One effect on the working copies of a run."""

    workspace: Workspace
    effect: Effect
    before: Effect | None = None
    claims: Claims = field(default_factory=Counter)

    @property
    def at(self) -> str:
        return str(self.effect["at"])

    @property
    def value(self) -> Any:
        return self.effect["value"]

    @property
    def path(self) -> Path:
        return parsed(self.at)

    @property
    def node(self) -> Mapping[str, Any]:
        """The node with its secrets, which are compared only."""
        return self.workspace.node.views[CLEAR]


def same_place(one: Effect, other: Effect) -> bool:
    """Return whether two effects are the same one, although its value may differ; entries of lists have no place."""
    by_value = one["action"] in _BY_VALUE or one["action"] not in _BUILT_IN
    return all(one.get(name) == other.get(name) for name in ("action", "at", *(("value",) if by_value else ())))


def apply(workspace: Workspace, wanted: Effect, before: Effect | None, claims: Claims) -> Effect | None:
    """Make an effect and return it, None if it was there already and is not the rule's; raises RuleFault.

    ``before`` is the same effect of the same rule in the last inspection.
    """
    pay(wanted["value"], workspace.budget)
    make, _ = _BUILT_IN.get(wanted["action"], (_call, _call_back))
    return wanted if make(_Place(workspace, wanted, before, claims)) else None


def undo(workspace: Workspace, effect: Effect) -> str | None:
    """Take an effect back; return why it was left, None if it was undone. Raises RuleFault only for too much work."""
    pay(effect["value"], workspace.budget)
    _, take_back = _BUILT_IN.get(effect["action"], (_call, _call_back))
    try:
        return take_back(_Place(workspace, effect))
    except (TooMuchWork, _PluginFault):
        raise
    except RuleFault as fault:
        return str(fault)


def _set(place: _Place) -> bool:
    path, node = place.path, place.workspace.node
    present = find(place.node, path)
    if holds(place.node, path) and _equal(present, place.value):
        return place.before is not None and _equal(present, place.before["value"])
    _write(place, place.value)
    # As the field stores it.
    place.effect["value"] = copy(find(node.views[CLEAR], path))
    return True


def _unset(place: _Place) -> str | None:
    path = place.path
    if not holds(place.node, path):
        return _REMOVED
    if not _equal(find(place.node, path), place.value):
        return _CHANGED
    if "cleanup" in place.effect:
        _write(place, place.effect["cleanup"])
    else:
        place.workspace.node.remove(path)
    return None


def _write(place: _Place, value: object) -> None:
    node = place.workspace.node
    node.set(place.path, value)
    if place.path == DRIVER and place.effect.get("reset_interfaces"):
        for name in map(interface_field, KINDS):
            if node.data.get(name) is not None:
                node.remove((name,))


def _extend(place: _Place) -> bool:
    there = _occurrences(place)
    key = orjson.dumps([place.at, place.value], option=orjson.OPT_SORT_KEYS)
    if place.before is not None and there > place.claims[key]:
        place.claims[key] += 1
        return True
    if place.effect.get("unique") and there:
        return False
    place.workspace.node.extend(place.path, place.value, unique=False)
    place.claims[key] += 1
    return True


def _shorten(place: _Place) -> str | None:
    if not _occurrences(place):
        return _REMOVED
    entries: Any = find(place.node, place.path)
    last = max(index for index, entry in enumerate(entries) if _equal(entry, place.value))
    place.workspace.node.remove((*place.path, str(last)))
    return None


def _occurrences(place: _Place) -> int:
    """Return how often the value is in the list, 0 if there is no list."""
    entries = find(place.node, place.path)
    if not isinstance(entries, list):
        return 0
    pay(place.value, place.workspace.budget, times=len(entries))
    place.workspace.budget.spend(len(entries))
    return sum(_equal(entry, place.value) for entry in entries)


def _set_capability(place: _Place) -> bool:
    text = actions.capability(place.workspace.budget, place.at, place.value)
    place.effect["value"] = text
    if actions.capabilities_of(place.workspace).get(place.at) == text:
        return place.before is not None and place.before["value"] == text
    actions.set_capability(place.workspace, _name(place), text)
    return True


def _unset_capability(place: _Place) -> str | None:
    present = actions.capabilities_of(place.workspace).get(place.at)
    if present != place.value:
        return _REMOVED if present is None else _CHANGED
    actions.unset_capability(place.workspace, _name(place))
    return None


def _add_trait(place: _Place) -> bool:
    if place.at in actions.traits_of(place.workspace):
        return place.before is not None
    actions.add_trait(place.workspace, _name(place))
    return True


def _discard_trait(place: _Place) -> str | None:
    if place.at not in actions.traits_of(place.workspace):
        return _REMOVED
    actions.remove_trait(place.workspace, _name(place))
    return None


def _remove_trait(place: _Place) -> bool:
    if place.at not in actions.traits_of(place.workspace):
        return place.before is not None
    actions.remove_trait(place.workspace, _name(place))
    return True


def _restore_trait(place: _Place) -> str | None:
    if place.at in actions.traits_of(place.workspace):
        return "it was added since"
    actions.add_trait(place.workspace, _name(place))
    return None


def _fail(place: _Place) -> bool:
    message = actions.on_one_line(str(place.value)[:LOG_LENGTH])
    raise MaintenanceRequested(message) if place.effect.get("maintenance") else FailRequested(message)


def _end_maintenance(place: _Place) -> str | None:
    if not place.node.get("maintenance"):
        return _REMOVED
    if place.node.get("maintenance_reason") != place.value:
        return _CHANGED
    place.workspace.node.set(("maintenance",), False)
    return None


class _PluginFault(RuleFault):
    """Code of a third party has failed."""


def _call(place: _Place) -> bool:
    plugin = rule_plugins.actions()[place.effect["action"]]
    _run(place, plugin.plugin.apply, f"action {plugin.name}")
    return True


def _call_back(place: _Place) -> str | None:
    found = rule_plugins.actions().get(place.effect["action"])
    if found is None:
        return f"the plug-in {place.effect['action']} is not installed any more"
    cleanup = getattr(found.plugin, "cleanup", None)
    if cleanup is None:
        return f"the plug-in {found.name} has no cleanup"
    _run(place, cleanup, f"cleanup of action {found.name}")
    return None


def _run(place: _Place, method: Callable[[node_info.NodeInfo, Mapping[str, Any]], object], what: str) -> None:
    try:
        method(node_info.NodeInfo(place.workspace), copy(place.value))
    except RuleFault:
        raise
    except Exception as error:  # code of a third party may raise anything
        raise _PluginFault(f"{what} failed: {type(error).__name__}: {str(error)[:LOG_LENGTH]}") from None


def _name(place: _Place) -> Any:
    return place.at


def _equal(one: object, other: object) -> bool:
    """Compare plain data as JSON: true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


Make = Callable[[_Place], bool]
TakeBack = Callable[[_Place], str | None]

_BUILT_IN: Final[Mapping[str, tuple[Make, TakeBack]]] = {
    bound_actions.SET: (_set, _unset),
    bound_actions.EXTEND: (_extend, _shorten),
    bound_actions.CAPABILITY: (_set_capability, _unset_capability),
    bound_actions.ADD_TRAIT: (_add_trait, _discard_trait),
    bound_actions.REMOVE_TRAIT: (_remove_trait, _restore_trait),
    bound_actions.FAIL: (_fail, _end_maintenance),
}
_BY_VALUE: Final = frozenset({bound_actions.EXTEND})
