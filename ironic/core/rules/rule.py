"""A rule made ready: everything that can be checked or prepared without facts has been.

Compiled rules are immutable and may be shared between threads and kept until the stored rule changes.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from ironic.core.rules.arguments import Arguments
from ironic.core.rules.interpolation import Template
from ironic.core.rules.vocabulary import Action, Operator

Phase = Literal["early", "preprocess", "main"]
Multiple = Literal["any", "all", "first", "last"]

PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
MULTIPLES: Final[tuple[Multiple, ...]] = get_args(Multiple)

# Priorities that users may give; built-in rules may stand outside of them (S121).
LOWEST_PRIORITY: Final = 0
HIGHEST_PRIORITY: Final = 9999


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition."""

    op: str
    args: Any  # as posted, for explanations
    operator: Operator
    negated: bool
    arguments: Arguments
    loop: Template | None
    multiple: Multiple


@dataclass(frozen=True, slots=True)
class Deed:
    """One action of one rule."""

    action: Action
    arguments: Arguments
    loop: Template | None


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """One rule."""

    uuid: str
    description: str | None
    priority: int
    phase: Phase
    scope: str | None
    sensitive: bool
    built_in: bool
    conditions: tuple[Condition, ...]
    actions: tuple[Deed, ...]
