"""The allocation, field by field; `ironic.core.allocation_matching` chooses its node.

Source: doc/contract/fields.md#allocation.
"""

from typing import ClassVar

from ironic.core.errors.resource_errors import AllocationNotFound
from ironic.core.model.fields import (
    ANYONE,
    CREATE,
    EVERY,
    NEVER,
    Belongs,
    Exact,
    Field,
    Filter,
    Resource,
    text_without_secrets,
)
from ironic.core.values.value_types import (
    Datetime,
    Links,
    ListOf,
    LogicalName,
    Object,
    Text,
    TraitNames,
    Uuid,
    ValueType,
)


class NodeNames(ListOf):
    """A list of names or UUIDs of nodes."""

    noun = "a list of names or UUIDs of nodes"
    item = Text(255, 1)


class Allocation(Resource):
    """A request for a node, and its result."""

    collection = "allocations"
    singular = "allocation"
    word = "allocation"
    listed_since = 52
    has_name = True
    has_dotted_name = True
    belongs = Belongs.TO_OWNER
    not_found = AllocationNotFound
    payload_version = "1.1"
    marker: ClassVar[ValueType] = Uuid()
    own_filters = (Filter("node", Text(255, 1), store=None),)
    # The list always has all fields.
    since_detail = None
    hides_newer = True

    # Only a UUID: paths, markers and instance_uuid could not name an allocation with another text here.
    uuid = Field(Uuid(), since=52, write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), since=52, write=NEVER, plain=True)
    updated_at = Field(Datetime(), since=52, write=NEVER, plain=True)
    candidate_nodes = Field(NodeNames(), since=52, write=CREATE, plain=True, empty=[], notified=EVERY)
    extra = Field(Object(), since=52, write=ANYONE, plain=True, empty={}, notified=EVERY)
    last_error = Field(Text(None), since=52, write=NEVER, plain=True, render=text_without_secrets, notified=EVERY)
    name = Field(LogicalName(), since=52, write=ANYONE, plain=True, notified=EVERY)
    owner = Field(Text(), since=60, write=CREATE, plain=True, filter=Exact(), notified=EVERY)
    resource_class = Field(Text(80), since=52, write=CREATE, plain=True, filter=Exact(), notified=EVERY)
    state = Field(Text(), since=52, write=NEVER, plain=True, filter=Exact(), notified=EVERY)
    traits = Field(TraitNames(), since=52, write=CREATE, plain=True, empty=[], notified=EVERY)
    links = Field(Links("allocations/{}"), since=52, write=NEVER, plain=True)
    node_uuid = Field(Uuid(), since=52, write=NEVER, plain=True, sort=False, notified=EVERY)
    # A node that has its instance already, for which the allocation is recorded afterwards.
    node = Field(Text(255, 1), since=58, write=CREATE, column=None, hidden=True)
