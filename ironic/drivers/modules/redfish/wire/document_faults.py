"""What is wrong with a repaired document: properties that were left out, and lists that are not whole.

A list is whole with all its pages, and as many entries as the BMC counts.
"""

from collections.abc import Mapping
from typing import Any, Final

from ironic.drivers.modules.redfish.wire.plain_paths import differ_in_case_only, different_paths

# Where an object has what was left out of it: name -> what is wrong with the value. No BMC sends it.
FAULTS: Final = "@ironic.faults"
_ID: Final = "@odata.id"
_COUNT: Final = "@odata.count"
_MEMBERS: Final = "Members"
NEXT_PAGE: Final = "Members@odata.nextLink"
# The name before the standard had the other one.
FORMER_NEXT_PAGE: Final = "@odata.nextLink"
_NOT_SAID: Final = object()


def fault_at(document: Mapping[str, Any], name: str) -> str | None:
    """Return what was wrong with a property of a repaired document, as the end of "Members ...".

    None for one that the BMC does not have, and for one that it shows as the standard has it; of plain values, null is.
    """
    faults: Mapping[str, str] = document.get(FAULTS, {})
    return faults.get(name)


def collection_fault(document: Mapping[str, Any]) -> str | None:
    """Return why a collection does not have all its members, None for one that is whole."""
    if next_page_in(document) is not None:
        return "a page of its members can't be read"
    fault = fault_at(document, _MEMBERS) or list_fault(document, _MEMBERS)
    if fault is None and _MEMBERS not in document:
        fault = "is missing"
    return None if fault is None else f"{_MEMBERS} {fault}"


def list_fault(document: Mapping[str, Any], name: str) -> str | None:
    """Return why a list of links is not whole; an entry that names no resource may stand for any."""
    items = document.get(name, [])
    named = [item[_ID] for item in items if isinstance(item.get(_ID), str)]
    if len(named) < len(items):
        return "has entries that name no resource"
    paths = different_paths(named)
    different = len(paths)
    count = document.get(f"{name}{_COUNT}", _NOT_SAID)
    if count is _NOT_SAID:
        return "names a resource twice" if different < len(items) or differ_in_case_only(paths) else None
    count = int(count) if isinstance(count, str) and count.isascii() and count.isdigit() else count
    is_right = not isinstance(count, bool) and count == different
    return None if is_right else f"names {different} of {count!r:.20}, as {name}{_COUNT} says"


def next_page_in(document: Mapping[str, Any]) -> str | None:
    """Return where a collection goes on; null, an empty text and an empty object say that it does not."""
    given = (document.get(name) for name in (NEXT_PAGE, FORMER_NEXT_PAGE))
    place = next((one for one in given if one is not None and one not in ("", {})), None)
    if place is None:
        return None
    place = place.get("@odata.id") if isinstance(place, Mapping) else place
    # What is no place leads nowhere, and something is missing.
    return place if isinstance(place, str) and place else "?"
