"""What an evaluation comes to: changes, log lines, an explanation and, if it failed, where and why.

Everything is plain data. What is shown to people (explanation, failure) holds no secret, and of sensitive rules just
the verdicts.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from ironic.core.errors import InspectionRuleFailure
from ironic.core.rules.calls import PlannedCall
from ironic.core.rules.plain_data import copy
from ironic.core.rules.workspace import Changes, LogLine

_LONGEST_TEXT: Final = 256
_MOST_ELEMENTS: Final = 32


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a rule failed the inspection and why; the why is left out when the rule is sensitive."""

    rule: str
    phase: str
    part: str  # "conditions" or "actions"
    index: int
    kind: str
    text: str | None

    def __str__(self) -> str:
        place = f"phase {self.phase}, {self.part}[{self.index}]"
        return f"{place}: {self.kind} (the rule is sensitive)" if self.text is None else f"{place}: {self.text}"

    def error(self, what: str) -> InspectionRuleFailure:
        """Return the error to raise; ``what`` names the node that the rule ran on."""
        return InspectionRuleFailure(
            rule=self.rule, what=what, error=str(self), phase=self.phase, part=self.part, index=self.index
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of evaluating rules."""

    changes: Changes
    explanation: list[dict[str, Any]]
    log: list[LogLine] = field(default_factory=list)
    failure: Failure | None = None
    calls: list[PlannedCall] = field(default_factory=list)


def preview(value: object) -> object:
    """Return a value as an explanation shows it: long text and large containers cut short."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}..."
    if isinstance(value, dict | list):
        return copy(value) if _is_small(value, [_MOST_ELEMENTS]) else _counted(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _counted(value: Any) -> str:
    return f"({len(value)} {'keys' if isinstance(value, dict) else 'items'})"


def _is_small(value: object, left: list[int]) -> bool:
    """Tell whether a container has few elements, looking at no more of them than that."""
    left[0] -= 1
    if left[0] < 0 or (isinstance(value, str) and len(value) > _LONGEST_TEXT):
        return False
    if isinstance(value, dict | list):
        return all(_is_small(inner, left) for inner in (value.values() if isinstance(value, dict) else value))
    return True
