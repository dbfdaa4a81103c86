"""Inspection rules at work: loading stored and built-in ones, giving them facts, applying what they decide.

The language itself is `ironic.core.rules`.
"""

from ironic.inspection.rules.book import RuleBook
from ironic.inspection.rules.built_in import BuiltInRule, load
from ironic.inspection.rules.machine_facts import StoredNode, facts_of, facts_of_nobody
from ironic.inspection.rules.record import keep_early
from ironic.inspection.rules.running import Inspection, run_early
from ironic.inspection.rules.trying_out import try_out

__all__ = [
    "BuiltInRule",
    "Inspection",
    "RuleBook",
    "StoredNode",
    "facts_of",
    "facts_of_nobody",
    "keep_early",
    "load",
    "run_early",
    "try_out",
]
