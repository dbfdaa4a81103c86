"""The files that say who runs a conductor: one process has each, and none is left of conductors that are gone."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ironic.command.conductor_name import NameLock
from ironic.conf import CONF


@pytest.fixture
def lock(conf: Callable[..., None], tmp_path: Path) -> Callable[[str], NameLock]:
    """Return a function that makes the lock of a host; all are of one database."""
    conf(state_path=str(tmp_path), database__connection="sqlite:////x")

    def of(host: str) -> NameLock:
        conf(host=host)
        return NameLock.of(CONF)

    return of


def names(directory: Path) -> set[str]:
    return {path.name.split("-")[1] for path in directory.glob("conductor-*.lock")}


def test_an_orderly_end_leaves_no_file(lock: Callable[[str], NameLock], tmp_path: Path) -> None:
    mine = lock("a")
    assert mine.take() and names(tmp_path) == {"a"}
    other = lock("a")
    assert other.take() is False
    mine.remove()
    assert names(tmp_path) == set()
    # It has waited for the file that is gone, and makes a new one at the next look.
    assert other.take() is False
    assert other.take() is True
    assert lock("a").take() is False
    other.remove()
    assert names(tmp_path) == set()


def test_who_has_no_lock_removes_nothing(lock: Callable[[str], NameLock], tmp_path: Path) -> None:
    mine, other = lock("a"), lock("a")
    assert mine.take() and other.take() is False
    other.remove()
    other.remove_others(lambda host: False)
    assert names(tmp_path) == {"a"}
    mine.remove()


def test_files_of_conductors_that_are_gone_are_removed(
    lock: Callable[[str], NameLock], conf: Callable[..., None], tmp_path: Path
) -> None:
    for host in ("a", "killed", "b%2F/c", "elsewhere"):
        left = lock(host)
        assert left.take()
        left.close()
    running, mine = lock("running"), lock("a")
    assert running.take() and mine.take()
    asked: list[str] = []

    def is_alive(host: str) -> bool:
        asked.append(host)
        return host == "elsewhere"

    conf(database__connection="sqlite:////y")
    other = lock("other")
    assert other.take()
    other.close()
    mine.remove_others(is_alive)
    assert names(tmp_path) == {"a", "running", "elsewhere", "other"}
    assert set(asked) == {"killed", "b%2F/c", "elsewhere", "running"}
    running.remove()
    mine.remove()
