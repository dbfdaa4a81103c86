"""A dry run of inspection rules, with hooks where that is asked for: nothing is stored, and rules log nothing.

It uses the choice, facts and evaluation of a real run. Its phases follow each other as in an inspection, each with the
changes of the one before. Hooks get a task on a copy of the node, whose changes are dropped; only hooks that are made
for it are called. Faults that need the database (a name in use, a driver that no conductor serves) are found by a real
run only.

What an author can't see in the verdicts is said in notes: that there is no node, and which hook sets the plug-in data
that a rule looks for and does not find.
"""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Self

from ironic.conf import CONF
from ironic.conf.inspection import HOOK_OPTIONS
from ironic.core.context import RequestContext
from ironic.core.errors import IronicError
from ironic.core.rules import AnyRule, Changes, CompiledRule, Facts, Masking, evaluate, in_order
from ironic.core.rules.compiled_rules import BoundAction, Condition
from ironic.core.rules.interpolation import Lookup
from ironic.core.rules.paths import Patch, apply, copy
from ironic.db import NodeRecord, PortgroupRecord, Store
from ironic.db.node_rule_effects import Effects
from ironic.inspection.hooks import base, enabled_hooks
from ironic.inspection.hooks.base import InspectionHook, NamedHook
from ironic.inspection.phases import EARLY, PHASES, InspectionPhase
from ironic.inspection.reported_data import read_only
from ironic.inspection.rules import StoredNode, facts_of
from ironic.inspection.rules.explanation import explain
from ironic.inspection.rules.rule_effects import apply_changes
from ironic.inspection.rules.rule_run import chosen, supports_rules
from ironic.inspection.staged_task import StagedTask

LOG = logging.getLogger(__name__)

_NO_EFFECTS: Final[Effects] = {}
_NO_INVENTORY: Final[Mapping[str, object]] = {}
_NOTHING_LACKS: Final[Mapping[str, str]] = {}
_NOTHING_KNOWN: Final = dict.fromkeys(NodeRecord.form.names) | {"conductor_group": ""}
_OF_NODE: Final = frozenset({"node", "ports", "port_groups"})
_NO_RULES: Final = (
    "Rules act on no inspection by interface {interface}: [inspection_rules]supported_interfaces does not match it."
)
_NOT_MADE_FOR_IT: Final = "It is left out, because it does not say that it acts on nothing else (runs_dry)."


class HookRun:
    """The hooks of one dry run, on the copy of a node; without a node, on one of which nothing is known."""

    def __init__(
        self,
        store: Store,
        source: StoredNode | None,
        hooks: Sequence[NamedHook],
        without: Mapping[str, str] = _NOTHING_LACKS,
    ) -> None:
        """Take the hooks; ``without`` has those that would not run on these data, each with the reason."""
        self._hooks = [one for one in hooks if vars(type(one.hook)).get("runs_dry") and one.name not in without]
        self._task = StagedTask(_Copy(store, source))
        self._task.traits = source.traits if source else []
        self._reports: dict[str, dict[str, Any]] = {
            one.name: {"name": one.name, "plugin_data": []}
            | ({} if one in self._hooks else {"left_out": without.get(one.name, _NOT_MADE_FOR_IT)})
            for one in hooks
        }
        self.has_failed = False

    @classmethod
    def of_service(
        cls,
        store: Store,
        source: StoredNode | None = None,
        interface: str = enabled_hooks.OF_RAMDISKS,
        inventory: Mapping[str, object] = _NO_INVENTORY,
    ) -> Self:
        """Return the hooks of an inspect interface of `enabled_hooks.INTERFACES`; raises HookLoadError."""
        hooks = base.load_hooks(enabled_hooks.names(interface))
        if interface == enabled_hooks.OF_RAMDISKS:
            return cls(store, source, hooks)
        flags = enabled_hooks.pxe_flags(interface, source.ports if source else ())
        return cls(store, source, [*hooks, flags], enabled_hooks.lacking_data(hooks, inventory))

    def before(self, phase: InspectionPhase, facts: Facts) -> Facts:
        """Call the hooks that precede the rules of a phase; return the facts after them."""
        inventory, data = read_only(dict(facts.inventory)), copy(facts.plugin_data)
        known = copy(data)
        for name, error in phase.run_hooks(self._hooks, self._task, inventory, data):
            report = self._reports[name]
            report["plugin_data"] += [key for key in data if key not in known or data[key] != known[key]]
            known = copy(data)
            if error:
                report["error"], self.has_failed = error, True
        return facts_of(self._task, facts.inventory, data)

    def follow(self, changes: Changes) -> str | None:
        """Apply the changes of rules to the copy; return why that is not possible, None when it is."""
        try:
            apply_changes(replace(changes, plugin_data=[]), self._task, {})
        except IronicError as error:
            return str(error)
        return None

    def reports(self) -> list[dict[str, Any]]:
        """Return per hook its name, the plug-in data that it has set, and its error or why it did not run."""
        return list(self._reports.values())


