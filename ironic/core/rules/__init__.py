"""The language of inspection rules: rules are checked when they are posted and evaluated over facts, without I/O.

`check_rule` compiles a rule document or raises an error about it; `evaluate` runs compiled rules over facts and returns
changes and an explanation. `ironic.inspection.rules` stores rules, collects facts and applies changes.
"""

from ironic.core.rules.calls import Call, PlannedCall
from ironic.core.rules.compiled_rules import (
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    PHASES,
    AnyRule,
    CompiledRule,
    check_rule,
    in_order,
    selected,
)
from ironic.core.rules.evaluation import evaluate
from ironic.core.rules.impossible_actions import check_possible
from ironic.core.rules.rule_outcomes import Failure, Outcome
from ironic.core.rules.vocabulary import ACTIONS, OPERATORS, Action, Operator
from ironic.core.rules.workspace import Changes, Facts, LogLine, Masking

__all__ = [
    "ACTIONS",
    "HIGHEST_PRIORITY",
    "LOWEST_PRIORITY",
    "OPERATORS",
    "PHASES",
    "Action",
    "AnyRule",
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
    "check_possible",
    "check_rule",
    "evaluate",
    "in_order",
    "selected",
]
