"""Which rule guards a change of a node, in a patch and in a new node alike; the fields' own rights are in the model.

Source: doc/contract/requests.md#rights-of-a-patch-of-a-node.
"""

from collections.abc import Mapping
from typing import Any

from ironic.api import access
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.core import syntax
from ironic.core.model.node import Node


def rule_for(change: Change) -> str:
    """Return the rule that guards one operation."""
    return rule_of(change.root, None if change.op == "remove" else change.value)


def rule_of(name: str, value: object = None) -> str:
    """Return the rule that guards giving a field a value."""
    # False in any spelling that a caller may use.
    if name == "automated_clean" and syntax.truth_of(value) is False:
        return "baremetal:node:disable_cleaning"
    one = Node.table.fields.get(name)
    return (one and one.right) or "baremetal:node:update"


def check_new(request: Request, values: Mapping[str, Any]) -> None:
    """Refuse in a new node what its creator might not change afterwards; what it has anyway asks for no right."""
    if request.services.policy.is_open:
        return
    known = Node.writable("patch")
    usual = {name: one.empty for name, one in known.items()}
    usual["conductor_group"] = request.settings.default_conductor_group
    given = {name: value for name, value in values.items() if name in known and not known[name].free_in_new}
    for rule in dict.fromkeys(rule_of(name, value) for name, value in given.items() if value != usual[name]):
        access.require_right(request, rule, values.get("owner"), values.get("lessee"))
