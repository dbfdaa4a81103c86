"""When an operation goes on with a ramdisk that still runs."""

from datetime import datetime
from typing import Any

import pytest

from ironic.core import fast_track

NOW = datetime(2026, 1, 1, 12, 0, 0)


@pytest.mark.parametrize(
    "own, default, wanted",
    [
        (None, False, False),
        (None, True, True),
        (True, False, True),
        ("true", False, True),
        (" Yes ", False, True),
        ("false", True, False),
        (False, True, False),
        ("nonsense", True, False),
    ],
)
def test_the_nodes_own_word_wins(own: Any, default: bool, wanted: bool) -> None:
    assert fast_track.is_wanted({} if own is None else {"fast_track": own}, default) is wanted


@pytest.mark.parametrize(
    "heartbeat, fresh",
    [
        ("2026-01-01T11:59:59.5", True),
        ("2026-01-01T11:55:00", True),
        ("2026-01-01T11:54:59", False),
        ("2026-01-01T11:59:59+00:00", True),
        (None, False),
        ("yesterday", False),
    ],
)
def test_a_heartbeat_counts_for_a_while(heartbeat: Any, fresh: bool) -> None:
    assert fast_track.is_fresh({"agent_last_heartbeat": heartbeat}, NOW, 300) is fresh
