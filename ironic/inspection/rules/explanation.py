"""Explanation of a rule run: the answer of a dry run, and counters and text stored after a real run.

Both are made from the explanation of the evaluation, which holds no secrets. A sensitive rule is shown with its
verdicts only. A stored explanation that would be very long loses its details first and never its verdicts.

The record of a real run is stored in the transaction that stores the results of the inspection. When the inspection
fails that transaction is never committed; then the record alone is stored, so that operators can see which rule did
what. A record that can't be stored does not fail an inspection.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ironic.core.errors import IronicError
from ironic.core.rules.paths import Patch
from ironic.core.rules.rule_outcomes import preview
from ironic.db import RuleStatistics, Store

LOG = logging.getLogger(__name__)

Explanation = Sequence[Mapping[str, Any]]

_WHERE_THERE_ARE_SOME: Final = ("calls", "cleanups", "deleted", "error", "missing")
_LONGEST: Final = 1024 * 1024  # characters of a stored explanation


def explain(explanation: Explanation) -> dict[str, object]:
    """Return the results of each rule under ``rules``, and of all together under ``changes``.

    A rule has uuid, description, applies, conditions (op, args, values, verdict, items of a loop), changes (one JSON
    patch, None when they are not shown), and where there are some calls, error, and under missing what its expressions
    looked for in vain. A rule of the standalone inspector
    may have cleanups (action, at, undone, reason), and be there although it is deleted, because of them. The changes of
    all rules are JSON patches by what they change: node, ports (by UUID) and plugin_data.
    """
    rules: list[dict[str, Any]] = []
    node: Patch = []
    ports: dict[str, Patch] = {}
    plugin_data: Patch = []
    for entry in explanation:
        changes = entry.get("changes")
        rule = {
            "uuid": entry["uuid"],
            "description": entry["description"],
            "applies": entry["applies"],
            "conditions": [
                {name: one.get(name) for name in ("op", "args", "values", "verdict")}
                | ({"items": one["items"]} if "items" in one else {})
                for one in entry["conditions"]
            ],
            "changes": None if changes is None else _as_one_patch(changes),
        }
        rules.append(rule | {name: entry[name] for name in _WHERE_THERE_ARE_SOME if name in entry})
        if changes:
            node += changes["node"]
            plugin_data += changes["plugin_data"]
            for uuid, patch in changes["ports"].items():
                ports.setdefault(uuid, []).extend(patch)
    return {"rules": rules, "changes": {"node": node, "ports": ports, "plugin_data": plugin_data}}


def _as_one_patch(changes: Mapping[str, Any]) -> Patch:
    """Return the changes of one rule as one patch, whose paths begin with /node, /ports/<uuid> or /plugin_data."""
    parts = {"/node": changes["node"], **{f"/ports/{uuid}": patch for uuid, patch in changes["ports"].items()}}
    parts["/plugin_data"] = changes["plugin_data"]
    return [one | {"path": root + one["path"]} for root, patch in parts.items() for one in patch]


def stored_explanation(explanation: Explanation) -> str:
    """Return the explanation as JSON of bounded length."""
    text = _encoded(explanation)
    for shorter in (_shortened, _verdict_only):
        if len(text) > _LONGEST:
            text = _encoded([shorter(entry) for entry in explanation])
    return text


def _encoded(explanation: Explanation) -> str:
    # Pure ASCII: every database accepts it, whatever characters a machine has reported.
    return json.dumps(explain(explanation), separators=(",", ":"))


def _shortened(entry: Mapping[str, Any]) -> dict[str, object]:
    """Return the result of a rule without the values of its conditions, and with other long values cut short."""
    conditions = [{"op": one["op"], "args": None, "verdict": one.get("verdict")} for one in entry["conditions"]]
    shorter = {**entry, "conditions": conditions}
    if changes := entry.get("changes"):
        ports = {uuid: _previews(patch) for uuid, patch in changes["ports"].items()}
        node, plugin_data = _previews(changes["node"]), _previews(changes["plugin_data"])
        shorter["changes"] = {"node": node, "ports": ports, "plugin_data": plugin_data}
    if calls := entry.get("calls"):
        shorter["calls"] = [one | {"url": preview(one["url"])} for one in calls]
    return shorter


def _previews(patch: Patch) -> Patch:
    return [one | {"value": preview(one["value"])} if "value" in one else one for one in patch]


def _verdict_only(entry: Mapping[str, object]) -> dict[str, object]:
    kept = {name: one for name, one in entry.items() if name not in ("calls", "missing")}
    return {**kept, "conditions": [], "changes": None}


def tally_of(explanation: Explanation) -> RuleStatistics:
    """Return the UUIDs of the rules that were evaluated, applied and failed; deleted rules are not counted."""
    explanation = [one for one in explanation if not one.get("deleted")]
    return RuleStatistics(
        evaluated=[one["uuid"] for one in explanation],
        matched=[one["uuid"] for one in explanation if one["applies"]],
        failed=[one["uuid"] for one in explanation if "error" in one],
    )


def recorder(store: Store, node_id: int, explanation: Explanation) -> Callable[[], None]:
    """Return a function that stores counters and explanation of the later phases within an open transaction."""
    tally, text = tally_of(explanation), stored_explanation(explanation)

    def record() -> None:
        store.rule_hits.count(tally)
        store.rule_runs.put_later(node_id, text)

    return record


def record_failed(store: Store, node_id: int, explanation: Explanation) -> None:
    """Store counters and explanation of an inspection of which nothing else is stored."""
    _run_or_log(store, recorder(store, node_id, explanation))


def record_early(store: Store, node_id: int | None, explanation: Explanation) -> None:
    """Store counters and explanation of the early phase; without a node only the counters."""
    if not explanation:
        return
    tally, text = tally_of(explanation), stored_explanation(explanation)

    def record() -> None:
        store.rule_hits.count(tally)
        if node_id is not None:
            store.rule_runs.put_early(node_id, text)

    _run_or_log(store, record)


def _run_or_log(store: Store, work: Callable[[], None]) -> None:
    try:
        store.run(lambda _connection: work())
    except IronicError as error:
        LOG.warning("The results of inspection rules could not be recorded: %s", error)
