"""Boot from virtual media: a Redfish emulator that downloads the image from the conductor's own web server."""

import base64
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pycdlib
import pytest
import requests

from ironic.command.file_server import FileServer
from ironic.core.errors import InvalidParameterValue, MissingParameterValue, NodeNotFound, UnsupportedDriverExtension
from ironic.core.errors.call_errors import ObjectStoreError
from ironic.core.errors.hardware_errors import UnsupportedHardwareFeature
from ironic.core.memory.agent_memory import AgentMemory, KnownAgent
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.inspector.agent import AgentInspect
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.drivers.modules.redfish.https_boot import RedfishHttpsBoot
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders import ramdisk_images
from ironic.drivers.modules.redfish.orders.waiting_step import AtBmc, BmcStep
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.virtual_media_boot import RedfishVirtualMediaBoot
from ironic.integrations import object_store, virtual_media_images, web_root
from ironic.tests.functional.drivers.scripted_bmc import ScriptedBmc, scripted_bmc
from ironic.tests.swift_store import SwiftStore, swift_store
from ironic.tests.unit.drivers.machine import UUID, Work, work_on

PARAMETERS = {"ipa-api-url": "http://192.0.2.7:6385"}
NETWORK_DATA = {"links": [{"id": "a"}], "networks": [], "services": []}


@dataclass
class Port:
    uuid: str = "port-1"
    address: str = "52:54:00:aa:00:01"
    pxe_enabled: bool = True


class WithVif(NoopNetwork):
    """Networks in which a machine is connected by its first port."""

    def get_current_vif(self, task: Any, p_obj: Any) -> str | None:
        return "vif" if p_obj.uuid == "port-1" else None


@pytest.fixture
def images(conf: Any, tmp_path: Path) -> Iterator[Path]:
    """Offer a kernel and a ramdisk to the service, and what it publishes to BMCs."""
    folder = tmp_path / "images"
    folder.mkdir()
    for name in ("kernel", "ramdisk", "other-kernel", "other-ramdisk", "ready.iso"):
        (folder / name).write_bytes(f"the {name}".encode() * 1000)
    conf(
        deploy__http_root=str(tmp_path / "http"),
        deploy__iso_master_path=str(tmp_path / "isos"),
        pxe__tftp_master_path=str(tmp_path / "masters"),
        conductor__file_url_allowed_paths=[str(folder)],
        conductor__deploy_kernel=f"file://{folder}/kernel",
        conductor__deploy_ramdisk=f"file://{folder}/ramdisk",
        redfish__kernel_append_params="nofb console=ttyS0",
    )
    server = FileServer(str(tmp_path / "http"), ("127.0.0.1", 0), 100)
    server.start()
    web_root.announce(server.url)
    yield folder
    web_root.announce(None)
    server.stop()


def driver(network: NoopNetwork) -> BareDriver:
    return BareDriver({"management": RedfishManagement(), "power": RedfishPower(), "network": network})


@pytest.fixture
def machine(task: Work, images: Path) -> Work:
    """Return a task on a machine that waits for a ramdisk."""
    task.node.provision_state = "deploying"
    task.driver = driver(NoopNetwork())
    task.ports = [Port()]
    return task


@pytest.fixture
def boot() -> RedfishVirtualMediaBoot:
    return RedfishVirtualMediaBoot()


def inserted(task: Work) -> dict[str, str]:
    """Return what is in the drives, by their first medium."""
    drives: list[Any] = task.management.get_virtual_media(task)
    return {drive["media_types"][0]: drive["image"] for drive in drives if drive["inserted"]}


def on_cd(url: str) -> dict[str, bytes]:
    """Return the files of an image that a BMC downloads."""
    answer = requests.get(url, timeout=60)
    assert answer.status_code == 200
    disc = pycdlib.PyCdlib()
    disc.open_fp(io.BytesIO(answer.content))
    found = {"LABEL": disc.pvd.volume_identifier.strip(), "PUBLISHER": disc.pvd.publisher_identifier.text.strip()}
    for folder, _, names in disc.walk(joliet_path="/"):
        for name in names:
            path = f"{folder.rstrip('/')}/{name}"
            content = io.BytesIO()
            disc.get_file_from_iso_fp(content, joliet_path=path)
            found[path] = content.getvalue()
    disc.close()
    return found


