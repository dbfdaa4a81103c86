"""The deploy template, field by field.

Source: doc/contract/fields.md#deploy-template.
"""

from typing import ClassVar

from ironic.core import secrets
from ironic.core.model.fields import CREATE, EVERY, NOBODY, REQUIRED, Field, Resource
from ironic.core.user_steps import TemplateSteps
from ironic.core.values import Datetime, Links, Object, Text, TraitName, Uuid, ValueType


class DeployTemplate(Resource):
    """Steps for deployments."""

    collection = "deploy_templates"
    singular = "deploy template"
    # A marker is looked up as it is: one that is no UUID is as unknown as any other.
    marker: ClassVar[ValueType] = Text()
    since_detail = 55

    uuid = Field(Uuid(), since=55, write=CREATE, plain=True, told=EVERY)
    created_at = Field(Datetime(), since=55, write=NOBODY)
    updated_at = Field(Datetime(), since=55, write=NOBODY)
    name = Field(TraitName(), since=55, nullable=False, empty=REQUIRED, plain=True, told=EVERY)
    extra = Field(Object(), since=55, empty={}, told=EVERY)
    links = Field(Links("deploy_templates/{}"), since=55, write=NOBODY, plain=True)
    steps = Field(
        TemplateSteps(), since=55, nullable=False, empty=REQUIRED, needs=("id",), mask=secrets.masked, told=EVERY
    )
    # Clients may send one; nothing ever came of it.
    description = Field(Text(), since=55, write=CREATE, column=None, hidden=True)
