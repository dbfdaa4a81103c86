"""The four boot interfaces: what they refuse, write, take away and make anew."""

import json
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, MissingParameterValue, UnsupportedDriverExtension
from ironic.core.errors.hardware_errors import BootImageFailed
from ironic.core.flows import states
from ironic.core.secrets.masking import masked
from ironic.drivers.contract.interfaces import BootInterface
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.agent.agent_deploy import CustomAgentDeploy
from ironic.drivers.modules.fake import FakeBoot
from ironic.drivers.modules.ipxe import iPXEBoot, iPXEHttpBoot
from ironic.drivers.modules.netboot import NetworkBoot
from ironic.drivers.modules.pxe import HttpBoot, PXEBoot
from ironic.tests.conftest import Setter
from ironic.tests.unit.drivers.machine import UUID, Work
from ironic.tests.unit.drivers.modules.netboot.conftest import MAC, OTHER_MAC, OTHER_PORT, Firmware, Port, machine

BIOS = {"capabilities": "boot_mode:bios"}
ALL = [PXEBoot, iPXEBoot, HttpBoot, iPXEHttpBoot]
PARAMETERS = {"ipa-api-url": "http://192.0.2.1:6385", "ipa-debug": None, "ipa-global-request-id": "req-1"}


def files(root: Path) -> set[str]:
    """Return what is offered to this machine alone."""
    shared = {"boot.ipxe", "grub.cfg", "grub/grub.cfg"}
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()} - shared


def of_machine(*by_mac: str) -> set[str]:
    folder = {f"{UUID}/{name}" for name in ("config", "deploy_kernel", "deploy_ramdisk")}
    return folder | {f"pxelinux.cfg/{name}" for name in by_mac}


def prepared(boot: NetworkBoot, task: Work) -> Work:
    boot.prepare_ramdisk(task, PARAMETERS)
    return task


def test_a_machine_that_can_not_boot_from_the_network_has_no_files_for_its_disk(conf: Setter, place: Path) -> None:
    conf(pxe__enable_netboot_fallback=True)
    firmware = Firmware()
    iPXEBoot().prepare_instance(machine(Port(pxe_enabled=False), firmware=firmware))
    assert not (place / "http" / UUID).exists()
    assert ("disk", True) in firmware.recorded


def test_files_that_lead_to_the_disk_are_written_again_by_who_takes_the_node_over(conf: Setter, place: Path) -> None:
    conf(pxe__enable_netboot_fallback=True)
    boot, task = iPXEBoot(), machine(provision_state=states.ACTIVE)
    boot.prepare_instance(task)
    config = place / "http" / UUID / "config"
    written = config.read_text()
    config.unlink()
    boot.restore_instance(task, None, None)
    assert config.read_text() == written


# What is refused


@pytest.mark.parametrize("cls", ALL)
def test_a_complete_node_is_accepted(place: Path, cls: type[NetworkBoot]) -> None:
    for check in ("validate", "validate_inspection"):
        getattr(cls(), check)(machine())


@pytest.mark.parametrize(
    "cls, options, columns, error, why",
    [
        (PXEBoot, {"conductor__deploy_kernel": None}, {}, MissingParameterValue, "deploy_kernel and deploy_ramdisk"),
        (
            PXEBoot,
            {"dhcp__dhcp_provider": "isc"},
            {},
            InvalidParameterValue,
            "dhcp_provider to one of: dnsmasq, none",
        ),
        (iPXEBoot, {"deploy__http_url": None}, {}, InvalidParameterValue, "http_url"),
        (HttpBoot, {}, {"properties": BIOS}, InvalidParameterValue, "can't boot over HTTP"),
        (iPXEHttpBoot, {}, {"properties": BIOS}, InvalidParameterValue, "can't boot over HTTP"),
        (PXEBoot, {}, {"driver_info": {"kernel_append_params": "a\nb"}}, InvalidParameterValue, "one line"),
        (PXEBoot, {}, {"driver_info": {"force_persistent_boot_device": "so"}}, InvalidParameterValue, "Always, Never"),
    ],
)
def test_what_can_not_work_is_told_at_once(
    conf: Setter, place: Path, cls: type[NetworkBoot], options: Any, columns: Any, error: type[Exception], why: str
) -> None:
    conf(**options)
    with pytest.raises(error, match=why):
        cls().validate(machine(**columns))


