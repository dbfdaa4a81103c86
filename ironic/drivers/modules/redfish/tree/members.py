"""What belongs to a Redfish machine or to one of its resources: the members of collections and lists of links.

One that is dead, or that can't be read, takes nothing away from the others: that may be shown. `seen_members` says what
could not be read as well. Who acts on a list takes `whole_members` or `all_members`, which read all of it or raise.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeVar

import sushy
from sushy import exceptions as sushy_errors

from ironic.core.readings import Seen, Whole
from ironic.drivers.modules.redfish.tree.certainty import (
    Resource,
    Uncertain,
    leads_to,
    whole_links,
    whole_paths,
)
from ironic.drivers.modules.redfish.wire.bmc_failures import NOT_REDFISH, UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_messages import reason_of
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of, optional
from ironic.drivers.modules.redfish.wire.document_faults import collection_fault, fault_at, list_fault
from ironic.drivers.modules.redfish.wire.plain_paths import different_paths, plain_path

S = TypeVar("S")
T = TypeVar("T")

# The collection and a member of it, from the service root.
Access = Callable[[Any], tuple[Callable[[], Any], Callable[[str], Any]]]

_MOST_MEMBERS: Final = 1000
_MOST_SAID: Final = 16
# What documents call it otherwise than the library.
_LINKS: Final = {"pcie_devices": "PCIeDevices", "pcie_functions": "PCIeFunctions"}


def seen_members(resource: Any, collection: str) -> Seen[Any]:
    """Return the members of a collection that can be read, and what can't; a link that is absent leads to none.

    ``collection`` is the attribute of the library's resource that leads to it.
    """
    link = _link_of(collection)
    if (fault := fault_at(resource.json, link)) is not None:
        return Seen((), (f"{link} of {resource.path} {fault}",))
    if link not in resource.json:
        return Seen()
    if isinstance(listed := resource.json[link], list):
        get = getattr(resource, collection).get_member
        return _with_fault(seen_at(get, paths_in(listed)), resource, link)
    return _seen(lambda: getattr(resource, collection), f"{link} of {resource.path}")


def _seen(collection: Callable[[], Any], what: str) -> Seen[Any]:
    found = optional(collection, None)
    if found is None:
        return Seen((), (f"{what} can't be read",))
    members = seen_at(found.get_member, found.members_identities or ())
    fault = collection_fault(found.json)
    return members if fault is None else members.with_missing(f"{found.path} is incomplete, as {fault}")


def _with_fault(items: Seen[Any], resource: Resource, name: str) -> Seen[Any]:
    """Return what was seen of a list in a resource, with what is missing in the list itself."""
    fault = fault_at(resource.json, name) or list_fault(resource.json, name)
    return items if fault is None else items.with_missing(f"{name} of {resource.path} {fault}")


def seen_at(get: Callable[[str], T], paths: Iterable[str]) -> Seen[T]:
    """Return the resources at these paths that can be read, and the paths of the others."""
    items, missing = [], []
    for number, path in enumerate(different_paths(paths)):
        found = optional(partial(get, path), None) if number < _MOST_MEMBERS else None
        if found is None:
            missing.append(f"{path} can't be read")
        else:
            items.append(found)
    return Seen(items, missing[:_MOST_SAID])


def whole_members(resource: Any, collection: str) -> Whole[Any]:
    """Return all members of a collection, none where the resource has no link to it.

    Raise Uncertain when one of them or the list can't be read, and what the library raises for a refused login.
    """
    if not leads_to(resource, _link_of(collection)):
        return Whole()
    return all_members(certainly(lambda: getattr(resource, collection), f"{_link_of(collection)} of {resource.path}"))


def all_members(collection: Any) -> Whole[Any]:
    """Return all members of a collection; raise Uncertain when one of them can't be read."""
    return Whole(whole_resource(collection.get_member, path) for path in whole_paths(collection))


def whole_resource(get: Callable[[str], T], path: str) -> T:
    """Return the resource at a path; raise Uncertain when it can't be read."""
    return certainly(partial(get, path), path)


def certainly(get: Callable[[], T], what: str) -> T:
    """Return what is read; raise Uncertain that names the document when the BMC does not show it."""
    try:
        return get()
    except (sushy_errors.HTTPError, sushy_errors.MissingAttributeError, *NOT_REDFISH) as error:
        if isinstance(error, UnusableAnswer):
            raise
        if isinstance(error, sushy_errors.AccessError) and error.status_code != HTTPStatus.FORBIDDEN:
            raise
        raise Uncertain(what, reason_of(error)) from error


def _link_of(collection: str) -> str:
    """Return what documents call a collection that is an attribute of the library's resources."""
    return _LINKS.get(collection) or "".join(word.capitalize() for word in collection.split("_"))


def seen_managers(system: System) -> Seen[Any]:
    """Return the managers of a machine: those that it names, or else those that name it."""
    return _seen_of(system, ("ManagedBy", "Managers"), "ManagerForServers", "Managers", _managers)


