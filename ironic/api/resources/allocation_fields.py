"""The allocation, field by field: the reference page of the resource.

Source: facts/fields.yaml. How a node is found is told in `ironic.core.allocation`.
"""

from typing import Any, ClassVar

from ironic.api.fields import ANYONE, CREATE, NOBODY, Exact, Field, Filter, Resource
from ironic.api.resources.node_views import text_without_secrets
from ironic.core.values import Array, Datetime, Links, LogicalName, Object, Text, TraitNames, Uuid, ValueType


class NodeNames(Array):
    """A list of names or UUIDs of nodes."""

    name = "nodes"
    _one = Text(255, 1)

    def validate(self, value: Any) -> Any:
        """Check that each item could name a node."""
        return [self._one.validate(item) for item in super().validate(value)]


class Allocation(Resource):
    """A request for a node, and what came of it."""

    collection = "allocations"
    singular = "allocation"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (Filter("node", Text(255, 1), store=None),)
    # The list always has all fields.
    since_detail = None
    hides_newer = True

    # Other services took any text here; no path, marker or instance_uuid could name such an allocation.
    uuid = Field(Uuid(), since=52, write=CREATE, plain=True)
    created_at = Field(Datetime(), since=52, write=NOBODY, plain=True)
    updated_at = Field(Datetime(), since=52, write=NOBODY, plain=True)
    candidate_nodes = Field(NodeNames(), since=52, write=CREATE, plain=True, empty=[])
    extra = Field(Object(), since=52, write=ANYONE, plain=True, empty={})
    last_error = Field(Text(None), since=52, write=NOBODY, plain=True, render=text_without_secrets)
    name = Field(LogicalName(), since=52, write=ANYONE, plain=True)
    owner = Field(Text(), since=60, write=CREATE, plain=True, filter=Exact())
    resource_class = Field(Text(80), since=52, write=CREATE, plain=True, filter=Exact())
    state = Field(Text(), since=52, write=NOBODY, plain=True, filter=Exact())
    traits = Field(TraitNames(), since=52, write=CREATE, plain=True, empty=[])
    links = Field(Links("allocations/{}"), since=52, write=NOBODY, plain=True)
    node_uuid = Field(Uuid(), since=52, write=NOBODY, plain=True, sort=False)
    # A node that has its instance already; the allocation is written down afterwards.
    node = Field(Text(255, 1), since=58, write=CREATE, column=None, hidden=True)
