"""What is made at the start is left alone by the garbage collector, and nothing else is."""

import gc
import weakref

import pytest

from ironic.command.lifecycle import without_garbage_collection


class Ring:
    """Garbage that only a collection finds."""

    def __init__(self) -> None:
        self.me = self


def test_what_is_made_within_is_never_looked_at() -> None:
    with without_garbage_collection():
        assert not gc.isenabled()
        made = Ring()
        assert any(one is made for one in gc.get_objects())
    assert gc.isenabled()
    assert not any(one is made for one in gc.get_objects())


def test_what_is_made_later_is_collected() -> None:
    with without_garbage_collection():
        early = weakref.ref(Ring())
    late = weakref.ref(Ring())
    gc.collect()
    assert early() is not None
    assert late() is None


def test_a_start_that_fails_leaves_the_collector_at_work() -> None:
    with pytest.raises(OSError, match="no port"), without_garbage_collection():
        raise OSError("no port")
    assert gc.isenabled()