class _Copy:
    """The task of a dry run: records that are never saved."""

    def __init__(self, store: Store, source: StoredNode | None) -> None:
        self.store = store
        self.context = RequestContext()
        self.node = source.node if source else NodeRecord(store.nodes, _NOTHING_KNOWN)
        self.ports: Any = source.ports if source else []
        self.portgroups: Sequence[PortgroupRecord] = source.portgroups if source else []


def dry_run(
    rules: Sequence[AnyRule],
    facts: Facts,
    *,
    phase: str | None = None,
    interface: str | None = None,
    masking: Masking | None = None,
    effects: Effects = _NO_EFFECTS,
    hooks: HookRun | None = None,
) -> dict[str, Any]:
    """Return what the rules would do, in the form of `explain`, with hooks and notes where there are some.

    ``phase`` None runs all phases; ``interface`` is the inspect interface of a real node, None without one; ``effects``
    are those that rules have had on the node; ``hooks`` precede the rules of their phases.
    """
    explanation: list[dict[str, Any]] = []
    notes: list[str] = []
    is_supported = interface is None or supports_rules(interface)
    if not is_supported:
        notes.append(_NO_RULES.format(interface=interface or "none"))
    for one in _up_to(phase):
        if hooks is not None and one.call is not None:
            facts = hooks.before(one, facts)
            if hooks.has_failed:
                break
        if phase not in (None, one.name):
            continue
        outcome = evaluate(
            chosen(in_order(rules), one, (facts.node or {}).get("properties") or {})
            if is_supported or one is EARLY
            else [],
            Facts(facts.inventory, facts.plugin_data) if one is EARLY else facts,
            masking=masking or CONF.inspection_rules.mask_secrets,
            effects=effects if is_supported and one.has_effects else _NO_EFFECTS,
        )
        explanation += outcome.explanation
        if outcome.failure is not None:
            break
        facts = _after(facts, outcome.changes)
        if hooks is not None and (reason := hooks.follow(outcome.changes)):
            notes.append(f"The changes of the rules of phase {one.name} can't be applied: {reason}")
            break
    answer: dict[str, Any] = explain(explanation)
    if hooks is not None:
        answer["hooks"] = hooks.reports()
    ran = {entry["uuid"] for entry in explanation}
    asked = [rule for rule in rules if rule.uuid in ran]
    notes += _missing_plugin_data(asked, facts, interface or enabled_hooks.OF_RAMDISKS, has_run=hooks is not None)
    return answer | ({"notes": notes} if notes else {})


def _up_to(phase: str | None) -> Sequence[InspectionPhase]:
    """Return the phases that lead to the one of this name, and it; all for None."""
    return list(PHASES.values())[: list(PHASES).index(phase) + 1 if phase in PHASES else None]


def note_without_node(rules: Sequence[AnyRule]) -> str | None:
    """Return that a dry run without a node has nothing of one, when rules look for that; else None."""
    if _OF_NODE.isdisjoint(lookup.name for rule in rules for lookup in _lookups(rule)):
        return None
    return 'No node is named, so node, ports and port_groups are empty: name one with "node" to see its values.'


def _missing_plugin_data(rules: Sequence[AnyRule], facts: Facts, interface: str, *, has_run: bool) -> Iterator[str]:
    """Yield for plug-in data that rules look for and do not find, and a hook would set, why they are not there."""
    if interface not in HOOK_OPTIONS:
        return
    group, option = HOOK_OPTIONS[interface]
    wanted = {lookup.keys[0] for rule in rules for lookup in _lookups(rule) if _is_plugin_data(lookup)}
    enabled = enabled_hooks.names(interface)
    for key, name, hook in _providers(wanted - facts.plugin_data.keys()):
        if interface != enabled_hooks.OF_RAMDISKS and hook.is_of_ramdisks:
            continue
        if name not in enabled:
            yield f"plugin_data.{key} is set by hook {name}, which is not enabled: add it to [{group}]{option}."
        elif has_run:
            yield f"plugin_data.{key} is set by hook {name}, which found nothing for it."
        else:
            yield f'plugin_data.{key} is set by hook {name}, which is enabled: send "hooks": true to run it.'


def _providers(keys: Collection[str]) -> Iterator[tuple[str, str, type[InspectionHook]]]:
    """Yield these keys of the plug-in data with each hook that sets them; hooks that can't be loaded are left out."""
    if not keys:
        return
    for name, point in sorted(base.installed_hooks().items()):
        try:
            hook = point.load()
            provided = hook.plugin_data_keys
        except Exception as error:
            LOG.warning("Inspection hook %s can't be loaded: %s", name, error)
            continue
        yield from ((key, name, hook) for key in provided if key in keys)


def _lookups(rule: AnyRule) -> Iterator[Lookup]:
    """Yield the expressions of a rule; those of the standalone inspector have other ones."""
    if isinstance(rule, CompiledRule):
        parts: tuple[Condition | BoundAction, ...] = (*rule.conditions, *rule.actions)
        for part in parts:
            yield from part.loop.lookups if part.loop else ()
            for argument in part.arguments:
                yield from argument.lookups


def _is_plugin_data(lookup: Lookup) -> bool:
    return lookup.name == "plugin_data" and bool(lookup.keys)


def _after(facts: Facts, changes: Changes) -> Facts:
    """Return the facts after a phase."""
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
