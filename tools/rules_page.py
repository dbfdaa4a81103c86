"""The reference of inspection rules, read off the signatures of operators and actions."""

import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ironic.core.rules import ACTIONS, OPERATORS, Action, Operator
from ironic.core.rules.arguments import Parameter
from ironic.core.rules.kinds import LeftoverKind

HEAD = """\
# Inspection rules: operators and actions

Read off the signatures in `ironic/core/rules` by `make docs`. How to write rules is told in the
[guide](inspection-rules.md). Arguments come by position, in this order, or by name; those behind a `/` by name only.
Expressions may stand in all of them, unless it is said otherwise.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_table("Operators", "operator", OPERATORS), "", *_table("Actions", "action", ACTIONS), ""])


def _table(title: str, kind: str, words: Mapping[str, Operator] | Mapping[str, Action]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"| {kind} | arguments | what it does |"
    yield "| --- | --- | --- |"
    for name in sorted(words):
        if _is_ours(words[name]):
            yield f"| `{name}` | {_arguments(words[name])} | {_about(words[name])} |"


def _is_ours(word: Operator | Action) -> bool:
    function: Any = word.judge if isinstance(word, Operator) else word.perform
    return str(getattr(function, "__module__", "")).startswith("ironic.core.rules.") and inspect.isfunction(function)


def _about(word: Operator | Action) -> str:
    return word.about + (" Not in the early phase." if isinstance(word, Action) and not word.early else "")


def _arguments(word: Operator | Action) -> str:
    shown = [one for one in word.signature.parameters if not isinstance(one.kind, LeftoverKind)]
    by_position = "; ".join(_argument(one) for one in shown if one.positional)
    by_name = "; ".join(_argument(one) for one in shown if not one.positional)
    return f"{by_position} / {by_name}" if by_name else by_position


def _argument(parameter: Parameter) -> str:
    takes = "any number by position, or one list by name" if parameter.several else parameter.kind.takes
    empty = not parameter.required and parameter.default == ()
    default = "" if parameter.required else f", by default `{json.dumps([] if empty else parameter.default)}`"
    return f"`{parameter.name}`: {takes}{default}"
