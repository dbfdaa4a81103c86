"""Raw requests to a BMC: the bytes that users and vendors' steps send."""

from collections.abc import Sequence
from typing import Final

from ironic.core.errors import InvalidParameterValue, MissingParameterValue
from ironic.drivers.contract.task import Task
from ironic.drivers.modules.ipmi.bmc_access import is_byte
from ironic.drivers.modules.ipmi.conversation import change

# Network function, command, and the data of the largest message.
_MOST_BYTES: Final = 256


def send(task: Task, raw_bytes: Sequence[str]) -> str:
    """Send bytes of a request and return the answer; it is sent again only if the BMC can't have begun it."""
    return change(task, ("raw", *raw_bytes), once=True)


def check(raw_bytes: object) -> list[str]:
    """Return the bytes in a text such as ``0x00 0x01``; raise MissingParameterValue or InvalidParameterValue.

    ipmitool takes a word that begins with a hyphen for an option, wherever it is.
    """
    if raw_bytes is None or raw_bytes == "":
        raise MissingParameterValue(err="raw_bytes of send_raw is missing; it is a text such as 0x00 0x01.")
    found = raw_bytes.split() if isinstance(raw_bytes, str) else []
    if not 2 <= len(found) <= _MOST_BYTES or not all(is_byte(text) for text in found):
        raise InvalidParameterValue(
            err=f"raw_bytes of send_raw must be 2 to {_MOST_BYTES} numbers from 0 to 255, separated by blanks, such as "
            "0x00 0x01."
        )
    return found
