"""Which rules run, and in which order.

Higher priority first, then the order of creation, which is the order in which the caller hands them over (S121, S122).
A rule with a scope runs on nodes of that scope only; where no node is known yet, rules without scope run (S124).
"""

from collections.abc import Iterable

from ironic.core.rules.rule import CompiledRule


def in_order(rules: Iterable[CompiledRule]) -> list[CompiledRule]:
    """Return the rules as they run."""
    return sorted(rules, key=lambda rule: -rule.priority)


def selected(
    rules: Iterable[CompiledRule], phase: str, scope: str | None, default_scope: str | None = None
) -> list[CompiledRule]:
    """Return the rules of a phase that fit a node's scope; ``default_scope`` is that of stored rules without one."""
    return [rule for rule in rules if rule.phase == phase and scope_of(rule, default_scope) in (None, scope)]


def scope_of(rule: CompiledRule, default_scope: str | None) -> str | None:
    """Return the scope of a rule; the default is not for built-in ones."""
    return rule.scope or (None if rule.built_in else default_scope) or None
