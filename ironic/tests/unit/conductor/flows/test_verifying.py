"""The first contact with a machine has less time than what is done with a machine that is known."""

from typing import Any

import pytest

from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.patience import LONGEST
from ironic.drivers.modules.fake import FakePower

USUAL = 600.0


def test_only_the_power_check_of_a_new_machine_is_shortened(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def get_power_state(power: FakePower, task: object) -> str:
        seen.append(min(LONGEST.get(), USUAL))
        return states.POWER_OFF

    monkeypatch.setattr(FakePower, "get_power_state", get_power_state)
    uuid = bench.node(provision_state=states.ENROLL)
    assert bench.verb(uuid, "manage") == (states.MANAGEABLE, None)
    assert (seen[0], min(LONGEST.get(), USUAL)) == (CONF.bmc.verify_timeout, USUAL)
    seen.clear()
    bench.verb(uuid, "adopt")
    assert set(seen) == {USUAL}
