"""Every field that clients of a reference release know is there, since the same version, written by the same requests.

The file has by collection rows of [name, type, first minor version, in the plain list, settable, patchable, sortable];
null is "not known".
"""

import json
from typing import Any

import pytest

from ironic.api import version_negotiation
from ironic.api.openapi import operations
from ironic.api.resources import ROUTES
from ironic.tests.repository import ROOT

KNOWN: dict[str, list[list[Any]]] = json.loads((ROOT / "ironic" / "tests" / "data" / "fields.json").read_text())
# Ours; shown in versions whose clients skip what they don't know.
ADDED = {"nodes": {"auto_discovered"}, "inspection_rules": {"scope", "built_in", "dialect", "hits"}}
RESOURCES = operations.resources()


def first_version(collection: str) -> int:
    """Return the version whose callers first get to see one of these."""
    return min(route.since for route in ROUTES if route.path.endswith(f"/{collection}") and route.method == "GET")


@pytest.mark.parametrize("collection", KNOWN)
def test_there_are_the_same_fields(collection: str) -> None:
    fields = RESOURCES[collection].table.fields
    shown = {name for name, one in fields.items() if not one.hidden}
    assert shown == {row[0] for row in KNOWN[collection]} | ADDED.get(collection, set())


@pytest.mark.parametrize(
    ("collection", "row"),
    [pytest.param(name, row, id=f"{name}.{row[0]}") for name, rows in KNOWN.items() for row in rows],
)
def test_a_field_is_as_it_was_known(collection: str, row: list[Any]) -> None:
    resource = RESOURCES[collection]
    name, _, since, *wanted = row
    one = resource.table.fields[name]
    assert max(one.since, first_version(collection)) == max(since, first_version(collection))
    found = (one.plain, "create" in one.write, "patch" in one.write, one.sortable and resource.paged)
    assert all(told is None or told == ours for told, ours in zip(wanted, found, strict=True)), (wanted, found)


@pytest.mark.parametrize(
    ("collection", "named"),
    [
        ("nodes", "uuid,name,instance_uuid,power_state,provision_state,maintenance"),
        ("ports", "uuid,address"),
        ("portgroups", "uuid,address,name"),
        ("chassis", "uuid,description"),
        ("connectors", "uuid,node_uuid,type,connector_id"),
        ("targets", "uuid,node_uuid,volume_type,boot_index,volume_id"),
        ("conductors", "hostname,conductor_group,alive"),
        ("deploy_templates", "uuid,name"),
        ("runbooks", "uuid,name"),
        ("inspection_rules", "uuid,priority,phase,description"),
        # These have all fields, or no choice of fields.
        ("allocations", ""),
        ("history", ""),
    ],
)
def test_links_name_the_fields_of_plain_pages_in_the_order_that_was_known(collection: str, named: str) -> None:
    resource = RESOURCES[collection]
    found = resource.plain_fields(version_negotiation.MAXIMUM)
    assert ",".join(found) == named
    assert set(found) <= {name for name, one in resource.table.fields.items() if one.plain}
    assert not resource.plain_order or set(resource.plain_order) == set(found)
    assert resource.plain_fields((resource.since_fields or 1) - 1) == []
