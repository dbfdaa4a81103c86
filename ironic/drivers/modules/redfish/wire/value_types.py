"""How a value of a Redfish document is read by the type that the schema gives it.

Each function returns the value as it should be, or LEFT_OUT where it has no plain meaning for the type: a single object
is a list of one, and "16" is a number. Null is a value that the sushy library knows for plain values.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, Final

from ironic.core.texts import syntax

ValueType = Callable[[object], object]

LEFT_OUT: Final = object()
ID: Final = "@odata.id"
LARGEST: Final = 2**63
_NUMBER: Final = re.compile(r"\s*[+-]?\d{1,18}(\.\d{1,9})?\s*")
_TRUTHS: Final = {"true": True, "false": False, "enabled": True, "disabled": False}
# What needs no look, by the function that would look: the words that a value may be.
RIGHT_WORDS: Final[dict[object, frozenset[str]]] = {}


def text(value: object) -> object:
    """Return a text; a number is read as one."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if value is None or isinstance(value, str) else LEFT_OUT


def place(value: object) -> object:
    """Return a path or a URL that is not empty."""
    return value if isinstance(value, str) and value else LEFT_OUT


def file_place(value: object) -> object:
    """Return the place of a file, which older BMCs put into an object."""
    return place(value.get(ID) or value.get("extref") if isinstance(value, dict) else value)


def number(value: object) -> object:
    """Return a finite number, also of a text."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value) if "." in value else int(value)
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and math.isfinite(value) and abs(value) < LARGEST else LEFT_OUT  # type: ignore[arg-type]


def whole(value: object) -> object:
    """Return a whole number; a fraction of things is none, and the library would cut it off."""
    found = number(value)
    if isinstance(found, float):
        return int(found) if found.is_integer() else LEFT_OUT
    return found


def flag(value: object) -> object:
    """Return a truth, also of a text."""
    if isinstance(value, str):
        return _TRUTHS.get(value.strip().lower(), LEFT_OUT)
    return value if value is None or isinstance(value, bool) else LEFT_OUT


def moment(value: object) -> object:
    """Return a time as the BMC writes it."""
    # Clocks that are not set yet show the year 0.
    return value if isinstance(value, str) and syntax.moment_of(value) is not None else LEFT_OUT


def words(value: object) -> object:
    """Return a list of texts."""
    if isinstance(value, str):
        return [value]
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else LEFT_OUT


def mapping(value: object) -> object:
    """Return an object, also one that is alone in a list."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else LEFT_OUT


def status(value: object) -> object:
    """Return a status; a word in its place is the state."""
    return {"State": value} if isinstance(value, str) else mapping(value)


def link(value: object) -> object:
    """Return a link to a resource of this BMC."""
    if isinstance(value, dict) and str(value.get(ID)).startswith("/"):
        return value
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        value = {ID: value}
    found = mapping(value)
    return found if isinstance(found, dict) and _is_path(found.get(ID)) else LEFT_OUT


def objects(value: object) -> list[Any]:
    """Return a list of objects; paths in it are links."""
    items = value if isinstance(value, list) else [value]
    return [{ID: item} if _is_path(item) else item for item in items if isinstance(item, dict) or _is_path(item)]


# What some BMCs write beside a link.
_OF_LINKS: Final = frozenset({"Id", "Name", "Description"})


def objects_or_link(value: object) -> object:
    """Return a list of objects, or the link to a collection of them; an object with more than that is one item."""
    if isinstance(value, dict) and _is_path(value.get(ID)):
        is_link = "Members" in value or all("@odata." in name or name in _OF_LINKS for name in value)
        return value if is_link else objects(value)
    return objects(value)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith("/")


def parts(value: object) -> object:
    """Return a list of objects that must have names, also where the BMC has a link in the place of one."""
    return objects(value)


def opaque(value: object) -> object:
    """Return an object whose names are chosen by vendors, so that they say nothing about the types of their values."""
    return mapping(value)


def as_it_is(value: object) -> object:
    """Return the value: what reads it judges odd ones."""
    return value


def actions(value: object) -> object:
    """Return the actions that can be ordered."""
    if not isinstance(value, dict):
        return {}
    return {
        name: action
        for name, action in value.items()
        if not name.startswith("#") or (isinstance(action, dict) and _leads_somewhere(action.get("target")))
    }


def _leads_somewhere(target: object) -> bool:
    """Return whether an order can be sent to a target: "N/A" would become a path of the BMC."""
    is_plain = isinstance(target, str) and target.isascii() and target.isprintable() and " " not in target
    return is_plain and str(target).startswith(("/", "http://", "https://"))


def apply_times(value: object) -> object:
    """Keep what is said of operations only if it says when they can be applied; windows of time are not used."""
    values = words(value.get("SupportedValues")) if isinstance(value, dict) else LEFT_OUT
    return LEFT_OUT if values is LEFT_OUT else {"SupportedValues": values}


def word_of(words: Iterable[Enum | str]) -> ValueType:
    """Return the function that spells a value as one of these words, if it is one of them in another case."""
    spelt = (str(word.value) if isinstance(word, Enum) else word for word in words)
    known = {word.lower(): word for word in spelt}

    def word(value: object) -> object:
        return known.get(value.strip().lower(), value) if isinstance(value, str) else text(value)

    RIGHT_WORDS[word] = frozenset(known.values())
    return word


def words_of(known: Iterable[Enum]) -> ValueType:
    """Return the function that spells the items of a list as these words, as `word_of` does."""
    word = word_of(known)

    def spelt(value: object) -> object:
        found = words(value)
        return [word(item) for item in found] if isinstance(found, list) else found

    return spelt


def choices(value: object) -> object:
    """Return the values of an enumeration without those that say nothing.

    The list is left out where one of them is odd: without all of them a right value would be refused.
    """
    items = value if isinstance(value, list) else [value]
    given = [item.get("ValueName", item.get("ValueDisplayName")) if isinstance(item, dict) else item for item in items]
    names = [name for name in given if name is not None]
    is_known = all(isinstance(name, str | int) and not isinstance(name, bool) for name in names)
    return [{"ValueName": name} for name in names] if is_known else LEFT_OUT


def left_out(value: object) -> object:
    """Return LEFT_OUT: the library demands members of it that are not used here."""
    return LEFT_OUT


# The type of a value that needs no look where it is not empty.
RIGHT_TYPES: Final[Mapping[object, type]] = {
    text: str, place: str, mapping: dict, opaque: dict, status: dict, flag: bool,
}  # fmt: skip