def published(tmp_path: Path) -> list[str]:
    folder = tmp_path / "http" / "vmedia"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_the_machine_boots_a_cd_with_its_own_parameters(
    boot: RedfishVirtualMediaBoot, machine: Work, tmp_path: Path
) -> None:
    machine.node.network_data = NETWORK_DATA
    boot.validate(machine)
    boot.prepare_ramdisk(machine, PARAMETERS)
    assert machine.management.get_boot_device(machine)["boot_device"] == "cdrom"
    cd = on_cd(inserted(machine)["CD"])
    assert (cd["/vmlinuz"], cd["/initrd"]) == (b"the kernel" * 1000, b"the ramdisk" * 1000)
    token = KnownAgent(machine.node.driver_internal_info).token
    assert token and machine.node.saved["driver_internal_info"]["agent_secret_token"] == token
    for name in ("/boot/grub/grub.cfg", "/EFI/BOOT/grub.cfg", "/isolinux/isolinux.cfg"):
        words = cd[name].decode().split()
        assert {"nofb", "console=ttyS0", "ipa-api-url=http://192.0.2.7:6385", "boot_method=vmedia"} <= set(words)
        assert f"ipa-agent-token={token}" in words
        assert f"ir_pub_id={cd['PUBLISHER'].decode()}" in words
        assert not [word for word in words if word.startswith("BOOTIF")]
    assert b'"links": [' in cd["/openstack/latest/network_data.json"]
    assert cd["LABEL"] == b"config-2"
    boot.clean_up_ramdisk(machine)
    assert (inserted(machine), published(tmp_path)) == ({}, [])
    assert "secret_virtual_media_files" not in machine.node.saved["driver_internal_info"]


@pytest.mark.difference("no boot from virtual media")
@pytest.mark.parametrize(
    "vendor, version, is_refused",
    [("Dell Inc.", "4.40.00.00", True), ("Dell Inc.", "7.10.30.00", False), ("Acme", "4.40.00.00", False)],
)
def test_firmware_that_boots_no_virtual_media(
    images: Path, tmp_path: Path, vendor: str, version: str, is_refused: bool
) -> None:
    managers = {"ManagedBy": [{"@odata.id": "/redfish/v1/Managers/1"}]}
    with scripted_bmc("On", Links=managers) as bmc:
        bmc.documents["/redfish/v1/Managers/1"] = {"Id": "1", "ManagerType": "BMC", "FirmwareVersion": version}
        task = over_http(bmc, vendor)
        with pytest.raises(UnsupportedHardwareFeature if is_refused else InvalidParameterValue) as error:
            RedfishVirtualMediaBoot().prepare_ramdisk(task, PARAMETERS)
        assert (bmc.sent() == []) is is_refused, "it is refused before the machine is touched"
    assert ("firmware 4.40.00.00 of its BMC" in str(error.value)) is is_refused


def test_the_present_card_and_the_outside_address_are_passed(
    boot: RedfishVirtualMediaBoot, machine: Work, conf: Any, tmp_path: Path
) -> None:
    (tmp_path / "ca.pem").write_text("a certificate")
    conf(
        deploy__external_callback_url="https://outside.example.org/bare/",
        agent__api_ca_file=str(tmp_path / "ca.pem"),
        debug=True,
    )
    machine.driver = driver(WithVif())
    given = {**PARAMETERS, "ipa-inspection-callback-url": "http://192.0.2.7:6385/v1/continue_inspection?boot_token=1"}
    boot.prepare_ramdisk(machine, given)
    cd = on_cd(inserted(machine)["CD"])
    words = cd["/boot/grub/grub.cfg"].decode().split()
    assert {"BOOTIF=52:54:00:aa:00:01", "ipa-debug=1", "ipa-api-url=https://outside.example.org/bare"} <= set(words)
    callback = "https://outside.example.org/bare/v1/continue_inspection?boot_token=1"
    assert f"ipa-inspection-callback-url={callback}" in " ".join(words).replace("'", "")
    assert cd["/etc/ironic-python-agent/ironic.crt"] == b"a certificate"
    assert b"/etc/ironic-python-agent/ironic.crt" in cd["/etc/ironic-python-agent.d/ironic-tls.conf"]
    assert cd["LABEL"] == b"VMEDIA_BOOT_ISO"