def test_a_machine_is_known_by_its_ports(place: Path) -> None:
    for refused in (PXEBoot().validate, lambda task: PXEBoot().prepare_ramdisk(task, {})):
        with pytest.raises(MissingParameterValue, match="no port with pxe_enabled"):
            refused(machine(Port(pxe_enabled=False)))


def test_a_node_without_a_ramdisk_is_booted_by_somebody_else_for_inspection(conf: Setter, place: Path) -> None:
    conf(conductor__deploy_ramdisk=None)
    with pytest.raises(UnsupportedDriverExtension, match="deploy_kernel and deploy_ramdisk"):
        PXEBoot().validate_inspection(machine())


def test_rescue_needs_a_ramdisk_of_its_own(conf: Setter, place: Path) -> None:
    with pytest.raises(MissingParameterValue, match="rescue_kernel"):
        PXEBoot().validate_rescue(machine())
    conf(conductor__rescue_kernel="http://r/k", conductor__rescue_ramdisk="http://r/r")
    PXEBoot().validate_rescue(machine())


# What machines find


def test_pxelinux_finds_its_file(place: Path) -> None:
    task = prepared(PXEBoot(), machine(properties=BIOS))
    assert files(place / "tftp") == of_machine("01-52-54-00-aa-00-01")
    assert (place / "tftp/pxelinux.cfg/01-52-54-00-aa-00-01").read_text() == (
        f"# Node {UUID}, for deploy. Written by the service, which replaces changes made by hand.\n"
        "default deploy\n\n"
        "label deploy\n"
        f"    kernel {UUID}/deploy_kernel\n"
        f"    append initrd={UUID}/deploy_ramdisk nofb vga=normal ipa-api-url=http://192.0.2.1:6385 ipa-debug "
        "ipa-global-request-id=req-1\n"
        "    # Makes PXELINUX add the network card that it was loaded through (BOOTIF).\n"
        "    ipappend 2\n"
    )
    assert (place / "tftp" / UUID / "deploy_kernel").read_bytes() == b"the kernel"
    assert task.node.saved["driver_internal_info"]["netboot"]["cards"] == {"port-1": MAC}
    assert task.driver.management.recorded == [("pxe", False)]  # type: ignore[union-attr]


@pytest.mark.parametrize("cls, root, base", [(PXEBoot, "tftp", ""), (HttpBoot, "http", "/boot")])
def test_grub_finds_its_file(place: Path, cls: type[NetworkBoot], root: str, base: str) -> None:
    prepared(cls(), machine())
    assert files(place / root) == of_machine("52:54:00:aa:00:01.conf")
    text = (place / root / "pxelinux.cfg/52:54:00:aa:00:01.conf").read_text()
    assert f"    linux {base}/{UUID}/deploy_kernel nofb vga=normal ipa-api-url=" in text
    assert "ipa-global-request-id=req-1 BOOTIF=${net_default_mac}\n" in text
    assert f"    initrd {base}/{UUID}/deploy_ramdisk\n" in text
    for name in ("grub.cfg", "grub/grub.cfg"):
        first = (place / root / name).read_text()
        assert f"set file={base}/pxelinux.cfg/$net_default_mac.conf\n" in first


