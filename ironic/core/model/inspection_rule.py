"""The inspection rule, field by field.

What a sensitive rule checks and does is shown to nobody, whoever asks and however (S119). Whether conditions and
actions make sense is decided by `ironic.core.rules`. Source: doc/contract/fields.md#inspection-rule, demands S121 to
S124, S155 to S158.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ironic.core.model.fields import CREATE, EVERY, NOBODY, REQUIRED, Field, Filter, Resource
from ironic.core.rules import HIGHEST_PRIORITY, LOWEST_PRIORITY, PHASES
from ironic.core.rules.rule import MULTIPLES
from ironic.core.values import Array, Bool, Datetime, Enum, Integer, Links, Object, Text, Uuid, ValueType

_PHASE: Final = Enum(*PHASES, name="phase")


class Parts(Array):
    """The conditions or the actions of a rule; `ironic.core.rules` judges them."""

    def __init__(self, *, closed: bool, **more: Mapping[str, Any]) -> None:
        self._closed = closed
        self._keys = {"op": {"type": "string"}, "args": {"type": ["object", "array"]}, "loop": {}, **more}

    def described(self) -> dict[str, object]:
        """Say what a part has; which arguments an operator or action takes is told in the reference of rules."""
        part: dict[str, Any] = {"type": "object", "properties": self._keys, "required": ["op", "args"]}
        return {"items": part | ({"additionalProperties": False} if self._closed else {})}


_CONDITIONS: Final = Parts(closed=True, multiple={"type": "string", "enum": sorted(MULTIPLES)})
# Whatever else an action has is dropped.
_ACTIONS: Final = Parts(closed=False)


class InspectionRule(Resource):
    """What to do with a machine that looks a certain way."""

    collection = "inspection_rules"
    singular = "inspection rule"
    # A marker is looked up as it is: one that is no UUID is as unknown as any other.
    marker: ClassVar[ValueType] = Text()
    own_filters = (Filter("phase", _PHASE), Filter("scope", Text()))
    plain_order = ("uuid", "priority", "phase", "description")

    uuid = Field(Uuid(), since=96, write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), since=96, write=NOBODY)
    updated_at = Field(Datetime(), since=96, write=NOBODY)
    description = Field(Text(), since=96, plain=True, told=EVERY)
    # The stock command line sends both of these as text.
    priority = Field(Integer(LOWEST_PRIORITY, HIGHEST_PRIORITY, digits=True), since=96, empty=0, plain=True, told=EVERY)
    sensitive = Field(Bool(), since=96, empty=False, told=EVERY)
    phase = Field(_PHASE, since=96, empty="main", plain=True, told=EVERY)
    scope = Field(Text(), since=96, told=EVERY)
    # Whether the rule comes from the operator's file; such a rule can't be changed or deleted.
    built_in = Field(Bool(), since=96, write=NOBODY, sort=False)
    conditions = Field(_CONDITIONS, since=96, empty=[], needs=("sensitive", "conditions"), told=EVERY)
    actions = Field(_ACTIONS, since=96, empty=REQUIRED, needs=("sensitive", "actions"), told=EVERY)
    hits = Field(Object(), since=96, write=NOBODY, needs=("uuid",))
    links = Field(Links("inspection_rules/{}"), since=96, write=NOBODY, plain=True)
