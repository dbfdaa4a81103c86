"""What BMCs do differently, as a table: each row has the machines or the errors it is known by, and its source.

Code asks for a behaviour, never for a vendor. A row without a vendor is for all machines. Vendor and model are
those of the node's properties; a machine whose vendor is not known yet behaves as most do.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from sushy import exceptions as sushy_errors

from ironic.drivers.contract.task import Node


class Behaviour(Enum):
    """How a BMC differs."""

    FULL_BOOT_REQUEST = auto()
    """It takes a change of the boot override only with device, mode and duration together."""
    DURATION_ALWAYS_SENT = auto()
    """It sets a boot device only together with its duration, also when that does not change."""
    MODE_AFTER_DEVICE = auto()
    """It changes the boot mode when a boot device is set."""
    REFUSES_DURING_POST = auto()
    """It refuses changes while the machine runs its self-test, which ends soon."""
    REFUSES_UNLICENSED = auto()
    """It refuses to show what needs a licence."""
    REFUSES_SAME_STATE = auto()
    """It refuses to switch a machine to the state that it is in."""
    BUSY_AT_POWER_ON = auto()
    """It refuses to power on for a while after the machine was switched off."""
    REFUSES_LOGIN_AS_BAD_REQUEST = auto()
    """It answers to a wrong password as to a wrong request."""
    REFUSES_APPLY_TIME = auto()
    """It offers times at which volumes can be changed, and refuses an order with one."""
    BOOTS_NO_VIRTUAL_MEDIA = auto()
    """It takes images into its virtual drives, but sets no machine to boot from them."""
    NAMES_BOOT_CARDS_IN_BIOS = auto()
    """Its BIOS attributes name the network cards that UEFI boots from."""


@dataclass(frozen=True, slots=True)
class Quirk:
    """One row: a behaviour, who shows it, and where that is known from.

    ``source`` is a row of the table in doc/contract/drivers.md#quirks-of-redfish-bmcs, with what it is known from.
    ``vendor``, ``model`` and ``firmware`` are patterns, compared in any case and anywhere in the text. An error of the
    behaviour has one of the ``statuses`` and the pattern ``text`` in it.
    """

    behaviour: Behaviour
    source: str
    vendor: str = ""
    model: str = ""
    firmware: str = ""
    statuses: tuple[int, ...] = ()
    text: str = ""


TABLE: Final = (
    Quirk(
        Behaviour.FULL_BOOT_REQUEST,
        "full boot request",
        vendor="american megatrends international|ami|asrockrack|redfish_compatible",
    ),
    Quirk(Behaviour.DURATION_ALWAYS_SENT, "duration with the device", vendor="^supermicro$"),
    Quirk(Behaviour.MODE_AFTER_DEVICE, "mode after the device", vendor="^supermicro$"),
    Quirk(
        Behaviour.REFUSES_DURING_POST,
        "refusal during the self-test",
        statuses=(400,),
        text="UnableToModifyDuringSystemPOST",
    ),
    Quirk(
        Behaviour.REFUSES_UNLICENSED, "refusal without a licence", statuses=(400, 401, 403), text="OemLicenseNotPassed"
    ),
    Quirk(
        Behaviour.REFUSES_SAME_STATE,
        "refusal of the present state",
        statuses=(400, 409),
        text="(host is|already) powered (?P<state>on|off)",
    ),
    Quirk(Behaviour.BUSY_AT_POWER_ON, "busy at power on", statuses=(409,), text="ActionParameterValueConflict"),
    Quirk(
        Behaviour.REFUSES_LOGIN_AS_BAD_REQUEST,
        "refusal of a login as a bad request",
        statuses=(400,),
        text="UnauthorizedLoginAttempt",
    ),
    Quirk(
        Behaviour.REFUSES_APPLY_TIME, "time of a change refused", statuses=(400, 500, 503), text="OperationApplyTime"
    ),
    Quirk(Behaviour.BOOTS_NO_VIRTUAL_MEDIA, "no boot from virtual media", vendor=r"\bdell\b", firmware=r"^[2-5]\."),
    Quirk(Behaviour.NAMES_BOOT_CARDS_IN_BIOS, "boot cards in BIOS attributes", vendor="dell"),
)


def behaves(node: Node, behaviour: Behaviour, firmware: str = "") -> bool:
    """Return whether the machine of a node is known for a behaviour."""
    vendor, model = (str(node.properties.get(name) or "") for name in ("vendor", "model"))
    return any(
        quirk.behaviour is behaviour
        and not quirk.statuses
        and _has(quirk.vendor, vendor)
        and _has(quirk.model, model)
        and _has(quirk.firmware, firmware)
        for quirk in TABLE
    )


def depends_on_firmware(node: Node, behaviour: Behaviour) -> bool:
    """Return whether the firmware of the BMC decides about a behaviour of the machine of a node."""
    vendor = str(node.properties.get("vendor") or "")
    return any(quirk.behaviour is behaviour and quirk.firmware and _has(quirk.vendor, vendor) for quirk in TABLE)


def shows(error: BaseException, behaviour: Behaviour) -> bool:
    """Return whether an error of a BMC is that of a behaviour."""
    return isinstance(error, sushy_errors.HTTPError) and any(
        quirk.behaviour is behaviour and error.status_code in quirk.statuses and _has(quirk.text, _text(error))
        for quirk in TABLE
    )


def state_named_in(error: sushy_errors.HTTPError) -> str | None:
    """Return the power state, on or off, in which the machine is by the text of a refusal."""
    for quirk in TABLE:
        if quirk.behaviour is Behaviour.REFUSES_SAME_STATE:
            found = re.search(quirk.text, _text(error), re.IGNORECASE)
            return found["state"].lower() if found else None
    return None


def _text(error: sushy_errors.HTTPError) -> str:
    return f"{error} {error.body}"[:10_000]


def _has(pattern: str, text: str) -> bool:
    return not pattern or re.search(pattern, text, re.IGNORECASE) is not None
