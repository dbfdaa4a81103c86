"""Dry runs: what rules would do with a machine, told and not done.

The same choice of rules, the same facts and the same evaluation as in a real run; nothing is stored and nothing logged.
Phases follow each other as in an inspection, each seeing what the one before has changed. What only the database can
tell (a name that is taken, a driver that nobody serves) is found by a real run alone.
"""

from collections.abc import Sequence
from typing import Any

from ironic.conf import CONF
from ironic.core.rules import PHASES, Changes, CompiledRule, Facts, Masking, evaluate, in_order
from ironic.core.rules.plain_data import Patch, apply, copy
from ironic.inspection.rules.running import chosen, concerns
from ironic.inspection.rules.telling import telling


def try_out(
    rules: Sequence[CompiledRule],
    facts: Facts,
    *,
    phase: str | None = None,
    interface: str | None = None,
    masking: Masking | None = None,
) -> dict[str, Any]:
    """Return what the rules would do; ``interface`` is the inspect interface of a real node."""
    explanation: list[dict[str, Any]] = []
    for one in [phase] if phase else PHASES:
        runs = one == "early" or interface is None or concerns(interface)
        outcome = evaluate(
            chosen(in_order(rules), one, (facts.node or {}).get("properties") or {}) if runs else [],
            Facts(facts.inventory, facts.plugin_data) if one == "early" else facts,
            masking=masking or CONF.inspection_rules.mask_secrets,
        )
        explanation += outcome.explanation
        if outcome.failure is not None:
            break
        facts = _after(facts, outcome.changes)
    return telling(explanation)


def _after(facts: Facts, changes: Changes) -> Facts:
    """Return the facts as they are after a phase."""
    ports = [_patched(port, changes.ports.get(str(port["uuid"]), [])) for port in facts.ports]
    node = None if facts.node is None else _patched(facts.node, changes.node)
    plugin_data = _patched(facts.plugin_data, changes.plugin_data)
    return Facts(facts.inventory, plugin_data, node, ports, facts.port_groups)


def _patched(data: Any, patch: Patch) -> Any:
    if not patch:
        return data
    patched = copy(data)
    apply(patched, patch)
    return patched
