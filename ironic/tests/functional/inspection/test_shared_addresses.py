"""Machines that report addresses of each other: the first one wins, and no inspection but the reporter's ends."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.tests.functional.inspection.test_forged_reports import macs_of, query_of_ramdisk, report
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC

SHARED = "52:54:00:00:00:77"
BMC, OTHER_BMC = "192.0.2.200", "192.0.2.201"


@pytest.fixture(params=["all", "present", "added"])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Whole]:
    with whole(tmp_path, inspector__keep_ports=request.param) as made:
        yield made


def newest_reason(running: Whole) -> str:
    return running.store.rejected_callbacks.newest(1)[0].reason


def test_the_second_machine_with_an_address_is_refused(running: Whole) -> None:
    first, second = running.node(MAC), running.node(OTHER_MAC)
    assert running.post(report(MAC, SHARED)).status == 200
    assert running.post(report(OTHER_MAC, SHARED), source="192.0.2.8").status == 404
    assert (running.state(first), running.state(second)) == (states.MANAGEABLE, states.INSPECTWAIT)
    assert (macs_of(running, first), macs_of(running, second)) == ({MAC, SHARED}, {OTHER_MAC})
    assert first in newest_reason(running) and second in newest_reason(running)


def test_an_address_that_was_taken_meanwhile_becomes_no_port_of_the_later_machine(
    running: Whole, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = running.node(MAC), running.node(OTHER_MAC)
    found_before = type(running.store.nodes).by_macs

    def by_macs(nodes: Any, macs: Any) -> Any:
        # The other report is stored after this one has found its node.
        if OTHER_MAC in macs and running.state(first) == states.INSPECTWAIT:
            found = found_before(nodes, macs)
            assert running.post(report(MAC, SHARED)).status == 200
            return found
        return found_before(nodes, macs)

    monkeypatch.setattr(type(running.store.nodes), "by_macs", by_macs)
    assert running.post(report(OTHER_MAC, SHARED), source="192.0.2.8").status == 200
    assert (running.state(first), running.state(second)) == (states.MANAGEABLE, states.MANAGEABLE)
    assert (macs_of(running, first), macs_of(running, second)) == ({MAC, SHARED}, {OTHER_MAC})
    assert f"{SHARED} can't become a port of node {second}: it belongs to a port of node {first}" in caplog.text


BAD: dict[str, dict[str, Any]] = {
    "an error": {"error": "the disk is gone"},
    "no interface that can be used": {"inventory": {"interfaces": [{"name": "lo", "mac_address": OTHER_MAC}]}},
}


@pytest.mark.parametrize("name", BAD)
def test_a_ramdisk_with_a_token_ends_no_inspection_of_another_node(running: Whole, name: str) -> None:
    own = running.node(MAC, state=states.MANAGEABLE)
    running.bench.verb(own, "inspect")
    other = running.node(OTHER_MAC)
    bad = report(OTHER_MAC) | BAD[name]
    for query in (query_of_ramdisk(), f"{query_of_ramdisk()}&node_uuid={other}"):
        assert running.post(bad, query=query).status == 404
    assert (running.state(own), running.state(other)) == (states.INSPECTWAIT, states.INSPECTWAIT)
    assert f"shows the boot token of node {own}, and its addresses lead to node {other}" in newest_reason(running)
    assert running.post(report(OTHER_MAC)).status == 200
    assert running.state(other) == states.MANAGEABLE


def test_a_discovered_machine_is_not_replaced_by_one_with_the_same_address(tmp_path: Path) -> None:
    with whole(tmp_path, auto_discovery__enabled=True, auto_discovery__driver="fake-hardware") as running:
        # The first report never gets to its conductor.
        accepted = type(running.bench.endpoint).continue_inspection
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(type(running.bench.endpoint), "continue_inspection", lambda *_, **__: None)
            assert running.post(report(MAC, bmc_address=BMC)).status == 200
        assert type(running.bench.endpoint).continue_inspection is accepted
        (node,) = running.store.nodes.find()
        assert running.post(report(MAC, bmc_address=OTHER_BMC), source="192.0.2.8").status == 404
        assert running.bench.row(node.uuid).inspection_finished_at is None
        assert running.post(report(MAC, bmc_address=BMC)).status == 200
        assert running.bench.row(node.uuid).inspection_finished_at is not None
        assert len(running.store.nodes.find()) == 1
