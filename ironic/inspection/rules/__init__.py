"""Inspection rules at work: loading stored and built-in ones, giving them facts, applying what they decide.

The language itself is `ironic.core.rules`.
"""

from ironic.inspection.rules.book import RuleBook
from ironic.inspection.rules.built_in import BuiltInRule, load
from ironic.inspection.rules.running import Inspection, run_early

__all__ = ["BuiltInRule", "Inspection", "RuleBook", "load", "run_early"]
