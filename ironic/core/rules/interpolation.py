"""Expressions in arguments: `{name}`, then any number of `[key]`, `[0]` or `.key`.

Look-ups over plain data, nothing else: no attributes, calls, conversions or format specifications, all of which are
refused when the rule is posted. A text that is exactly one expression yields the value with its type; in longer text
a missing value is empty. One pass: what an expression yields is never read as an expression again. `{{` and `}}` stand
for braces.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ironic.core.rules.faults import RuleFault
from ironic.core.rules.limits import TEXT_LENGTH, Budget, weight

_TOKEN: Final = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+")
_EXPRESSION: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)((?:\[[^\[\]{}]+\]|\.[A-Za-z0-9_-]+)*)")
# In a regular expression a backslash escapes what follows, `\p{Greek}` and `{2,3}` are its own.
_PATTERN_TOKEN: Final = re.compile(
    r"(?s)\\[pPx]\{[^{}]*\}|\\.|\{[0-9]+(?:,[0-9]*)?\}|\{\{|\}\}|\{[^{}]*\}|[{}\\]|[^{}\\]+"
)
_PATTERNS_OWN: Final = re.compile(r"(?s)\\.*|\{[0-9]+(?:,[0-9]*)?\}")
_KEY: Final = re.compile(r"\[([^\[\]{}]+)\]|\.([A-Za-z0-9_-]+)")
_LARGEST_INDEX: Final = 9  # digits

ITEM: Final = "item"  # what a loop calls what it is at

_MOST_PARTS: Final = 256
_MOST_KEYS: Final = 32
_SHOWN: Final = 60


class BadExpression(ValueError):
    """Text that is no template; the message says what is wrong with it."""


class Scope:
    """What expressions may name, and which of it a machine reported; in a loop with one of its items."""

    __slots__ = ("_is_reported", "_item", "_values")

    def __init__(
        self,
        values: Mapping[str, object],
        is_reported: Callable[[str, tuple[str, ...]], bool] = lambda name, keys: False,
        item: tuple[object, bool] = (None, False),
    ) -> None:
        self._values = values
        self._is_reported = is_reported
        self._item = item

    def find(self, name: str) -> object:
        """Return what has this name."""
        return self._item[0] if name == ITEM else self._values.get(name)

    def is_reported(self, lookup: "Lookup") -> bool:
        """Tell whether what an expression yields may be what a machine reported."""
        return self._item[1] if lookup.name == ITEM else self._is_reported(lookup.name, lookup.keys)

    def with_item(self, item: object, *, reported: bool) -> "Scope":
        """Return the same with an item of a loop."""
        return Scope(self._values, self._is_reported, (item, reported))


class Template(Protocol):
    """An argument made ready: something that yields a value within a scope."""

    @property
    def lookups(self) -> Sequence["Lookup"]:
        """The expressions in it."""
        ...

    def render(self, scope: Scope, budget: Budget) -> object:
        """Return the value."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """A value without expressions, handed out as it is: who stores it copies it."""

    value: Any

    @property
    def lookups(self) -> Sequence["Lookup"]:
        """None."""
        return ()

    def render(self, scope: Scope, budget: Budget) -> object:
        """Return the value."""
        return self.value


@dataclass(frozen=True, slots=True)
class Lookup:
    """One expression."""

    name: str
    keys: tuple[str, ...]

    @property
    def lookups(self) -> Sequence["Lookup"]:
        """Itself."""
        return (self,)

    def render(self, scope: Scope, budget: Budget) -> object:
        """Return what stands there; None when nothing does."""
        value = scope.find(self.name)
        for key in self.keys:
            if isinstance(value, dict):
                value = value.get(key)
            elif isinstance(value, list):
                value = _item(value, key)
            else:
                return None
        return value


def as_text(value: object) -> str:
    """Return a value as it reads within longer text; objects and lists as JSON."""
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def as_bounded_text(value: object, budget: Budget, longest: int = TEXT_LENGTH) -> str:
    """Return a value as text, paid for; one that would be longer than that is refused before it is made."""
    # A step is at least one character of the text.
    steps = weight(value, longest)
    budget.spend(steps)
    if steps <= longest and len(text := as_text(value)) <= longest:
        return text
    raise RuleFault(f"a text would become longer than {longest} characters")


@dataclass(frozen=True, slots=True)
class Text:
    """Text with expressions in it; ``convert`` makes what one yields fit, ``disarm`` if a machine reported it."""

    parts: tuple[str | Lookup, ...]
    convert: Callable[[str], str] = str
    disarm: Callable[[str], str] = str

    @property
    def lookups(self) -> Sequence[Lookup]:
        """The expressions in it."""
        return [part for part in self.parts if isinstance(part, Lookup)]

    def render(self, scope: Scope, budget: Budget) -> str:
        """Return the text with every expression filled in."""
        pieces: list[str] = []
        length = 0
        for part in self.parts:
            piece = part if isinstance(part, str) else self._filled_in(part, scope, budget)
            length += len(piece)
            if length > TEXT_LENGTH:
                raise RuleFault(f"a text would become longer than {TEXT_LENGTH} characters")
            pieces.append(piece)
        return "".join(pieces)

    def _filled_in(self, part: Lookup, scope: Scope, budget: Budget) -> str:
        text = self.convert(as_bounded_text(part.render(scope, budget), budget))
        return self.disarm(text) if scope.is_reported(part) else text


@dataclass(frozen=True, slots=True)
class Whole:
    """One expression that is all of a text; ``disarm`` makes it harmless if a machine reported it."""

    lookup: Lookup
    disarm: Callable[[str], str]

    @property
    def lookups(self) -> Sequence[Lookup]:
        """The expression."""
        return (self.lookup,)

    def render(self, scope: Scope, budget: Budget) -> object:
        """Return what it yields."""
        value = self.lookup.render(scope, budget)
        if not isinstance(value, str) or not value:
            return value
        text = as_bounded_text(value, budget)
        return self.disarm(text) if scope.is_reported(self.lookup) else text


@dataclass(frozen=True, slots=True)
class Listing:
    """A list that has expressions somewhere in it."""

    items: tuple[Template, ...]

    @property
    def lookups(self) -> Sequence[Lookup]:
        """The expressions in it."""
        return [lookup for item in self.items for lookup in item.lookups]

    def render(self, scope: Scope, budget: Budget) -> list[object]:
        """Return the list with every expression filled in."""
        budget.spend(len(self.items))
        return [item.render(scope, budget) for item in self.items]


@dataclass(frozen=True, slots=True)
class Table:
    """An object that has expressions in its keys or values."""

    pairs: tuple[tuple[Template, Template], ...]

    @property
    def lookups(self) -> Sequence[Lookup]:
        """The expressions in it."""
        return [lookup for pair in self.pairs for half in pair for lookup in half.lookups]

    def render(self, scope: Scope, budget: Budget) -> dict[str, object]:
        """Return the object with every expression filled in."""
        budget.spend(len(self.pairs))
        return {
            as_bounded_text(key.render(scope, budget), budget): value.render(scope, budget) for key, value in self.pairs
        }


_NOTHING: Final = Scope({})


def template(value: object, names: Collection[str]) -> Template:
    """Make a JSON value ready; expressions may begin with these names only."""
    if isinstance(value, str):
        return text_template(value, names)
    if isinstance(value, list):
        items = tuple(template(item, names) for item in value)
        return Constant([item.render(_NOTHING, Budget()) for item in items]) if _all_constant(items) else Listing(items)
    if isinstance(value, dict):
        pairs = tuple((text_template(key, names), template(inner, names)) for key, inner in value.items())
        halves = [half for pair in pairs for half in pair]
        return Constant(Table(pairs).render(_NOTHING, Budget())) if _all_constant(halves) else Table(pairs)
    return Constant(value)


def text_template(text: str, names: Collection[str]) -> Constant | Lookup | Text:
    """Make one text ready."""
    return _assembled([_part(token, names) for token in _TOKEN.findall(text)])


def pattern_template(text: str, names: Collection[str]) -> Constant | Lookup | Text:
    """Make a regular expression ready; its own braces (`{2}`, `{1,3}`, an escaped one) are ordinary text."""
    tokens = _PATTERN_TOKEN.findall(text)
    return _assembled([one if _PATTERNS_OWN.fullmatch(one) else _part(one, names) for one in tokens])


def _assembled(pieces: Sequence[str | Lookup]) -> Constant | Lookup | Text:
    parts = _merged(pieces)
    if len(parts) > _MOST_PARTS:
        raise BadExpression(f"a text has more than {_MOST_PARTS} parts")
    if not parts:
        return Constant("")
    if len(parts) == 1:
        return Constant(parts[0]) if isinstance(parts[0], str) else parts[0]
    return Text(tuple(parts))


def _part(token: str, names: Collection[str]) -> str | Lookup:
    if token in ("{{", "}}"):
        return token[0]
    if token in ("{", "}"):
        raise BadExpression(f"a single '{token}' opens or closes nothing: write it twice to mean the character")
    return _lookup(token, names) if token.startswith("{") else token


def _lookup(token: str, names: Collection[str]) -> Lookup:
    match = _EXPRESSION.fullmatch(token, 1, len(token) - 1)
    if match is None:
        raise BadExpression(f"{_short(token)} is no expression: write {{name}}, {{name[key]}} or {{name.key}}")
    name, tail = match.groups()
    if name not in names:
        raise BadExpression(f"{_short(token)} begins with an unknown name; known here: {', '.join(sorted(names))}")
    keys = tuple(bracketed or dotted for bracketed, dotted in _KEY.findall(tail))
    if len(keys) > _MOST_KEYS:
        raise BadExpression(f"{_short(token)} has more than {_MOST_KEYS} keys")
    if any(key[0] in "'\"" for key in keys):
        raise BadExpression(f"{_short(token)} has a key in quotes: keys are written without them")
    return Lookup(name, keys)


def _merged(parts: Sequence[str | Lookup]) -> list[str | Lookup]:
    """Join neighbouring pieces of plain text."""
    merged: list[str | Lookup] = []
    for part in parts:
        if merged and isinstance(part, str) and isinstance(last := merged[-1], str):
            merged[-1] = last + part
        else:
            merged.append(part)
    return merged


def _all_constant(templates: Sequence[Template]) -> bool:
    return all(isinstance(one, Constant) for one in templates)


def _item(values: Sequence[object], key: str) -> object:
    """Return an item of a list by its index in digits."""
    if not (key.isascii() and key.isdigit() and len(key) <= _LARGEST_INDEX):
        return None
    index = int(key)
    return values[index] if index < len(values) else None


def _short(token: str) -> str:
    return repr(token if len(token) <= _SHOWN else f"{token[:_SHOWN]}...")
