"""The subjects of notifications: how the values of a resource are read, from its row and from other tables."""

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ironic.core.model.fields import RESOURCES, Resource
from ironic.core.model.inspection_rule import InspectionRule
from ironic.core.model.node import Node
from ironic.core.model.step_lists import Runbook
from ironic.rpc.notifications import payloads
from ironic.rpc.notifications.notifier import Subject
from ironic.rpc.notifications.payloads import Payload

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

Values = dict[str, Any]
_Read = Callable[["Store", "str | int"], Values]


def node(store: "Store", record: "NodeRecord") -> Values:
    """Return the values of a node's record, with its traits and its chassis."""
    found = record.as_dict() | {"traits": store.traits.of([record.id])[record.id], "chassis_uuid": None}
    if record.chassis_id is not None:
        (found["chassis_uuid"],) = store.nodes.row(("chassis_uuid",), record.id)
    return found


def _node(store: "Store", ident: str | int) -> Values:
    return node(store, store.nodes.get(ident))


def _row_of(resource: type[Resource], payload: Payload) -> _Read:
    """Return a function that reads one row, with fields of the payload from other tables."""

    def read(store: "Store", ident: str | int) -> Values:
        rows = store.named(resource.stored_in)
        record = rows.get(ident)
        found: Values = record.as_dict()
        if (steps := getattr(rows, "steps", None)) is not None:
            found["steps"] = steps.of([record.id])[record.id]
        elsewhere = [name for name in payload.fields if name not in found]
        others = rows.row(elsewhere, record.id) if elsewhere else ()
        return found | dict(zip(elsewhere, others, strict=True))

    return read


def _runbook(store: "Store", ident: str | int) -> Values:
    record = store.runbooks.get(ident)
    found = record.as_dict() | {"steps": store.runbooks.steps.of([record.id])[record.id]}
    return found | {"traits": store.runbooks.traits.of([record.id])[record.id]}


def _inspection_rule(store: "Store", ident: str | int) -> Values:
    found = _row_of(InspectionRule, payloads.crud_of(InspectionRule))(store, ident)
    # The contents of a sensitive rule are never published.
    return found | {"actions": [], "conditions": []} if found["sensitive"] else found


# Of resources whose payload needs more than their row and their steps.
_READ: Final[Mapping[type[Resource], _Read]] = {Node: _node, Runbook: _runbook, InspectionRule: _inspection_rule}


def about(resource: type[Resource]) -> Subject:
    """Return the subject of a resource that has notifications."""
    payload = payloads.crud_of(resource)
    read = _READ.get(resource) or _row_of(resource, payload)
    return Subject(resource.__name__.lower(), payload, read, resource.stored_in)


@functools.cache
def of(word: str) -> Subject | None:
    """Return the subject of the resource with this word in paths, None for one without notifications."""
    resource = RESOURCES.get(word)
    return about(resource) if resource is not None and resource.payload_version else None


NODE: Final = about(Node)
NODE_IN_MAINTENANCE: Final = Subject("node", payloads.NODE, _node, "nodes")
