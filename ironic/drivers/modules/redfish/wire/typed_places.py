"""Which type a property has where it stands: at a resource, or in an object of it.

A place has the rows of its resource (`resource_types`), and below them those of all resources together: a property that
its resource does not have is read as elsewhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ironic.drivers.modules.redfish.wire.common_types import (
    ATTRIBUTE,
    ATTRIBUTE_REGISTRY,
    COMMON,
    EACH,
    ENTRIES,
    LINKS,
    Row,
)
from ironic.drivers.modules.redfish.wire.resource_types import OTHERS, RESOURCES
from ironic.drivers.modules.redfish.wire.value_types import ValueType

_TYPE: Final = "@odata.type"


@dataclass(frozen=True, slots=True)
class Place:
    """The types of properties and the places of objects by name; ``others`` is the place of all other objects.

    Without it they are anywhere.
    """

    types: dict[str, ValueType] = field(default_factory=dict)
    inside: "dict[str, Place]" = field(default_factory=dict)
    others: "Place | None" = None


# A place that nothing is known of.
ANYWHERE: Final = Place()


def _place(rows: Iterable[Row], below: Place) -> Place:
    """Return the place of these rows, with what another place has for all that they do not name."""
    types, inside = dict(below.types), dict(below.inside)
    for row in rows:
        for name in row.names:
            if name != EACH:
                types[name] = row.type
            if row.inside:
                inside[name] = _place(row.inside, inside.get(name, ANYWHERE))
    return Place(types, inside, inside.pop(EACH, None))


def rows_by_name(rows: Iterable[Row]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a place and of all objects in it, by each of their names.

    What is among links or in a registry has names of its own.
    """
    for row in rows:
        yield from ((name, row) for name in row.names)
        if not {LINKS, ENTRIES}.intersection(row.names):
            yield from rows_by_name(row.inside)


_ALL: Final = [COMMON, *RESOURCES.values()]
ANYWHERE.types.update(
    {name: row.type for rows in _ALL for name, row in rows_by_name(rows) if row.is_everywhere and name != EACH}
)
_ALL_LINKS: Final = [row for rows in _ALL for name, row in rows_by_name(rows) if name == LINKS]
ANYWHERE.inside[LINKS] = _place((inner for row in _ALL_LINKS for inner in row.inside), Place())
_COMMON: Final = _place(COMMON, ANYWHERE)
ANYWHERE.inside.update(_COMMON.inside)

_PLACES: Final[Mapping[str, Place]] = {
    name.lower(): _place(rows, _COMMON) for name, rows in {**RESOURCES, **OTHERS}.items()
}
OF_ATTRIBUTES: Final = _place(ATTRIBUTE, Place())
# The resources that have a property of this name, where only one has it.
_HOLDERS: Final = [(name, kind.lower()) for kind, rows in RESOURCES.items() for row in rows for name in row.names]
_OWNERS: Final[Mapping[str, str]] = {
    name: kind for name, kind in _HOLDERS if [one for one, _kind in _HOLDERS].count(name) == 1 and name != LINKS
}


def type_of(document: Mapping[str, object]) -> str | None:
    """Return the type of resource that a document says it is, in lower case; None where it says none that is known."""
    said = document.get(_TYPE)
    if not isinstance(said, str):
        return None
    # As in "#NetworkAdapter.v1_5_0.NetworkAdapter"; BMCs misspell either part, or leave the last one out.
    parts = said.strip("# ").lower()
    for name in (parts.rpartition(".")[2], parts.partition(".")[0]):
        if name in _PLACES:
            return name
    return None


def place_of(document: Mapping[str, object], said: str | None) -> Place:
    """Return the place of a document: of the type that it says it is, or that its properties leave no doubt of.

    Anywhere is the place of one that is something else.
    """
    if ENTRIES in document:
        return _PLACES[ATTRIBUTE_REGISTRY.lower()]
    if said is not None:
        return _PLACES[said]
    if isinstance(text := document.get(_TYPE), str) and text.strip("# "):
        return ANYWHERE
    owners = owners_of(document)
    return _PLACES[owners.pop()] if len(owners) == 1 else ANYWHERE


def owners_of(document: Mapping[str, object]) -> set[str]:
    """Return the resources, in lower case, that alone have one of the properties of a document."""
    return {_OWNERS[name] for name in _OWNERS.keys() & document.keys()}
