"""What a BMC shows for certain: for those who order, delete, declare something done, or store it as a fact.

Documents are read with tolerance, so that what is odd in one part takes nothing away from the others, and what is found
so may be shown. Who acts asks here: "the BMC has none" is an answer, "the BMC can't say" is an error that names the
document, the part, and what to do.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from sushy import exceptions as sushy_errors

from ironic.core.readings import ABSENT, Absent, Known, Unreadable, Value, Whole
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.document_faults import collection_fault, fault_at, list_fault
from ironic.drivers.modules.redfish.wire.plain_paths import different_paths

_ID: Final = "@odata.id"
_LINKS: Final = "Links"
_MEMBERS: Final = "Members"
_ANOTHER_TYPE: Final = "has a value of another type"
_ADVICE: Final = "see whether the BMC shows it after a restart or an update of its firmware, and try again"

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


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


def value_at(resource: Resource, name: str, kind: type[T]) -> Value[T]:
    """Return what a resource shows under a name; a null is absent, a value of another ``kind`` can't be read."""
    value, fault = resource.json.get(name), fault_at(resource.json, name)
    if fault is None and value is not None and not isinstance(value, kind):
        fault = _ANOTHER_TYPE
    if fault is not None:
        return Unreadable(Uncertain(resource.path, f"{name} {fault}"))
    return ABSENT if value is None else Known(value)


def given(resource: Resource, name: str, kind: type[T]) -> T | None:
    """Return a value, None where the BMC does not say it; raise Uncertain where it says it in an odd way."""
    return value_at(resource, name, kind).certain()


def word_at(resource: Resource, name: str, kind: type[E]) -> Value[E]:
    """Return one of the words of ``kind`` that a resource shows under a name; a word of another kind is unreadable."""
    said = value_at(resource, name, str)
    if isinstance(said, Absent | Unreadable):
        return said
    try:
        return Known(kind(said.certain()))
    except ValueError:
        return Unreadable(Uncertain(resource.path, f"{name} is {said.certain()!r:.40}, which is no word that is known"))


def leads_to(resource: Resource, name: str) -> bool:
    """Return whether a resource has a link under this name; raise Uncertain where the link is null or odd."""
    return given(resource, name, object) is not None


def target_of(resource: Resource, action: str) -> str | None:
    """Return where an order for an action goes, None where the BMC does not offer it; ``action`` as in "Type.Name"."""
    offered = resource.json.get("Actions", {}).get(f"#{action}")
    target = offered.get("target") if isinstance(offered, Mapping) else None
    return target if isinstance(target, str) and target else None


def certain_target(resource: Resource, action: str) -> str:
    """Return where an order for an action goes; raise MissingActionError of the library where the BMC has no such."""
    target = target_of(resource, action)
    if target is None:
        raise sushy_errors.MissingActionError(action=f"#{action}", resource=resource.path)
    return target


def whole_links(resource: Resource, name: str) -> Whole[str]:
    """Return all paths that a resource lists under a name among its links, none where it has no such list.

    Raise Uncertain when the list is null, odd, or not whole.
    """
    links = resource.json.get(_LINKS, {})
    fault = fault_at(resource.json, _LINKS) or fault_at(links, name)
    if fault is None:
        fault = list_fault(links, name)
    if fault is not None:
        raise Uncertain(resource.path, f"{_LINKS}.{name} {fault}")
    return Whole(different_paths(item[_ID] for item in links.get(name, [])))


def whole_paths(collection: Resource) -> Whole[str]:
    """Return the paths of all members of a collection; raise Uncertain when it is not whole."""
    if (fault := collection_fault(collection.json)) is not None:
        raise Uncertain(collection.path, fault)
    return Whole(different_paths(member[_ID] for member in collection.json[_MEMBERS]))
