"""Redfish documents of odd machines, repaired to what the sushy library expects before it reads them.

The library reads all properties of a resource at once, and one of an odd type takes the whole resource away. So each
property that it reads has a row in `resource_types` with the type that the schema gives it. A value of another type is
converted where its meaning is plain (a single object for a list of one, "16" for a number) and left out otherwise, so
that it counts as not reported. Properties without a row stay as they are, and so does what vendors define.

What is left out is noted in the object, so that "the BMC has none" and "the BMC can't say" stay two things
(`document_faults`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ironic.drivers.modules.redfish.wire.common_types import ALLOWED, ATTRIBUTE_REGISTRY, ENTRIES, SETTINGS
from ironic.drivers.modules.redfish.wire.document_faults import FAULTS
from ironic.drivers.modules.redfish.wire.typed_places import (
    ANYWHERE,
    OF_ATTRIBUTES,
    Place,
    owners_of,
    place_of,
    type_of,
)
from ironic.drivers.modules.redfish.wire.value_types import (
    ID,
    LARGEST,
    LEFT_OUT,
    RIGHT_TYPES,
    RIGHT_WORDS,
    actions,
    objects,
    opaque,
    parts,
    words,
)

Document = dict[str, Any]

_NULL: Final = "is null"
_ODD: Final = "has a value of another type"
_LOSSY: Final = "has entries that can't be read"
_SINGLE: Final = "is one object where a list should be"
_MEMBERS: Final = "Members"
# By each of these a resource says what it is.
TOLD_OF_ITSELF: Final = frozenset({"Id", "Name", "@odata.id", "@odata.type"})
# What the library demands besides Id and Name, and what stands for it. A document of an unknown type may be read
# as any resource that the service reads.
_DEMANDED_OF_REGISTRIES: Final[Document] = {"Language": "en", "OwningEntity": "", "RegistryVersion": ""}
_DEMANDED: Final[Mapping[str, Document]] = {
    "chassis": {"ChassisType": "Other"},
    "eventservice": {"Actions": {}},
    "updateservice": {"Actions": {}},
    "attributeregistry": _DEMANDED_OF_REGISTRIES,
    "messageregistry": _DEMANDED_OF_REGISTRIES,
    "resourceblock": {"CompositionStatus": None, "ResourceBlockType": None},
}
_DEMANDED_OF_ANY: Final[Document] = {"ChassisType": "Other", "Actions": {}}
# The library knows a registry by its type, and a file of it by its language.
_ATTRIBUTE_REGISTRY: Final = f"#{ATTRIBUTE_REGISTRY}.v1_0_0.{ATTRIBUTE_REGISTRY}"
_ENGLISH: Final = "en"
_ANY_LANGUAGE: Final = "default"
_RIGHTS: Final = ("ReadOnly", "Immutable")
# In an attribute of a registry: its properties that can't be read. In the registry: whether it has such attributes.
ODD_PARTS: Final = "@ironic.odd"
NAMELESS: Final = "@ironic.nameless"


def repaired(document: Document, path: str) -> Document:
    """Return a resource as the library expects it; ``path`` is that of the resource on the BMC."""
    said = type_of(document)
    found = _typed(document, place_of(document, said))
    if "SettingsObject" not in found.get(SETTINGS, {}):
        # The library follows the link without looking whether it is there.
        found.pop(SETTINGS, None)
    # A collection needs nothing, and what says nothing about itself is none of Redfish.
    if "Members" in found or not found.keys() & TOLD_OF_ITSELF:
        return found
    name = path.rstrip("/").rpartition("/")[2]
    demanded: Document = {"Id": name, "Name": name}
    if said is None:
        demanded |= _DEMANDED_OF_ANY
    else:
        # Some say that they are what they are not.
        for kind in {said, *owners_of(document)} & _DEMANDED.keys():
            demanded |= _DEMANDED[kind]
    if ENTRIES in found:
        demanded |= _DEMANDED_OF_REGISTRIES
        if found[ENTRIES]["Attributes"]:
            found["@odata.type"] = _ATTRIBUTE_REGISTRY
    if "Location" in found and found.keys() & {"Registry", "Languages"}:
        found["Location"] = _locations(found["Location"])
        demanded |= {"Languages": [], "Registry": found.get("Id") or name}
    return found | {name: value for name, value in demanded.items() if found.get(name) is None}


def _locations(files: Iterable[Document]) -> list[Document]:
    """Return the files of a registry with a language each: English, or else the first one is for all languages."""
    found = []
    for file in files:
        language = file.get("Language") or _ANY_LANGUAGE
        found.append({**file, "Language": _ENGLISH if language.lower().startswith(_ENGLISH) else language})
    if found and not any(file["Language"] in (_ENGLISH, _ANY_LANGUAGE) for file in found):
        found[0]["Language"] = _ANY_LANGUAGE
    return found


def _typed(document: Mapping[str, Any], place: Place) -> Document:
    """Return an object with each of its properties as this place has it."""
    found: Document = {}
    faults: dict[str, str] = {}
    types, inside, others = place.types, place.inside, place.others or ANYWHERE
    for name, value in document.items():
        kind = types.get(name)
        if kind is None and name.endswith(ALLOWED):
            kind = words
        is_right = value and type(value) is RIGHT_TYPES.get(kind)
        is_right = is_right or (type(value) is str and value in RIGHT_WORDS.get(kind, ()))
        if kind is not None and not is_right:
            given = value
            value = kind([] if given is None and kind in (objects, parts, actions) else given)
            is_doubtful = value is not given and (value is LEFT_OUT or isinstance(value, list))
            if is_doubtful and (fault := _fault(given, value)) is not None:
                faults[name] = fault
            elif isinstance(given, dict) and isinstance(value, list) and document.get(f"{name}@odata.count") != 1:
                # It may be one of several.
                faults[name] = _SINGLE
        if value is LEFT_OUT or name == FAULTS:
            continue
        if isinstance(value, dict):
            if kind is not opaque:
                value = _entries(value) if name == ENTRIES else _typed(value, inside.get(name, others))
            found[name] = value
        elif isinstance(value, list):
            found[name] = _items(name, value, inside.get(name, others), must_be_named=kind is parts)
        else:
            found[name] = value
    if faults:
        found[FAULTS] = faults
    return found


def _fault(given: object, kept: object) -> str | None:
    """Return what is wrong with a given value of which ``kept`` could be used."""
    if kept is LEFT_OUT:
        return _NULL if given is None else _ODD
    if not isinstance(kept, list):
        return None
    if isinstance(given, list):
        return _LOSSY if len(kept) < len(given) else None
    return None if kept else _NULL if given is None else _ODD


def _entries(value: Document) -> Document:
    """Return the entries of a registry with the attributes that have a name."""
    given = value.get("Attributes")
    entries = objects(given or [])
    found = [_attribute(entry) for entry in entries if isinstance(entry, dict)]
    named = [entry for entry in found if isinstance(entry.get("AttributeName"), str)]
    return {**value, "Attributes": named, NAMELESS: not isinstance(given, list) or len(named) < len(given)}


def _attribute(entry: Document) -> Document:
    """Return an attribute of a registry, with the names of its properties that are not as they should be."""
    found = _typed(entry, OF_ATTRIBUTES)
    odd = [
        name
        for name in OF_ATTRIBUTES.types
        if (name in entry and name not in found and not _is_no_bound(name, entry[name]))
        or (name in _RIGHTS and name in entry and entry[name] is None)
    ]
    return {**found, ODD_PARTS: odd}


def _is_no_bound(name: str, value: object) -> bool:
    """Return whether a bound is so far away that no number is beyond it."""
    if not isinstance(value, int) or abs(value) < LARGEST:
        return False
    return value > 0 if name in ("UpperBound", "MaxLength") else value < 0


def _items(name: str, items: list[Any], place: Place, *, must_be_named: bool) -> list[Any]:
    """Return a list with its objects repaired; ``place`` is theirs.

    The library demands names of some, which their number stands for.
    """
    found = []
    for number, item in enumerate(items):
        if isinstance(item, dict):
            # A member says what it is by itself.
            one = _typed(item, place_of(item, type_of(item)) if name == _MEMBERS else place)
            if must_be_named or item.keys() != {ID}:
                one["MemberId"] = one.get("MemberId") or str(number)
                one["Name"] = one.get("Name") or one["MemberId"]
            found.append(one)
        else:
            found.append(item)
    return found