def test_an_inspection_with_dhcp_gets_no_network_data(boot: RedfishVirtualMediaBoot, machine: Work, conf: Any) -> None:
    conf(inspector__force_dhcp=True)
    machine.node.network_data, machine.node.provision_state = NETWORK_DATA, "inspecting"
    boot.prepare_ramdisk(machine, PARAMETERS)
    assert "/openstack/latest/network_data.json" not in on_cd(inserted(machine)["CD"])


def test_a_ramdisk_that_runs_is_booted_again_for_a_step_that_restarts_the_machine(
    boot: RedfishVirtualMediaBoot, machine: Work, conf: Any
) -> None:
    """Fast track goes on with a ramdisk that runs; one that a restart ends has to come up again."""
    conf(deploy__fast_track=True, service_catalog__endpoint_override="http://192.0.2.7:6385")
    machine.driver.boot = boot
    boot.prepare_ramdisk(machine, PARAMETERS)
    former = inserted(machine)["CD"]
    AgentMemory(machine.node).record({"callback_url": "https://192.0.2.9:9999"})
    machine.management.set_boot_device(machine, "disk")
    machine.node.provision_state = "cleaning"
    BmcStep("any_step", "vendor", AtBmc).restart(machine, AtBmc())
    assert machine.management.get_boot_device(machine)["boot_device"] == "cdrom"
    assert inserted(machine)["CD"] != former


def test_each_boot_has_a_new_token_and_a_new_name(boot: RedfishVirtualMediaBoot, machine: Work, tmp_path: Path) -> None:
    seen = set()
    for _ in range(2):
        boot.prepare_ramdisk(machine, PARAMETERS)
        seen.add((inserted(machine)["CD"], KnownAgent(machine.node.driver_internal_info).token))
        assert len(published(tmp_path)) == 1
    (first, one), (second, other) = seen
    assert first != second and one != other


def test_a_deployed_machine_boots_its_disk(boot: RedfishVirtualMediaBoot, machine: Work, tmp_path: Path) -> None:
    boot.prepare_ramdisk(machine, PARAMETERS)
    boot.prepare_instance(machine)
    assert machine.management.get_boot_device(machine) == {"boot_device": "disk", "persistent": True}
    assert (inserted(machine), published(tmp_path)) == ({}, [])
    boot.clean_up_instance(machine)


def test_an_agent_keeps_the_cd_that_it_runs_from_until_it_has_ended(
    boot: RedfishVirtualMediaBoot, machine: Work
) -> None:
    boot.prepare_ramdisk(machine, PARAMETERS)
    AgentMemory(machine.node).record({"callback_url": "http://192.0.2.9:9999", "agent_version": "11.0"})
    boot.prepare_instance(machine)
    assert inserted(machine)
    assert machine.management.get_boot_device(machine)["boot_device"] == "disk"
    boot.clean_up_ramdisk(machine)
    assert not inserted(machine)


def test_an_instance_that_is_a_ramdisk_keeps_its_cd_and_its_config_drive(
    boot: RedfishVirtualMediaBoot, machine: Work, images: Path, tmp_path: Path
) -> None:
    machine.node.deploy_interface = "ramdisk"
    machine.node.instance_info = {
        "capabilities": {"boot_option": "ramdisk"},
        "kernel": f"file://{images}/other-kernel",
        "ramdisk": f"file://{images}/other-ramdisk",
        "configdrive": {"meta_data": {"hostname": "here"}},
    }
    boot.validate(machine)
    boot.prepare_instance(machine)
    assert machine.management.get_boot_device(machine) == {"boot_device": "cdrom", "persistent": True}
    drives = inserted(machine)
    cd = on_cd(drives["CD"])
    assert cd["/vmlinuz"] == b"the other-kernel" * 1000
    assert b"ipa-agent-token" not in cd["/boot/grub/grub.cfg"]
    drive = on_cd(drives["Floppy"])
    assert b'"hostname":"here"' in drive["/openstack/latest/meta_data.json"]
    boot.clean_up_instance(machine)
    assert (inserted(machine), published(tmp_path)) == ({}, [])