def bmc_of(system: System) -> Any:
    """Return the manager that is the BMC of a machine, None where the machine has none; raise Uncertain in doubt.

    One that is of this type and names the machine is it. Any other choice needs all managers.
    """
    found = seen_managers(system)
    own = plain_path(system.path)
    bmcs = [one for one in found.items if one.json.get("ManagerType") == sushy.ManagerType.BMC.value]
    for one in bmcs:
        if own in map(plain_path, linked(one, "ManagerForServers")):
            return one
    if found.missing:
        raise Uncertain(system.path, f"which of its managers is the BMC is not known: {'; '.join(found.missing)}")
    return next(iter(bmcs or found.items), None)


def managers_of_none(system: System, link: str) -> tuple[str, ...]:
    """Return what is not known of managers with a link, where neither the machine nor a manager names the other."""
    if seen_managers(system).items or "Managers" not in system.root.json:
        return ()
    managers = _seen(system.root.get_manager_collection, "its managers").items
    others = [one.path for one in managers if link in one.json]
    return tuple(f"it is not known whether manager {path} is its own" for path in others)


def whole_systems(system: System) -> Whole[str]:
    """Return the paths of all machines of a BMC; raise Uncertain when their list can't be read or is not whole."""
    place = system.root.json.get("Systems", {}).get("@odata.id") or f"Systems of {system.root.path}"
    return whole_paths(certainly(system.root.get_system_collection, place))


def seen_chassis(system: System) -> Seen[Any]:
    """Return the chassis of a machine: those that it names, or else those that name it."""
    return _seen_of(system, ("Chassis",), "ComputerSystems", "Chassis", _all_chassis)


def _managers(root: Any) -> tuple[Callable[[], Any], Callable[[str], Any]]:
    return root.get_manager_collection, root.get_manager


def _all_chassis(root: Any) -> tuple[Callable[[], Any], Callable[[str], Any]]:
    return root.get_chassis_collection, root.get_chassis


def _seen_of(system: System, names: tuple[str, ...], name_back: str, listed: str, access: Access) -> Seen[Any]:
    """Return what a machine names under the first of these names, or else what names it in a list of the root."""
    (get_collection, get), root, doubts = access(system.root), system.root, list[str]()
    for name in names:
        try:
            paths: Sequence[str] = whole_links(system, name)
        except Uncertain as error:
            paths = linked(system, name)
            doubts.append(f"{error.fault} at {error.path}")
        if paths:
            return seen_at(get, paths).with_missing(*doubts)
    if (fault := fault_at(root.json, listed)) is not None:
        doubts.append(f"{listed} of {root.path} {fault}")
    others = _seen(get_collection, f"{listed} of {root.path}") if listed in root.json else Seen[Any]()
    own = plain_path(system.path)
    named = (one for one in others.items if own in map(plain_path, linked(one, name_back)))
    return Seen(named, (*doubts, *others.missing))


def has_link(resource: Any, name: str) -> bool:
    """Return whether a resource leads to another one."""
    link = resource.json.get(name)
    return isinstance(link, Mapping) and isinstance(link.get("@odata.id"), str)


def paths_in(links: object) -> list[str]:
    """Return the paths of a list of links, or of a single one."""
    items = links if isinstance(links, list) else [links]
    return [item["@odata.id"] for item in items if isinstance(item, Mapping) and isinstance(item.get("@odata.id"), str)]


def linked(resource: Resource, name: str) -> list[str]:
    """Return the paths that a resource lists under a name among its links."""
    return paths_in(resource.json.get("Links", {}).get(name))


def of_each(sources: Iterable[S], read_one: Callable[[S], Iterable[T]]) -> Iterator[T]:
    """Yield what is read of each source; one that the BMC lacks or can't show takes nothing away from the others."""

    def read_all(source: S) -> list[T]:
        return list(read_one(source))

    for source in sources:
        nothing: list[T] = []
        yield from optional(partial(read_all, source), nothing)


def seen_drives(storage: Any) -> Seen[Any]:
    """Return the drives of a storage that can be read, and what can't.

    Some BMCs have a link to a collection where the list should be.
    """
    paths: Sequence[str] = storage.drives_identities or ()
    drives = seen_at(storage.get_drive, paths)
    if not drives.items and len(paths) == 1:
        nothing: dict[str, Any] = {}
        collection = optional(lambda: connector_of(storage).get(paths[0]).json(), nothing)
        if "Members" in collection:
            fault = collection_fault(collection)
            drives = seen_at(storage.get_drive, paths_in(collection["Members"]))
            return drives if fault is None else drives.with_missing(f"{paths[0]} is incomplete, as {fault}")
    return _with_fault(drives, storage, "Drives")


def is_there(resource: Any) -> bool:
    """Return whether a part is in the machine: BMCs also list empty sockets and bays."""
    return resource.status is None or resource.status.state is not sushy.STATE_ABSENT
