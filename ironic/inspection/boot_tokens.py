"""The boot token: proves that inspection data come from the ramdisk that was booted for them.

The service puts a new token into the URL on the kernel command line of each ramdisk that it boots, so the agent needs
no support for it. A node with a token accepts data with this token only, and the token is removed when data are
accepted (S73). A sender that shows a token is the ramdisk of the node that has it, so other nodes refuse its data.

Nodes whose ramdisk is booted by other means have no token. For them the address of the first look-up that got the
node's agent token is remembered, as far as it is certain, and data from another address are refused. A machine may have
an IPv4 and an IPv6 address, so addresses of two families are not compared.
"""

import hmac
import logging
import re
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ironic.core.addresses.agent_callbacks import are_two_machines
from ironic.core.flows.flow import INSPECT
from ironic.core.keys.internal_keys import InternalKey
from ironic.core.memory.agent_memory import KnownAgent

if TYPE_CHECKING:
    from ironic.db import NodeRecord, Store

LOG = logging.getLogger(__name__)

PARAMETER: Final = "boot_token"

_KEY: Final = InternalKey("inspection_boot_token", object, "What the inspection ramdisk shows; masked in answers.")
_SHOWN: Final = InternalKey("inspection_report_is_proven", bool, "Its report came with that token.")
_BYTES: Final = 32
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


def issue(node: "NodeRecord") -> str:
    """Create, set and return a new token; the caller saves the node before it boots."""
    token = secrets.token_urlsafe(_BYTES)
    _KEY.set(node, token)
    return token


def holder(store: "Store", shown: str) -> str | None:
    """Return the UUID of the node that waits for data with this token, None if none does."""
    if not _TOKEN.fullmatch(shown):
        return None
    rows = store.nodes.rows(("uuid",), filters={"provision_state": INSPECT.waiting, "remembers": shown}, limit=1)
    return rows[0][0] if rows else None


def use_up(node: "NodeRecord") -> None:
    """Remove the token and note that the current data came with it; the caller saves the node."""
    if _KEY.delete(node):
        _SHOWN.set(node, True)


def forget(node: "NodeRecord") -> None:
    """Remove the token and the note about it; the caller saves the node."""
    for key in (_KEY, _SHOWN):
        key.delete(node)


def is_required(memory: Mapping[str, object]) -> bool:
    """Return whether a node with this driver_internal_info accepts data with its token only."""
    return _KEY.read(memory) is not None


def was_shown(memory: Mapping[str, object]) -> bool:
    """Return whether the data in process came with the node's token."""
    return bool(_SHOWN.read(memory))


def matches(memory: Mapping[str, object], shown: str) -> bool:
    """Return whether this is the node's token, or the node has none; the comparison takes constant time."""
    expected = _KEY.read(memory)
    return expected is None or hmac.compare_digest(str(expected).encode(), shown.encode())


def sender_objection(memory: Mapping[str, object], *, shown: str, source: str | None, node: str) -> str | None:
    """Return why a node with this driver_internal_info does not accept data, None when it does.

    ``shown`` is the boot token in the request, ``source`` the address of its sender.
    """
    if not matches(memory, shown):
        return f"it does not show the boot token that the ramdisk of node {node} was given"
    known = KnownAgent(memory).token_source
    if not are_two_machines(source, known):
        return None
    if is_required(memory):
        LOG.info("Node %s: its ramdisk has looked it up from %s and sends its data from %s", node, known, source)
        return None
    return f"it comes from {source}, and the agent token of node {node} was given to {known}"
