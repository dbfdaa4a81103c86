"""Machines that report themselves: who is enrolled, who is not, and what is to be read about it afterwards."""

import ipaddress
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ironic.api.settings import ApiSettings
from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.flows import states
from ironic.core.hardware_interfaces import InterfaceRow
from ironic.inspection.discovery import Discovery
from ironic.tests.clocks import as_clock
from ironic.tests.conftest import Setter
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service
from ironic.tests.listening import listening

MAC, OTHER = "52:54:00:00:00:01", "52:54:00:00:00:02"
NET = ipaddress.ip_network("192.0.2.0/24")


def settings(**changes: Any) -> ApiSettings:
    discovery = Discovery(**{"driver": "fake-hardware", **changes})
    return ApiSettings(node_locked_attempts=1, discovery=discovery, rejected_callbacks_kept=5)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Any]:
    running: list[Service] = []

    def start(**changes: Any) -> Service:
        running.append(services.start(tmp_path, settings(**changes)))
        return running[0]

    yield start
    for one in running:
        one.close()


def body(*macs: str, **more: Any) -> dict[str, Any]:
    interfaces = [{"name": f"eth{number}", "mac_address": mac} for number, mac in enumerate(macs)]
    return {"inventory": {"interfaces": interfaces, **more}, "error": None}


def post(service: Service, *macs: str, source: str = "192.0.2.7", version: str | None = "1.84", **more: Any) -> Any:
    sent = services.environ_of("POST", "/v1/continue_inspection", services.json.dumps(body(*macs, **more)).encode())
    sent["REMOTE_ADDR"] = source
    if version is not None:
        sent["HTTP_X_OPENSTACK_IRONIC_API_VERSION"] = version
    return service.send(sent)


@pytest.mark.demand("S79", "S68", "S170")
def test_it_enrolls_an_unknown_machine(started: Any) -> None:
    service = started(inspection_scope="found", conductor_group="", resource_class="new")
    answer = post(service, MAC, OTHER, bmc_address="192.0.2.100")
    assert answer.status == 200
    uuid = answer.json["node"]["uuid"]
    assert answer.json["config"]["agent_token"]
    node = service.store.nodes.get(uuid)
    assert (node.provision_state, node.driver, node.resource_class) == (states.ENROLL, "fake-hardware", "new")
    assert (node.auto_discovered, node.name, node.driver_info) == (True, None, {})
    assert node.properties == {"inspection_scope": "found"}
    assert node.inspect_interface == "fake"
    assert [port.address for port in service.store.ports.find(node_id=node.id)] == [MAC, OTHER]
    ((call, node_id, inventory, plugin_data),) = service.conductor.asked
    assert (call, node_id, len(inventory["interfaces"])) == ("continue_inspection", uuid, 2)
    assert plugin_data == {"error": None, "auto_discovered": True}
    shown = service.call("GET", "/v1/nodes?auto_discovered=true&fields=uuid").json["nodes"]
    assert [one["uuid"] for one in shown] == [uuid]


def test_it_finds_the_conductors_of_its_group_however_they_spell_it(started: Any) -> None:
    service = started(conductor_group="rack-1")
    (row,) = service.store.conductors.alive(60)
    interfaces = [InterfaceRow(*offer[2:]) for offer in service.store.conductors.served_interfaces(60)]
    service.store.conductors.register(row.hostname, "Rack-1", row.drivers, interfaces)
    answer = post(service, MAC)
    assert answer.status == 200
    assert service.store.nodes.get(answer.json["node"]["uuid"]).conductor_group == "rack-1"


def test_it_tells_old_agents_the_uuid(started: Any) -> None:
    service = started()
    answer = post(service, MAC, version=None)
    assert list(answer.json) == ["uuid"]


@pytest.mark.demand("S79")
@pytest.mark.parametrize("state", sorted(states.ALL - {states.INSPECTWAIT}))
@pytest.mark.parametrize("by", ["mac", "bmc"])
def test_it_never_enrolls_a_machine_that_some_node_has(started: Any, state: str, by: str) -> None:
    service = started()
    node = service.store.nodes.create({"driver": "fake-hardware", "provision_state": state})
    if by == "mac":
        service.store.ports.create({"node_id": node.id, "address": OTHER})
    else:
        service.store.nodes.set_bmc_addresses(node.id, ["192.0.2.100"])
    before = service.contents()
    answer = post(service, MAC, OTHER, bmc_address="192.0.2.100")
    assert answer.status == 404
    assert service.contents() == before
    (kept,) = service.store.rejected_callbacks.newest(5)
    assert (kept.source, kept.macs, kept.bmc_addresses) == ("192.0.2.7", [MAC, OTHER], ["192.0.2.100"])


