"""An entry of a node's history, field by field. The plain list shows the beginning of long texts only.

Source: doc/contract/fields.md#history-entry.
"""

from typing import ClassVar, Final

from ironic.core.model.fields import NOBODY, Field, Resource
from ironic.core.model.views import text_without_secrets
from ironic.core.secrets import masked_text
from ironic.core.values import Datetime, Integer, Text, Uuid, ValueType

_LONGEST: Final = 255
_CUT: Final = 251


def shortened(text: str | None) -> str | None:
    """Return the text as the plain list shows it."""
    text = masked_text(text) if text else text
    return text if text is None or len(text) <= _LONGEST else f"{text[:_CUT]}..."


class HistoryEntry(Resource):
    """Something that happened to a node."""

    collection = "history"
    singular = "history entry"
    marker: ClassVar[ValueType] = Uuid()
    sorted_by = "created_at"
    since_fields = None
    since_detail = 78

    uuid = Field(Uuid(), since=78, write=NOBODY, plain=True)
    created_at = Field(Datetime(), since=78, write=NOBODY, plain=True)
    severity = Field(Text(), since=78, write=NOBODY, plain=True)
    event_type = Field(Text(), since=78, write=NOBODY)
    event = Field(Text(None), since=78, write=NOBODY, plain=True, brief=shortened, render=text_without_secrets)
    conductor = Field(Text(), since=78, write=NOBODY)
    user = Field(Text(), since=78, write=NOBODY)
    project = Field(Text(), since=113, write=NOBODY)
    state = Field(Text(), since=115, write=NOBODY)
    target_provision_state = Field(Text(), since=115, write=NOBODY)
    duration_seconds = Field(Integer(), since=115, write=NOBODY)
    links = Field(ValueType(), since=78, write=NOBODY, plain=True, needs=("uuid", "node_uuid"))
