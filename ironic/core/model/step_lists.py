"""The deploy template and the runbook, field by field.

Who may own a runbook is decided by the API. Sources: doc/contract/fields.md#deploy-template,
doc/contract/fields.md#runbook.
"""

from typing import ClassVar

from ironic.core.errors.resource_errors import DeployTemplateNotFound, RunbookNotFound
from ironic.core.model.fields import CREATE, EVERY, NEVER, REQUIRED, Belongs, Field, Filter, Resource
from ironic.core.secrets import masking
from ironic.core.values.user_steps import RunbookSteps, TemplateSteps
from ironic.core.values.value_types import (
    Array,
    Bool,
    Datetime,
    Links,
    LogicalName,
    Object,
    Text,
    TraitName,
    Uuid,
    ValueType,
)


class DeployTemplate(Resource):
    """Steps for deployments."""

    collection = "deploy_templates"
    singular = "deploy template"
    word = "template"
    listed_since = 55
    has_name = True
    not_found = DeployTemplateNotFound
    payload_version = "1.0"
    # A marker that is no UUID is looked up too, and not found.
    marker: ClassVar[ValueType] = Text()
    since_detail = 55

    uuid = Field(Uuid(), since=55, write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), since=55, write=NEVER)
    updated_at = Field(Datetime(), since=55, write=NEVER)
    name = Field(TraitName(), since=55, nullable=False, empty=REQUIRED, plain=True, notified=EVERY)
    extra = Field(Object(), since=55, empty={}, notified=EVERY)
    links = Field(Links("deploy_templates/{}"), since=55, write=NEVER, plain=True)
    steps = Field(
        TemplateSteps(), since=55, nullable=False, empty=REQUIRED, needs=("id",), mask=masking.masked, notified=EVERY
    )
    # Accepted for clients that send it; it has no effect.
    description = Field(Text(), since=55, write=CREATE, column=None, hidden=True)


class Runbook(Resource):
    """Steps for cleaning and servicing the nodes that share a trait with it."""

    collection = "runbooks"
    singular = "runbook"
    word = "runbook"
    listed_since = 92
    has_name = True
    belongs = Belongs.TO_OWNER
    public_by = "public"
    not_found = RunbookNotFound
    payload_version = "1.1"
    # A marker that is no UUID is looked up too, and not found.
    marker: ClassVar[ValueType] = Text()
    own_filters = (Filter("project", Bool(), store=None),)
    since_detail = 92
    hides_newer = True

    uuid = Field(Uuid(), since=92, write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), since=92, write=NEVER)
    updated_at = Field(Datetime(), since=92, write=NEVER)
    name = Field(LogicalName(), since=92, nullable=False, empty=REQUIRED, plain=True, notified=EVERY)
    extra = Field(Object(), since=92, empty={}, notified=EVERY)
    # A patch may spell true and false as words, as clients do; a new runbook may not.
    public = Field(Bool(), since=92, empty=False, right="baremetal:runbook:update:public", notified=EVERY)
    owner = Field(Text(), since=92, right="baremetal:runbook:update:owner", notified=EVERY)
    disable_ramdisk = Field(Bool(), since=92, empty=False, notified=EVERY)
    description = Field(Text(), since=112, notified=EVERY)
    links = Field(Links("runbooks/{}"), since=92, write=NEVER, plain=True)
    steps = Field(
        RunbookSteps(), since=92, nullable=False, empty=REQUIRED, needs=("id",), mask=masking.masked, notified=EVERY
    )
    traits = Field(Array(), since=112, write=NEVER, needs=("id",), notified=EVERY)