@pytest.mark.demand("S79", "S76")
@pytest.mark.parametrize(
    ("changes", "macs", "source", "reason"),
    [
        ({"mac_prefixes": ("aa:",)}, [MAC], "192.0.2.7", "allowed_mac_prefixes"),
        ({"mac_prefixes": ("aa:", "52:54:00")}, [MAC], "192.0.2.7", None),
        ({"subnets": (NET,)}, [MAC], "203.0.113.1", "allowed_subnets"),
        ({"subnets": (NET,)}, [MAC], "", "allowed_subnets"),
        ({"subnets": (NET,)}, [MAC], "192.0.2.7", None),
        ({"subnets": (NET,)}, [MAC], "::ffff:192.0.2.7", None),
        ({"add_ports": "active"}, [MAC], "192.0.2.7", "none of its network interfaces"),
    ],
)
def test_it_lets_in_whom_the_operator_allows(
    started: Any, changes: dict[str, Any], macs: list[str], source: str, reason: str | None
) -> None:
    service = started(**changes)
    answer = post(service, *macs, source=source)
    if reason is None:
        assert answer.status < 300
        return
    # Refused for another reason; nothing in the answer may differ.
    other = post(service, "zz", bmc_address="192.0.2.99")
    assert (answer.status, other.status, answer.body) == (404, 404, other.body)
    assert not service.store.nodes.find()
    assert reason in service.store.rejected_callbacks.newest(5)[1].reason


@pytest.mark.demand("S79")
def test_it_enrolls_so_many_in_an_hour(started: Any) -> None:
    service = started(max_per_hour=2)
    answers = [post(service, f"52:54:00:00:01:0{number}").status for number in range(4)]
    assert [status < 300 for status in answers] == [True, True, False, False]
    assert "max_per_hour" in service.store.rejected_callbacks.newest(1)[0].reason


@pytest.mark.demand("S79", "S80")
@pytest.mark.parametrize(
    "tells", [{}, {"bmc_address": "192.0.2.9"}, {"bmc_v6address": "2001:db8::9"}, {"bmc_address": "0.0.0.0"}]
)
def test_it_enrolls_a_machine_once(started: Any, tells: dict[str, str]) -> None:
    service = started()
    first = post(service, MAC, **tells)
    # What was posted first may have been lost on its way to a conductor.
    again = post(service, MAC, OTHER, **tells)
    assert again.json["node"]["uuid"] == first.json["node"]["uuid"]
    (node,) = service.store.nodes.find()
    assert [call[3]["auto_discovered"] for call in service.conductor.asked] == [True, True]
    for ended in ({"inspection_finished_at": service.store.clock.now()}, {"last_error": "no"}):
        service.store.nodes.update(node.id, {"inspection_finished_at": None, "last_error": None} | ended)
        assert post(service, MAC, **tells).status == 404
    assert len(service.store.nodes.find()) == 1


@pytest.mark.demand("S79")
def test_without_ports_a_machine_is_known_by_its_bmc_or_not_enrolled(started: Any) -> None:
    service = started(add_ports="disabled")
    assert post(service, MAC).status == 404
    assert "could not be recognised" in service.store.rejected_callbacks.newest(1)[0].reason
    assert not service.store.nodes.find()
    assert [post(service, MAC, bmc_address="192.0.2.9").status for _ in range(2)] == [200, 200]
    (node,) = service.store.nodes.find()
    # As a request sees it that came at the same time.
    service.store.nodes.set_bmc_addresses(node.id, [])
    assert post(service, MAC, bmc_address="192.0.2.9").status == 404
    assert "by another request" in service.store.rejected_callbacks.newest(1)[0].reason
    assert len(service.store.nodes.find()) == 1


