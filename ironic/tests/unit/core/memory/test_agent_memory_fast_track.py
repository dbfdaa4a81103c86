"""When an operation goes on with a ramdisk that still runs."""

from typing import Any

import pytest

from ironic.core.memory import agent_memory


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
    assert agent_memory.is_fast_track_wanted({} if own is None else {"fast_track": own}, default) is wanted
