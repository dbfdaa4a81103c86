"""The inspection rule, field by field.

The conditions and actions of a sensitive rule are never shown, to any caller (S119). `ironic.core.rules` checks
conditions and actions. Sources: doc/contract/fields.md#inspection-rule, demands S121 to S124, S155 to S158.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ironic.core.errors.resource_errors import InspectionRuleNotFound
from ironic.core.model.fields import CREATE, EVERY, NEVER, REQUIRED, Field, Filter, Resource
from ironic.core.rules import HIGHEST_PRIORITY, LOWEST_PRIORITY, PHASES
from ironic.core.rules.compiled_rules import MULTIPLES
from ironic.core.rules.inspector import DIALECTS, IRONIC
from ironic.core.values.value_types import Array, Bool, Datetime, Enum, Integer, Links, Object, Text, Uuid, ValueType

_PHASE: Final = Enum(*PHASES, name="phase")


class Parts(Array):
    """The conditions or the actions of a rule; `ironic.core.rules` checks them."""

    def __init__(self, *, closed: bool, **more: Mapping[str, Any]) -> None:
        self._closed = closed
        self._keys = {"op": {"type": "string"}, "args": {"type": ["object", "array"]}, "loop": {}, **more}

    def described(self) -> dict[str, object]:
        """Return the JSON schema of a part; the reference of rules lists the arguments of operators and actions."""
        part: dict[str, Any] = {"type": "object", "properties": self._keys, "required": ["op", "args"]}
        return {"items": part | ({"additionalProperties": False} if self._closed else {})}


_CONDITIONS: Final = Parts(closed=True, multiple={"type": "string", "enum": sorted(MULTIPLES)})
# Other keys of an action are dropped.
_ACTIONS: Final = Parts(closed=False)


class InspectionRule(Resource):
    """Actions on a node whose inspection data meet conditions."""

    collection = "inspection_rules"
    singular = "inspection rule"
    word = "rule"
    listed_since = 96
    not_found = InspectionRuleNotFound
    payload_version = "1.0"
    # A marker that is no UUID is looked up too, and not found.
    marker: ClassVar[ValueType] = Text()
    own_filters = (Filter("phase", _PHASE), Filter("scope", Text()))
    plain_order = ("uuid", "priority", "phase", "description")

    uuid = Field(Uuid(), since=96, write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), since=96, write=NEVER)
    updated_at = Field(Datetime(), since=96, write=NEVER)
    description = Field(Text(), since=96, plain=True, notified=EVERY)
    # The stock command line sends priority and sensitive as text.
    priority = Field(
        Integer(LOWEST_PRIORITY, HIGHEST_PRIORITY, digits=True), since=96, empty=0, plain=True, notified=EVERY
    )
    sensitive = Field(Bool(), since=96, empty=False, notified=EVERY)
    phase = Field(_PHASE, since=96, empty="main", plain=True, notified=EVERY)
    scope = Field(Text(), since=96, notified=EVERY)
    # Whether the rule comes from the operator's file; such a rule can't be changed or deleted.
    built_in = Field(Bool(), since=96, write=NEVER, sort=False)
    # Rules of the standalone inspector are posted to its own API, and only shown and deleted here.
    dialect = Field(Enum(*DIALECTS, name="dialect"), since=96, write=NEVER, sort=False, absent_if=IRONIC)
    conditions = Field(_CONDITIONS, since=96, empty=[], needs=("sensitive", "conditions"), notified=EVERY)
    actions = Field(_ACTIONS, since=96, empty=REQUIRED, needs=("sensitive", "actions"), notified=EVERY)
    hits = Field(Object(), since=96, write=NEVER, needs=("uuid",))
    links = Field(Links("inspection_rules/{}"), since=96, write=NEVER, plain=True)
