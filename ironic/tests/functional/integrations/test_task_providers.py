"""DHCP providers of third parties: how they are chosen, what they get, and what becomes of their errors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ironic.common.dhcp_factory import DHCPFactory
from ironic.common.exception import DHCPLoadError, FailedToUpdateDHCPOptOnPort
from ironic.core.errors import InvalidParameterValue
from ironic.dhcp.base import BaseDHCP
from ironic.drivers.contract.task import BareDriver
from ironic.integrations import dhcp
from ironic.integrations.dhcp import task_provider
from ironic.integrations.dhcp.dhcp_provider import NEXT_SERVER, VENDOR_CLASS
from ironic.integrations.dhcp.dnsmasq import Dnsmasq
from ironic.tests.conftest import Setter
from ironic.tests.out_of_tree import lay_out
from ironic.tests.unit.drivers.machine import work_on

HERE = __name__
CALLS: list[Any] = []
FAULTS: list[Exception] = []


class Network:
    """Shows the virtual interface that a card has."""

    def get_current_vif(self, task: object, card: Any) -> str | None:
        return str(card.internal_info.get("tenant_vif_port_id") or "") or None


def work() -> Any:
    """Return a task whose node has a network interface."""
    task: Any = work_on()
    task.driver = BareDriver({"network": Network()})
    return task


class Kea(BaseDHCP):
    """Notes its calls."""

    tags = False

    def update_port_dhcp_opts(self, port_id: str, dhcp_options: Any, context: object = None) -> None:
        CALLS.append((port_id, dhcp_options))

    def update_dhcp_opts(self, task: Any, options: Any, vifs: Any = None) -> None:
        if FAULTS:
            raise FAULTS.pop()
        CALLS.append((task.node.uuid, options, vifs))

    def clean_dhcp_opts(self, task: Any) -> None:
        CALLS.append(task.node.uuid)

    def supports_ipxe_tag(self) -> bool:
        return self.tags


class TaggingKea(Kea):
    """Knows iPXE by a tag."""

    tags = True


class Incomplete(BaseDHCP):
    """Lacks what every provider has."""


@pytest.fixture
def choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: Setter) -> Callable[[str], None]:
    """Install the providers by entry points; return a function that chooses one."""
    module = tmp_path / "keas.py"
    module.write_text(f"from {HERE} import *\n")
    points = ("kea = keas:Kea", "tagging = keas:TaggingKea", "incomplete = keas:Incomplete", "broken = keas:Nothing")
    lay_out(tmp_path / "installed", module, "\n".join(["[ironic.dhcp]", *points]) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path / "installed"))
    CALLS.clear()
    FAULTS.clear()
    return lambda name: conf(dhcp__dhcp_provider=name)


OPTIONS = [
    dhcp.Option(NEXT_SERVER, "192.0.2.1"),
    dhcp.Option(VENDOR_CLASS, "HTTPClient"),
    dhcp.Option(dhcp.BOOT_PROGRAM, "x.efi", to_ipxe=False),
    dhcp.Option(dhcp.BOOT_PROGRAM, "http://192.0.2.1/boot.ipxe", to_ipxe=True),
]
HOSTS = [dhcp.Host("port-1", "52:54:00:00:00:01")]


@pytest.mark.parametrize(
    ("name", "firmware", "ipxe"), [("kea", "!175,67", "67"), ("tagging", "tag:!ipxe,67", "tag:ipxe,67")]
)
def test_it_gets_the_task_and_options_by_their_numbers(
    choose: Callable[[str], None], name: str, firmware: str, ipxe: str
) -> None:
    choose(name)
    task = work()
    task_provider.serve(task, HOSTS, OPTIONS)
    ((node, options, vifs),) = CALLS
    assert (node, vifs) == (task.node.uuid, None)
    assert [(one["opt_name"], one["opt_value"]) for one in options if one["ip_version"] == 4] == [
        ("150", "192.0.2.1"),
        ("255", "192.0.2.1"),
        ("60", "HTTPClient"),
        (firmware, "x.efi"),
        (ipxe, "http://192.0.2.1/boot.ipxe"),
    ]
    by_v6 = {one["opt_name"]: one["opt_value"] for one in options if one["ip_version"] == 6}
    urls = {"tag:!ipxe6,59": "tftp://192.0.2.1/x.efi", "tag:ipxe6,59": "http://192.0.2.1/boot.ipxe"}
    assert by_v6 == (urls if name == "tagging" else {})
    task_provider.withdraw(task, HOSTS)
    task_provider.withdraw_leftovers(HOSTS)
    assert CALLS[1:] == [node]


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ([dhcp.Option(NEXT_SERVER, "2001:db8::1"), dhcp.Option(dhcp.BOOT_PROGRAM, "x.0")], "tftp://[2001:db8::1]/x.0"),
        ([dhcp.Option(NEXT_SERVER, "[2001:db8::1]"), dhcp.Option(dhcp.BOOT_PROGRAM, "x")], "tftp://[2001:db8::1]/x"),
        ([dhcp.Option(dhcp.BOOT_PROGRAM, "http://192.0.2.1/x.efi")], "http://192.0.2.1/x.efi"),
    ],
)
def test_a_boot_program_for_all_has_a_url_by_dhcpv6(
    choose: Callable[[str], None], options: list[dhcp.Option], url: str
) -> None:
    choose("kea")
    task_provider.serve(work(), HOSTS, options)
    found = [one for one in CALLS[0][1] if one["ip_version"] == 6]
    assert found == [{"opt_name": "59", "opt_value": url, "ip_version": 6}]


def test_it_gets_the_virtual_interfaces_that_a_node_has(choose: Callable[[str], None]) -> None:
    choose("kea")
    task = work()
    for kind, address in (("ports", "52:54:00:00:00:01"), ("ports", "52:54:00:00:00:02")):
        getattr(task.store, kind).create({"node_id": 1, "address": address})
    task.ports = task.store.ports.find(node_id=1)
    task.store.portgroups.create({"node_id": 1})
    task.portgroups = task.store.portgroups.find(node_id=1)
    task.ports[0].internal_info = {"tenant_vif_port_id": "vif-1"}
    task_provider.serve(task, HOSTS, OPTIONS)
    task.portgroups[0].internal_info = {"tenant_vif_port_id": "vif-2"}
    task_provider.serve(task, HOSTS, OPTIONS)
    first, second = (vifs for _node, _options, vifs in CALLS)
    assert first == {"ports": {task.ports[0].uuid: "vif-1"}, "portgroups": {}}
    assert second == {**first, "portgroups": {task.portgroups[0].uuid: "vif-2"}}


def test_its_own_errors_pass_and_others_name_the_node(choose: Callable[[str], None]) -> None:
    choose("kea")
    task = work()
    FAULTS[:] = [ValueError("no lease")]
    with pytest.raises(dhcp.DhcpError, match=f"node {task.node.uuid}: ValueError: no lease"):
        task_provider.serve(task, HOSTS, OPTIONS)
    FAULTS[:] = [FailedToUpdateDHCPOptOnPort(port_id="p1")]
    with pytest.raises(FailedToUpdateDHCPOptOnPort, match="p1"):
        task_provider.serve(task, HOSTS, OPTIONS)


def test_the_factory_has_it_once(choose: Callable[[str], None]) -> None:
    choose("kea")
    task = work_on()
    factory = DHCPFactory()
    assert type(factory.provider).__name__ == "Kea" and DHCPFactory().provider is factory.provider
    factory.update_dhcp(task, [{"opt_name": "67", "opt_value": "x", "ip_version": 4}], {"ports": {}, "portgroups": {}})
    factory.clean_dhcp(task)
    assert [call if isinstance(call, str) else call[2] for call in CALLS] == [
        {"ports": {}, "portgroups": {}},
        task.node.uuid,
    ]
    assert factory.provider.get_ip_addresses(task) == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [("incomplete", "abstract"), ("broken", "Nothing"), ("no-such", "one of: .*dnsmasq.*kea")],
)
def test_one_that_can_not_be_loaded_is_named(choose: Callable[[str], None], name: str, reason: str) -> None:
    choose(name)
    with pytest.raises(InvalidParameterValue, match=reason):
        dhcp.provider()
    with pytest.raises(DHCPLoadError, match=f"{name}.*{reason}"):
        DHCPFactory()


def test_providers_of_this_service_get_cards(conf: Setter, tmp_path: Path) -> None:
    conf(dhcp__dhcp_provider="dnsmasq", dnsmasq__dhcp_hostsdir=str(tmp_path), dnsmasq__dhcp_optsdir=str(tmp_path))
    assert type(DHCPFactory().provider) is Dnsmasq
    task_provider.serve(work_on(), HOSTS, OPTIONS)
    written = next(iter(tmp_path.iterdir())).read_text()
    assert written
    DHCPFactory().update_dhcp(work_on(), [])
    task_provider.withdraw(work_on(), HOSTS)
    assert "ignore" in "".join(path.read_text() for path in tmp_path.iterdir())
    task_provider.withdraw_leftovers(HOSTS)
