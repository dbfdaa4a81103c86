"""The token by which the agent of a node is known: given out once, and taken back when nobody was told.

Source: doc/contract/agent.md#token.
"""

import logging
import secrets
from collections.abc import Callable
from typing import Final

from ironic.core.agent_memory import AgentMemory
from ironic.core.errors import IronicError
from ironic.db import NodeRecord, Store
from ironic.services.nodes import Patience, change_free

LOG = logging.getLogger(__name__)

_BYTES: Final = 32


def hand_out(
    store: Store, uuid: str, judge: Callable[[NodeRecord], None], given_to: str | None, patience: Patience
) -> tuple[str | None, NodeRecord]:
    """Return a node with the token it is given now; None in its place when it has one already.

    ``judge`` raises when the node, seen while nobody can change it, is none for ramdisks. ``given_to`` is the address
    that the token is told to, None when it is not certain.
    """
    token: str | None = None

    def put(record: NodeRecord) -> None:
        nonlocal token
        judge(record)
        agent, token = AgentMemory(record), None
        if not agent.token:
            token = secrets.token_urlsafe(_BYTES)
            agent.give_token(token, given_to)

    node = change_free(store, uuid, put, patience)
    return token, node


def take_back(store: Store, uuid: str, token: str, patience: Patience) -> None:
    """Forget a token that the ramdisk was not told after all, so that it gets one when it comes again."""

    def drop(record: NodeRecord) -> None:
        agent = AgentMemory(record)
        if agent.token == token:
            agent.take_token_back()

    try:
        change_free(store, uuid, drop, patience)
    except IronicError as error:
        LOG.warning("Node %s: a token that no ramdisk was told could not be forgotten: %s", uuid, error)