@pytest.mark.parametrize("cls", [iPXEBoot, iPXEHttpBoot])
def test_ipxe_finds_its_file(conf: Setter, place: Path, cls: type[NetworkBoot]) -> None:
    conf(pxe__ipxe_timeout=30, pxe__ipxe_fallback_script="menu.ipxe")
    prepared(cls(), machine())
    assert files(place / "http") == of_machine("52-54-00-aa-00-01")
    lines = (place / "http/pxelinux.cfg/52-54-00-aa-00-01").read_text().splitlines()
    url = f"http://192.0.2.1:8080/boot/{UUID}"
    (kernel,) = [line for line in lines if line.startswith("kernel")]
    assert kernel.startswith(f"kernel --timeout 30000 {url}/deploy_kernel nofb vga=normal ipa-api-url=")
    assert kernel.endswith(" BOOTIF=${mac} initrd=deploy_ramdisk || goto failed")
    assert f"initrd --timeout 30000 {url}/deploy_ramdisk || goto failed" in lines
    script = (place / "http/boot.ipxe").read_text()
    assert script.startswith("#!ipxe\n")
    assert "chain --autofree http://192.0.2.1:8080/boot/pxelinux.cfg/${mac:hexhyp} ||\n" in script
    assert "chain --autofree menu.ipxe ||\n" in script


def test_every_card_that_may_boot_finds_it(place: Path) -> None:
    ports = [Port(), Port(OTHER_PORT, OTHER_MAC), Port("port-3", "52:54:00:aa:00:03", pxe_enabled=False)]
    prepared(iPXEBoot(), machine(*ports))
    assert files(place / "http") == of_machine("52-54-00-aa-00-01", "52-54-00-aa-00-02")


def test_an_operators_template_is_used(conf: Setter, place: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.j2"
    own.write_text("{{ purpose }} {{ kernel }} {{ ramdisk }} {{ node_uuid }}")
    conf(pxe__pxe_config_template_by_arch={"aarch64": str(own)})
    prepared(PXEBoot(), machine(properties={"cpu_arch": "aarch64"}))
    assert (
        place / "tftp" / UUID / "config"
    ).read_text() == f"deploy /{UUID}/deploy_kernel /{UUID}/deploy_ramdisk {UUID}"
    for broken, why in (("{{ nonsense }}", "nonsense"), ("{% if %}", "own.j2")):
        own.write_text(broken)
        with pytest.raises(InvalidParameterValue, match=why):
            prepared(PXEBoot(), machine(properties={"cpu_arch": "aarch64"}))
    own.unlink()
    with pytest.raises(InvalidParameterValue, match="can't be read"):
        prepared(PXEBoot(), machine(properties={"cpu_arch": "aarch64"}))


def test_pxelinux_finds_the_file_of_an_infiniband_card(place: Path) -> None:
    card = Port(extra={"client-id": "ff:00:00:00:00:00:02:00:00:02:c9:00:52:54:00:03:00:aa:00:01"})
    work = machine(card, Port(OTHER_PORT, OTHER_MAC), properties={"capabilities": "boot_mode:bios"})
    prepared(PXEBoot(), work)
    folder = place / "tftp/pxelinux.cfg"
    assert sorted(path.name for path in folder.iterdir()) == ["01-52-54-00-aa-00-02", "20-52-54-00-aa-00-01"]
    PXEBoot().clean_up_ramdisk(work)
    assert list(folder.iterdir()) == []


def test_modes_are_those_that_are_configured(conf: Setter, place: Path) -> None:
    conf(pxe__file_permission=0o640, pxe__dir_permission=0o750)
    prepared(PXEBoot(), machine())
    folder = place / "tftp" / UUID
    assert folder.stat().st_mode & 0o777 == 0o750
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"config": 0o600, "deploy_kernel": 0o640, "deploy_ramdisk": 0o640}
    assert (place / "tftp/pxelinux.cfg/52:54:00:aa:00:01.conf").stat().st_mode & 0o777 == 0o640


def test_boot_programs_are_copied(conf: Setter, place: Path, tmp_path: Path) -> None:
    (tmp_path / "snponly.efi").write_bytes(b"ipxe")
    conf(pxe__loader_file_paths={"snponly.efi": str(tmp_path / "snponly.efi")})
    (place / "tftp").mkdir()
    prepared(iPXEBoot(), machine())
    assert (place / "http/snponly.efi").read_bytes() == (place / "tftp/snponly.efi").read_bytes() == b"ipxe"
    conf(pxe__loader_file_paths={"snponly.efi": str(tmp_path / "gone.efi")})
    with pytest.raises(BootImageFailed, match="loader_file_paths"):
        prepared(iPXEBoot(), machine())


