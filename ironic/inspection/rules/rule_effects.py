"""Apply what rules decided: HTTP calls, then changes to the node, its ports and the plug-in data.

The evaluation has checked every write against what rules may change. Whether the node may change so, and what follows,
`services.nodes` decides, as for a PATCH; rules are the author.

Calls are made before the changes of their phase are stored, outside of transactions; a dry run makes none. The first
call that fails fails its rule and the inspection.
"""

import logging
import math
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.conf import CONF
from ironic.core import node_rules
from ironic.core.flows import states
from ironic.core.permit import PERMIT
from ironic.core.rules import Changes, Failure, Outcome
from ironic.core.rules.paths import Patch, apply, copy, keys_of
from ironic.core.secrets.secret_updates import DRIVER, Written
from ironic.inspection.staged_task import StagedTask
from ironic.integrations import rule_calls
from ironic.rpc.hash_ring import HashRingManager
from ironic.services import nodes
from ironic.services.node_authors import Author

LOG = logging.getLogger(__name__)

_TRAITS: Final = "traits"
_CHASSIS: Final = "chassis_uuid"


def make_calls(outcome: Outcome, what: str, within: float = math.inf) -> None:
    """Make the calls in their order, all of them in ``within`` seconds.

    Raises InspectionRuleFailure, and adds the error to the explanation of the rule.
    """
    until = time.monotonic() + within
    for planned in outcome.calls:
        with PERMIT.waiting():
            reason = rule_calls.make(planned.call, until - time.monotonic()).failure
        if reason:
            text = None if planned.sensitive else reason
            entry = next(one for one in outcome.explanation if one["uuid"] == planned.rule)
            place = (planned.rule, planned.phase, "actions", planned.index)
            failure = Failure(*place, "CallFailed", text, description=entry["description"])
            entry["error"] = str(failure)
            raise failure.error(what)
        LOG.info("Inspection rule %s on %s: the call of actions[%d] is made", planned.rule, what, planned.index)


def apply_changes(changes: Changes, task: StagedTask, plugin_data: Mapping[str, object]) -> None:
    """Apply the changes to the staged task; nothing is stored yet. Raises errors of the database and of checks."""
    node = task.node
    touched = {keys_of(operation)[0] for operation in changes.node}
    # A chassis is written as a whole: by its UUID, or as None.
    before = {name: None if name == _CHASSIS else getattr(node, name) for name in touched - {_TRAITS}}
    document: dict[str, Any] = copy({**before, _TRAITS: list(task.traits)} if _TRAITS in touched else before)
    apply(document, changes.node)
    if _TRAITS in touched:
        task.traits = document.pop(_TRAITS)
    values = {name: value for name, value in document.items() if name == _CHASSIS or value != before[name]}
    nodes.change(node, values, _Rules(task, changes, document), named=touched, kept="supported")
    ports = {port.uuid: port for port in task.ports}
    for uuid, patch in changes.ports.items():
        address = ports[uuid].address
        _patch(ports[uuid], patch)
        if ports[uuid].address != address:
            node_rules.check_port_address(node)
    apply(plugin_data, changes.plugin_data)


class _Rules(Author):
    """The rules of a phase: their word is an operator's, but for what a machine reported."""

    # Also in a dry run, whose node may be in any state.
    state = states.INSPECTING
    reports = True
    stores_later = True

    def __init__(self, task: StagedTask, changes: Changes, after: Mapping[str, Any]) -> None:
        super().__init__(task.store, HashRingManager(task.store, heartbeat_timeout=CONF.conductor.heartbeat_timeout))
        self._task, self._literal, self._after = task, changes.literal, after

    def written(self, field: str) -> Written:
        """Return what rules have written into driver_info in their own words."""
        return [((key,), self._after[field][key]) for key in self._literal] if field == DRIVER else []

    def also_store(self, work: Callable[[], object]) -> None:
        """Do work in the transaction that stores the phase."""
        self._task.also_store(work)


def _patch(record: object, patch: Patch) -> None:
    """Apply a patch to the fields of a record."""
    document = {name: getattr(record, name) for name in {keys_of(operation)[0] for operation in patch}}
    apply(document, patch)
    for name, value in document.items():
        setattr(record, name, value)