@pytest.mark.demand("S79")
@pytest.mark.parametrize(
    ("driver_info", "tells", "known"),
    [
        ({"redfish_address": "https://192.0.2.9:8443/redfish"}, {"bmc_address": "192.0.2.9"}, True),
        ({"ipmi_address": "192.0.2.9"}, {"bmc_address": "192.0.2.9"}, True),
        ({"ipmi_address": "192.0.2.90"}, {"bmc_address": "192.0.2.9"}, False),
        ({"note": "192.0.2.9"}, {"bmc_address": "192.0.2.9"}, False),
        ({"redfish_address": "https://[2001:DB8::9]"}, {"bmc_v6address": "2001:db8::9"}, True),
        (
            {"redfish_address": "https://[2001:0db8:0000:0000:0000:0000:0000:0009]"},
            {"bmc_v6address": "2001:db8::9"},
            True,
        ),
        ({"ipmi_address": "bmc9.example.org"}, {"bmc_address": "192.0.2.9"}, False),
    ],
)
def test_a_node_that_was_never_inspected_is_known_by_its_bmc_too(
    started: Any, driver_info: dict[str, str], tells: dict[str, str], known: bool
) -> None:
    service = started()
    service.store.nodes.create({"driver": "fake-hardware", "provision_state": states.ENROLL})
    service.store.nodes.create(
        {"driver": "fake-hardware", "provision_state": states.ENROLL, "driver_info": driver_info}
    )
    assert post(service, MAC, **tells).status == (404 if known else 200)
    assert len(service.store.nodes.find()) == (2 if known else 3)


def test_listeners_hear_of_the_new_node_once(started: Any) -> None:
    service = started()
    with listening() as listener:
        for _ in range(2):
            post(service, MAC)
    assert listener.events == ["node.create.start", "node.create.end"]
    assert listener.data("node.create.end")["uuid"] == service.store.nodes.find()[0].uuid


def test_it_says_nothing_of_why_a_machine_could_not_be_enrolled(started: Any) -> None:
    service = started(driver="unserved")
    answer = post(service, MAC)
    assert answer.status == 500
    assert b"unserved" not in answer.body
    (kept,) = service.store.rejected_callbacks.newest(2)
    assert (kept.macs, "unserved" in kept.reason) == ([MAC], True)
    assert not service.store.nodes.find()


def test_it_lists_what_was_refused(started: Any) -> None:
    service = started(mac_prefixes=("aa:",))
    for number in range(7):
        post(service, f"52:54:00:00:01:0{number}")
    shown = service.call("GET", "/v1/inspection/rejected_callbacks", version="1.84").json["rejected_callbacks"]
    assert [one["macs"] for one in shown] == [[f"52:54:00:00:01:0{number}"] for number in (6, 5, 4, 3, 2)]
    assert sorted(shown[0]) == ["at", "bmc_addresses", "macs", "node_uuid", "reason", "source"]
    assert service.call("GET", "/v1/inspection/rejected_callbacks", version="1.83").status == 404
    assert service.call("GET", "/v1/inspection/rejected_callbacks?x=1").status == 400


def test_the_time_of_a_refusal_is_written_like_every_other(started: Any) -> None:
    service = started(mac_prefixes=("aa:",))
    service.store.clock = as_clock(lambda: datetime(2026, 1, 31, 10, 20, 30))
    post(service, MAC)
    (shown,) = service.call("GET", "/v1/inspection/rejected_callbacks").json["rejected_callbacks"]
    assert shown["at"] == "2026-01-31T10:20:30.000000+00:00"


@pytest.mark.demand("S104")
def test_it_does_not_start_without_a_driver(conf: Setter) -> None:
    assert Discovery.from_conf(CONF) is None
    conf(auto_discovery__driver="fake-hardware")
    assert Discovery.from_conf(CONF) is None
    conf(auto_discovery__enabled=True, auto_discovery__driver=None)
    with pytest.raises(InvalidParameterValue, match=r"needs \[auto_discovery\]driver"):
        ApiSettings.from_conf(CONF)
    conf(auto_discovery__driver="fake-hardware", auto_discovery__allowed_subnets=["nonsense"])
    with pytest.raises(InvalidParameterValue, match=r"allowed_subnets can't be used"):
        ApiSettings.from_conf(CONF)
    conf(
        auto_discovery__allowed_subnets=["192.0.2.1/24"],
        auto_discovery__allowed_mac_prefixes=["AA-BB"],
        auto_discovery__inspection_scope="found",
    )
    assert Discovery.from_conf(CONF) == Discovery(
        "fake-hardware", "found", ("aa:bb",), (NET,), 100, add_ports=CONF.inspector.add_ports
    )
