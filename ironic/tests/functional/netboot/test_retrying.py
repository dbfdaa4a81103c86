"""A machine whose ramdisk is not heard of is booted again, if the operator wants that."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ironic.core.flows import states
from ironic.tests.conftest import Setter
from ironic.tests.functional.netboot.test_taking_over import add_node, conductor, store

__all__ = ["conductor", "store"]


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).replace(tzinfo=None).isoformat()


@pytest.mark.parametrize(
    "patience, started, heard, state, again",
    [
        (100, 200, "", states.CLEANWAIT, True),
        (100, 200, "", states.INSPECTWAIT, True),
        (100, 50, "", states.CLEANWAIT, False),
        (100, 200, "heartbeat", states.CLEANWAIT, False),
        # It has looked its node up and runs.
        (100, 200, "token", states.CLEANWAIT, False),
        (100, 200, "", states.MANAGEABLE, False),
        (None, 200, "", states.CLEANWAIT, False),
    ],
)
def test_only_a_silent_machine_is_booted_again(
    conf: Setter,
    place: Path,
    store: Any,
    conductor: Any,
    patience: Any,
    started: int,
    heard: str,
    state: str,
    again: bool,
) -> None:
    conf(pxe__boot_retry_timeout=patience)
    first = conductor("c1")
    first.join()
    uuid = add_node(store, management_interface="fake", power_state=states.POWER_ON)
    first.prepare(uuid)
    node = store.nodes.get(uuid)
    memory = {**node.driver_internal_info, "last_power_state_change": ago(started)}
    memory |= {"agent_secret_token": "x"} if heard else {}
    memory |= {"agent_url": "https://192.0.2.7:9999"} if heard == "heartbeat" else {}
    memory.pop("fake_boot_device", None)
    store.nodes.update(uuid, {"provision_state": state, "driver_internal_info": memory})
    first.come_round("boot_again")
    after = store.nodes.get(uuid)
    was_booted = after.driver_internal_info["last_power_state_change"] != memory["last_power_state_change"]
    assert was_booted is again
    assert ("fake_boot_device" in after.driver_internal_info) is again
    assert ("agent_secret_token" in after.driver_internal_info) is bool(heard)
    assert (after.power_state, after.reservation, after.provision_state) == (states.POWER_ON, None, state)
    first.come_round("boot_again")
    assert store.nodes.get(uuid).driver_internal_info == after.driver_internal_info
