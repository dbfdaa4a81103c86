"""Inspection rules in operation: load stored and built-in rules, run them on facts, apply and record the results.

The rule language itself is `ironic.core.rules`.
"""

from ironic.inspection.rules.explanation import record_early
from ironic.inspection.rules.rule_book import BuiltInRule, EarlyRules, RuleBook, load_built_in
from ironic.inspection.rules.rule_run import Inspection, StoredNode, facts_of, facts_without_node, run_early

__all__ = [
    "BuiltInRule",
    "EarlyRules",
    "Inspection",
    "RuleBook",
    "StoredNode",
    "facts_of",
    "facts_without_node",
    "load_built_in",
    "record_early",
    "run_early",
]