@pytest.mark.parametrize("packed", [True, False])
def test_a_finished_config_drive_is_unpacked(
    boot: RedfishVirtualMediaBoot, machine: Work, images: Path, packed: bool
) -> None:
    drive = b"an image of a drive" * 100
    text = base64.b64encode(gzip.compress(drive) if packed else drive).decode()
    machine.node.instance_info = {
        "capabilities": {"boot_option": "ramdisk"}, "boot_iso": f"file://{images}/ready.iso", "configdrive": text,
    }  # fmt: skip
    boot.prepare_instance(machine)
    drives = inserted(machine)
    assert requests.get(drives["CD"], timeout=60).content == b"the ready.iso" * 1000
    assert requests.get(drives["Floppy"], timeout=60).content == drive


def test_a_ready_image_may_get_its_settings_from_a_floppy(
    boot: RedfishVirtualMediaBoot, machine: Work, images: Path
) -> None:
    machine.node.driver_info |= {"deploy_iso": f"file://{images}/ready.iso", "config_via_removable": True}
    boot.validate(machine)
    boot.prepare_ramdisk(machine, PARAMETERS)
    drives = inserted(machine)
    assert requests.get(drives["CD"], timeout=60).content == b"the ready.iso" * 1000
    floppy = requests.get(drives["Floppy"], timeout=60).content
    token = KnownAgent(machine.node.driver_internal_info).token
    assert len(floppy) == 1440 * 1024 and b"IR-VFD-DEV" in floppy.upper()
    assert f"ipa-api-url=http://192.0.2.7:6385\nipa-agent-token={token}\n".encode() in floppy
    boot.clean_up_ramdisk(machine)
    assert inserted(machine) == {}


@pytest.mark.parametrize("name", ["rescue_iso", "redfish_rescue_iso"])
def test_a_ready_image_without_settings_gets_no_token(
    boot: RedfishVirtualMediaBoot, machine: Work, images: Path, name: str
) -> None:
    machine.node.driver_info |= {name: f"file://{images}/ready.iso"}
    machine.node.provision_state = "rescuing"
    boot.validate_rescue(machine)
    boot.prepare_ramdisk(machine, PARAMETERS)
    assert KnownAgent(machine.node.driver_internal_info).token is None
    assert requests.get(inserted(machine)["CD"], timeout=60).content == b"the ready.iso" * 1000


def test_a_bmc_may_download_a_ready_image_from_its_own_server(
    boot: RedfishVirtualMediaBoot, machine: Work, conf: Any, images: Path, tmp_path: Path
) -> None:
    (tmp_path / "http").mkdir()
    (tmp_path / "http" / "own.iso").write_bytes(b"x" * 5000)
    conf(deploy__ramdisk_image_download_source="http")
    machine.node.driver_info |= {"deploy_iso": f"{web_root.url()}/own.iso"}
    boot.prepare_ramdisk(machine, PARAMETERS)
    assert inserted(machine) == {"CD": f"{web_root.url()}/own.iso"}


