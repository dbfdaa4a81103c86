"""The name of a conductor, which one process has at a time.

A process that takes the name of a living one would end that one and lose its work, so a start is refused while the name
is in use. There are two signs: a file in [DEFAULT]state_path, which the process that has the name keeps locked (the
system unlocks it when the process ends, however it ends), and the heartbeat in the table of conductors. A process that
was killed is replaced at once where its file is; elsewhere, as in a new container, after one heartbeat that did not
come. Nothing holds a name for ever: a process that does not beat any more, such as a frozen one, loses it.
"""

import contextlib
import fcntl
import glob
import hashlib
import logging
import os
import signal
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import quote, unquote

from oslo_config import cfg

from ironic.command.lifecycle import Component, Pause, StopRequested
from ironic.db import ConductorLife, Store

LOG = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 0.2
# A living process beats within so many intervals and seconds, even on a busy machine.
_INTERVALS: Final = 1.5
_SPARE_SECONDS: Final = 2.0

# The name of a lock's file has the name of the conductor, quoted, and a part of the database's hash between these.
_PREFIX, _SUFFIX, _HASH = "conductor-", ".lock", 12
_LONGEST_NAME: Final = 150

_WAYS_OUT: Final = (
    "Two processes can't share a name, and nothing was changed. If this start was a mistake, all is well; to replace "
    "the running process, stop it first; to run both, give each its own [DEFAULT]host."
)


class ConductorNameTaken(ValueError):
    """Another process runs under the name of this conductor."""


class ConductorName(Component):
    """Waits until the name is free, has it, and gives it back."""

    def __init__(self, store: Store, conf: cfg.ConfigOpts, pause: Pause) -> None:
        self._conductors, self._pause, self._host = store.conductors, pause, conf.host
        self._dead_after, self._interval = conf.conductor.heartbeat_timeout, conf.conductor.heartbeat_interval
        self._lock = NameLock.of(conf)
        self._before: ConductorLife | None = None

    def start(self) -> None:
        """Return once no process has the name; raise ConductorNameTaken, or StopRequested after a signal."""
        first = self._look()
        until = time.monotonic() + _INTERVALS * self._interval + _SPARE_SECONDS
        is_told = False
        while not self._is_free(first):
            if time.monotonic() > until:
                LOG.warning("The earlier process of conductor %s does not beat any more and is replaced", self._host)
                break
            if not is_told:
                LOG.info(
                    "Conductor %s may still run in another process; waiting up to %.0f seconds for a sign of its life",
                    self._host,
                    until - time.monotonic(),
                )
                is_told = True
            if self._pause(_LOOK_SECONDS):
                raise StopRequested
        self._before = self._look()
        self._lock.remove_others(self._is_alive)

    def begin(self) -> str:
        """Begin a life under the name and return its id; raise ConductorSuperseded if another has begun meanwhile."""
        life = self._conductors.begin(self._host, after=self._before and self._before.incarnation)
        self._lock.write(life)
        return life

    def lost(self) -> None:
        """End the process: another one has taken the name."""
        self.fault = (
            f"A newer process runs as conductor {self._host}, so this one ends and its work is lost. If that is not a "
            "restart, give each conductor its own [DEFAULT]host."
        )
        LOG.error("%s", self.fault)
        os.kill(os.getpid(), signal.SIGTERM)

    def stop(self) -> None:
        """Leave the name to others."""
        self._lock.remove()

    def _is_free(self, first: ConductorLife | None) -> bool:
        """Return whether no process has the name, and raise when one shows that it does."""
        is_mine, found = self._lock.take(), self._look()
        is_alive = found is not None and found.is_alive
        if is_alive and is_mine is False:
            owner = self._lock.owner
            raise ConductorNameTaken(f"process {owner} of this host already runs conductor {self._host}. {_WAYS_OUT}")
        if is_alive and found != first:
            raise ConductorNameTaken(
                f"a process that this host does not know runs conductor {self._host}: its heartbeat has just come. "
                f"{_WAYS_OUT}"
            )
        if not is_alive:
            # The file is locked before the table is written.
            return is_mine is not False
        return is_mine is True and found is not None and self._lock.life == found.incarnation

    def _is_alive(self, host: str) -> bool:
        found = self._conductors.life(host, self._dead_after)
        return found is not None and found.is_alive

    def _look(self) -> ConductorLife | None:
        return self._conductors.life(self._host, self._dead_after)


class NameLock:
    """A file that the process with the name keeps locked; it has the process's number and the id of its life."""

    def __init__(self, path: str | None) -> None:
        """Take the path; without one nothing is known of other processes of this host."""
        self._path, self._file, self._is_mine = path, -1, False

    @classmethod
    def of(cls, conf: cfg.ConfigOpts) -> "NameLock":
        """Return the lock of the conductor; one name may be used with several databases."""
        if conf.state_path == conf.pybasedir:
            # No directory for data was named.
            return cls(None)
        database = hashlib.sha256(conf.database.connection.encode()).hexdigest()[:_HASH]
        name = quote(conf.host, safe="")[:_LONGEST_NAME]
        return cls(os.path.join(conf.state_path, f"{_PREFIX}{name}-{database}{_SUFFIX}"))

    def take(self) -> bool | None:
        """Lock the file; return false if another process has, None if there can be no such file."""
        if self._is_mine or not self._path:
            return self._is_mine or None
        try:
            if self._file < 0:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not _is_at(self._file, self._path):
                # The process that had it has removed it meanwhile: the next look makes a new one.
                self.close()
                return False
        except BlockingIOError:
            return False
        except OSError as error:
            LOG.warning(
                "%s can't be locked (%s), so a restart after a crash waits for a heartbeat that does not come. Let "
                "the service write to [DEFAULT]state_path",
                self._path,
                error.strerror,
            )
            self._path = None
            return None
        self._is_mine = True
        return True

    @property
    def owner(self) -> str:
        """The number of the process that has, or had, the lock."""
        return self._words()[0]

    @property
    def life(self) -> str:
        """The id of the life that this process had."""
        return self._words()[1]

    def write(self, life: str) -> None:
        """Write down who has the lock, for others that look."""
        if self._is_mine:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()} {life}\n".encode(), 0)

    def remove_others(self, is_alive: Callable[[str], bool]) -> None:
        """Remove the files of conductors of this database that are neither running here nor alive elsewhere."""
        if not (self._is_mine and self._path):
            return
        folder, mine = os.path.split(self._path)
        database = mine.removesuffix(_SUFFIX)[-_HASH:]
        for path in glob.glob(os.path.join(glob.escape(folder), f"{_PREFIX}*-{database}{_SUFFIX}")):
            name = os.path.basename(path)[len(_PREFIX) : -len(f"-{database}{_SUFFIX}")]
            if path != self._path and len(name) < _LONGEST_NAME and not is_alive(unquote(name)):
                with contextlib.suppress(OSError):
                    other = NameLock(path)
                    if other.take():
                        other.remove()

    def remove(self) -> None:
        """Remove the file, if this process has it, and unlock it."""
        if self._is_mine and self._path:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        self.close()

    def close(self) -> None:
        """Unlock the file."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file, self._is_mine = -1, False

    def _words(self) -> tuple[str, str]:
        words = os.pread(self._file, 200, 0).decode(errors="replace").split() if self._file >= 0 else []
        return (words[0], words[1]) if len(words) == 2 else ("(unknown)", "")


def _is_at(file: int, path: str) -> bool:
    """Return whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False
