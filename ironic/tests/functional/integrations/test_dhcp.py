"""Which DHCP provider is used, and what the one for dnsmasq writes."""

from pathlib import Path

import pytest

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.integrations import dhcp
from ironic.integrations.dhcp.dhcp_provider import NEXT_SERVER, DhcpError, ExternalDhcpServer
from ironic.integrations.dhcp.dnsmasq import Dnsmasq
from ironic.tests.conftest import Setter

HOST, OTHER = dhcp.Host("port-1", "52:54:00:00:00:01"), dhcp.Host("port-2", "52:54:00:00:00:02")
OPTIONS = [dhcp.Option(NEXT_SERVER, "192.0.2.1"), dhcp.Option(dhcp.BOOT_PROGRAM, "x.efi", to_ipxe=False)]


@pytest.fixture
def place(conf: Setter, tmp_path: Path) -> Path:
    for name in ("hosts", "options"):
        (tmp_path / name).mkdir()
    conf(dnsmasq__dhcp_hostsdir=str(tmp_path / "hosts"), dnsmasq__dhcp_optsdir=str(tmp_path / "options"))
    return tmp_path


def written(place: Path) -> dict[str, str]:
    return {str(path.relative_to(place)): path.read_text() for path in sorted(place.rglob("*.conf"))}


@pytest.mark.parametrize("name, cls", [("none", ExternalDhcpServer), ("dnsmasq", Dnsmasq)])
def test_the_option_names_the_provider(conf: Setter, name: str, cls: type) -> None:
    conf(dhcp__dhcp_provider=name)
    assert type(dhcp.provider()) is cls
    assert dhcp.provider() is dhcp.provider()


def test_where_the_option_is_not_set_the_operators_server_is_used(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        assert type(dhcp.provider()) is ExternalDhcpServer
    assert "dhcp_provider = none" in caplog.text


def test_a_provider_that_a_file_names_has_to_exist(tmp_path: Path) -> None:
    (tmp_path / "ironic.conf").write_text("[dhcp]\ndhcp_provider = neutron\n")
    try:
        CONF([], default_config_files=[str(tmp_path / "ironic.conf")])
        with pytest.raises(InvalidParameterValue, match="no DHCP provider 'neutron'"):
            dhcp.provider()
    finally:
        CONF.reset()
        CONF.clear()


@pytest.mark.parametrize("name", ["", "isc"])
def test_another_one_is_refused_with_those_that_there_are(conf: Setter, name: str) -> None:
    conf(dhcp__dhcp_provider=name)
    with pytest.raises(InvalidParameterValue, match=r"dhcp_provider to one of: .*dnsmasq, none"):
        dhcp.provider()


def test_the_operators_server_needs_to_be_told_nothing() -> None:
    ExternalDhcpServer().serve([HOST], OPTIONS)
    ExternalDhcpServer().withdraw([HOST])


@pytest.mark.parametrize(
    "host, options",
    [
        (dhcp.Host("../../etc/passwd", HOST.mac), OPTIONS),
        (dhcp.Host("port-1,set:known", HOST.mac), OPTIONS),
        (dhcp.Host("port-1", "*:*:*:*:*:*"), OPTIONS),
        (dhcp.Host("port-1", f"{HOST.mac}\n{OTHER.mac}"), OPTIONS),
        (dhcp.Host("port-1", f"{HOST.mac},192.0.2.9"), OPTIONS),
        (HOST, [dhcp.Option(dhcp.BOOT_PROGRAM, "x.efi\ntag:!ironic,6,192.0.2.66")]),
        (HOST, [dhcp.Option(dhcp.BOOT_PROGRAM, "x.efi,192.0.2.66")]),
        (HOST, [dhcp.Option(dhcp.BOOT_PROGRAM, "x.efi #")]),
        (HOST, [dhcp.Option(dhcp.BOOT_PROGRAM, '"x.efi')]),
        (HOST, [dhcp.Option(dhcp.BOOT_PROGRAM, "")]),
    ],
)
def test_what_dnsmasq_would_read_as_something_else_is_not_written(
    place: Path, host: dhcp.Host, options: list[dhcp.Option]
) -> None:
    with pytest.raises(DhcpError, match="would not read it as one word"):
        Dnsmasq().serve([host], options)
    assert not (place / "hosts/ironic-port-1.conf").exists()
    assert len(written(place)) <= 1


def test_dnsmasq_is_told_of_each_card(place: Path) -> None:
    Dnsmasq().serve([HOST, OTHER], OPTIONS)
    assert written(place) == {
        "hosts/ironic-port-1.conf": "52:54:00:00:00:01,set:ironic-port-1,set:ironic\n",
        "hosts/ironic-port-2.conf": "52:54:00:00:00:02,set:ironic-port-2,set:ironic\n",
        "options/ironic-port-1.conf": "tag:ironic-port-1,option:server-ip-address,192.0.2.1\n"
        "tag:ironic-port-1,tag:!ipxe,67,x.efi\n",
        "options/ironic-port-2.conf": "tag:ironic-port-2,option:server-ip-address,192.0.2.1\n"
        "tag:ironic-port-2,tag:!ipxe,67,x.efi\n",
    }


def test_a_card_is_denied_afterwards_and_one_that_never_was_allowed_is_not_mentioned(place: Path) -> None:
    Dnsmasq().serve([HOST], OPTIONS)
    Dnsmasq().withdraw([HOST, OTHER])
    hosts = {name: text for name, text in written(place).items() if name.startswith("hosts")}
    assert hosts == {"hosts/ironic-port-1.conf": "52:54:00:00:00:01,ignore\n"}


def test_what_is_so_already_is_not_written_again(place: Path) -> None:
    Dnsmasq().serve([HOST], OPTIONS)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*.conf")}
    Dnsmasq().serve([HOST], OPTIONS)
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*.conf")} == before


def test_a_directory_that_is_not_there_is_named(conf: Setter, place: Path) -> None:
    conf(dnsmasq__dhcp_optsdir=str(place / "gone"))
    with pytest.raises(dhcp.DhcpError, match="gone"):
        Dnsmasq().serve([HOST], OPTIONS)
