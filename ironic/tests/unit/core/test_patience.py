"""Operations at machines are shortened in a block, and nowhere else."""

import math
import threading

from ironic.core.patience import LONGEST, no_longer_than
from ironic.drivers.modules.bmc.bmc_gateway import CallClass, Gateway


def test_the_shorter_time_counts_in_the_block_and_in_its_thread() -> None:
    elsewhere: list[float] = []
    with no_longer_than(120):
        assert LONGEST.get() == 120
        with no_longer_than(7):
            assert LONGEST.get() == 7
        assert LONGEST.get() == 120
        other = threading.Thread(target=lambda: elsewhere.append(LONGEST.get()))
        other.start()
        other.join()
    assert [LONGEST.get(), *elsewhere] == [math.inf, math.inf]


def test_an_operation_at_a_bmc_ends_with_the_shorter_time() -> None:
    gateway = Gateway("bmc", clock=lambda: 1000.0)
    with no_longer_than(20), gateway.operation(CallClass.POWER) as running:
        assert (running.longest, running.until) == (20, 1020)
    with gateway.operation(CallClass.POWER) as running:
        assert running.longest > 20
    with no_longer_than(3600), gateway.operation(CallClass.READ, seconds=5) as running:
        assert running.longest == 5
