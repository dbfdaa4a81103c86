"""Who has sent inspection data: the ramdisk that was booted for them, or at least nobody else that is known.

A ramdisk that the service booted shows its boot token. Of others there is only where they call from: the first look-up
that got the node's agent token is remembered with its address, as far as that is certain, and data from elsewhere are
refused. A machine may have an IPv4 and an IPv6 address, so addresses of two families are never held against each other.
"""

import logging
from collections.abc import Mapping

from ironic.core.agent_memory import KnownAgent
from ironic.core.callback_urls import are_two_machines
from ironic.inspection import boot_token

LOG = logging.getLogger(__name__)


def objection(memory: Mapping[str, object], *, shown: str, source: str | None, node: str) -> str | None:
    """Return why data are not taken for a node with this driver_internal_info, None when they are.

    ``shown`` is the boot token that came with them, ``source`` where they came from.
    """
    if not boot_token.opens(memory, shown):
        return f"it does not show the boot token that the ramdisk of node {node} was given"
    known = KnownAgent(memory).token_source
    if not are_two_machines(source, known):
        return None
    if boot_token.is_wanted(memory):
        LOG.info("Node %s: its ramdisk has looked it up from %s and sends its data from %s", node, known, source)
        return None
    return f"it comes from {source}, and the agent token of node {node} was given to {known}"
