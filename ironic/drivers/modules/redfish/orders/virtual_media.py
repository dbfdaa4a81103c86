"""Virtual drives of a Redfish BMC: find, insert, eject.

An image goes into the first drive that takes the medium; a BMC that refuses one drive is asked for the next. Some BMCs
refuse to insert into a drive that is not empty, so it is emptied first. No text has the path of an image, as its random
name protects it.
"""

import logging
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from sushy import exceptions as sushy_errors

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.contract import boot_devices
from ironic.drivers.contract.task import Node, Task
from ironic.drivers.modules.redfish.orders import media_orders
from ironic.drivers.modules.redfish.orders.media_orders import InsertionOrder
from ironic.drivers.modules.redfish.tree.certainty import Uncertain
from ironic.drivers.modules.redfish.tree.virtual_drives import (
    CD,
    FLOPPY,
    USB_STICK,
    Medium,
    VirtualDrive,
    doubts_about,
    drive_groups,
    drives_by_owner,
)
from ironic.drivers.modules.redfish.wire.bmc_connection import change, read
from ironic.drivers.modules.redfish.wire.bmc_messages import refusal_of
from ironic.drivers.modules.redfish.wire.bmc_system import System
from ironic.integrations import image_places

LOG = logging.getLogger(__name__)

# Device type of the API -> medium.
MEDIA: Final = {boot_devices.CDROM: CD, boot_devices.FLOPPY: FLOPPY, boot_devices.DISK: USB_STICK}
_ATTEMPTS: Final = 3
_SECONDS: Final = 3.0
# The next drive may take the image.
_REFUSALS: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.METHOD_NOT_ALLOWED)


def describe(task: Task) -> list[dict[str, object]]:
    """Return ``media_types``, ``inserted`` and ``image`` of each drive; raise InvalidParameterValue without any."""

    def look(system: System) -> list[dict[str, object]]:
        return [drive.shown for drive in next(drive_groups(system), ())]

    found = read(task, "reading the virtual media", look, anew=True)
    if not found:
        raise InvalidParameterValue(err=f"The BMC of node {task.node.uuid} has no virtual media.")
    return found


def lacks_drive(system: System, medium: Medium) -> str | None:
    """Return what a BMC lacks to insert an image by its URL, None when a drive seems to take it."""
    drives = [drive for group in drive_groups(system) for drive in group]
    if any(drive.takes(medium) for drive in drives):
        return None
    media = sorted({kind for drive in drives for kind in drive.kinds})
    others = "" if not drives else f", only for {', '.join(media) or 'unknown media'}"
    return f"no virtual drive for {medium.value}{others}; choose another boot interface"


def has_drive(task: Task, medium: Medium) -> bool:
    """Return whether a drive of the BMC takes a medium."""
    return read(
        task,
        "reading the virtual media",
        lambda system: any(drive.takes(medium) for group in drive_groups(system) for drive in group),
    )


def insert(task: Task, media: Sequence[Medium], url: str) -> None:
    """Insert an image into a drive, in the order of the media.

    The protocol is stated to the BMC if the node names one; user name and password of the share come with images of the
    service.
    Raise InvalidParameterValue when no drive takes it, RedfishError for other failures.
    """
    protocol = image_places.stated_protocol(task.node, url)
    order = InsertionOrder.of(url, protocol, image_places.credentials_for(task.node, url))

    def try_drives(system: System) -> None:
        faults: list[str] = []
        groups = list(drive_groups(system))
        for medium in media:
            for group in groups:
                drives = [drive for drive in group if drive.takes(medium)]
                if protocol and (known := _protocols(drives)) and protocol not in known:
                    faults.append(f"they take images over {', '.join(sorted(known))} only, not over {protocol}")
                    continue
                _empty(system, drives)  # a failure shows when the image is inserted
                for drive in drives:
                    fault = _insert_into(task, system, drive, order)
                    if fault is None:
                        LOG.info("Node %s: an image is in its virtual drive %s", task.node.uuid, drive.name)
                        return _await_inserted(task.node, drive)
                    faults.append(f"drive {drive.name}: {fault}")
        raise InvalidParameterValue(err=_none_took(task.node, media, url, faults))

    change(task, "inserting virtual media", try_drives)


