"""What an inspection costs the database, from the ramdisk's post to a manageable node; the budget of the design."""

from pathlib import Path
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.tests.databases import Statements, counting_statements
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.unit.inspection.lab import inventory, post

PXE = "52:54:00:00:{:02x}:00"
OTHERS = ["52:54:00:00:{:02x}:01", "52:54:00:00:{:02x}:02", "52:54:00:00:{:02x}:03"]


def report(number: int) -> dict[str, Any]:
    macs = [mac.format(number) for mac in (PXE, *OTHERS)]
    return {"inventory": inventory(*macs, booted=macs[0], bmc_address=f"192.0.2.{number}"), "error": None}


def assert_within(seen: Statements, budget: tuple[int, int, int]) -> None:
    assert all(one <= limit for one, limit in zip(seen.counts, budget, strict=True)), (seen.counts, seen.texts)


def waiting(running: Whole, number: int) -> str:
    """Store a node that waits, of which one port is known."""
    return running.node(PXE.format(number), driver_internal_info={"inspector_manage_boot": True})


@pytest.mark.parametrize(
    ("version", "rules", "budget"),
    [
        # Rules of the early phase, look-up by MAC and by BMC, the reserved node, rules, what rules of the standalone
        # inspector have set, ports, child nodes, which lose their power with the machine, the lock. Written are
        # reservation, state, new ports, inventory, node with the target of switching off, and state; a report that was
        # refused before goes.
        (None, 0, (9, 7, 4)),
        # Rules look at traits and port groups as well; what they did is counted and kept.
        (None, 20, (11, 9, 4)),
        # Newer ramdisks get a token, which is one more transaction on the node.
        ("1.84", 0, (10, 8, 5)),
        ("1.84", 20, (12, 10, 5)),
    ],
)
def test_an_inspection_keeps_to_its_budget(
    tmp_path: Path, version: str | None, rules: int, budget: tuple[int, int, int]
) -> None:
    with whole(tmp_path) as running:
        for number in range(rules):
            post(running.store, actions=[{"op": "set-attribute", "args": [f"/extra/rule{number}", "{inventory[cpu]}"]}])
        first, second = (waiting(running, number) for number in (1, 2))
        running.post(report(1), version=version)  # the counters of rules are made at the first time
        with counting_statements(running.store) as seen:
            running.post(report(2), version=version)
        assert [running.state(uuid) for uuid in (first, second)] == [states.MANAGEABLE] * 2
        assert len(running.bench.row(second).extra) == rules
        assert_within(seen, budget)


@pytest.mark.parametrize(
    ("power", "budget"),
    [
        # Written are reservation, state, node with its flags and the target of switching on, former and new addresses
        # of its BMC, and state.
        (states.POWER_OFF, (2, 6, 4)),
        # A machine that is on shows the target of switching off first; its child nodes are looked for.
        (states.POWER_ON, (3, 7, 5)),
    ],
)
def test_the_start_of_an_inspection_keeps_to_its_budget(
    tmp_path: Path, power: str, budget: tuple[int, int, int]
) -> None:
    with whole(tmp_path) as running:
        uuid = running.node(
            PXE.format(1), state=states.MANAGEABLE, power_state=power, driver_info={"ipmi_address": "192.0.2.1"}
        )
        with counting_statements(running.store) as seen:
            assert running.bench.verb(uuid, "inspect")[0] == states.INSPECTWAIT
        assert running.store.nodes.bmc_addresses(running.store.nodes.get(uuid).id) == ["192.0.2.1"]
        assert_within(seen, budget)


def test_the_number_of_ports_makes_no_difference(tmp_path: Path) -> None:
    with whole(tmp_path) as running:
        macs = [f"52:54:00:00:00:{number:02x}" for number in range(64)]
        running.node(macs[0])
        assert running.post(report(1)).status == 404  # whatever is looked at once has been
        with counting_statements(running.store) as seen:
            assert running.post({"inventory": inventory(*macs, booted=macs[0])}).status == 200
        assert_within(seen, (11, 8, 5))
        assert running.store.ports.count() == 64
