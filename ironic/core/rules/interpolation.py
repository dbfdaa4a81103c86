"""Expressions in arguments: `{name}`, then any number of `[key]`, `[0]` or `.key`.

An expression looks up a value in plain data. It has no attributes, calls, conversions or format specifications, which
are refused when the rule is posted. A text that is exactly one expression yields the value with its type; within longer
text a missing value is empty. Values are never parsed for expressions again. `{{` and `}}` stand for braces.
"""

import itertools
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ironic.core.rules.limits import TEXT_LENGTH, Budget, RuleFault, weight

_TOKEN: Final = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+")
_EXPRESSION: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)((?:\[[^\[\]{}]+\]|\.[A-Za-z0-9_-]+)*)")
# In a regular expression a backslash escapes the next character; `\p{Greek}` and `{2,3}` belong to its own syntax.
_PATTERN_TOKEN: Final = re.compile(
    r"(?s)\\[pPx]\{[^{}]*\}|\\.|\{[0-9]+(?:,[0-9]*)?\}|\{\{|\}\}|\{[^{}]*\}|[{}\\]|[^{}\\]+"
)
_PATTERNS_OWN: Final = re.compile(r"(?s)\\.*|\{[0-9]+(?:,[0-9]*)?\}")
_KEY: Final = re.compile(r"\[([^\[\]{}]+)\]|\.([A-Za-z0-9_-]+)")
_LARGEST_INDEX: Final = 9  # digits

ITEM: Final = "item"  # the name of the current item of a loop

_MOST_PARTS: Final = 256
_MOST_KEYS: Final = 32
_SHOWN: Final = 60
# Of what expressions looked for and did not find, for one rule; keys may be names that a machine has chosen.
_MOST_MISSING: Final = 16
_MOST_KEYS_READ: Final = 256
_MOST_KEYS_SHOWN: Final = 20
_ODD: Final = re.compile(r"[^A-Za-z0-9_.:/-]|.{33}|\A\Z")


class BadExpression(ValueError):
    """A text with an invalid expression; the message says what is wrong."""


class Scope:
    """The values that expressions can refer to, with their origin, and in a loop its current item."""

    __slots__ = ("_is_reported", "_item", "_values", "missing")

    def __init__(
        self,
        values: Mapping[str, object],
        is_reported: Callable[[str, tuple[str, ...]], bool] = lambda name, keys: False,
        item: "tuple[object, bool | Template]" = (None, False),
        missing: dict["Lookup", str] | None = None,
    ) -> None:
        """Take the values by name; ``missing`` collects what expressions did not find, and what is there."""
        self._values = values
        self._is_reported = is_reported
        self._item = item
        self.missing = {} if missing is None else missing

    def find(self, name: str) -> object:
        """Return the value with this name; None if there is none."""
        return self._item[0] if name == ITEM else self._values.get(name)

    def is_reported(self, lookup: "Lookup") -> bool:
        """Return whether the value of an expression may come from what a machine reported."""
        if lookup.name != ITEM:
            return self._is_reported(lookup.name, lookup.keys)
        origin = self._item[1]
        return origin if isinstance(origin, bool) else any(map(self.is_reported, part_of(origin, lookup.keys).lookups))

    def with_item(self, item: object, *, reported: "bool | Template") -> "Scope":
        """Return this scope with an item of a loop; ``reported`` is what yields it (`item_source`), or its origin."""
        return Scope(self._values, self._is_reported, (item, reported), self.missing)


