"""Keeping connections to BMCs."""

from collections.abc import Callable
from dataclasses import replace

from ironic.drivers.modules.redfish.wire.bmc_access import Access
from ironic.drivers.modules.redfish.wire.bmc_connector import BmcConnector
from ironic.drivers.modules.redfish.wire.connection_cache import Connection, Connections

ONE = Access("https://192.0.2.1", system_id="/1", username="root", password="a")
TWO = Access("https://192.0.2.2", username="root", password="a")


def made(access: Access) -> Connection:
    connector = BmcConnector(access, None)
    return Connection(access, connector, connector.login)


def used(connections: Connections, access: Access, node: str = "n1") -> Connection:
    with connections.used_by(node, access, lambda: made(access)) as connection:
        assert connection.users
    return connection


def test_a_connection_is_kept() -> None:
    connections = Connections()
    first = used(connections, ONE)
    assert used(connections, ONE) is first
    assert used(connections, replace(ONE, system_id="/2"), "n2") is first, "another system of the same BMC"
    assert used(connections, TWO, "n3") is not first


def test_who_logs_in_differently_gets_another() -> None:
    connections = Connections()
    different = [
        ONE,
        replace(ONE, password="b"),
        replace(ONE, verify=False),
        replace(ONE, auth_type="basic"),
        replace(ONE, tls_minimum_version="1.3"),
        replace(ONE, username="operator"),
    ]
    made = [used(connections, access, f"n{number}") for number, access in enumerate(different)]
    assert len({id(one) for one in made}) == len(different)
    assert len(connections) == 2, "one per address and user"
    assert [one.is_retired for one in made] == [True] * 4 + [False] * 2


def test_the_machines_of_a_chassis_keep_their_connections() -> None:
    connections = Connections()
    blades = [replace(ONE, root_prefix=f"/blade/{number}/") for number in range(3)]
    first = [used(connections, blade, f"n{number}") for number, blade in enumerate(blades)]
    assert [used(connections, blade, f"n{number}") for number, blade in enumerate(blades)] == first
    assert [one.is_retired for one in first] == [False] * 3


def test_one_that_was_refused_is_forgotten() -> None:
    connections = Connections()
    first = used(connections, ONE)
    connections.retire(first)
    second = used(connections, ONE)
    assert second is not first
    connections.retire(first)
    assert used(connections, ONE) is second, "a late complaint about the old one does not hit the new one"


def test_it_is_kept_until_the_last_of_its_nodes_has_another_login() -> None:
    connections = Connections()
    first = used(connections, ONE, "n1")
    used(connections, ONE, "n2")
    other = replace(ONE, username="operator")
    used(connections, other, "n1")
    assert not first.is_retired
    used(connections, other, "n2")
    assert first.is_retired
    assert len(connections) == 1


def test_only_so_many_are_kept_and_the_least_used_goes(conf: Callable[..., None]) -> None:
    conf(redfish__connection_cache_size=2)
    connections = Connections()
    one, two = used(connections, ONE, "n1"), used(connections, TWO, "n2")
    assert used(connections, ONE, "n1") is one
    used(connections, Access("https://192.0.2.3"), "n3")
    assert len(connections) == 2
    assert used(connections, ONE, "n1") is one
    assert used(connections, TWO, "n2") is not two


def test_nothing_is_kept_when_the_size_is_zero(conf: Callable[..., None]) -> None:
    conf(redfish__connection_cache_size=0)
    connections = Connections()
    assert used(connections, ONE) is not used(connections, ONE)
    assert len(connections) == 0


def test_connections_to_one_server_share_its_gateway() -> None:
    connections = Connections()
    one, other = used(connections, ONE), used(connections, replace(ONE, username="operator"), "n2")
    assert one.connector.gateway is other.connector.gateway
    assert one.connector.gateway is not used(connections, TWO, "n3").connector.gateway
