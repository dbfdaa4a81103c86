"""Who has set and who has cleared the maintenance of a node: entries of its history.

The flag and its reason are one value each, so a second call overwrites the first, and programs clear what people have
set. The entry that stays names the caller.
"""

from typing import Final, NamedTuple, Self

from ironic.conf import CONF
from ironic.core.context import RequestContext
from ironic.db import NodeRecord, Store

# The type of these entries.
_TOPIC: Final = "maintenance"


class Maintenance(NamedTuple):
    """What a node shows of its maintenance."""

    is_on: bool
    reason: str | None
    fault: str | None

    @classmethod
    def of(cls, node: NodeRecord) -> Self:
        """Return what the record has now."""
        return cls(bool(node.maintenance), node.maintenance_reason, node.fault)


def note_change(store: Store, context: RequestContext, node: NodeRecord, before: Maintenance) -> None:
    """Add an entry if a caller has changed the maintenance of a node; in the transaction that saves the node."""
    now = Maintenance.of(node)
    if (now.is_on, now.reason) == (before.is_on, before.reason) or not CONF.conductor.node_history:
        return
    if now.is_on:
        again = " again, with another reason" if before.is_on else ""
        event = f"Maintenance was set{again}: {now.reason or 'no reason was given'}"
    else:
        fault = f"because of the fault '{before.fault}', " if before.fault else ""
        event = f"Maintenance was cleared; it had been set, {fault}with the reason: {before.reason or 'none'}"
    store.history.add(
        node.id,
        event=event,
        event_type=_TOPIC,
        severity="INFO",
        conductor=None,
        user=context.user_id,
        project=context.project_id,
        state=node.provision_state,
        target=node.target_provision_state,
    )
