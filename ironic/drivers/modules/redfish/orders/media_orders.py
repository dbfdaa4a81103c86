"""Orders to one virtual drive: insert an image with what the BMC wants to know besides, eject it.

The standard leaves all parameters but the image optional, and BMCs differ: some refuse an image without a certain
parameter, others refuse one that has it. So only the image is sent at first, and each parameter that a refusal misses
is added. An order to eject, accepted or refused, counts as done only when the drive is empty afterwards.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.redfish.orders.stored_changes import is_stored_soon
from ironic.drivers.modules.redfish.tree.certainty import Uncertain
from ironic.drivers.modules.redfish.tree.virtual_drives import VirtualDrive
from ironic.drivers.modules.redfish.wire.bmc_messages import BmcMessage, messages_of
from ironic.drivers.modules.redfish.wire.bmc_system import System, connector_of
from ironic.drivers.modules.redfish.wire.forms import Forms, in_one_form
from ironic.integrations.image_places import SHARE_SCHEMES

# Identities of messages that miss a parameter.
_MISSING: Final = ("ActionParameterMissing", "PropertyMissing", "CreateFailedMissingReqProperties", "ParameterMissing")
# What parameters are called in messages.
_NAMES: Final = {
    "UserName": re.compile(r"user\s?name", re.IGNORECASE),
    "Password": re.compile(r"password", re.IGNORECASE),
    "TransferProtocolType": re.compile(r"transfer\s?protocol", re.IGNORECASE),
    "TransferMethod": re.compile(r"transfer\s?method", re.IGNORECASE),
    "Inserted": re.compile(r"\binserted\b", re.IGNORECASE),
    "WriteProtected": re.compile(r"write\s?protected", re.IGNORECASE),
    "MediaType": re.compile(r"\bmedia\s?types?\b", re.IGNORECASE),
}
# A text without an identity misses what it names, unless it refuses that.
_REFUSED: Final = re.compile(r"not (supported|allowed|valid|permitted)|unsupported|unknown|invalid", re.IGNORECASE)
_UNNAMED: Final = re.compile(r"parameter (is )?missing|missing parameter", re.IGNORECASE)
# Servers without a login ignore it.
_NO_LOGIN: Final = "none"
_LONGEST_TEXT: Final = 1000
_EMPTY_BODY_WANTED: Final = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE)


@dataclass(frozen=True, slots=True)
class InsertionOrder:
    """An image to insert: the parameters that are sent in any case, and those that are sent when they are missed."""

    image: str
    parameters: Mapping[str, object]

    @classmethod
    def of(cls, image: str, protocol: str | None, credentials: Mapping[str, str]) -> "InsertionOrder":
        """Return the order for an image; ``credentials`` has ``username`` and ``password`` of its share, if any."""
        given = {
            "TransferProtocolType": protocol,
            "UserName": credentials.get("username"),
            "Password": credentials.get("password"),
        }
        return cls(image, {"Image": image} | {name: value for name, value in given.items() if value})

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no text may have: the place of the image, and the password of its share."""
        parts = urlsplit(self.image)
        name = parts.path.rpartition("/")[2]
        found = (self.image, parts.path.strip("/"), name, parts.query, parts.password, self.parameters.get("Password"))
        return tuple(str(secret) for secret in found if secret)

    def on_request(self, drive: VirtualDrive) -> dict[str, object]:
        """Return what a BMC may want to know besides."""
        scheme = urlsplit(self.image).scheme.lower()
        return {
            "UserName": _NO_LOGIN,
            "Password": _NO_LOGIN,
            "TransferProtocolType": SHARE_SCHEMES.get(scheme, scheme.upper()),
            "TransferMethod": "Stream",
            "Inserted": True,
            "WriteProtected": True,
            **({"MediaType": drive.kinds[0]} if drive.kinds else {}),
        }


def insert(system: System, drive: VirtualDrive, order: InsertionOrder) -> None:
    """Insert an image; raise what sushy raises when the BMC refuses it with all that it asks for."""
    try:
        in_one_form(_payloads(order, drive), lambda payload: _send_insertion(system, drive, payload))
    finally:
        drive.invalidate()


def _payloads(order: InsertionOrder, drive: VirtualDrive) -> Forms[Mapping[str, Any]]:
    """Yield what is sent with an image: at first as little as may do, then what each refusal misses besides."""
    payload, more = dict(order.parameters), order.on_request(drive)
    while True:
        error = yield payload
        added = {name: more[name] for name in missed_by(error) if name in more and name not in payload}
        if not added or isinstance(error, sushy_errors.AccessError):
            return
        payload |= added


def _send_insertion(system: System, drive: VirtualDrive, payload: Mapping[str, Any]) -> None:
    if drive.insertion is not None:
        connector_of(system).post(drive.insertion, data=payload)
        return
    # By PATCH, where the BMC allows that.
    drive.insert_by_patch(
        payload["Image"],
        username=payload.get("UserName"),
        password=payload.get("Password"),
        transfer_method=payload.get("TransferMethod"),
        transfer_protocol=payload.get("TransferProtocolType"),
    )


def eject(system: System, drive: VirtualDrive) -> None:
    """Empty a drive.

    Raise what sushy raises when the BMC refuses that and the drive stays full, Uncertain when it does so accepted.
    """

    def shows_nothing() -> bool:
        drive.refresh()
        # Some BMCs go on to show the former image.
        return drive.is_empty or drive.says_empty

    try:
        _send_ejection(system, drive)
        if not is_stored_soon(shows_nothing):
            raise Uncertain(drive.path, "the BMC has accepted to eject the image and does not show the drive empty")
    except sushy_errors.AccessError:
        raise
    except sushy_errors.HTTPError:
        if not shows_nothing():
            raise
    finally:
        drive.invalidate()


def _send_ejection(system: System, drive: VirtualDrive) -> None:
    target, connector = drive.ejection, connector_of(system)
    if target is None:
        headers = {"If-Match": drive.tag} if drive.tag is not None else {}
        connector.patch(drive.path, data={"Image": None, "Inserted": False}, headers=headers)
        return
    in_one_form(_empty_bodies(), lambda body: connector.post(target, data=body))


def _empty_bodies() -> Forms[Mapping[str, Any] | None]:
    if (yield None).status_code in _EMPTY_BODY_WANTED:
        yield {}


def missed_by(error: sushy_errors.HTTPError) -> list[str]:
    """Return the parameters of an insertion that a refusal misses; a login is missed as a whole."""
    found = {name for message in messages_of(error) for name in _missed_in(message)}
    if found & {"UserName", "Password"}:
        found |= {"UserName", "Password"}
    return sorted(found)


def _missed_in(message: BmcMessage) -> list[str]:
    text = message.text[:_LONGEST_TEXT]
    if message.identity in _MISSING:
        subjects = " ".join((*message.subjects, text))
        return [name for name, pattern in _NAMES.items() if pattern.search(subjects)]
    if not message.is_general or _REFUSED.search(text):
        return []
    named = [name for name, pattern in _NAMES.items() if pattern.search(text)]
    return named or (["UserName"] if _UNNAMED.search(text) else [])
