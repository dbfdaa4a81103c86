"""JSON paths of conditions: parsed by jsonpath-ng, walked here step by step within a budget.

A path has names (`a.b`, `'a b'`), wildcards (`*`, `[*]`), indexes (`[0]`, `[-1]`), slices (`[1:3]`) and descendants
(`a..b`). jsonpath-ng would evaluate any of them completely, whatever it costs; here each value that is visited is paid
before the next. The other operators of jsonpath-ng (`|`, `&`, `where`, `parent`) are refused.

Each part of a path takes the values that the parts before it have found: so a path needs no recursion, and its work is
known.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jsonpath_ng import jsonpath
from jsonpath_ng.parser import parse as parse_path

from ironic.core.rules.limits import DEPTH, VERDICT, Budget, RuleFault, TooMuchWork

_LONGEST: Final = 1024  # characters
_MOST_PARTS: Final = 32
_LARGEST_INDEX: Final = 2**31
_EVERYTHING: Final = object()  # stands for `..` among the parts


class BadJsonPath(ValueError):
    """Text that is no JSON path of the supported kind."""


Part = Callable[[object], Iterable[object]]


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A parsed path."""

    text: str
    parts: tuple[Part, ...]

    def find(self, data: object, budget: Budget) -> list[object]:
        """Return the values at the path in the order of the document; raises TooMuchWork.

        One search may take as many steps as one comparison of an operator.
        """
        found: list[object] = [data]
        search = Budget(most := min(VERDICT, budget.left))
        try:
            for part in self.parts:
                found = [inner for value in found for inner in _paid(part, value, search)]
        except TooMuchWork:
            if most < VERDICT:
                budget.spend(most + 1)  # the steps of the phase are the limit
            raise TooMuchWork(
                f"the JSON path {self.text[:80]} would visit more than the {most} values that it may visit: name more "
                "of the path"
            ) from None
        budget.spend(most - search.left)
        return found


def _paid(part: Part, value: object, budget: Budget) -> Iterator[object]:
    budget.spend(1)
    for inner in part(value):
        budget.spend(1)
        yield inner


@functools.lru_cache(maxsize=256)
def parsed_path(text: str) -> JsonPath:
    """Return a path; raises BadJsonPath."""
    if len(text) > _LONGEST:
        raise BadJsonPath(f"a JSON path is longer than {_LONGEST} characters")
    try:
        tree = parse_path(text)
    except Exception as error:  # the parser has errors of its own, and warns of syntax that will go
        raise BadJsonPath(f"not a JSON path: {str(error)[:200]}") from None
    parts = tuple(_parts(tree))
    if len(parts) > _MOST_PARTS:
        raise BadJsonPath(f"a JSON path has more than {_MOST_PARTS} parts")
    return JsonPath(text, parts)


def _parts(tree: Any) -> Iterator[Part]:
    """Return the parts of a parsed path from left to right."""
    pending: list[Any] = [tree]
    is_first = True
    while pending:
        node = pending.pop()
        if isinstance(node, jsonpath.Child):
            pending += [node.right, node.left]
        elif isinstance(node, jsonpath.Descendants):
            pending += [node.right, _EVERYTHING, node.left]
        elif not isinstance(node, jsonpath.Root | jsonpath.This):
            yield _descendants if node is _EVERYTHING else _part(node)
        elif isinstance(node, jsonpath.Root) and not is_first:
            raise BadJsonPath("$ may stand only at the beginning of a JSON path")
        is_first = is_first and isinstance(node, jsonpath.Child | jsonpath.Descendants)


def _part(node: Any) -> Part:
    if isinstance(node, jsonpath.Fields):
        return functools.partial(_fields, node.fields)
    if isinstance(node, jsonpath.Wildcard):
        return _children
    if isinstance(node, jsonpath.Index) and all(abs(one) < _LARGEST_INDEX for one in node.indices):
        return functools.partial(_indexed, node.indices)
    if isinstance(node, jsonpath.Slice) and node.step != 0:
        return functools.partial(_sliced, slice(node.start, node.end, node.step))
    raise BadJsonPath("a JSON path may have names, *, indexes, slices with a step other than 0, and .. only")


def _fields(names: Sequence[str], value: object) -> list[object]:
    return [value[name] for name in names if name in value] if isinstance(value, dict) else []


def _children(value: object) -> Sequence[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _indexed(indexes: Sequence[int], value: object) -> list[object]:
    if not isinstance(value, list):
        return []
    return [value[index] for index in indexes if -len(value) <= index < len(value)]


def _sliced(chosen: slice, value: object) -> list[object]:
    return value[chosen] if isinstance(value, list) else []


def _descendants(value: object) -> Iterator[object]:
    """Yield a value and everything inside it, each before what is inside it."""
    pending = [(value, DEPTH)]
    while pending:
        value, depth = pending.pop()
        if depth == 0:
            raise RuleFault(f"a value is nested more than {DEPTH} levels deep")
        yield value
        pending += [(inner, depth - 1) for inner in reversed(_children(value))]