@pytest.mark.parametrize(
    "driver_info, options, expected, text",
    [
        ({}, {"conductor__deploy_kernel": None, "conductor__deploy_ramdisk": None}, MissingParameterValue, "deploy_k"),
        ({"vmedia_transport_protocol": "gopher"}, {}, InvalidParameterValue, "vmedia_transport_protocol"),
        ({"config_via_removable": "perhaps"}, {}, InvalidParameterValue, "config_via_removable"),
        ({"external_http_url": "ftp://x"}, {}, InvalidParameterValue, "external_http_url"),
        ({"kernel_append_params": "a='"}, {}, InvalidParameterValue, "kernel_append_params"),
        ({}, {"efi_boot_program_by_arch": {}}, InvalidParameterValue, "efi_boot_program_by_arch"),
        ({}, {"deploy__default_boot_mode": "bios", "isolinux_bin": "/x"}, InvalidParameterValue, "isolinux_bin"),
        ({}, {"grub_config_template": "/x/grub.j2"}, InvalidParameterValue, "/x/grub.j2 can't be read"),
        ({}, {"isolinux_config_template": "/x/iso.j2"}, InvalidParameterValue, "/x/iso.j2 can't be read"),
    ],
)
def test_what_can_not_work_is_refused_at_once(
    boot: RedfishVirtualMediaBoot, machine: Work, conf: Any, driver_info: Any, options: Any, expected: Any, text: str
) -> None:
    conf(**options)
    machine.node.driver_info |= driver_info
    with pytest.raises(expected, match=text):
        boot.validate(machine)


HOSTILE = {
    "a line": "quiet\nlinux /other",
    "a carriage return": "quiet\rinitrd /other",
    "an open quote": "quiet 'init=/bin/sh",
    "a quote within quotes": 'a="b\'c"',
    "another ramdisk": "quiet initrd=http://192.0.2.66/x",
    "a backslash": "a=\\n",
    "no text": ["quiet"],
    "too much": "a " * 2000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", ["kernel_append_params", "ramdisk_kernel_arguments"])
def test_a_user_writes_nothing_but_parameters_of_the_own_kernel(
    boot: RedfishVirtualMediaBoot, machine: Work, images: Path, tmp_path: Path, name: str, text: Any
) -> None:
    machine.node.deploy_interface = "ramdisk"
    urls = {part: f"file://{images}/other-{part}" for part in ("kernel", "ramdisk")}
    machine.node.instance_info = {**urls, name: text}
    for act in (boot.validate, boot.prepare_instance):
        with pytest.raises(InvalidParameterValue, match=name):
            act(machine)
    assert (inserted(machine), published(tmp_path)) == ({}, [])
    # Those of the user's kernel are not those of the agent's, whatever they are.
    boot.prepare_ramdisk(machine, PARAMETERS)


@pytest.mark.parametrize("text", ["a=$root", "a=${root}", "a={{mark}}", "a={%raw%}", "a;reboot", "a=b#c", "a=(b)"])
def test_no_boot_program_expands_what_a_user_writes(
    boot: RedfishVirtualMediaBoot, machine: Work, images: Path, text: str
) -> None:
    machine.node.deploy_interface = "ramdisk"
    urls = {part: f"file://{images}/other-{part}" for part in ("kernel", "ramdisk")}
    machine.node.instance_info = {**urls, "ramdisk_kernel_arguments": text}
    boot.prepare_instance(machine)
    cd = on_cd(inserted(machine)["CD"])
    line = next(line for line in cd["/boot/grub/grub.cfg"].decode().splitlines() if line.startswith("linux "))
    # In single quotes GRUB takes everything as it is; ISOLINUX takes the rest of its line as it is.
    assert line.endswith(f" '{text}'")
    assert f" {text}\n".encode() in cd["/isolinux/isolinux.cfg"]


def test_without_a_web_server_it_is_refused(boot: RedfishVirtualMediaBoot, machine: Work) -> None:
    web_root.announce(None)
    with pytest.raises(InvalidParameterValue, match=r"\[deploy\]http_url"):
        boot.validate(machine)
    with pytest.raises(InvalidParameterValue, match=r"\[deploy\]http_url"):
        boot.validate_inspection(machine)
    machine.node.driver_info["external_http_url"] = "http://outside.example.org/files"
    boot.validate(machine)


@pytest.mark.parametrize("interface", [RedfishVirtualMediaBoot, RedfishHttpsBoot])
def test_an_inspection_without_ramdisk_is_not_left_to_others(interface: type, machine: Work, conf: Any) -> None:
    conf(conductor__deploy_kernel=None, conductor__deploy_ramdisk=None, inspector__require_managed_boot=False)
    machine.driver.boot = interface()
    with pytest.raises(MissingParameterValue, match="deploy_kernel"):
        AgentInspect().validate(machine)


def test_an_image_that_is_not_there_leaves_nothing_behind(
    boot: RedfishVirtualMediaBoot, machine: Work, images: Path, tmp_path: Path
) -> None:
    (images / "ramdisk").unlink()
    with pytest.raises(Exception, match="ramdisk"):
        boot.prepare_ramdisk(machine, PARAMETERS)
    assert (inserted(machine), published(tmp_path)) == ({}, [])
    boot.clean_up_ramdisk(machine)


class Nodes:
    """Stored nodes, as the search for leftovers reads them."""

    def __init__(self, **known: Any) -> None:
        self.nodes, self.known = self, known

    def row(self, columns: Any, uuid: str) -> tuple[str]:
        if uuid not in self.known:
            raise NodeNotFound(node=uuid)
        return (self.known[uuid],)


def test_what_a_killed_conductor_left_is_removed(boot: RedfishVirtualMediaBoot, machine: Work, tmp_path: Path) -> None:
    boot.prepare_ramdisk(machine, PARAMETERS)
    (present,) = published(tmp_path)
    folder = tmp_path / "http" / "vmedia"
    gone = "99999999-0000-4000-8000-000000000009"
    others = [f"{UUID}.boot.aa.iso", f".{UUID}.boot.bb.iso.part.kernel", f"{gone}.boot.cc.iso", f"{gone}.cdrom.dd.iso"]
    for name in [*others, f"{UUID}.cdrom.ee.iso", f".{present}.part.kernel"]:
        (folder / name).write_bytes(b"x")
    store: Any = Nodes(**{UUID: orjson.dumps(machine.node.saved["driver_internal_info"]).decode()})
    ramdisk_images.remove_leftovers(store)
    # What the node uses or makes, and what a user has attached, stays.
    assert published(tmp_path) == sorted([present, f"{UUID}.cdrom.ee.iso", f".{present}.part.kernel"])


# HTTP boot by the firmware


@pytest.fixture
def http_boot_bmc() -> Iterator[ScriptedBmc]:
    """Run a BMC with UEFI HTTP boot; the emulator's fake machines lack it."""
    override = {
        "BootSourceOverrideTarget": "None",
        "BootSourceOverrideEnabled": "Disabled",
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "UefiHttp", "Hdd"],
        "HttpBootUri": None,
    }
    with scripted_bmc(Boot=override) as bmc:
        yield bmc


