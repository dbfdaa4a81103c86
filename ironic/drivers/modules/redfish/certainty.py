"""What a BMC shows for certain: for those who order, delete, declare something done, or store it as a fact.

Documents are read with tolerance, so that what is odd in one part takes nothing away from the others, and what is found
so may be shown. Who acts asks here: "the BMC has none" is an answer, "the BMC can't say" is an error that names the
document, the part, and what to do. A list is whole if it has all its pages, each entry names a resource of its own, and
they are as many as the BMC counts.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from ironic.drivers.modules.redfish.bmc_answer import UnusableAnswer, next_page_in
from ironic.drivers.modules.redfish.document_repair import fault_at

_ID: Final = "@odata.id"
_COUNT: Final = "@odata.count"
_LINKS: Final = "Links"
_MEMBERS: Final = "Members"
_NOT_SAID: Final = object()
_ADVICE: Final = "see whether the BMC shows it after a restart or an update of its firmware, and try again"


class Resource(Protocol):
    """A resource of the library, or a `Document`."""

    @property
    def path(self) -> str: ...
    @property
    def json(self) -> Mapping[str, Any]: ...


class Document(NamedTuple):
    """A document that no resource of the library stands for."""

    path: str
    json: Mapping[str, Any]


class Uncertain(UnusableAnswer):
    """The BMC can't say what an operation must know: ``path`` is the document, ``fault`` what is wrong with it."""

    def __init__(self, path: str, fault: str, advice: str = _ADVICE) -> None:
        super().__init__(f"what it shows at {path} is incomplete, as {fault}; {advice}")
        self.path, self.fault = path, fault


def given(resource: Resource, name: str) -> Any:
    """Return a plain value, None where the BMC does not say it; raise Uncertain where it says it in an odd way."""
    if (fault := fault_at(resource.json, name)) is not None:
        raise Uncertain(resource.path, f"{name} {fault}")
    return resource.json.get(name)


def leads_to(resource: Resource, name: str) -> bool:
    """Return whether a resource has a link under this name; raise Uncertain where the link is null or odd."""
    return given(resource, name) is not None


def whole_links(resource: Resource, name: str) -> list[str]:
    """Return all paths that a resource lists under a name among its links, none where it has no such list.

    Raise Uncertain when the list is null, odd, or not whole.
    """
    links = resource.json.get(_LINKS, {})
    fault = fault_at(resource.json, _LINKS) or fault_at(links, name)
    if fault is None:
        fault = list_fault(links, name)
    if fault is not None:
        raise Uncertain(resource.path, f"{_LINKS}.{name} {fault}")
    return list(dict.fromkeys(item[_ID] for item in links.get(name, [])))


def collection_fault(document: Mapping[str, Any]) -> str | None:
    """Return why a collection does not have all its members, None for one that is whole."""
    if next_page_in(document) is not None:
        return "a page of its members can't be read"
    fault = fault_at(document, _MEMBERS) or list_fault(document, _MEMBERS)
    if fault is None and _MEMBERS not in document:
        fault = "is missing"
    return None if fault is None else f"{_MEMBERS} {fault}"


def whole_paths(collection: Resource) -> list[str]:
    """Return the paths of all members of a collection; raise Uncertain when it is not whole."""
    if (fault := collection_fault(collection.json)) is not None:
        raise Uncertain(collection.path, fault)
    return list(dict.fromkeys(member[_ID] for member in collection.json[_MEMBERS]))


def list_fault(document: Mapping[str, Any], name: str) -> str | None:
    """Return why a list of links is not whole; an entry that names no resource may stand for any."""
    items = document.get(name, [])
    named = [item[_ID] for item in items if isinstance(item.get(_ID), str)]
    if len(named) < len(items):
        return "has entries that name no resource"
    different = len({path.rstrip("/") for path in named})
    count = document.get(f"{name}{_COUNT}", _NOT_SAID)
    if count is _NOT_SAID:
        return None if different == len(items) else "names a resource twice"
    count = int(count) if isinstance(count, str) and count.isascii() and count.isdigit() else count
    is_right = not isinstance(count, bool) and count == different
    return None if is_right else f"names {different} of {count!r:.20}, as {name}{_COUNT} says"
