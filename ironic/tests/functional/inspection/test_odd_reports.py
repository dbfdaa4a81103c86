"""Each leaf of recorded reports of ramdisks, replaced by odd values: what is stored is that of the whole report.

The node is one that was inspected before. No port of it is deleted or made because of an odd leaf, and each property is
the one that it has, or the size or count that the report says now.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.inspection.hooks import base
from ironic.tests.effort import IS_FULL
from ironic.tests.functional.drivers.compared_machines import Oddity, differences
from ironic.tests.functional.drivers.test_odd_leaves import CLASSES, places, replaced, three_of
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import recorded

MACHINES = ("dell-like", "hpe-like", "lldp-raw", "arm64", "bond-vlan", "extra-hardware")
DEFAULTS = ["ramdisk-error", "architecture", "validate-interfaces", "ports"]
ALL = ",".join([*DEFAULTS, *sorted(base.installed_hooks().keys() - {*DEFAULTS})])

Facts = dict[str, Any]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    options: dict[str, Any] = {
        "inspector__hooks": ALL,
        "inspector__keep_ports": "present",
        "inspector__add_ports": "all",
    }
    with whole(tmp_path_factory.mktemp("odd-reports"), **options) as running:
        yield running


def outcome(service: Whole, report: Any, macs: list[str], properties: Mapping[str, Any]) -> Facts:
    """Return what is stored of a node with these ports and properties when a report has come."""
    uuid = service.node(*macs, properties=dict(properties))
    node = service.store.nodes.get(uuid)
    try:
        answer = service.post(report, query=f"?node_uuid={uuid}")
        assert answer.status in (200, 400, 404), answer.body
        row = service.bench.row(uuid)
        assert "Error" not in (row.last_error or ""), row.last_error
        ports = {one.address: one.local_link_connection for one in service.store.ports.find(node_id=node.id)}
        is_done = answer.status == 200 and service.state(uuid) == states.MANAGEABLE
        return {"properties": with_capabilities(row.properties), "ports": ports, "done": is_done}
    finally:
        service.store.nodes.delete(uuid)


def with_capabilities(properties: Mapping[str, Any]) -> Facts:
    """Return properties with each capability by its name."""
    pairs = (pair.partition(":") for pair in str(properties.get("capabilities", "")).split(",") if pair)
    return {**properties, "capabilities": {name: value for name, _colon, value in pairs}}


def plain(properties: Facts) -> Facts:
    """Return properties as a node has them."""
    capabilities = ",".join(f"{name}:{value}" for name, value in properties["capabilities"].items())
    return {**properties, "capabilities": capabilities}


def faults(known: Facts, found: Facts, odd: Oddity) -> Iterator[str]:
    """Yield what is stored otherwise than it was."""
    if missing := known["ports"].keys() - found["ports"].keys():
        yield f"ports are deleted: {missing}"
    if more := found["ports"].keys() - known["ports"].keys():
        yield f"ports are made: {more}"
    if gone := known["properties"].keys() - found["properties"].keys():
        yield f"properties are gone: {gone}"
    yield from differences(found["properties"], known["properties"], odd.as_fact(), "properties", gaps=False)


@pytest.mark.parametrize("name", MACHINES)
def test_an_odd_leaf_of_a_report_changes_nothing_that_is_known(service: Whole, name: str) -> None:
    report = recorded(name)
    first = outcome(service, report, [report["inventory"]["interfaces"][0]["mac_address"]], {})
    known = outcome(service, report, list(first["ports"]), plain(first["properties"]))
    assert known["done"] and known["ports"] == first["ports"] and known["properties"] == first["properties"]
    found: list[str] = []
    leaves = list(places(report, leaves=True))
    assert len(leaves) > 50
    for number, place in enumerate(leaves):
        values = list(itertools.chain(*CLASSES)) if IS_FULL else three_of(number)
        for odd in values:
            if isinstance(odd, bytes):
                odd = "\ufffd"  # what a report has of broken bytes
            left = outcome(service, replaced(report, place, odd), list(known["ports"]), plain(known["properties"]))
            said = f"{'/'.join(map(str, place))} = {odd!r:.40}"
            wrong = faults(known, left, Oddity.of(report, "", place, odd))
            found += [f"{said}: {one}" for one in wrong]
    assert found == [], json.dumps(found[:40], indent=1)
