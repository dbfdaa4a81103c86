"""The allocation, field by field. How a node is found is told in `ironic.core.allocation`.

Source: doc/contract/fields.md#allocation.
"""

from typing import ClassVar

from ironic.core.model.fields import ANYONE, CREATE, EVERY, NOBODY, Exact, Field, Filter, Resource
from ironic.core.model.views import text_without_secrets
from ironic.core.values import Datetime, Links, ListOf, LogicalName, Object, Text, TraitNames, Uuid, ValueType


class NodeNames(ListOf):
    """A list of names or UUIDs of nodes."""

    noun = "a list of names or UUIDs of nodes"
    item = Text(255, 1)


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
    uuid = Field(Uuid(), since=52, write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), since=52, write=NOBODY, plain=True)
    updated_at = Field(Datetime(), since=52, write=NOBODY, plain=True)
    candidate_nodes = Field(NodeNames(), since=52, write=CREATE, plain=True, empty=[], told=EVERY)
    extra = Field(Object(), since=52, write=ANYONE, plain=True, empty={}, told=EVERY)
    last_error = Field(Text(None), since=52, write=NOBODY, plain=True, render=text_without_secrets, told=EVERY)
    name = Field(LogicalName(), since=52, write=ANYONE, plain=True, told=EVERY)
    owner = Field(Text(), since=60, write=CREATE, plain=True, filter=Exact(), told=EVERY)
    resource_class = Field(Text(80), since=52, write=CREATE, plain=True, filter=Exact(), told=EVERY)
    state = Field(Text(), since=52, write=NOBODY, plain=True, filter=Exact(), told=EVERY)
    traits = Field(TraitNames(), since=52, write=CREATE, plain=True, empty=[], told=EVERY)
    links = Field(Links("allocations/{}"), since=52, write=NOBODY, plain=True)
    node_uuid = Field(Uuid(), since=52, write=NOBODY, plain=True, sort=False, told=EVERY)
    # A node that has its instance already; the allocation is written down afterwards.
    node = Field(Text(255, 1), since=58, write=CREATE, column=None, hidden=True)
