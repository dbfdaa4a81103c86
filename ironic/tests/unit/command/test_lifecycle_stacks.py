"""The environment may say how large the stacks of threads are."""

import threading
from collections.abc import Iterator

import pytest

from ironic.command.lifecycle import set_thread_stacks


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = threading.stack_size()
    yield
    threading.stack_size(before)


def test_threads_get_the_stack_that_the_environment_asks_for() -> None:
    set_thread_stacks({"IRONIC_THREAD_STACK_SIZE": "8388608"})
    assert threading.stack_size() == 8388608


@pytest.mark.parametrize("text", [None, "", " "])
def test_without_a_size_the_system_decides(text: str | None) -> None:
    before = threading.stack_size()
    set_thread_stacks({} if text is None else {"IRONIC_THREAD_STACK_SIZE": text})
    assert threading.stack_size() == before


@pytest.mark.parametrize("text", ["large", "0", "-1", "1024", "9" * 40])
def test_a_size_that_can_not_be_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="IRONIC_THREAD_STACK_SIZE in the environment is"):
        set_thread_stacks({"IRONIC_THREAD_STACK_SIZE": text})
