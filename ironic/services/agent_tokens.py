"""The token of a node's agent: issued once, and revoked when it did not reach the ramdisk.

Source: doc/contract/agent.md#token.
"""

import logging
import secrets
from collections.abc import Callable
from typing import Final

from ironic.core.errors import IronicError
from ironic.core.memory.agent_memory import AgentMemory
from ironic.db import NodeRecord, Store
from ironic.services.node_changes import LockRetries, change_free

LOG = logging.getLogger(__name__)

_BYTES: Final = 32


def issue(
    store: Store, uuid: str, judge: Callable[[NodeRecord], None], address: str | None, retries: LockRetries
) -> tuple[str | None, NodeRecord]:
    """Issue a token to the agent of a node; return it with the node, or None when the node has a token already.

    ``judge`` gets the node while its row is locked, and raises when no ramdisk may look it up. ``address`` is that of
    the receiver, None when it is not certain. Raises NodeLocked.
    """
    token: str | None = None

    def put(record: NodeRecord) -> None:
        nonlocal token
        judge(record)
        agent, token = AgentMemory(record), None
        if not agent.token:
            token = secrets.token_urlsafe(_BYTES)
            agent.store_token(token, address)

    node = change_free(store, uuid, put, retries)
    return token, node


def revoke(store: Store, uuid: str, token: str, retries: LockRetries) -> None:
    """Drop a token that did not reach the ramdisk, so that the ramdisk gets one when it looks the node up again."""

    def drop(record: NodeRecord) -> None:
        agent = AgentMemory(record)
        if agent.token == token:
            agent.drop_token()

    try:
        change_free(store, uuid, drop, retries)
    except IronicError as error:
        LOG.warning(
            "Node %s: a token that did not reach the ramdisk could not be dropped (%s). Restart the machine: "
            "until then, its ramdisk gets no other token.",
            uuid,
            error,
        )
