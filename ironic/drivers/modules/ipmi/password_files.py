"""Password files for ipmitool: in a private directory of this process, each for as long as its user needs it.

The directory is locked while the process lives, so another one recognises what a killed process has left behind, and
removes it when it makes its own. Sources: doc/contract/drivers.md#passwords-of-ipmi-bmcs.
"""

import atexit
import fcntl
import logging
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import PasswordFileFailedToCreate

LOG = logging.getLogger(__name__)

_PREFIX: Final = "ironic-ipmi-"
_MODE: Final = 0o700

_making = threading.Lock()
# By [DEFAULT]tempdir, the directory and the descriptor that holds its lock.
_own: dict[str, tuple[Path, int]] = {}


@contextmanager
def password_file(password: str | None) -> Iterator[Path]:
    """Write a password to a file that exists while the block runs; raise PasswordFileFailedToCreate."""
    path = write_password(password)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def write_password(password: str | None) -> Path:
    """Write a password to a new file that the caller deletes; raise PasswordFileFailedToCreate.

    An empty password is written as a zero byte, else ipmitool would ask for one.
    """
    name = None
    try:
        handle, name = tempfile.mkstemp(dir=_directory())
        with open(handle, "w", encoding="utf-8") as file:
            file.write(password or "\0")
    except OSError as error:
        if name is not None:
            with suppress(OSError):
                os.unlink(name)
        raise PasswordFileFailedToCreate(error=f"{error.strerror} ({CONF.tempdir})") from error
    return Path(name)


def prepare() -> None:
    """Make the directory and remove those of dead processes; raise PasswordFileFailedToCreate."""
    try:
        _directory()
    except OSError as error:
        raise PasswordFileFailedToCreate(error=f"{error.strerror} ({CONF.tempdir})") from error


def _directory() -> Path:
    """Return the directory of this process, a new one when someone has removed it."""
    root = str(CONF.tempdir)
    with _making:
        path, handle = _own.get(root, (None, -1))
        if path is not None and path.is_dir():
            return path
        if path is not None:
            os.close(handle)
        _remove_leftovers(Path(root))
        _own[root] = path, _ = _locked_directory(root)
        return path


def _locked_directory(root: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
        # Another process may take it for a leftover before it is locked.
        with suppress(FileNotFoundError):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            fcntl.flock(handle, fcntl.LOCK_EX)
            if path.is_dir():
                atexit.register(_remove_own, path, os.getpid())
                return path, handle
            os.close(handle)


def _remove_own(path: Path, process: int) -> None:
    # A copy of this process ends in the same way.
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


def _remove_leftovers(root: Path) -> None:
    """Remove directories of this user that no living process holds."""
    for path in root.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                found = os.fstat(handle)
                if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == _MODE:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path)
                    LOG.info("Removed %s, password files of a conductor that did not end orderly", path)
            finally:
                os.close(handle)
