"""Whether an operation on a node goes on with the ramdisk that still runs on its machine."""

from datetime import UTC, datetime
from typing import Final

from ironic.conf import CONF
from ironic.core import fast_track
from ironic.core.agent_memory import KnownAgent
from ironic.drivers.task import Node

PROPERTIES: Final = {
    "fast_track": "Whether a ramdisk that still runs is used by the next operation instead of being booted again. The "
    "default is option [deploy]fast_track.",
}


def is_wanted(node: Node) -> bool:
    """Tell whether the ramdisk is to stay after an operation."""
    return fast_track.is_wanted(node.driver_info, CONF.deploy.fast_track)


def is_heard(node: Node) -> bool:
    """Tell whether an agent that can be called was heard of lately."""
    now = datetime.now(UTC).replace(tzinfo=None)
    agent = KnownAgent(node.driver_internal_info)
    return agent.is_known and agent.was_heard(now, CONF.deploy.fast_track_timeout)


def can_go_on(node: Node) -> bool:
    """Tell whether the next operation needs no boot."""
    return is_wanted(node) and is_heard(node)
