"""The runbook, field by field: the reference page of the resource.

Whose a runbook may be is decided in `runbook_rules`. Source: facts/fields.yaml.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from ironic.api.fields import CREATE, NOBODY, REQUIRED, Field, Filter, Resource
from ironic.api.request import Request
from ironic.api.resources import step_lists
from ironic.api.user_steps import RunbookSteps
from ironic.core import secrets
from ironic.core.values import (
    Array,
    Bool,
    Datetime,
    Links,
    LogicalName,
    Object,
    Text,
    Uuid,
    ValueType,
)

_shown = step_lists.shown(lambda store: store.runbooks)


def shown_traits(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[list[str]]:
    """Return the traits of each runbook, in one statement for all."""
    found = request.store.runbooks.traits.of([row[0] for row in rows])
    return [found[row[0]] for row in rows]


class Runbook(Resource):
    """Steps for cleaning and servicing the nodes that share a trait with it."""

    collection = "runbooks"
    singular = "runbook"
    # A marker is looked up as it is: one that is no UUID is as unknown as any other.
    marker: ClassVar[ValueType] = Text()
    own_filters = (Filter("project", Bool(), store=None),)
    since_detail = 92
    hides_newer = True

    uuid = Field(Uuid(), since=92, write=CREATE, plain=True)
    created_at = Field(Datetime(), since=92, write=NOBODY)
    updated_at = Field(Datetime(), since=92, write=NOBODY)
    name = Field(LogicalName(), since=92, nullable=False, empty=REQUIRED, plain=True)
    extra = Field(Object(), since=92, empty={})
    # A patch may have words for true and false, as clients write them; a new runbook may not.
    public = Field(Bool(), since=92, empty=False)
    owner = Field(Text(), since=92)
    disable_ramdisk = Field(Bool(), since=92, empty=False)
    description = Field(Text(), since=112)
    links = Field(Links("runbooks/{}"), since=92, write=NOBODY, plain=True)
    steps = Field(
        RunbookSteps(), since=92, nullable=False, empty=REQUIRED, needs=("id",), gather=_shown, mask=secrets.masked
    )
    traits = Field(Array(), since=112, write=NOBODY, needs=("id",), gather=shown_traits)
