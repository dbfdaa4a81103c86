"""Keeping connections to BMCs."""

from collections.abc import Callable
from dataclasses import replace

from ironic.drivers.modules.redfish.bmc_access import Access
from ironic.drivers.modules.redfish.bmc_connection import Connections

ONE = Access("https://192.0.2.1", system_id="/1", username="root", password="a")
TWO = Access("https://192.0.2.2", username="root", password="a")


def test_a_connection_is_kept() -> None:
    connections = Connections()
    first = connections.get(ONE)
    assert connections.get(ONE) is first
    assert connections.get(replace(ONE, system_id="/2")) is first, "another system of the same BMC"
    assert connections.get(TWO) is not first


def test_who_logs_in_differently_gets_another() -> None:
    connections = Connections()
    different = [
        ONE,
        replace(ONE, password="b"),
        replace(ONE, verify=False),
        replace(ONE, auth_type="basic"),
        replace(ONE, tls_minimum_version="1.3"),
        replace(ONE, root_prefix="/blade/1/"),
        replace(ONE, username="operator"),
    ]
    assert len({id(made) for made in [connections.get(access) for access in different]}) == len(different)
    assert len(connections) == 2, "one per address and user"


def test_one_that_failed_is_forgotten() -> None:
    connections = Connections()
    first = connections.get(ONE)
    connections.drop(first)
    second = connections.get(ONE)
    assert second is not first
    connections.drop(first)
    assert connections.get(ONE) is second, "a late complaint about the old one does not hit the new one"


def test_only_so_many_are_kept_and_the_least_used_goes(conf: Callable[..., None]) -> None:
    conf(redfish__connection_cache_size=2)
    connections = Connections()
    one, two = connections.get(ONE), connections.get(TWO)
    assert connections.get(ONE) is one
    connections.get(Access("https://192.0.2.3"))
    assert len(connections) == 2
    assert connections.get(ONE) is one
    assert connections.get(TWO) is not two


def test_nothing_is_kept_when_the_size_is_zero(conf: Callable[..., None]) -> None:
    conf(redfish__connection_cache_size=0)
    connections = Connections()
    assert connections.get(ONE) is not connections.get(ONE)
    assert len(connections) == 0


def test_connections_to_one_server_share_its_gateway() -> None:
    connections = Connections()
    one, other = connections.get(ONE), connections.get(replace(ONE, username="operator"))
    assert one.connector.gateway is other.connector.gateway
    assert one.connector.gateway is not connections.get(TWO).connector.gateway