@pytest.mark.parametrize("instance, enabled", [(False, "Once"), (True, "Continuous")])
def test_the_firmware_gets_a_url(
    http_boot_bmc: ScriptedBmc, images: Path, tmp_path: Path, instance: bool, enabled: str
) -> None:
    boot = RedfishHttpsBoot()
    task = work_on(
        driver="redfish", provision_state="deploying", driver_info={"redfish_address": http_boot_bmc.address}
    )
    task.driver = driver(NoopNetwork())
    boot.validate(task)
    if instance:
        task.node.instance_info = {
            "capabilities": {"boot_option": "ramdisk"},
            "kernel": f"file://{images}/other-kernel",
            "ramdisk": f"file://{images}/other-ramdisk",
        }
        boot.prepare_instance(task)
    else:
        boot.prepare_ramdisk(task, PARAMETERS)
    (name,) = published(tmp_path)
    url = f"{web_root.url()}/vmedia/{name}"
    override = {
        "BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": enabled, "HttpBootUri": url,
    }  # fmt: skip
    assert http_boot_bmc.sent() == [{"Boot": override}]
    assert (b"ipa-agent-token" in on_cd(url)["/boot/grub/grub.cfg"]) is not instance
    boot.clean_up_ramdisk(task)
    assert published(tmp_path) == []
    with pytest.raises(UnsupportedDriverExtension):
        boot.validate_rescue(task)


def over_http(bmc: ScriptedBmc, vendor: str) -> Work:
    task = work_on(
        driver="redfish",
        provision_state="deploying",
        driver_info={"redfish_address": bmc.address},
        properties={"vendor": vendor},
    )
    task.driver = driver(NoopNetwork())
    return task


