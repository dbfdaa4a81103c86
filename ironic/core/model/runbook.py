"""The runbook, field by field. Whose it may be is decided elsewhere.

Source: doc/contract/fields.md#runbook.
"""

from typing import ClassVar

from ironic.core import secrets
from ironic.core.model.fields import CREATE, EVERY, NOBODY, REQUIRED, Field, Filter, Resource
from ironic.core.user_steps import RunbookSteps
from ironic.core.values import Array, Bool, Datetime, Links, LogicalName, Object, Text, Uuid, ValueType


class Runbook(Resource):
    """Steps for cleaning and servicing the nodes that share a trait with it."""

    collection = "runbooks"
    singular = "runbook"
    # A marker is looked up as it is: one that is no UUID is as unknown as any other.
    marker: ClassVar[ValueType] = Text()
    own_filters = (Filter("project", Bool(), store=None),)
    since_detail = 92
    hides_newer = True

    uuid = Field(Uuid(), since=92, write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), since=92, write=NOBODY)
    updated_at = Field(Datetime(), since=92, write=NOBODY)
    name = Field(LogicalName(), since=92, nullable=False, empty=REQUIRED, plain=True, told=EVERY)
    extra = Field(Object(), since=92, empty={}, told=EVERY)
    # A patch may have words for true and false, as clients write them; a new runbook may not.
    public = Field(Bool(), since=92, empty=False, right="baremetal:runbook:update:public", told=EVERY)
    owner = Field(Text(), since=92, right="baremetal:runbook:update:owner", told=EVERY)
    disable_ramdisk = Field(Bool(), since=92, empty=False, told=EVERY)
    description = Field(Text(), since=112, told=EVERY)
    links = Field(Links("runbooks/{}"), since=92, write=NOBODY, plain=True)
    steps = Field(
        RunbookSteps(), since=92, nullable=False, empty=REQUIRED, needs=("id",), mask=secrets.masked, told=EVERY
    )
    traits = Field(Array(), since=112, write=NOBODY, needs=("id",), told=EVERY)
