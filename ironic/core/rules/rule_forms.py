"""What the documents of rules have in common, whatever their dialect: their parts, texts and plain values.

Errors name the part of the rule. Values come from JSON or YAML and may be anything.
"""

import math
import uuid as uuids
from collections.abc import Mapping
from typing import Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules.limits import DEPTH
from ironic.core.texts import syntax

_LONGEST_TEXT: Final = 255
_MOST_PARTS: Final = 1000
_LARGEST_NUMBER: Final = 2**63


def parts_of(
    document: Mapping[str, object], name: str, *, required: bool = False
) -> list[tuple[str, Mapping[str, object]]]:
    """Return conditions or actions, each with its name for messages."""
    parts = document.get(name)
    if required and not parts:
        raise invalid(f"{name} must have at least one item")
    if parts is None:
        return []
    if not isinstance(parts, list) or len(parts) > _MOST_PARTS:
        raise invalid(f"{name} must be a list of at most {_MOST_PARTS} objects")
    for index, part in enumerate(parts):
        if not isinstance(part, dict):
            raise invalid(f"{name}[{index}] must be an object")
    return [(f"{name}[{index}]", part) for index, part in enumerate(parts)]


def uuid_of(value: object) -> str:
    """Return the UUID of a rule, a new one for None."""
    if value is None:
        return str(uuids.uuid4())
    if (spelled := syntax.uuid_of(value)) is None:
        raise invalid("uuid must be a UUID")
    return spelled


def text_of(document: Mapping[str, object], name: str) -> str | None:
    """Return a field with text of bounded length, None if it is missing."""
    value = document.get(name)
    if value is None or (isinstance(value, str) and len(value) <= _LONGEST_TEXT):
        return value
    raise invalid(f"{name} must be text of at most {_LONGEST_TEXT} characters")


def check_plain(value: object, depth: int = DEPTH) -> None:
    """Refuse values that JSON can't represent; YAML files may have dates, sets and numbers of any size."""
    if depth == 0:
        raise invalid(f"a rule is nested more than {DEPTH} levels deep")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise invalid("the keys of an object in a rule must be text")
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            check_plain(inner, depth - 1)
    elif not (value is None or isinstance(value, str | bool) or _is_plain_number(value)):
        raise invalid("a rule may have only objects, lists, text, numbers of up to 64 bits, true, false and null")


def _is_plain_number(value: object) -> bool:
    if isinstance(value, int):
        return -_LARGEST_NUMBER <= value < _LARGEST_NUMBER * 2
    return isinstance(value, float) and math.isfinite(value)


def invalid(reason: str) -> InvalidParameterValue:
    """Return the error for a rule that is refused."""
    return InvalidParameterValue(err=f"Invalid inspection rule: {reason}.")
