"""The reference of inspection rules, made from the signatures of operators and actions."""

import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ironic.core.rules import ACTIONS, OPERATORS, Action, Operator
from ironic.core.rules.argument_kinds import IgnoredPluginDataKind
from ironic.core.rules.signatures import Parameter

HEAD = """\
# Inspection rules: operators and actions

The [guide](inspection-rules.md) explains how to write rules. Give arguments by position, in this order, or by name;
those behind a `/` by name only. All of them may hold expressions unless the table excepts them.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_table("Operators", "operator", OPERATORS), "", *_table("Actions", "action", ACTIONS), ""])


def _table(title: str, kind: str, words: Mapping[str, Operator] | Mapping[str, Action]) -> Iterator[str]:
    yield f"## {title}\n"
    yield f"| {kind} | arguments | what it does |"
    yield "| --- | --- | --- |"
    for name in sorted(words):
        word = words[name]
        if _is_of_project(word):
            late = " Not in the early phase." if isinstance(word, Action) and not word.early else ""
            yield f"| `{name}` | {_arguments(word)} | {word.about}{late} |"


def _is_of_project(word: Operator | Action) -> bool:
    function: Any = word.function if isinstance(word, Operator) else word.perform
    return str(getattr(function, "__module__", "")).startswith("ironic.core.rules.") and inspect.isfunction(function)


def _arguments(word: Operator | Action) -> str:
    shown = [one for one in word.signature.parameters if not isinstance(one.kind, IgnoredPluginDataKind)]
    by_position = "; ".join(_argument(one) for one in shown if one.positional)
    by_name = "; ".join(_argument(one) for one in shown if not one.positional)
    return f"{by_position} / {by_name}" if by_name else by_position


def _argument(parameter: Parameter) -> str:
    takes = "any number by position, or one list by name" if parameter.several else parameter.kind.noun
    empty = not parameter.required and parameter.default == ()
    default = "" if parameter.required else f", by default `{json.dumps([] if empty else parameter.default)}`"
    return f"`{parameter.name}`: {takes}{default}"
