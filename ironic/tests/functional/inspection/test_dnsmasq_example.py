"""The guide's dnsmasq configuration, run as it stands in the guide: machines ask it and boot what they should."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ironic.core.flows import states
from ironic.db import Store
from ironic.inspection.pxe_filter import HostsDir, PxeFilter
from ironic.tests.functional.inspection.test_pxe_filter import until
from ironic.tests.repository import ROOT
from ironic.tests.unit.inspection.lab import new_node, new_port

INSPECTED, OTHER, STRANGER = "52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:99"
BIOS, UEFI, UEFI_HTTP = "0", "7", "9"


def example() -> str:
    """Return the configuration in the guide."""
    text = (ROOT / "doc" / "inspection.md").read_text()
    return text.partition("# /etc/dnsmasq.d/inspection.conf\n")[2].partition("```")[0]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name in ("dhcp-hosts", "tftpboot"):
        (tmp_path / name).mkdir()
    return tmp_path / "dhcp-hosts"


@pytest.fixture
def asks(directory: Path, tmp_path: Path) -> Iterator[Callable[..., list[str]]]:
    """Return a function that lets a machine ask for an address."""
    config = tmp_path / "dnsmasq.conf"
    # Nothing but where things lie on this machine.
    text = example().replace("/var/lib/ironic/dhcp-hosts", str(directory)).replace("/var/lib", str(tmp_path))
    config.write_text(f"{text}dhcp-leasefile={tmp_path}/leases\nlog-facility=-\n")
    program = [sys.executable, "-m", "ironic.tests.functional.inspection.dhcp_network", str(config)]
    with subprocess.Popen(
        ["unshare", "--net", *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as network:
        assert network.stdin is not None and network.stdout is not None
        stdin, stdout = network.stdin, network.stdout
        assert stdout.readline() == "ready\n", "this needs dnsmasq, and root or the capability NET_ADMIN"

        def ask(*words: str) -> list[str]:
            stdin.write(" ".join(words) + "\n")
            stdin.flush()
            return stdout.readline().split()

        try:
            yield ask
        finally:
            stdin.close()
            network.wait(30)


@pytest.mark.demand("S105", "S106")
def test_the_example_boots_machines_that_are_inspected_and_no_others(
    store: Store, directory: Path, asks: Callable[..., list[str]]
) -> None:
    new_port(store, new_node(store, name="a", provision_state=states.INSPECTWAIT), INSPECTED)
    new_port(store, new_node(store, name="b", provision_state=states.ACTIVE), OTHER)
    filtering = PxeFilter(store, HostsDir(str(directory)))
    filtering.sync()
    until(lambda: asks(OTHER, UEFI) == ["nothing"])
    address, *boot_file = asks(INSPECTED, BIOS)
    assert address.startswith("192.0.2.")
    assert 50 <= int(address.rpartition(".")[2]) <= 150
    assert boot_file == ["undionly.kpxe"]
    assert asks(INSPECTED, UEFI)[1:] == ["snponly.efi"]
    assert asks(INSPECTED, UEFI_HTTP)[1:] == ["snponly.efi"]
    for architecture in (BIOS, UEFI):
        assert asks(INSPECTED, architecture, "ipxe")[1:] == ["http://192.0.2.1/inspection.ipxe"]
    assert asks(STRANGER, UEFI)[1:] == ["snponly.efi"]
    store.nodes.update("a", {"provision_state": states.MANAGEABLE})
    filtering.sync()
    until(lambda: asks(INSPECTED, UEFI) == ["nothing"])
    assert [asks(mac, UEFI) for mac in (OTHER, STRANGER)] == [["nothing"]] * 2