def test_what_all_machines_need_is_there_from_the_start(place: Path) -> None:
    iPXEBoot()
    assert not (place / "http").exists()  # nothing is made where no server offers it yet
    (place / "http").mkdir()
    iPXEBoot()
    assert (place / "http/boot.ipxe").exists()


def test_a_start_survives_roots_that_can_not_be_written(
    place: Path, conf: Setter, caplog: pytest.LogCaptureFixture
) -> None:
    (place / "http").mkdir()
    conf(pxe__ipxe_boot_script="/no/such/template")
    iPXEBoot()
    assert "could not be written below" in caplog.text


# Again, otherwise, and away


@pytest.mark.parametrize("cls", ALL)
def test_preparing_may_be_repeated_and_cleaning_up_leaves_nothing(place: Path, cls: type[NetworkBoot]) -> None:
    boot, root = cls(), place / ("tftp" if cls is PXEBoot else "http")
    task = machine()
    prepared(boot, task)
    before = files(root)
    prepared(boot, task)
    assert files(root) == before
    boot.clean_up_ramdisk(task)
    assert files(root) == set()
    assert "netboot" not in task.node.saved["driver_internal_info"]
    boot.clean_up_ramdisk(task)


def test_a_change_of_boot_mode_leaves_no_file_of_the_other_one(place: Path) -> None:
    boot, task = PXEBoot(), machine(properties=BIOS)
    prepared(boot, task)
    task.node.properties = {}
    prepared(boot, task)
    assert files(place / "tftp") == of_machine("52:54:00:aa:00:01.conf")


def test_files_of_cards_that_are_gone_go_too(place: Path) -> None:
    boot, task = iPXEBoot(), machine(Port(), Port(OTHER_PORT, OTHER_MAC))
    prepared(boot, task)
    task.ports = [Port()]
    prepared(boot, task)
    assert files(place / "http") == of_machine("52-54-00-aa-00-01")
    task.ports = []
    boot.clean_up_ramdisk(task)
    assert files(place / "http") == set()


def test_a_card_that_is_in_another_machine_now_keeps_its_file(place: Path) -> None:
    boot, task = iPXEBoot(), machine()
    prepared(boot, task)
    path = place / "http/pxelinux.cfg/52-54-00-aa-00-01"
    path.write_text("# Node of another service\n")
    boot.clean_up_ramdisk(task)
    assert path.exists()


def test_nothing_is_found_by_address_before_it_is_complete(conf: Setter, place: Path) -> None:
    conf(conductor__deploy_ramdisk=f"file://{place}/images/gone")
    with pytest.raises(InvalidParameterValue, match="no file"):
        prepared(PXEBoot(), machine())
    assert not (place / "tftp/pxelinux.cfg").exists()


def test_what_is_remembered_shows_no_parameters(place: Path) -> None:
    task = prepared(PXEBoot(), machine())
    shown = masked(task.node.driver_internal_info)
    assert "192.0.2.1:6385" not in json.dumps(shown)
    assert shown["netboot"]["purpose"] == "deploy"


# The instance


def test_a_deployed_machine_starts_from_its_disk(place: Path) -> None:
    task = prepared(iPXEBoot(), machine())
    iPXEBoot().prepare_instance(task)
    assert files(place / "http") == set()
    assert task.driver.management.recorded[-1] == ("disk", True)  # type: ignore[union-attr]


@pytest.mark.parametrize("boot", [iPXEBoot, FakeBoot])
def test_a_deployment_orders_the_boot_from_disk_once(place: Path, boot: type[BootInterface]) -> None:
    bmc = Firmware()
    task = machine(firmware=bmc)
    task.driver = BareDriver({"management": bmc, "boot": boot()})
    CustomAgentDeploy().prepare_instance_boot(task)
    assert bmc.recorded == [("disk", True)]


