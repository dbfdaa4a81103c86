"""The operators and actions of the rule language, by the names of their entry points.

Built-in and third-party ones are published alike, in the groups `ironic.inspection_rules.operators` and `.actions`. All
entry points of a group are loaded on first use; an invalid one stops the start of the service and never a rule. An
operator is a function of plain values. An action is a function of a workspace, or a third-party class
(`ironic.inspection.rules.base`).
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from stevedore import named

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.limits import RuleFault
from ironic.core.rules.operators import Cost, cost_of
from ironic.core.rules.plugin_actions import PluginAction
from ironic.core.rules.signatures import Signature

OPERATORS_GROUP: Final = "ironic.inspection_rules.operators"
ACTIONS_GROUP: Final = "ironic.inspection_rules.actions"

Word = TypeVar("Word")


class EntryPoint(Protocol):
    """The part of an entry point that is used here."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...
    def load(self) -> object: ...


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: function, arguments, description, cost; one that ``calls_out`` may wait for another service."""

    name: str
    function: Callable[..., bool]
    signature: Signature
    about: str
    cost: Cost
    calls_out: bool


@dataclass(frozen=True, slots=True)
class Action:
    """An action: function, arguments, description; ``early`` ones need no node, one that ``calls_out`` may wait."""

    name: str
    perform: Callable[..., None]
    signature: Signature
    early: bool
    about: str
    calls_out: bool


class Words(Mapping[str, Word], Generic[Word]):
    """The operators or the actions by name, loaded on first use."""

    def __init__(self, group: str, build: Callable[[str, Any], Word]) -> None:
        self.group = group
        self._build = build

    @functools.cached_property
    def _words(self) -> dict[str, Word]:
        return load_words(self.group, installed(self.group), self._build)

    def __getitem__(self, name: str) -> Word:
        return self._words[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


def installed(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, none of them loaded."""
    # A manager without names still lists every entry point.
    return list(named.NamedExtensionManager(group, names=[]).list_entry_points())


def load_words(group: str, points: list[EntryPoint], build: Callable[[str, Any], Word]) -> dict[str, Word]:
    """Load entry points; raises InvalidParameterValue with all faults."""
    found: dict[str, Word] = {}
    faults: list[str] = []
    values: dict[str, str] = {}
    for point in points:
        if values.setdefault(point.name, point.value) != point.value:
            faults.append(f"{point.name} is published for {values[point.name]} and for {point.value}")
            continue
        try:
            found[point.name] = build(point.name, point.load())
        except Exception as error:
            faults.append(f"{point.name} ({point.value}): {type(error).__name__}: {error}")
    if faults:
        raise InvalidParameterValue(err=f"Entry points of {group} can't be used: {'; '.join(faults)}.")
    return found


def operator_of(name: str, function: object) -> Operator:
    """Return the operator of a function; raises TypeError for another object."""
    if not inspect.isfunction(function):
        raise TypeError("an operator must be a function")
    ours = _is_ours(function)
    guarded = function if ours else functools.partial(_guarded, name, function)
    return Operator(name, guarded, Signature(function), _about(function), cost_of(function), calls_out=not ours)


def action_of(name: str, found: object) -> Action:
    """Return the action of a function of a workspace, or of a third-party class; raises TypeError for other objects."""
    if inspect.isfunction(found):
        early = bool(getattr(found, "supports_early", False))
        calls_out = bool(getattr(found, "calls_out", not _is_ours(found)))
        return Action(name, found, Signature(found, skip=1), early, _about(found), calls_out)
    if not (inspect.isclass(found) and any("__call__" in vars(one) for one in found.__mro__)):
        raise TypeError("an action must be a function of a workspace, or a class with __call__(task, rule, ...)")
    plugin: Any = found()
    signature = Signature(type(plugin).__call__, skip=3, templates=getattr(plugin, "formatted_params", ()))
    early = bool(getattr(plugin, "supports_early", False))
    if early and Signature(type(plugin).call_early, skip=2).names != signature.names:
        raise TypeError("call_early must have the same arguments as __call__")
    return Action(name, PluginAction(name, plugin), signature, early, _about(found), calls_out=True)


def _guarded(name: str, function: Callable[..., object], **values: Any) -> bool:
    """Call a third-party operator; its exceptions fail the rule and nothing else."""
    try:
        return bool(function(**values))
    except RuleFault:
        raise
    except Exception as error:
        raise RuleFault(f"operator {name} failed: {type(error).__name__}: {error}") from None


def _is_ours(function: Callable[..., object]) -> bool:
    return function.__module__.startswith("ironic.core.rules.")


def _about(documented: object) -> str:
    return (inspect.getdoc(documented) or "").partition("\n")[0]


OPERATORS: Final = Words(OPERATORS_GROUP, operator_of)
ACTIONS: Final = Words(ACTIONS_GROUP, action_of)


def check() -> None:
    """Load all operators and actions at start; raises InvalidParameterValue if one is invalid or none is installed."""
    for kind in (OPERATORS, ACTIONS):
        require_some(kind)


def require_some(kind: Words[Any]) -> None:
    """Raise InvalidParameterValue if a group has no entry points: then an older package is installed."""
    if not kind:
        raise InvalidParameterValue(err=f"No entry point of {kind.group} is installed. Install this package again.")