def test_http_boot_minds_what_vendors_do_differently(http_boot_bmc: ScriptedBmc, images: Path) -> None:
    RedfishHttpsBoot().prepare_ramdisk(over_http(http_boot_bmc, "AMI"), PARAMETERS)
    (order,) = http_boot_bmc.sent()
    assert order["Boot"]["BootSourceOverrideMode"] == "UEFI"


def test_a_url_for_one_boot_only_is_set_again_before_each_boot(http_boot_bmc: ScriptedBmc, images: Path) -> None:
    http_boot_bmc.answers = [400]
    task = over_http(http_boot_bmc, "Acme")
    task.node.instance_info = {
        "capabilities": {"boot_option": "ramdisk"},
        "kernel": f"file://{images}/other-kernel",
        "ramdisk": f"file://{images}/other-ramdisk",
    }
    RedfishHttpsBoot().prepare_instance(task)
    assert [order["Boot"]["BootSourceOverrideEnabled"] for order in http_boot_bmc.sent()] == ["Continuous", "Once"]
    assert task.node.driver_internal_info["redfish_boot_device"] == "uefihttp"
    RedfishPower().set_power_state(task, "power on")
    urls = [order["Boot"].get("HttpBootUri") for order in http_boot_bmc.sent() if "Boot" in order]
    assert len(urls) == 3
    assert len(set(urls)) == 1


def test_a_machine_that_starts_through_a_bios_has_no_http_boot(machine: Work) -> None:
    machine.node.properties["capabilities"] = "boot_mode:bios"
    with pytest.raises(InvalidParameterValue, match="BIOS"):
        RedfishHttpsBoot().validate(machine)


def test_a_bmc_without_http_boot_is_refused(images: Path) -> None:
    override = {"BootSourceOverrideTarget": "None", "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Cd"]}
    with scripted_bmc(Boot=override) as bmc:
        task = work_on(driver="redfish", driver_info={"redfish_address": bmc.address})
        with pytest.raises(UnsupportedHardwareFeature, match="HTTP boot"):
            RedfishHttpsBoot().validate(task)


# In Swift


@pytest.fixture
def swift(conf: Any) -> Iterator[SwiftStore]:
    """Publish images in Swift; nothing serves the directory of this host."""
    with swift_store() as running:
        conf(redfish__use_swift=True, swift__auth_type="none", swift__endpoint_override=running.url)
        yield running
    object_store.swift_container.cache_clear()


def test_an_image_can_be_offered_by_swift(
    boot: RedfishVirtualMediaBoot, machine: Work, swift: SwiftStore, tmp_path: Path
) -> None:
    web_root.announce(None)
    boot.validate(machine)
    boot.prepare_ramdisk(machine, PARAMETERS)
    url = inserted(machine)["CD"]
    (path,) = swift.objects
    assert "/ironic_redfish_container/" in path
    assert swift.expiry[path] == "900"
    assert url.endswith(".iso"), "some BMCs take the kind of an image from the end of its URL"
    # The double knows no further parameters; the proof does not cover them.
    assert on_cd(url.partition("&filename=")[0])["/vmlinuz"] == b"the kernel" * 1000
    assert published(tmp_path) == []
    name = path.rpartition("/")[2]
    assert name not in virtual_media_images.shown(url), "who knows it can read the agent's token"
    boot.prepare_ramdisk(machine, PARAMETERS)
    assert len(swift.objects) == 1
    boot.clean_up_ramdisk(machine)
    assert (swift.objects, inserted(machine)) == ({}, {})


def test_a_store_in_trouble_fails_the_boot_and_leaves_nothing(
    boot: RedfishVirtualMediaBoot, machine: Work, swift: SwiftStore, tmp_path: Path
) -> None:
    swift.trouble = 503
    with pytest.raises(ObjectStoreError, match="status 503"):
        boot.prepare_ramdisk(machine, PARAMETERS)
    assert published(tmp_path) == []
    boot.clean_up_ramdisk(machine)
    assert "secret_virtual_media_files" not in machine.node.saved["driver_internal_info"]
