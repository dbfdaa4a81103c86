"""Fast track: going on with a ramdisk that still runs instead of booting it again. Decided from plain data.

Source: doc/contract/agent.md#fast-track and doc/contract/agent.md#look-up.
"""

from collections.abc import Mapping
from typing import Final

from ironic.core import states, syntax

# A ramdisk that nobody waits for may be running in these.
IDLE: Final = frozenset({states.ENROLL, states.MANAGEABLE, states.AVAILABLE})
# Where a ramdisk may look its node up besides the states that allow it anyway.
LOOKUP_ALLOWED: Final = IDLE | {states.SERVICING, states.SERVICEHOLD}

# Of a machine that nobody but its ramdisk can restart: an operation that begins in one of these needs that ramdisk. In
# the others the machine may well run its user's system.
NEEDS_RAMDISK: Final = IDLE | {states.VERIFYING, states.INSPECTFAIL, states.CLEANFAIL}


def is_wanted(driver_info: Mapping[str, object], default: bool) -> bool:
    """Tell whether the node's ramdisk is to stay; the node's own word wins over the option."""
    own = driver_info.get("fast_track")
    return default if own is None else syntax.truth_of(str(own)) is True
