"""The token of one boot: what the service puts on the ramdisk's kernel command line, and only that ramdisk can know.

It travels in the URL that the ramdisk posts to, so that an agent needs to know nothing of it. A node that has one takes
data with this token only, and the token is gone as soon as data are taken (S73). Nodes whose ramdisk somebody else
boots have none.
"""

import hmac
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ironic.db import NodeRecord

PARAMETER: Final = "boot_token"

_KEY: Final = "inspection_boot_token"
_SHOWN: Final = "inspection_report_is_proven"
_BYTES: Final = 32


def issue(node: "NodeRecord") -> str:
    """Return a new token; the caller saves the node before it boots."""
    token = secrets.token_urlsafe(_BYTES)
    node.set_driver_internal_info(_KEY, token)
    return token


def use_up(node: "NodeRecord") -> None:
    """Have the token open nothing any more, and remember that the data at hand came with it; the caller saves."""
    if node.del_driver_internal_info(_KEY):
        node.set_driver_internal_info(_SHOWN, True)


def forget(node: "NodeRecord") -> None:
    """Have the token open nothing any more; the caller saves the node."""
    for key in (_KEY, _SHOWN):
        node.del_driver_internal_info(key)


def is_wanted(memory: Mapping[str, object]) -> bool:
    """Tell whether a node with this driver_internal_info takes data with its token only."""
    return memory.get(_KEY) is not None


def was_shown(memory: Mapping[str, object]) -> bool:
    """Tell whether the data that are being processed came with the node's token."""
    return bool(memory.get(_SHOWN))


def opens(memory: Mapping[str, object], shown: str) -> bool:
    """Tell, in constant time, whether this is the node's token, or it has none."""
    expected = memory.get(_KEY)
    return expected is None or hmac.compare_digest(str(expected).encode(), shown.encode())
