"""Change nodes that are not locked: values, maintenance, traits.

While another operation holds the node, a change waits, then fails with NodeLocked; the operation itself changes the
node in its task, not here. The row is locked during a change, so the limit of traits holds for concurrent requests too.
Interfaces are chosen from the table of conductors (S25). A node that no conductor would serve is a 400, because the
caller has named a driver, a conductor group or an interface. Schedulers read the traits of nodes; the traits of a
runbook select its nodes.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final, NamedTuple

from ironic.core import hardware_interfaces, node_rules
from ironic.core.context import RequestContext, is_background_lock
from ironic.core.errors import DriverNotFound, InvalidParameterValue, IronicError, NodeLocked, NoValidHost
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.core.values.traits import MOST_OF_NODE
from ironic.db import NodeRecord, Store
from ironic.rpc.hash_ring import HashRingManager
from ironic.services.maintenance_history import Maintenance, note_change


def check_served(hash_ring: HashRingManager, uuid: str, driver: str, group: str) -> None:
    """Refuse a node that no live conductor would serve; raises InvalidParameterValue."""
    try:
        hash_ring.host_for(uuid, driver, group, reread=True)
    except NoValidHost as error:
        raise InvalidParameterValue(err=str(error)) from None


def chosen_interfaces(
    hash_ring: HashRingManager,
    driver: str,
    group: str,
    asked: Mapping[str, str | None],
    kinds: Collection[str] = KINDS,
    *,
    kept: Mapping[str, str | None] | None = None,
    only_supported: bool = False,
) -> dict[str, str | None]:
    """Return the interface fields of these kinds; a kind that is absent or null gets its default.

    ``kept`` has fields of the node that the request does not mention; `choose_interfaces` says which of them stay.
    With ``only_supported`` it leaves out what the driver does not support, which is refused otherwise.
    Before a refusal the table of conductors is read again, as a conductor may have started a moment ago.
    """
    wanted = {kind: asked.get(interface_field(kind)) for kind in kinds}
    present = {kind: (kept or {}).get(interface_field(kind)) for kind in kinds}

    def choose(*, reread: bool) -> dict[str, str | None]:
        rows = [row for row in hash_ring.served(reread=reread) if row.conductor_group.lower() == group.lower()]
        supported = {(row.interface_type, row.interface_name) for row in rows if row.hardware_type == driver}
        staying = {kind: name for kind, name in present.items() if not only_supported or (kind, name) in supported}
        chosen = hardware_interfaces.choose_interfaces(rows, driver, wanted, kinds, kept=staying)
        return {interface_field(kind): name for kind, name in chosen.items()}

    try:
        return choose(reread=False)
    except IronicError:
        try:
            return choose(reread=True)
        except DriverNotFound as error:
            raise InvalidParameterValue(err=str(error)) from None


class LockRetries(NamedTuple):
    """How often to try to change a locked node, the seconds between two attempts, and what counts those who wait."""

    attempts: int
    interval: float
    # A context manager around each wait, which may refuse it.
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext


# How much longer to wait for background work, which ends soon and must not fail requests.
_FOR_BACKGROUND: Final = 10


def change_free(store: Store, ident: str, change: Callable[[NodeRecord], None], retries: LockRetries) -> NodeRecord:
    """Change a node that is not locked, in one transaction; raises NodeLocked when it stays locked for too long.

    ``change`` gets the record while its row is locked, checks it and sets values; it may be called several times.
    """
    begun, seconds = store.clock.monotonic(), (retries.attempts - 1) * retries.interval
    while True:
        try:
            # Repeated as a whole, reading included, when the database ends this transaction because of a deadlock.
            return store.run(lambda _: _change_now(store, ident, change))
        except NodeLocked as error:
            longer = _FOR_BACKGROUND if is_background_lock(error) else 1
            if (left := begun + seconds * longer - store.clock.monotonic()) <= 0:
                raise
        # Outside the transaction, which on SQLite blocks every other writer.
        with retries.waiting():
            store.nodes.wait_for_release(ident, min(retries.interval, left))


def _change_now(store: Store, ident: str, change: Callable[[NodeRecord], None]) -> NodeRecord:
    record = store.nodes.lock_row(ident)
    if record.reservation is not None:
        raise NodeLocked(node=record.uuid, host=record.reservation, purpose=record.reservation_purpose)
    change(record)
    record.save()
    return record


def set_values(record: NodeRecord, values: Mapping[str, object]) -> None:
    """Set values of a node and the values that follow from them; the caller saves."""
    for name, value in {**values, **node_rules.implied_values(values, record.instance_name)}.items():
        setattr(record, name, value)


def set_maintenance(
    store: Store, context: RequestContext, ident: str, retries: LockRetries, *, on: bool, reason: str | None = None
) -> None:
    """Set or clear the maintenance of a node, and note in its history who did; clearing it clears the fault as well."""
    values = {"maintenance": True, "maintenance_reason": reason} if on else {"maintenance": False}

    def change(record: NodeRecord) -> None:
        before = Maintenance.of(record)
        set_values(record, values)
        note_change(store, context, record, before)

    change_free(store, ident, change, retries)


def set_node_traits(store: Store, ident: str, traits: Sequence[str], retries: LockRetries) -> None:
    """Replace the traits of a node."""
    check_number(len(traits))
    change_free(store, ident, lambda node: store.traits.replace(node.id, traits), retries)


def add_node_trait(store: Store, ident: str, trait: str, retries: LockRetries) -> None:
    """Add a trait to a node, unless it has the trait already."""

    def add(node_id: int) -> None:
        check_number(len({*store.traits.of([node_id])[node_id], trait}))
        store.traits.add(node_id, trait)

    change_free(store, ident, lambda node: add(node.id), retries)


def remove_node_traits(store: Store, ident: str, trait: str, retries: LockRetries) -> None:
    """Remove a trait from a node; raises NodeTraitNotFound."""
    change_free(store, ident, lambda node: store.traits.remove(node.id, trait), retries)


def check_number(number: int) -> None:
    """Raise InvalidParameterValue for more traits than a node can have."""
    if number > MOST_OF_NODE:
        raise InvalidParameterValue(err=f"A node can have at most {MOST_OF_NODE} traits.")


def change_runbook_traits(store: Store, ident: str, change: Callable[[int], object]) -> None:
    """Change the traits of a runbook; ``change`` gets the id of its locked row."""
    store.run(lambda _: change(store.runbooks.lock_row(ident).id))