class Template(Protocol):
    """A compiled argument, which yields a value within a scope."""

    @property
    def lookups(self) -> Sequence["Lookup"]:
        """The expressions in it."""
        ...

    def render(self, scope: Scope, budget: Budget) -> object:
        """Return the value."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """A value without expressions, returned without copying: code that stores it has to copy it."""

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
        """Return the value at the keys; None if there is none."""
        value = scope.find(self.name)
        for depth, key in enumerate(self.keys):
            if isinstance(value, dict) and key in value:
                value = value[key]
            elif isinstance(value, list) and (index := _index(value, key)) is not None:
                value = value[index]
            else:
                if self not in scope.missing and len(scope.missing) < _MOST_MISSING:
                    scope.missing[self] = _absence(".".join((self.name, *self.keys[:depth])), key, value)
                return None
        return value


def as_text(value: object) -> str:
    """Return a value as part of longer text; objects and lists as JSON, None as nothing."""
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def as_bounded_text(value: object, budget: Budget, longest: int = TEXT_LENGTH) -> str:
    """Return a value as text and spend its steps; raises RuleFault, if possible before conversion, for longer text."""
    # Each step stands for at least one character of the text.
    steps = weight(value, longest)
    budget.spend(steps)
    if steps <= longest and len(text := as_text(value)) <= longest:
        return text
    raise RuleFault(f"a text would become longer than {longest} characters")


@dataclass(frozen=True, slots=True)
class Text:
    """Text with expressions; ``convert`` encodes the value of each, ``escape_reported`` one that a machine reported."""

    parts: tuple[str | Lookup, ...]
    convert: Callable[[str], str] = str
    escape_reported: Callable[[str], str] = str

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
        return self.escape_reported(text) if scope.is_reported(part) else text


@dataclass(frozen=True, slots=True)
class Whole:
    """A text that is one expression; ``escape_reported`` encodes a value that a machine reported."""

    lookup: Lookup
    escape_reported: Callable[[str], str]

    @property
    def lookups(self) -> Sequence[Lookup]:
        """The expression."""
        return (self.lookup,)

    def render(self, scope: Scope, budget: Budget) -> object:
        """Return its value."""
        value = self.lookup.render(scope, budget)
        if not isinstance(value, str) or not value:
            return value
        text = as_bounded_text(value, budget)
        return self.escape_reported(text) if scope.is_reported(self.lookup) else text


@dataclass(frozen=True, slots=True)
class Listing:
    """A list with expressions at any depth."""

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
    """An object with expressions in its keys or values."""

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


def item_source(loop: Template, index: int) -> Template:
    """Return what yields an item of a loop, as far as the rule shows it: what its author has written is the author's.

    An object is the one item of its loop.
    """
    if isinstance(loop, Listing):
        return loop.items[index]
    if isinstance(loop, Constant):
        return Constant(loop.value[index]) if isinstance(loop.value, list) else loop
    return loop


def part_of(made: Template, keys: Sequence[str]) -> Template:
    """Return the part of a template that yields the value at these keys; the whole where only its value shows that."""
    for depth, key in enumerate(keys):
        if isinstance(made, Constant):
            return Constant(
                Lookup(ITEM, tuple(keys[depth:])).render(Scope({}).with_item(made.value, reported=False), Budget())
            )
        if isinstance(made, Listing) and (index := _index(made.items, key)) is not None:
            made = made.items[index]
        elif isinstance(made, Table) and all(isinstance(name, Constant) for name, _ in made.pairs):
            found = [value for name, value in made.pairs if isinstance(name, Constant) and name.value == key]
            made = found[-1] if found else Constant(None)
        else:
            return made
    return made


_NOTHING: Final = Scope({})


def template(value: object, names: Collection[str]) -> Template:
    """Compile a JSON value; expressions may begin with these names only. Raises BadExpression."""
    if isinstance(value, str):
        return text_template(value, names)
    if isinstance(value, list):
        items = tuple(template(item, names) for item in value)
        if _all_constant(items):
            return Constant([item.render(_NOTHING, Budget()) for item in items])
        return Listing(items)
    if isinstance(value, dict):
        table = Table(tuple((text_template(key, names), template(inner, names)) for key, inner in value.items()))
        if _all_constant([half for pair in table.pairs for half in pair]):
            return Constant(table.render(_NOTHING, Budget()))
        return table
    return Constant(value)


def text_template(text: str, names: Collection[str]) -> Constant | Lookup | Text:
    """Compile one text; raises BadExpression."""
    return _assembled([_part(token, names) for token in _TOKEN.findall(text)])


def pattern_template(text: str, names: Collection[str]) -> Constant | Lookup | Text:
    """Compile a regular expression; the braces of its own syntax (`{2}`, `{1,3}`, escaped ones) are ordinary text."""
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
        raise BadExpression(f"a single '{token}' is not part of an expression: write it twice for the character itself")
    return _lookup(token, names) if token.startswith("{") else token


def _lookup(token: str, names: Collection[str]) -> Lookup:
    match = _EXPRESSION.fullmatch(token, 1, len(token) - 1)
    if match is None:
        raise BadExpression(f"{_short(token)} is not an expression: write {{name}}, {{name[key]}} or {{name.key}}")
    name, tail = match.groups()
    if name not in names:
        raise BadExpression(f"{_short(token)} begins with an unknown name; known: {', '.join(sorted(names))}")
    keys = tuple(bracketed or dotted for bracketed, dotted in _KEY.findall(tail))
    if len(keys) > _MOST_KEYS:
        raise BadExpression(f"{_short(token)} has more than {_MOST_KEYS} keys")
    if any(key[0] in "'\"" for key in keys):
        raise BadExpression(f"{_short(token)} has a key in quotes: write keys without quotes")
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


def _index(values: Sequence[object], key: str) -> int | None:
    """Return the index in a list that digits stand for, None when the list has no such item."""
    if not (key.isascii() and key.isdigit() and len(key) <= _LARGEST_INDEX):
        return None
    return index if (index := int(key)) < len(values) else None


def _absence(place: str, key: str, value: object) -> str:
    """Return a text that says that a place has no such key, and which keys it has."""
    if isinstance(value, dict):
        names = sorted(map(str, itertools.islice(value, _MOST_KEYS_READ)))
        shown = ", ".join(_short(name) if _ODD.search(name) else name for name in names[:_MOST_KEYS_SHOWN])
        has = f"it has {shown}{' and more' if len(value) > _MOST_KEYS_SHOWN else ''}" if names else "it is empty"
        return f"{place} has no {key}; {has}"
    if isinstance(value, list):
        return f"{place} is a list of {len(value)} items and has no item {key}"
    return f"{place} is {'missing' if value is None else 'no object'}, so it has no {key}"


def _short(token: str) -> str:
    return repr(token if len(token) <= _SHOWN else f"{token[:_SHOWN]}...")
