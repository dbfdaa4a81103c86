"""The token of one boot: what the service puts on the ramdisk's kernel command line, and only that ramdisk can know.

It travels in the URL that the ramdisk posts to, so that an agent needs to know nothing of it. A node that has one takes
data with this token only, and the token is gone as soon as data are taken (S73). Nodes whose ramdisk somebody else
boots have none.
"""

import hmac
import secrets
from typing import TYPE_CHECKING, Final

import orjson

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

PARAMETER: Final = "boot_token"

_KEY: Final = "inspection_boot_token"
_BYTES: Final = 32


def issue(node: "NodeRecord") -> str:
    """Return a new token; the caller saves the node before it boots."""
    token = secrets.token_urlsafe(_BYTES)
    node.set_driver_internal_info(_KEY, token)
    return token


def forget(node: "NodeRecord") -> None:
    """Have the token open nothing any more; the caller saves the node."""
    node.del_driver_internal_info(_KEY)


def opens(store: "Store", node_id: int, shown: str | None) -> bool:
    """Tell, in constant time, whether this is the node's token, or it has none."""
    (info,) = store.nodes.row(("driver_internal_info",), node_id)
    expected = orjson.loads(info or "{}").get(_KEY)
    return expected is None or hmac.compare_digest(str(expected).encode(), (shown or "").encode())