@pytest.mark.parametrize("cls", ALL)
def test_an_instance_may_be_a_ramdisk(place: Path, cls: type[NetworkBoot]) -> None:
    images = f"file://{place}/images"
    info = {"kernel": f"{images}/own-kernel", "ramdisk": f"{images}/own-ramdisk", "capabilities": "boot_option:ramdisk"}
    bmc = Firmware(["pxe", "disk", "uefihttp"])
    task = machine(firmware=bmc, instance_info=info)
    cls().validate(task)
    cls().prepare_instance(task)
    root = place / ("tftp" if cls is PXEBoot else "http")
    assert (root / UUID / "instance_ramdisk").read_bytes() == b"the own-ramdisk"
    assert "ipa-" not in (root / UUID / "config").read_text()
    assert bmc.recorded == [("pxe" if cls in (PXEBoot, iPXEBoot) else "uefihttp", True)]
    cls().clean_up_instance(task)
    assert files(root) == set()


@pytest.mark.parametrize("file", [True, False])
def test_ipxe_starts_an_iso_image(place: Path, file: bool) -> None:
    url = f"file://{place}/images/kernel" if file else "http://images/live.iso"
    task = machine(instance_info={"boot_iso": url, "capabilities": {"boot_option": "ramdisk"}})
    iPXEBoot().prepare_instance(task)
    offered = f"http://192.0.2.1:8080/boot/{UUID}/instance_iso" if file else url
    assert f"\nsanboot {offered}\n" in (place / "http" / UUID / "config").read_text()
    with pytest.raises(InvalidParameterValue, match="without iPXE"):
        PXEBoot().prepare_instance(task)


# Another conductor's nodes


class Upgradable(Work):
    """A shared task that can be made exclusive, as the conductor's own."""

    def upgrade_lock(self, purpose: str, retry: bool = True) -> None:
        self.shared = False


@pytest.mark.parametrize("cls", ALL)
def test_files_that_another_conductor_had_are_made_anew(conf: Setter, place: Path, tmp_path: Path, cls: Any) -> None:
    task = prepared(cls(), machine())
    root = place / ("tftp" if cls is PXEBoot else "http")
    before = {name: (root / name).read_bytes() for name in files(root)}
    here = tmp_path / "here"
    conf(pxe__tftp_root=str(here), deploy__http_root=str(here))
    work = Upgradable(task.node, shared=True)  # without ports: what is remembered is enough
    cls().restore_ramdisk(work, None, None)
    assert {name: (here / name).read_bytes() for name in files(here)} == before
    assert not work.shared


def test_a_node_whose_files_are_here_is_left_alone(place: Path) -> None:
    for task in (prepared(PXEBoot(), machine()), machine()):
        work = Upgradable(task.node, shared=True)
        PXEBoot().restore_ramdisk(work, None, None)
        assert work.shared


def test_waiting_and_held_nodes_are_looked_at(place: Path) -> None:
    terms = PXEBoot.restore_ramdisk._periodic_terms  # type: ignore[attr-defined]
    assert {states.CLEANWAIT, states.DEPLOYWAIT, states.INSPECTWAIT, states.CLEANHOLD} <= terms.nodes.filters[
        "provision_state_in"
    ]


# DHCP


def test_dnsmasq_is_told_before_the_machine_starts_and_after(conf: Setter, place: Path) -> None:
    conf(dhcp__dhcp_provider="dnsmasq")
    boot = iPXEBoot()
    task = prepared(boot, machine(properties=BIOS))
    host, options = place / "hosts/ironic-port-1.conf", place / "options/ironic-port-1.conf"
    assert host.read_text() == f"{MAC},set:ironic-port-1,set:ironic\n"
    assert options.read_text().splitlines() == [
        "tag:ironic-port-1,option:server-ip-address,192.0.2.1",
        "tag:ironic-port-1,66,192.0.2.1",
        "tag:ironic-port-1,tag:!ipxe,67,undionly.kpxe",
        "tag:ironic-port-1,tag:ipxe,67,http://192.0.2.1:8080/boot/boot.ipxe",
    ]
    boot.clean_up_ramdisk(task)
    assert host.read_text() == f"{MAC},ignore\n"
