"""What belongs to a Redfish machine or to one of its resources: the members of collections and lists of links.

One that is dead, or that can't be read, takes nothing away from the others. Where half of a list would be dangerous,
`all_members` reads all or raises.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

import sushy

from ironic.drivers.modules.redfish.bmc_answer import UnusableAnswer, is_whole
from ironic.drivers.modules.redfish.bmc_connection import System, connector_of, optional

S = TypeVar("S")
T = TypeVar("T")

_MOST_MEMBERS: Final = 1000


class Resource(Protocol):
    """A resource of the library."""

    path: str
    json: Mapping[str, Any]


def members_of(resource: Any, collection: str) -> list[Any]:
    """Return the members of a collection that can be read; none when the BMC lacks the collection.

    ``collection`` is the attribute of the library's resource that leads to it.
    """
    return _members(lambda: getattr(resource, collection))


def _members(collection: Callable[[], Any]) -> list[Any]:
    found = optional(collection, None)
    return [] if found is None else _living(found.get_member, found.members_identities or ())


def all_members(collection: Any) -> list[Any]:
    """Return all members of a collection; raise an error of the library when one of them can't be read."""
    if not is_whole(collection.json):
        raise UnusableAnswer(f"its list {collection.path} is incomplete")
    return [collection.get_member(path) for path in dict.fromkeys(collection.members_identities or ())]


def managers_of(system: System) -> list[Any]:
    """Return the managers of a machine: those that it names, or else those that name it."""
    return _linked(system, ("ManagedBy", "Managers"), "ManagerForServers", _managers)


def chassis_of(system: System) -> list[Any]:
    """Return the chassis of a machine: those that it names, or else those that name it."""
    return _linked(system, ("Chassis",), "ComputerSystems", _all_chassis)


def _managers(root: Any) -> tuple[Callable[[], Any], Callable[[str], Any]]:
    return root.get_manager_collection, root.get_manager


def _all_chassis(root: Any) -> tuple[Callable[[], Any], Callable[[str], Any]]:
    return root.get_chassis_collection, root.get_chassis


def _linked(
    system: System,
    names: tuple[str, ...],
    name_back: str,
    access: Callable[[Any], tuple[Callable[[], Any], Callable[[str], Any]]],
) -> list[Any]:
    collection, get = access(system.root)
    paths = next((found for name in names if (found := linked(system, name))), [])
    if paths:
        return _living(get, paths)
    own = plain_path(system.path)
    return [one for one in _members(collection) if own in map(plain_path, linked(one, name_back))]


def _living(get: Callable[[str], T], paths: Iterable[str]) -> list[T]:
    """Return the resources at these paths that can be read."""
    return list(of_each(islice(dict.fromkeys(paths), _MOST_MEMBERS), lambda path: (get(path),)))


def paths_in(links: object) -> list[str]:
    """Return the paths of a list of links, or of a single one."""
    items = links if isinstance(links, list) else [links]
    return [item["@odata.id"] for item in items if isinstance(item, Mapping) and isinstance(item.get("@odata.id"), str)]


def linked(resource: Resource, name: str) -> list[str]:
    """Return the paths that a resource lists under a name among its links."""
    return paths_in(resource.json.get("Links", {}).get(name))


def plain_path(path: str) -> str:
    """Return a path in the form in which it can be compared: BMCs spell some in two ways."""
    return path.partition("#")[0].rstrip("/").lower()


def of_each(sources: Iterable[S], read_one: Callable[[S], Iterable[T]]) -> Iterator[T]:
    """Yield what is read of each source; one that the BMC lacks or can't show takes nothing away from the others."""

    def read_all(source: S) -> list[T]:
        return list(read_one(source))

    for source in sources:
        nothing: list[T] = []
        yield from optional(partial(read_all, source), nothing)


def drives_of(storage: Any) -> list[Any]:
    """Return the drives of a storage, without those that its list names and the BMC lacks, as of an empty bay.

    Some BMCs have a link to a collection where the list should be.
    """
    paths: Sequence[str] = storage.drives_identities or ()
    found = _living(storage.get_drive, paths)
    if found or len(paths) != 1:
        return found
    nothing: dict[str, Any] = {}
    collection = optional(lambda: connector_of(storage).get(paths[0]).json(), nothing)
    return _living(storage.get_drive, paths_in(collection.get("Members")))


def is_there(resource: Any) -> bool:
    """Return whether a part is in the machine: BMCs also list empty sockets and bays."""
    return resource.status is None or resource.status.state is not sushy.STATE_ABSENT
