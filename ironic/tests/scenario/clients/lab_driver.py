"""A third party's hardware type for the lab: a fake machine that can do what neither the fakes nor the emulator can.

Its driver itself has methods, it takes signals, it has drives for virtual media, and keeps the VIFs it is given. What
happens to it stands in `extra`, where everybody sees it.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ironic.common import exception
from ironic.drivers import base
from ironic.drivers.fake_hardware import FakeHardware
from ironic.drivers.hardware_type import Supported
from ironic.drivers.modules.fake import FakeManagement, FakeVendorB
from ironic.drivers.modules.network.noop import NoopNetwork

LOG = logging.getLogger(__name__)

HOT_LINE = "+1 555 0100"
ENTRY_POINTS = f"""\
[ironic.hardware.types]
lab = {__name__}:LabHardware
[ironic.hardware.interfaces.management]
lab = {__name__}:LabManagement
[ironic.hardware.interfaces.network]
lab = {__name__}:LabNetwork
[ironic.hardware.interfaces.vendor]
lab = {__name__}:LabVendor
"""


def note(task: Any, name: str, value: Any) -> None:
    """Write something where everybody sees it."""
    task.node.extra = {**task.node.extra, name: value}
    task.node.save()


class LabManagement(FakeManagement):
    """The fake's, with signals and virtual drives."""

    def inject_nmi(self, task: Any) -> None:
        """Note the signal."""
        note(task, "nmi", True)

    def get_virtual_media(self, task: Any) -> list[dict[str, Any]]:
        """Return what is in the drives."""
        inserted = task.node.extra.get("drives", {})
        return [{"media_types": [kind], "inserted": True, "image": url} for kind, url in inserted.items()]

    def attach_virtual_media(self, task: Any, device_type: str, image_url: str) -> None:
        """Put an image into a drive."""
        note(task, "drives", {**task.node.extra.get("drives", {}), device_type: image_url})

    def detach_virtual_media(self, task: Any, device_types: Sequence[str] | None = None) -> None:
        """Empty drives."""
        drives = task.node.extra.get("drives", {})
        emptied = drives.keys() if device_types is None else device_types
        note(task, "drives", {kind: url for kind, url in drives.items() if kind not in emptied})


class LabNetwork(NoopNetwork):
    """A network that remembers which VIFs were attached, and with which particulars."""

    def vif_attach(self, task: Any, vif_info: Mapping[str, Any]) -> None:
        """Keep a VIF."""
        known = task.node.extra.get("vifs", {})
        if vif_info["id"] in known:
            raise exception.VifAlreadyAttached(vif=vif_info["id"], port="whatever it was")
        note(task, "vifs", {**known, vif_info["id"]: dict(vif_info)})

    def vif_detach(self, task: Any, vif_id: str) -> None:
        """Forget a VIF."""
        known = dict(task.node.extra.get("vifs", {}))
        if known.pop(vif_id, None) is None:
            raise exception.VifNotAttached(vif=vif_id, node=task.node.uuid)
        note(task, "vifs", known)

    def vif_list(self, task: Any) -> list[dict[str, Any]]:
        """Return the kept VIFs."""
        return [{"id": vif} for vif in task.node.extra.get("vifs", {})]


class LabVendor(FakeVendorB):
    """The fake's methods of nodes, and two of the driver."""

    @base.driver_passthru(["GET"], async_call=False, description="The phone number of the support.")
    def hot_line(self, context: Any, http_method: str) -> dict[str, str]:
        """Return a telephone number."""
        return {"number": HOT_LINE}

    @base.driver_passthru(["POST"], description="Says something to everybody.")
    def announce(self, context: Any, http_method: str, words: str) -> None:
        """Log the words; the caller does not wait."""
        LOG.info("Everybody listen: %s", words)


class LabHardware(FakeHardware):
    """A fake machine with the interfaces above."""

    @property
    def supported_management_interfaces(self) -> Supported:
        """Ours."""
        return [LabManagement]

    @property
    def supported_network_interfaces(self) -> Supported:
        """Ours."""
        return [LabNetwork]

    @property
    def supported_vendor_interfaces(self) -> Supported:
        """Ours."""
        return [LabVendor]


def publish(directory: Path) -> Path:
    """Write what makes the hardware type installed for a service that has the directory on its path."""
    described = directory / "lab_driver-1.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-driver\nVersion: 1\n")
    (described / "entry_points.txt").write_text(ENTRY_POINTS)
    return directory
