"""Keeping connections to BMCs."""

import threading
from collections.abc import Callable
from dataclasses import replace

from ironic.drivers.modules.redfish.bmc_access import Access
from ironic.drivers.modules.redfish.bmc_connection import Connection, Connections

ONE = Access("https://192.0.2.1", system_id="/1", username="root", password="a")
TWO = Access("https://192.0.2.2", username="root", password="a")


class Bmcs:
    """Counts who logs in."""

    def __init__(self) -> None:
        self.logins: list[Access] = []

    def connect(self, access: Access) -> Connection:
        self.logins.append(access)
        return Connection(access, object(), object())


def test_a_connection_is_kept() -> None:
    bmcs = Bmcs()
    connections = Connections(bmcs.connect)
    first = connections.get(ONE)
    assert connections.get(ONE) is first
    assert connections.get(replace(ONE, system_id="/2")) is first, "another system of the same BMC"
    assert connections.get(TWO) is not first
    assert bmcs.logins == [ONE, TWO]


def test_who_logs_in_differently_gets_another() -> None:
    bmcs = Bmcs()
    connections = Connections(bmcs.connect)
    for access in (
        ONE,
        replace(ONE, password="b"),
        replace(ONE, verify=False),
        replace(ONE, auth_type="basic"),
        replace(ONE, tls_minimum_version="1.3"),
        replace(ONE, username="operator"),
    ):
        connections.get(access)
    assert len(bmcs.logins) == 6
    assert len(connections) == 2, "one per address and user"


def test_one_that_failed_is_forgotten() -> None:
    bmcs = Bmcs()
    connections = Connections(bmcs.connect)
    first = connections.get(ONE)
    connections.drop(first)
    second = connections.get(ONE)
    assert second is not first
    connections.drop(first)
    assert connections.get(ONE) is second, "a late complaint about the old one does not hit the new one"


def test_only_so_many_are_kept_and_the_least_used_goes(conf: Callable[..., None]) -> None:
    conf(redfish__connection_cache_size=2)
    bmcs = Bmcs()
    connections = Connections(bmcs.connect)
    three = Access("https://192.0.2.3")
    for access in (ONE, TWO, ONE, three):
        connections.get(access)
    assert len(connections) == 2
    connections.get(ONE)
    assert bmcs.logins == [ONE, TWO, three]
    connections.get(TWO)
    assert bmcs.logins == [ONE, TWO, three, TWO]


def test_nothing_is_kept_when_the_size_is_zero(conf: Callable[..., None]) -> None:
    conf(redfish__connection_cache_size=0)
    bmcs = Bmcs()
    connections = Connections(bmcs.connect)
    assert connections.get(ONE) is not connections.get(ONE)
    assert len(connections) == 0


def test_a_slow_bmc_does_not_hold_up_the_others() -> None:
    started, go_on = threading.Event(), threading.Event()

    def connect(access: Access) -> Connection:
        if access is ONE:
            started.set()
            assert go_on.wait(10)
        return Connection(access, object(), object())

    connections = Connections(connect)
    slow = threading.Thread(target=connections.get, args=(ONE,))
    slow.start()
    assert started.wait(10)
    assert connections.get(TWO).access is TWO
    go_on.set()
    slow.join()
    assert len(connections) == 2
