"""What an evaluation of rules returns: changes, explanation, failure, in plain data that may be shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ironic.core.errors import InspectionRuleFailure
from ironic.core.rules.calls import PlannedCall
from ironic.core.rules.documents import shown_operation
from ironic.core.rules.paths import Patch, copy
from ironic.core.rules.workspace import Changes, LogLine
from ironic.core.secrets.masking import REPLACEMENT

_LONGEST_TEXT: Final = 256
_MOST_ELEMENTS: Final = 32

# What a rule has set and how to take it back: {"action": name, "at": path, capability or trait, "value": what is set
# there}, and what else undoing it needs (`inspector.effects`).
Effect = dict[str, Any]


# Characters of a description in an error.
_LONGEST_DESCRIPTION: Final = 80


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a rule failed the inspection and why; ``text`` is None if the rule is sensitive."""

    rule: str
    phase: str
    part: str  # "conditions", "actions" or "cleanups"
    index: int
    kind: str
    text: str | None
    maintenance: str | None = None  # why the node is to be in maintenance from now on
    description: str | None = None  # of the rule

    def __str__(self) -> str:
        place = f"phase {self.phase}, {self.part}[{self.index}]"
        return f"{place}: {self.kind} (the rule is sensitive)" if self.text is None else f"{place}: {self.text}"

    def error(self, what: str) -> InspectionRuleFailure:
        """Return the error to raise; ``what`` names the node that the rule ran on."""
        named = f"{self.rule} ({self.description[:_LONGEST_DESCRIPTION]})" if self.description else self.rule
        return InspectionRuleFailure(
            rule=named, what=what, error=str(self), phase=self.phase, part=self.part, index=self.index
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of evaluating rules; ``effects`` are those of each rule that can take them back, by its UUID."""

    changes: Changes
    explanation: list[dict[str, Any]]
    log: list[LogLine] = field(default_factory=list)
    failure: Failure | None = None
    calls: list[PlannedCall] = field(default_factory=list)
    effects: Mapping[str, list[Effect]] = field(default_factory=dict)


def preview(value: object) -> object:
    """Return a value as an explanation shows it: long text is cut, a large container replaced by its size."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_TEXT else f"{value[:_LONGEST_TEXT]}..."
    if isinstance(value, dict | list):
        if _is_small(value, [_MOST_ELEMENTS]):
            return copy(value)
        return f"({len(value)} {'keys' if isinstance(value, dict) else 'items'})"
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _is_small(value: object, left: list[int]) -> bool:
    """Return whether a container has at most ``left`` elements; it stops counting beyond that."""
    left[0] -= 1
    if left[0] < 0 or (isinstance(value, str) and len(value) > _LONGEST_TEXT):
        return False
    if isinstance(value, dict | list):
        return all(_is_small(inner, left) for inner in (value.values() if isinstance(value, dict) else value))
    return True


def shown_changes(changes: Changes, *, hiding: bool) -> dict[str, object]:
    """Return changes as they may be shown; ``hiding``: without any value, because the rule may have copied secrets."""

    def shown(patch: Patch) -> Patch:
        if hiding:
            return [operation | ({"value": REPLACEMENT} if "value" in operation else {}) for operation in patch]
        return [shown_operation(operation) for operation in patch]

    ports = {uuid: shown(patch) for uuid, patch in changes.ports.items()}
    return {"node": shown(changes.node), "ports": ports, "plugin_data": shown(changes.plugin_data)}
