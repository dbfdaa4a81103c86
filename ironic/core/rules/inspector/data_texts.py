"""Texts with `{data[a][b]}`: values of actions, filled in from the inspection data.

The syntax is the part of Python's format strings that the standalone inspector documents: keys in brackets. Attributes,
conversions and format specifications are refused when the rule is posted, and nothing but plain data is reachable. The
result is text, as Python writes the value; a key that is missing fails the rule.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.core.rules.interpolation import BadExpression, Constant, Lookup, Text, text_template
from ironic.core.rules.limits import TEXT_LENGTH, Budget, RuleFault, weight

_DATA: Final = "data"
_NAMES: Final = frozenset({_DATA})
_DOTTED: Final = re.compile(r"(?<!\{)(?:\{\{)*\{[A-Za-z_][A-Za-z0-9_]*(?:\[[^\[\]{}]*\])*\.")


@dataclass(frozen=True, slots=True)
class DataText:
    """A compiled value; ``is_constant`` when there is nothing to fill in."""

    value: Any
    is_constant: bool

    def render(self, data: object, budget: Budget) -> Any:
        """Return the value with everything filled in; raises RuleFault."""
        return self.value if self.is_constant else _rendered(self.value, data, budget)


def data_text(value: object) -> DataText:
    """Compile a value; texts in lists and objects are compiled as well, keys are not. Raises BadExpression."""
    return _data_text(_compiled(value))


def data_texts(values: Mapping[str, Any], names: Collection[str]) -> DataText:
    """Compile an object in which only the values with these names are texts to fill in. Raises BadExpression."""
    return _data_text({name: _compiled(value) if name in names else value for name, value in values.items()})


def _data_text(made: object) -> DataText:
    return DataText(made, is_constant=not any(_pieces(made)))


def literal(value: object) -> DataText:
    """Return a value in which braces have no meaning."""
    return DataText(value, is_constant=True)


def _compiled(value: object) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [_compiled(inner) for inner in value]
    if isinstance(value, dict):
        return {key: _compiled(inner) for key, inner in value.items()}
    return value


def _text(value: str) -> Any:
    if _DOTTED.search(value):
        raise BadExpression("an expression can't have attributes: write {data[key]}, with each key in brackets")
    made = text_template(value, _NAMES)
    return made.value if isinstance(made, Constant) else made


def _pieces(made: object) -> Iterator[bool]:
    """Yield true for each text that has to be filled in."""
    if isinstance(made, dict):
        made = list(made.values())
    if isinstance(made, list):
        for inner in made:
            yield from _pieces(inner)
    elif isinstance(made, Lookup | Text):
        yield True


def _rendered(made: Any, data: object, budget: Budget) -> Any:
    budget.spend(1)
    if isinstance(made, list):
        return [_rendered(inner, data, budget) for inner in made]
    if isinstance(made, dict):
        return {key: _rendered(inner, data, budget) for key, inner in made.items()}
    if not isinstance(made, Lookup | Text):
        return made
    pieces: list[str] = []
    length = 0
    for part in (made,) if isinstance(made, Lookup) else made.parts:
        pieces.append(part if isinstance(part, str) else _found(part, data, budget))
        length += len(pieces[-1])
        if length > TEXT_LENGTH:
            raise RuleFault(f"a text would become longer than {TEXT_LENGTH} characters")
    return "".join(pieces)


def _found(lookup: Lookup, data: Any, budget: Budget) -> str:
    """Return the value at the keys as text; raises RuleFault if there is none."""
    for depth, key in enumerate(lookup.keys, 1):
        if isinstance(data, dict) and key in data:
            data = data[key]
        elif isinstance(data, list) and key.isascii() and key.isdigit() and len(key) < 10 and int(key) < len(data):
            data = data[int(key)]
        else:
            path = "".join(f"[{one}]" for one in lookup.keys[:depth])
            raise RuleFault(f"the inspection data have no {_DATA}{path}")
    budget.spend(steps := weight(data, TEXT_LENGTH))
    if steps > TEXT_LENGTH:
        raise RuleFault(f"a text would become longer than {TEXT_LENGTH} characters")
    return str(data)
