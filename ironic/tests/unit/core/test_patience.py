"""Operations at machines are shortened in a block, and nowhere else."""

import threading

from ironic.core.patience import no_longer_than, shortened
from ironic.drivers.modules.bmc.bmc_gateway import CallClass, Gateway


def test_the_shorter_time_counts_in_the_block_and_in_its_thread() -> None:
    elsewhere: list[float] = []
    with no_longer_than(120):
        assert [shortened(600), shortened(5)] == [120, 5]
        with no_longer_than(7):
            assert shortened(600) == 7
        assert shortened(600) == 120
        other = threading.Thread(target=lambda: elsewhere.append(shortened(600)))
        other.start()
        other.join()
    assert [shortened(600), *elsewhere] == [600, 600]


def test_an_operation_at_a_bmc_ends_with_the_shorter_time() -> None:
    gateway = Gateway("bmc", clock=lambda: 1000.0)
    with no_longer_than(20), gateway.operation(CallClass.POWER) as running:
        assert (running.longest, running.until) == (20, 1020)
    with gateway.operation(CallClass.POWER) as running:
        assert running.longest > 20
