"""The words of the rule language: operators and actions by the names of their entry points.

Ours are published like everybody else's (groups `ironic.inspection_rules.operators` and `.actions`). What stands behind
a name is found on first use, all of it at once; a word that can't be understood stops the start and never a rule.
An operator is a function of plain values. An action is a function of a workspace, or a class as third parties write it
(`ironic.inspection.rules.base`).
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

from stevedore import named

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.arguments import Signature
from ironic.core.rules.costs import Cost, cost_of
from ironic.core.rules.faults import RuleFault
from ironic.core.rules.plugin_actions import PluginAction

OPERATORS_GROUP: Final = "ironic.inspection_rules.operators"
ACTIONS_GROUP: Final = "ironic.inspection_rules.actions"

Word = TypeVar("Word")


class EntryPoint(Protocol):
    """Where something is and how to get it."""

    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...
    def load(self) -> object: ...


@dataclass(frozen=True, slots=True)
class Operator:
    """A judge and what it takes."""

    name: str
    judge: Callable[..., bool]
    signature: Signature
    about: str
    cost: Cost


@dataclass(frozen=True, slots=True)
class Action:
    """A deed and what it takes; ``early`` ones need no node."""

    name: str
    perform: Callable[..., None]
    signature: Signature
    early: bool
    about: str


class Words(Mapping[str, Word], Generic[Word]):
    """The words of one kind, looked up once."""

    def __init__(self, group: str, understood: Callable[[str, Any], Word]) -> None:
        self.group = group
        self._understood = understood

    @functools.cached_property
    def _words(self) -> dict[str, Word]:
        return words(self.group, _installed(self.group), self._understood)

    def __getitem__(self, name: str) -> Word:
        return self._words[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)


def words(group: str, points: list[EntryPoint], understood: Callable[[str, Any], Word]) -> dict[str, Word]:
    """Return what the entry points lead to, or raise InvalidParameterValue with everything that is wrong."""
    found: dict[str, Word] = {}
    faults: list[str] = []
    values: dict[str, str] = {}
    for point in points:
        if values.setdefault(point.name, point.value) != point.value:
            faults.append(f"{point.name} is published for {values[point.name]} and for {point.value}")
            continue
        try:
            found[point.name] = understood(point.name, point.load())
        except Exception as error:
            faults.append(f"{point.name} ({point.value}): {type(error).__name__}: {error}")
    if faults:
        raise InvalidParameterValue(err=f"Entry points of {group} can't be used: {'; '.join(faults)}.")
    return found


def operator_of(name: str, judge: object) -> Operator:
    """Return the operator that a function is."""
    if not inspect.isfunction(judge):
        raise TypeError("an operator is a function")
    guarded = judge if _is_ours(judge) else functools.partial(_guarded, name, judge)
    return Operator(name, guarded, Signature(judge), _about(judge), cost_of(judge))


def action_of(name: str, found: object) -> Action:
    """Return the action that a function of a workspace, or a third party's class, is."""
    if inspect.isfunction(found):
        early = bool(getattr(found, "supports_early", False))
        return Action(name, found, Signature(found, skip=1), early, _about(found))
    if not (inspect.isclass(found) and any("__call__" in vars(one) for one in found.__mro__)):
        raise TypeError("an action is a function of a workspace, or a class with __call__(task, rule, ...)")
    return _action_of_class(name, found)


def _action_of_class(name: str, found: type) -> Action:
    plugin: Any = found()
    signature = Signature(type(plugin).__call__, skip=3, templates=getattr(plugin, "formatted_params", None))
    early = bool(getattr(plugin, "supports_early", False))
    if early and Signature(type(plugin).call_early, skip=2).names != signature.names:
        raise TypeError("call_early takes other arguments than __call__")
    return Action(name, PluginAction(name, plugin), signature, early, _about(found))


def _guarded(name: str, judge: Callable[..., object], **values: Any) -> bool:
    """Judge with a third party's function, whose mishaps fail the rule and nothing else."""
    try:
        return bool(judge(**values))
    except RuleFault:
        raise
    except Exception as error:
        raise RuleFault(f"operator {name} failed: {type(error).__name__}: {error}") from None


def _is_ours(function: Callable[..., object]) -> bool:
    return function.__module__.startswith("ironic.core.rules.")


def _about(thing: object) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _installed(group: str) -> list[EntryPoint]:
    # A manager told to load no names still knows them all.
    return list(named.NamedExtensionManager(group, names=[]).list_entry_points())


OPERATORS: Final = Words(OPERATORS_GROUP, operator_of)
ACTIONS: Final = Words(ACTIONS_GROUP, action_of)


def check() -> None:
    """See at start that there are words and all can be understood, or raise InvalidParameterValue."""
    for kind in (OPERATORS, ACTIONS):
        require_some(kind)


def require_some(kind: Words[Any]) -> None:
    """Refuse to go on without any words: then the package was not installed as it is now."""
    if not kind:
        raise InvalidParameterValue(err=f"No entry point of {kind.group} is installed. Install this package again.")
