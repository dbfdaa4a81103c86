"""Conditions and actions of third parties, made for the standalone inspector, loaded from its entry point groups.

A plug-in is a class, or anything else that returns an object when it is called without arguments. Its own `validate`
checks the parameters of a rule when the rule is posted. All entry points of a group are loaded on first use; one that
can't be loaded stops the start of the service, as with those of the rule language (`vocabulary`).
"""

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ironic.core.rules.argument_kinds import BadArgument
from ironic.core.rules.inspector import plugin_face
from ironic.core.rules.inspector.bound_actions import FORMS, BoundAction
from ironic.core.rules.inspector.checks import CHECKS
from ironic.core.rules.inspector.data_texts import data_texts
from ironic.core.rules.interpolation import BadExpression
from ironic.core.rules.limits import LOG_LENGTH, RuleFault
from ironic.core.rules.paths import copy
from ironic.core.rules.vocabulary import installed, load_words

CONDITIONS_GROUP: Final = "ironic_inspector.rules.conditions"
ACTIONS_GROUP: Final = "ironic_inspector.rules.actions"

# Those of the standalone inspector itself, where it is installed beside this service.
_ITS_OWN: Final = "ironic_inspector."

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class PluginCondition:
    """An operator of a third party."""

    name: str
    plugin: Any

    @property
    def allows_none(self) -> bool:
        """Whether it judges missing fields, as None."""
        return bool(getattr(self.plugin, "ALLOW_NONE", False))

    def validate(self, params: Mapping[str, Any]) -> None:
        """Have the plug-in check its parameters; raises BadArgument."""
        _validate(self.name, self.plugin, params, required=("value",))

    def holds(self, node_info: object, value: object, params: Mapping[str, Any]) -> bool:
        """Return the verdict of the plug-in on one value; raises RuleFault if its code fails."""
        try:
            return bool(self.plugin.check(node_info, value, copy(params)))
        except RuleFault:
            raise
        except Exception as error:  # code of a third party may raise anything
            reason = f"{type(error).__name__}: {str(error)[:LOG_LENGTH]}"
            raise RuleFault(f"operator {self.name} failed: {reason}") from None


@dataclass(frozen=True, slots=True)
class PluginAction:
    """An action of a third party."""

    name: str
    plugin: Any

    def bound(self, params: Mapping[str, Any]) -> BoundAction:
        """Have the plug-in check its parameters and return the action; raises BadArgument."""
        _validate(self.name, self.plugin, params)
        formatted: Collection[str] = getattr(self.plugin, "FORMATTED_PARAMS", None) or ()
        try:
            return BoundAction(self.name, "", data_texts(params, formatted))
        except BadExpression as error:
            raise BadArgument(str(error)) from None


def _validate(name: str, plugin: Any, params: Mapping[str, Any], required: Collection[str] = ()) -> None:
    try:
        if hasattr(plugin, "validate"):
            plugin.validate(dict(params))
        else:
            plugin_face.check_parameters(plugin, params, required)
    except Exception as error:  # a plug-in may raise anything, and the fault is that of the rule
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        raise BadArgument(f"plug-in {name} refuses the parameters: {kind}{str(error)[:LOG_LENGTH]}") from None


def _made(kind: Callable[[str, Any], Kind], method: str, taken: Collection[str]) -> Callable[[str, Any], Kind]:
    def build(name: str, found: Any) -> Kind:
        if name in taken:
            raise TypeError("the name belongs to a part of this service")
        plugin = found()
        if not callable(getattr(plugin, method, None)):
            raise TypeError(f"it has no method {method}")
        return kind(name, plugin)

    return build


def _loaded(group: str, build: Callable[[str, Any], Kind]) -> Mapping[str, Kind]:
    plugin_face.provide()
    points = [point for point in installed(group) if not point.value.startswith(_ITS_OWN)]
    return load_words(group, points, build)


@functools.cache
def conditions() -> Mapping[str, PluginCondition]:
    """Return the operators of third parties by name; raises InvalidParameterValue with all that can't be loaded."""
    return _loaded(CONDITIONS_GROUP, _made(PluginCondition, "check", CHECKS))


@functools.cache
def actions() -> Mapping[str, PluginAction]:
    """Return the actions of third parties by name; raises InvalidParameterValue with all that can't be loaded."""
    return _loaded(ACTIONS_GROUP, _made(PluginAction, "apply", FORMS))
