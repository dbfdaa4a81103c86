"""The subjects of notifications: how the values of a resource are read, from its row and from other tables."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

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


def _row_of(repository: str, payload: Payload) -> _Read:
    """Return a function that reads one row, with fields of the payload from other tables."""

    def read(store: "Store", ident: str | int) -> Values:
        rows = getattr(store, repository)
        record = rows.get(ident)
        found: Values = record.as_dict()
        elsewhere = [name for name in payload.fields if name not in found]
        others = rows.row(elsewhere, record.id) if elsewhere else ()
        return found | dict(zip(elsewhere, others, strict=True))

    return read


def _steps_of(repository: str) -> _Read:
    """Return a function that reads a named list of steps."""

    def read(store: "Store", ident: str | int) -> Values:
        lists = getattr(store, repository)
        record = lists.get(ident)
        found: Values = record.as_dict() | {"steps": lists.steps.of([record.id])[record.id]}
        return found

    return read


def _runbook(store: "Store", ident: str | int) -> Values:
    found = _steps_of("runbooks")(store, ident)
    return found | {"traits": store.runbooks.traits.of([found["id"]])[found["id"]]}


def _inspection_rule(store: "Store", ident: str | int) -> Values:
    found = _row_of("rules", payloads.INSPECTION_RULE_CRUD)(store, ident)
    # The contents of a sensitive rule are never published.
    return found | {"actions": [], "conditions": []} if found["sensitive"] else found


def _of_row(kind: str, payload: Payload, repository: str) -> Subject:
    return Subject(kind, payload, _row_of(repository, payload), repository)


NODE: Final = Subject("node", payloads.NODE_CRUD, _node, "nodes")
NODE_IN_MAINTENANCE: Final = Subject("node", payloads.NODE, _node, "nodes")

# By kind of resource.
SUBJECTS: Final[Mapping[str, Subject]] = {
    subject.kind: subject
    for subject in (
        NODE,
        _of_row("port", payloads.PORT_CRUD, "ports"),
        _of_row("portgroup", payloads.PORTGROUP_CRUD, "portgroups"),
        _of_row("chassis", payloads.CHASSIS_CRUD, "chassis"),
        _of_row("volumeconnector", payloads.VOLUME_CONNECTOR_CRUD, "volume_connectors"),
        _of_row("volumetarget", payloads.VOLUME_TARGET_CRUD, "volume_targets"),
        _of_row("allocation", payloads.ALLOCATION_CRUD, "allocations"),
        Subject("deploytemplate", payloads.DEPLOY_TEMPLATE_CRUD, _steps_of("deploy_templates"), "deploy_templates"),
        Subject("runbook", payloads.RUNBOOK_CRUD, _runbook, "runbooks"),
        Subject("inspectionrule", payloads.INSPECTION_RULE_CRUD, _inspection_rule, "inspection_rules"),
    )
}
