"""What rules did, as people and programs read it: the answer of a dry run, and what is kept of a real one.

Made from the explanation of the evaluation, which holds no secrets. Of a sensitive rule the verdicts are told and
nothing else. A telling that would be very long loses its details first and never its verdicts.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.core.rules.outcome import preview
from ironic.core.rules.plain_data import Patch

Explanation = Sequence[Mapping[str, Any]]

_LONGEST: Final = 1024 * 1024  # characters of what is kept


def telling(explanation: Explanation) -> dict[str, object]:
    """Return what rules did, each of them and together."""
    return {"rules": [_rule(one) for one in explanation], "changes": _together(explanation)}


def text_to_keep(explanation: Explanation) -> str:
    """Return the telling as JSON of bounded length."""
    text = _encoded(explanation)
    for shorter in (_shortened, _bare):
        if len(text) > _LONGEST:
            text = _encoded([shorter(one) for one in explanation])
    return text


def _encoded(explanation: Explanation) -> str:
    # Pure ASCII: every database holds it, whatever characters a machine has reported.
    return json.dumps(telling(explanation), separators=(",", ":"))


def _rule(told: Mapping[str, Any]) -> dict[str, Any]:
    changes = told.get("changes")
    rule = {
        "uuid": told["uuid"],
        "description": told["description"],
        "applies": told["applies"],
        "conditions": [_condition(one) for one in told["conditions"]],
        "changes": None if changes is None else _rooted(changes),
    }
    return rule | {name: told[name] for name in ("calls", "error") if name in told}


def _condition(told: Mapping[str, object]) -> dict[str, object]:
    names = ("op", "args", "values", "verdict")
    return {name: told.get(name) for name in names} | ({"items": told["items"]} if "items" in told else {})


def _rooted(changes: Mapping[str, Any]) -> Patch:
    """Return the changes of one rule as one patch, whose paths begin with what is changed."""
    parts = {"/node": changes["node"], **{f"/ports/{uuid}": patch for uuid, patch in changes["ports"].items()}}
    parts["/plugin_data"] = changes["plugin_data"]
    return [one | {"path": root + one["path"]} for root, patch in parts.items() for one in patch]


def _together(explanation: Explanation) -> dict[str, object]:
    node: Patch = []
    ports: dict[str, Patch] = {}
    plugin_data: Patch = []
    for told in explanation:
        changes = told.get("changes") or {"node": (), "ports": {}, "plugin_data": ()}
        node += changes["node"]
        plugin_data += changes["plugin_data"]
        for uuid, patch in changes["ports"].items():
            ports.setdefault(uuid, []).extend(patch)
    return {"node": node, "ports": ports, "plugin_data": plugin_data}


def _shortened(told: Mapping[str, Any]) -> dict[str, object]:
    """Return what a rule did without what its conditions looked at, and with long values cut short."""
    conditions = [{"op": one["op"], "args": None, "verdict": one.get("verdict")} for one in told["conditions"]]
    if not (changes := told.get("changes")):
        return {**told, "conditions": conditions} | _short_calls(told)
    ports = {uuid: _previews(patch) for uuid, patch in changes["ports"].items()}
    short = {"node": _previews(changes["node"]), "ports": ports, "plugin_data": _previews(changes["plugin_data"])}
    return {**told, "conditions": conditions, "changes": short} | _short_calls(told)


def _short_calls(told: Mapping[str, Any]) -> dict[str, Any]:
    calls = told.get("calls")
    return {"calls": [one | {"url": preview(one["url"])} for one in calls]} if calls else {}


def _previews(patch: Patch) -> Patch:
    return [one | {"value": preview(one["value"])} if "value" in one else one for one in patch]


def _bare(told: Mapping[str, object]) -> dict[str, object]:
    return {**{name: one for name, one in told.items() if name != "calls"}, "conditions": [], "changes": None}
