"""A conductor dies while BMCs update firmware and make logical disks for it, at instants that differ by machine."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ironic import db
from ironic.core.flows import states
from ironic.tests.functional.drivers.hostile_bmc import Handler, HostileBmc
from ironic.tests.functional.drivers.test_redfish_firmware import RESET, TASK, UPDATE, URL
from ironic.tests.functional.drivers.test_redfish_firmware import bmc_that_updates as updating
from ironic.tests.functional.drivers.test_redfish_raid import STORAGE, bmc_with_storage, end_tasks, mirror
from ironic.tests.out_of_tree import lay_out
from ironic.tests.site import Site, eventually, site

PACKAGE = Path(__file__).with_name("bare_redfish.py")
ENTRY_POINTS = "[ironic.hardware.types]\nbare-redfish = bare_redfish:BareRedfish\n"
PATIENCE = 60
KINDS = ("bios", "boot", "firmware", "management", "power", "raid")
OPTIONS: dict[str, dict[str, object]] = {
    "DEFAULT": {
        "enabled_hardware_types": "bare-redfish",
        # A conductor that does not know the other one yet would look at its nodes.
        "hash_ring_reset_interval": 0,
        **{f"enabled_{kind}_interfaces": "redfish" for kind in KINDS},
        "enabled_bios_interfaces": "no-bios",
        "enabled_boot_interfaces": "ipxe",
        "enabled_deploy_interfaces": "fake",
        "enabled_inspect_interfaces": "no-inspect",
    },
    "conductor": {"sync_power_state_interval": 0},
    "redfish": {
        "connection_attempts": 1,
        "firmware_update_status_interval": 1,
        "raid_config_status_interval": 1,
        "firmware_update_reboot_delay": 0,
        "firmware_update_validation_interval": 1,
    },
}
UPDATING = {
    "interface": "firmware",
    "step": "update",
    "args": {"settings": [{"component": "bios", "url": URL}]},
}
MAKING = {"interface": "raid", "step": "create_configuration"}


class Stall:
    """Has a BMC keep an order to itself: it is counted, and neither done nor answered."""

    def __init__(self, bmc: HostileBmc, is_meant: Callable[[Handler], bool]) -> None:
        self.came, self.may_end, self.count = threading.Event(), threading.Event(), 0
        usual = bmc.misbehave

        def misbehave(handler: Handler) -> bool:
            if not is_meant(handler):
                return usual(handler)
            self.count += 1
            if self.may_end.is_set():
                return usual(handler)
            self.came.set()
            self.may_end.wait(PATIENCE)
            return True

        bmc.misbehave = misbehave


class Case:
    """One machine in a step."""

    def __init__(self, found: Site, store: db.Store, bmc: HostileBmc, step: dict[str, Any]) -> None:
        self.bmc, self._store = bmc, store
        (node,) = found.nodes_of("two", driver="bare-redfish", driver_info=bmc.driver_info())
        self.uuid = node["uuid"]
        raid = {"logical_disks": [mirror()]}
        values = {"provision_state": states.MANAGEABLE, "power_state": states.POWER_ON, "target_raid_config": raid}
        store.nodes.update(self.uuid, values)
        body = {"target": "clean", "clean_steps": [step]}
        found.put(f"/v1/nodes/{self.uuid}/states/provision", body)

    def await_state(self, state: str) -> None:
        """Wait until the node is in a state and unlocked."""
        columns = ("provision_state", "reservation")
        eventually(lambda: self._store.nodes.row(columns, self.uuid), (state, None), PATIENCE)

    @property
    def error(self) -> str:
        return self._store.nodes.row(("last_error",), self.uuid)[0] or ""


@pytest.mark.demand("S60")
def test_orders_are_never_sent_twice_and_what_was_begun_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(lay_out(tmp_path / "package", PACKAGE, ENTRY_POINTS)))
    sent: list[list[dict[str, Any]]] = [[], [], []]
    with (
        updating(sent[0]) as one, updating(sent[1]) as two, updating(sent[2]) as three,
        bmc_with_storage() as four, bmc_with_storage() as five,
        site(tmp_path, options=OPTIONS) as found,
    ):  # fmt: skip
        store = db.connect(found.database)
        four.in_tasks = five.in_tasks = True
        # The first does not say that it has begun, so its machine is restarted at once.
        ordering = Stall(two, lambda handler: handler.path == UPDATE)
        restarting = Stall(three, lambda handler: handler.path == RESET and b"ForceOff" in handler.content)
        making = Stall(five, lambda handler: handler.command == "POST" and handler.path.startswith(STORAGE))
        watched, interrupted, restarted, made, cut = (
            Case(found, store, bmc, step)
            for bmc, step in ((one, UPDATING), (two, UPDATING), (three, UPDATING), (four, MAKING), (five, MAKING))
        )
        for stall in (ordering, restarting, making):
            assert stall.came.wait(PATIENCE)
        for case in (watched, made):
            case.await_state(states.CLEANWAIT)
        eventually(lambda: one.count("POST", RESET), 2, PATIENCE)
        found.kill("two")
        for stall in (ordering, restarting, making):
            stall.may_end.set()
        for case in (interrupted, cut):
            case.await_state(states.CLEANFAIL)
            assert "was lost" in case.error, case.error
        # The machine was not seen to restart: its task has not begun.
        eventually(lambda: restarting.count, 2, PATIENCE)
        for bmc in (one, three):
            bmc.documents[TASK]["TaskState"] = "Completed"
        end_tasks(four)
        for case in (watched, restarted, made):
            case.await_state(states.MANAGEABLE)
            assert case.error == ""
        assert [len(orders) for orders in sent] == [1, 0, 1]
        assert ordering.count == making.count == 1
        assert len(four.orders) == 1
        assert one.count("POST", RESET) == 2, "off and on, once"
        assert len(store.nodes.get(made.uuid).raid_config["logical_disks"]) == 1
        store.close()
