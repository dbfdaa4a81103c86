"""Images on shares of NFS and CIFS: a directory stands for the share, and a BMC counts what it is asked to mount."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue, IronicError, NodeNotFound
from ironic.core.errors.hardware_errors import ImageCreationFailed
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.drivers.modules.redfish.https_boot import RedfishHttpsBoot
from ironic.drivers.modules.redfish.management import RedfishManagement
from ironic.drivers.modules.redfish.orders import ramdisk_images
from ironic.drivers.modules.redfish.power import RedfishPower
from ironic.drivers.modules.redfish.virtual_media_boot import RedfishVirtualMediaBoot
from ironic.integrations import boot_iso, host_files, image_places, virtual_media_images
from ironic.tests.functional.drivers.hostile_bmc import SYSTEM, Handler, HostileBmc, hostile_bmc
from ironic.tests.unit.drivers.machine import UUID, Work, work_on

CD = f"{SYSTEM}/VirtualMedia/Cd"
INSERT, EJECT = f"{CD}/Actions/VirtualMedia.InsertMedia", f"{CD}/Actions/VirtualMedia.EjectMedia"
PASSWORD = 'hunter2"of\\the-share'


@dataclass
class Drive:
    """The virtual CD drive of a BMC, and what it was asked to insert."""

    task: Work
    share: Path
    images: Path
    bmc: HostileBmc
    insertions: list[dict[str, Any]] = field(default_factory=list)
    refusal: int | None = None

    def take(self, handler: Handler) -> bool:
        if handler.path == INSERT:
            self.insertions.append(json.loads(handler.content))
            if self.refusal:
                # As BMCs do: the text repeats what they were sent.
                said = handler.content.decode()
                error = {"code": "Base.1.0.GeneralError", "message": said, "@Message.ExtendedInfo": [{"Message": said}]}
                handler.answer(self.refusal, {"error": error})
                return True
            self.bmc.documents[CD] |= {"Inserted": True, "Image": self.insertions[-1]["Image"]}
        elif handler.path == EJECT:
            self.bmc.documents[CD] |= {"Inserted": False, "Image": None}
        return False

    def allow(self, *protocols: str) -> None:
        action = self.bmc.documents[CD]["Actions"]["#VirtualMedia.InsertMedia"]
        action["TransferProtocolType@Redfish.AllowableValues"] = list(protocols)

    def files(self) -> list[str]:
        return sorted(path.name for path in self.share.iterdir())


@pytest.fixture
def drive(conf: Callable[..., Any], tmp_path: Path) -> Iterator[Drive]:
    """Run a BMC with a CD drive, beside a share and images to boot."""
    share, images = tmp_path / "share", tmp_path / "images"
    for folder in (share, images):
        folder.mkdir()
    for name in ("kernel", "ramdisk", "ready.iso"):
        (images / name).write_bytes(f"the {name}".encode() * 1000)
    conf(
        deploy__http_root=str(tmp_path / "http"),
        deploy__iso_master_path=str(tmp_path / "isos"),
        pxe__tftp_master_path=str(tmp_path / "masters"),
        conductor__file_url_allowed_paths=[str(images)],
        conductor__deploy_kernel=f"file://{images}/kernel",
        conductor__deploy_ramdisk=f"file://{images}/ramdisk",
        redfish__connection_attempts=1,
        nfs__share_path=str(share),
        nfs__base_url="nfs://192.0.2.5/",
        cifs__share_path=str(share),
        cifs__base_url="smb://192.0.2.6",
        cifs__username="reader",
        cifs__password=PASSWORD,
    )
    with hostile_bmc() as bmc:
        bmc.documents[SYSTEM] |= {
            "VirtualMedia": {"@odata.id": f"{SYSTEM}/VirtualMedia"},
            "Boot": {
                "BootSourceOverrideTarget": "None",
                "BootSourceOverrideEnabled": "Disabled",
                "BootSourceOverrideMode": "UEFI",
                "BootSourceOverrideTarget@Redfish.AllowableValues": ["Cd", "Hdd"],
            },
        }
        bmc.documents[f"{SYSTEM}/VirtualMedia"] = {"Name": "Drives", "Members": [{"@odata.id": CD}]}
        bmc.documents[CD] = {
            "Id": "Cd", "Name": "CD", "MediaTypes": ["CD"], "Inserted": False, "Image": None,
            "Actions": {"#VirtualMedia.InsertMedia": {"target": INSERT}, "#VirtualMedia.EjectMedia": {"target": EJECT}},
        }  # fmt: skip
        task = work_on(driver="redfish", provision_state="deploying", driver_info=bmc.driver_info())
        task.driver = BareDriver({"management": RedfishManagement(), "power": RedfishPower(), "network": NoopNetwork()})
        found = Drive(task, share, images, bmc)
        bmc.misbehave = found.take
        yield found


def prepared(drive: Drive, protocol: str) -> RedfishVirtualMediaBoot:
    boot = RedfishVirtualMediaBoot()
    drive.task.node.driver_info["vmedia_transport_protocol"] = protocol
    boot.validate(drive.task)
    boot.prepare_ramdisk(drive.task, {})
    return boot


@pytest.mark.parametrize(
    "given, stated, base, login",
    [
        ("NFS", "NFS", "nfs://192.0.2.5", {}),
        ("cifs", "CIFS", "smb://192.0.2.6", {"UserName": "reader", "Password": PASSWORD}),
        ("smb", "CIFS", "smb://192.0.2.6", {"UserName": "reader", "Password": PASSWORD}),
    ],
)
def test_the_bmc_mounts_the_share(
    drive: Drive, tmp_path: Path, given: str, stated: str, base: str, login: dict[str, str]
) -> None:
    drive.allow("HTTPS", "NFS", "CIFS")
    boot = prepared(drive, given)
    (name,) = drive.files()
    assert name.startswith(f"{UUID}.boot.") and name.endswith(".iso")
    url = f"{base}/{str(drive.share).strip('/')}/{name}"
    assert drive.insertions == [{"Image": url, "TransferProtocolType": stated, **login}]
    assert (drive.share / name).stat().st_mode & 0o777 == CONF.redfish.file_permission
    assert b"CD001" in (drive.share / name).read_bytes()[:65536]
    # Nothing is left where it was made, and nobody learns the name of an image with a token.
    assert list((tmp_path / "http" / "vmedia").iterdir()) == []
    assert virtual_media_images.shown(url) == f"{base}/{str(drive.share).strip('/')}/******"
    boot.clean_up_ramdisk(drive.task)
    assert drive.files() == []
    assert drive.bmc.count("POST", EJECT) == 1


def test_an_image_stays_no_longer_on_the_share_than_its_node_uses_it(drive: Drive) -> None:
    boot = prepared(drive, "NFS")
    (first,) = drive.files()
    boot.prepare_ramdisk(drive.task, {})
    (second,) = drive.files()
    assert first != second
    # Though the node takes its images from elsewhere now.
    del drive.task.node.driver_info["vmedia_transport_protocol"]
    ramdisk_images.withdraw(drive.task.node)
    assert drive.files() == []


class _Nodes:
    def __init__(self, memory: str) -> None:
        self.nodes, self._memory = self, memory

    def row(self, columns: Any, uuid: str) -> tuple[str]:
        if uuid != UUID:
            raise NodeNotFound(node=uuid)
        return (self._memory,)


def test_what_a_killed_conductor_left_on_the_share_is_removed_and_nothing_else(drive: Drive, tmp_path: Path) -> None:
    prepared(drive, "NFS")
    (present,) = drive.files()
    gone = "99999999-0000-4000-8000-000000000009"
    left = [f"{UUID}.boot.aa.iso", f".{UUID}.boot.bb.iso.part", f"{gone}.configdrive.cc.img"]
    kept = [UUID, f"{UUID}.iso", f"{UUID}.boot.zz.iso", f"{UUID}.cdrom.ee.iso", "tools.boot.aa.iso", "notes"]
    (tmp_path / "outside").write_bytes(b"x")
    for name in (*left, *kept):
        (drive.share / name).write_bytes(b"x")
    (drive.share / f"{gone}.boot.dd.iso").symlink_to(tmp_path / "outside")
    store: Any = _Nodes(orjson.dumps(drive.task.node.saved["driver_internal_info"]).decode())
    ramdisk_images.remove_leftovers(store)
    assert drive.files() == sorted([present, *kept])
    assert (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    "options, text",
    [
        ({"nfs__share_path": None}, r"set \[nfs\]base_url and \[nfs\]share_path"),
        ({"nfs__base_url": None}, r"set \[nfs\]base_url and \[nfs\]share_path"),
        ({"nfs__share_path": "/does/not/exist"}, "is no directory"),
        ({"nfs__share_path": "relative"}, "is no directory"),
        ({"nfs__share_path": "/proc/self"}, "can't be written"),
        ({"nfs__base_url": "192.0.2.5"}, "must be a URL"),
        ({"nfs__base_url": "nfs://a b"}, "must be a URL"),
        ({"nfs__base_url": "nfs://user:word@192.0.2.5"}, "must not have a user name or password"),
    ],
)
def test_a_share_that_is_not_there_is_said_so_at_once(
    drive: Drive, conf: Callable[..., Any], options: dict[str, Any], text: str
) -> None:
    conf(**options)
    drive.task.node.driver_info["vmedia_transport_protocol"] = "NFS"
    boot = RedfishVirtualMediaBoot()
    for check in (boot.validate, boot.validate_inspection, boot.validate_rescue):
        drive.task.node.driver_info |= {
            f"rescue_{part}": f"file://{drive.images}/{part}" for part in ("kernel", "ramdisk")
        }
        with pytest.raises(InvalidParameterValue, match=text):
            check(drive.task)
    with pytest.raises(InvalidParameterValue, match=text):
        boot.prepare_ramdisk(drive.task, {})
    assert drive.insertions == []


def test_a_share_that_goes_fails_the_boot_and_leaves_nothing(
    drive: Drive, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    build = boot_iso.build

    def build_slowly(*arguments: Any) -> None:
        build(*arguments)
        drive.share.rmdir()

    monkeypatch.setattr(boot_iso, "build", build_slowly)
    with pytest.raises(ImageCreationFailed, match=r"\[nfs\]share_path.*mounted"):
        prepared(drive, "NFS")
    assert list((tmp_path / "http" / "vmedia").iterdir()) == []
    assert drive.insertions == []
    ramdisk_images.withdraw(drive.task.node)


@pytest.mark.parametrize("refusal", [400, 403, 405, 409, 500])
def test_the_password_of_the_share_is_in_no_text(
    drive: Drive,
    conf: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    refusal: int,
) -> None:
    monkeypatch.setattr("ironic.drivers.modules.redfish.orders.virtual_media._SECONDS", 0.01)
    drive.refusal = refusal
    with caplog.at_level(logging.DEBUG), pytest.raises(IronicError) as raised:
        prepared(drive, "CIFS")
    assert drive.insertions[0]["Password"] == PASSWORD
    CONF.log_opt_values(logging.getLogger("ironic.options"), logging.DEBUG)
    assert "hunter2" not in str(raised.value) + caplog.text + repr(drive.task.node.saved)


@pytest.mark.parametrize(
    "url",
    ["smb://192.0.2.66/x.iso", "smb://192.0.2.6.example.org/x.iso", "smb://192.0.2.6/other/x.iso", "{share}/x.iso",
     "{share}/../other/x.iso", "{share}/%2e%2e/other/x.iso", "{share}/..\\other\\x.iso", "{share}/{uuid}.cdrom.aa/../x",
     "{share}/{uuid}..\\..\\x", "{share}/99999999-0000-4000-8000-000000000009.boot.aa.iso"],
)  # fmt: skip
def test_the_login_of_the_share_is_for_images_of_the_service_on_it(drive: Drive, url: str) -> None:
    url = url.format(share=image_places.Share("CIFS").url_of_folder, uuid=UUID)
    drive.task.node.driver_info["vmedia_transport_protocol"] = "CIFS"
    RedfishManagement().attach_virtual_media(drive.task, "cdrom", url)
    assert drive.insertions == [{"Image": url, "TransferProtocolType": "CIFS"}]


def test_the_login_of_the_share_is_for_nodes_that_take_images_from_it(drive: Drive) -> None:
    url = f"{image_places.Share('CIFS').url_of_folder}/{UUID}.cdrom.aa.iso"
    RedfishManagement().attach_virtual_media(drive.task, "cdrom", url)
    drive.task.node.driver_info["vmedia_transport_protocol"] = "CIFS"
    RedfishManagement().attach_virtual_media(drive.task, "cdrom", url)
    assert [order.get("Password") for order in drive.insertions] == [None, PASSWORD]


@pytest.mark.parametrize(
    "wanted, url, stated",
    [
        ("NFS", "http://192.0.2.9/x.iso", {"TransferProtocolType": "HTTP"}),
        ("HTTPS", "nfs://192.0.2.9/x.iso", {"TransferProtocolType": "NFS"}),
        ("HTTPS", "https://192.0.2.9/x.iso", {"TransferProtocolType": "HTTPS"}),
        (None, "nfs://192.0.2.9/x.iso", {}),
    ],
)
def test_the_stated_protocol_is_that_of_the_image(
    drive: Drive, wanted: str | None, url: str, stated: dict[str, str]
) -> None:
    drive.task.node.driver_info["vmedia_transport_protocol"] = wanted
    RedfishManagement().attach_virtual_media(drive.task, "cdrom", url)
    assert drive.insertions == [{"Image": url, **stated}]


def test_a_bmc_that_lists_other_protocols_is_not_asked(drive: Drive) -> None:
    drive.allow("HTTPS", "CIFS")
    with pytest.raises(InvalidParameterValue, match="over CIFS, HTTP, HTTPS only, not over NFS"):
        prepared(drive, "NFS")
    assert drive.insertions == []


@pytest.mark.parametrize("scheme", ["nfs", "cifs", "smb"])
@pytest.mark.parametrize("name, purpose", [("deploy_iso", "deploying"), ("boot_iso", "deploying")])
def test_a_ready_image_may_be_on_a_share(
    drive: Drive, conf: Callable[..., Any], scheme: str, name: str, purpose: str
) -> None:
    boot, node, url = RedfishVirtualMediaBoot(), drive.task.node, f"{scheme}://192.0.2.9/isos/x.iso"
    node.driver_info["vmedia_transport_protocol"] = "NFS"
    if name == "boot_iso":
        node.deploy_interface, node.instance_info = "ramdisk", {name: url}
    else:
        node.driver_info |= {name: url}
    with pytest.raises(InvalidParameterValue, match=f"{name} of node .* is on a share.*= http"):
        boot.validate(drive.task)
    if name == "boot_iso":
        node.instance_info["ramdisk_image_download_source"] = "http"
    else:
        conf(deploy__ramdisk_image_download_source="http")
    boot.validate(drive.task)
    (boot.prepare_instance if name == "boot_iso" else lambda task: boot.prepare_ramdisk(task, {}))(drive.task)
    assert [order["Image"] for order in drive.insertions] == [url]
    assert drive.files() == []
    # UEFI fetches over HTTP only.
    conf(deploy__http_url="http://192.0.2.1")
    with pytest.raises(InvalidParameterValue, match="must be a URL that begins with one of: http, https, file"):
        RedfishHttpsBoot().validate(drive.task)


def test_a_copy_of_a_ready_image_is_on_the_share(drive: Drive) -> None:
    drive.task.node.driver_info["deploy_iso"] = f"file://{drive.images}/ready.iso"
    prepared(drive, "NFS")
    (name,) = drive.files()
    assert (drive.share / name).read_bytes() == b"the ready.iso" * 1000


@pytest.mark.parametrize(
    "url", ["ftp://192.0.2.9/x", "nfs:///x", "nfs://192.0.2.9/x y", "nfs://192.0.2.9/x\nTransfer", 7]
)
def test_an_image_of_a_user_is_checked_before_a_bmc_gets_it(drive: Drive, conf: Callable[..., Any], url: Any) -> None:
    conf(deploy__ramdisk_image_download_source="http")
    drive.task.node.deploy_interface, drive.task.node.instance_info = "ramdisk", {"boot_iso": url}
    drive.task.node.driver_info["vmedia_transport_protocol"] = "NFS"
    boot = RedfishVirtualMediaBoot()
    for act in (boot.validate, boot.prepare_instance):
        with pytest.raises(InvalidParameterValue, match="boot_iso"):
            act(drive.task)
    assert drive.insertions == []


def test_no_url_leads_to_the_files_of_a_share(drive: Drive, conf: Callable[..., Any]) -> None:
    (drive.share / "secret.iso").write_bytes(b"x")
    conf(conductor__file_url_allowed_paths=[str(drive.share.parent)])
    assert "a file of this service itself" in str(host_files.path_fault(f"file://{drive.share}/secret.iso"))
