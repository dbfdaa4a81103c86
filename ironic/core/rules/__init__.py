"""Inspection rules as a language: checked when posted, evaluated over facts, without a trace of input or output.

`check_rule` makes a document ready or says what is wrong with it; `evaluate` runs rules over facts and returns changes
and an explanation. Storing rules, building facts and applying changes are the business of `ironic.inspection.rules`.
"""

from ironic.core.rules.calls import Call, PlannedCall
from ironic.core.rules.checking import check_rule
from ironic.core.rules.evaluation import evaluate
from ironic.core.rules.outcome import Failure, Outcome
from ironic.core.rules.rule import HIGHEST_PRIORITY, LOWEST_PRIORITY, PHASES, CompiledRule
from ironic.core.rules.selection import in_order, selected
from ironic.core.rules.vocabulary import ACTIONS, OPERATORS, Action, Operator
from ironic.core.rules.workspace import Changes, Facts, LogLine, Masking

__all__ = [
    "ACTIONS",
    "HIGHEST_PRIORITY",
    "LOWEST_PRIORITY",
    "OPERATORS",
    "PHASES",
    "Action",
    "Call",
    "Changes",
    "CompiledRule",
    "Facts",
    "Failure",
    "LogLine",
    "Masking",
    "Operator",
    "Outcome",
    "PlannedCall",
    "check_rule",
    "evaluate",
    "in_order",
    "selected",
]