def eject(task: Task, media: Iterable[Medium] | None = None) -> None:
    """Empty the drives for these media, None means all; a drive that is empty is left alone.

    Raise RedfishError where one stays full, and afterwards where drives can't be read that may take these media.
    """
    wanted = None if media is None else list(media)

    def empty(system: System) -> None:
        seen = list(drives_by_owner(system))
        drives = [drive for group in seen for drive in group.items]
        chosen = [drive for drive in drives if wanted is None or any(map(drive.takes, wanted))]
        faults = _empty(system, chosen)
        if faults:
            raise faults[0]
        if doubt := doubts_about(system, seen, wanted):
            raise Uncertain(system.path, f"its virtual drives are not all shown: {doubt}")

    change(task, "ejecting virtual media", empty)


def _protocols(drives: Iterable[VirtualDrive]) -> set[str]:
    """Return the protocols that drives list, and HTTP; none for drives that list none."""
    listed = {protocol for drive in drives for protocol in drive.protocols}
    return {*listed, "HTTP"} if listed else set()


def _empty(system: System, drives: Iterable[VirtualDrive]) -> list[sushy_errors.SushyError]:
    """Eject what is in the drives; return the errors of those that stay full."""
    faults = []
    for drive in drives:
        if not drive.is_empty:
            try:
                media_orders.eject(system, drive)
            except sushy_errors.AccessError:
                raise
            except (sushy_errors.HTTPError, sushy_errors.MissingActionError, Uncertain) as error:
                LOG.debug("A virtual drive could not be emptied: %s", error)
                faults.append(error)
    return faults


def _insert_into(task: Task, system: System, drive: VirtualDrive, order: InsertionOrder) -> str | None:
    """Insert into one drive; return why the BMC refuses this drive, None when the image is in."""
    attempt = task.clock.retrying(
        _ATTEMPTS,
        _SECONDS,
        lambda error: isinstance(error, sushy_errors.ServerSideError),
        lambda error: LOG.debug("A BMC could not insert an image, trying again: %s", error),
    )
    try:
        attempt(media_orders.insert, system, drive, order)
    except sushy_errors.AccessError:
        raise
    except sushy_errors.MissingActionError:
        return "it can't be filled by the BMC"
    except sushy_errors.HTTPError as error:
        if error.status_code in _REFUSALS or isinstance(error, sushy_errors.ServerSideError):
            return f"the BMC {refusal_of(error, *order.secrets)}"
        raise
    return None


def _await_inserted(node: Node, drive: VirtualDrive) -> None:
    """Wait until the BMC reports the image; one that says nothing is believed, unless the options ask for it."""
    must_be_said = CONF.redfish.enable_vmedia_insert_polling

    def is_in() -> bool:
        drive.refresh()
        return drive.says_full if must_be_said else not drive.says_empty

    seconds = CONF.redfish.vmedia_insert_timeout
    if not node.clock.until(is_in, timeout=seconds, interval=CONF.redfish.vmedia_insert_poll_interval):
        raise InvalidParameterValue(
            err=f"The BMC of node {node.uuid} took an image into drive {drive.name}, but does not report it after "
            f"{seconds} seconds."
        )


def _none_took(node: Node, media: Sequence[Medium], url: str, faults: Sequence[str]) -> str:
    names = " or ".join(medium.value for medium in media)
    if not faults:
        return f"The BMC of node {node.uuid} has no virtual drive for {names}. Choose another boot interface."
    server = urlsplit(url).netloc.rpartition("@")[2]
    reasons = faults[0] if len(faults) == 1 else f"{faults[0]}; {faults[-1]}"
    return (
        f"No virtual drive of node {node.uuid} takes the image, as {names}, from {server} ({reasons}). If the BMC does "
        "not say why, see whether it reaches that server."
    )
