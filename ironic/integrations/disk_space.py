"""Disk space for images on this host: a reserve always stays free for the service and its database.

Space for a conversion is reserved before it is used, so that several conversions at once do not count on the same
bytes.
"""

import contextlib
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import ImageUnacceptable, InsufficientDiskSpace

_MIB: Final = 1024 * 1024

_lock = threading.Lock()
# File in work -> largest size in bytes that it may reach.
_reserved: dict[Path, int] = {}


def most_bytes() -> int:
    """Return the largest accepted size of an image in bytes."""
    most: int = CONF.outgoing.download_max_size * _MIB
    return most


def check_size(size: int) -> None:
    """Raise ImageUnacceptable when an image has too many bytes."""
    if size > most_bytes():
        raise ImageUnacceptable(
            reason=f"it has {size // _MIB} MiB; [outgoing]download_max_size allows {CONF.outgoing.download_max_size}"
        )


@contextmanager
def reserved(path: Path, size: int) -> Iterator[None]:
    """Reserve ``size`` bytes for a file while it is written, or raise InsufficientDiskSpace."""
    with _lock:
        _check(path.parent, size)
        _reserved[path] = size
    try:
        yield
    finally:
        with _lock:
            del _reserved[path]


def check_space(folder: Path, size: int) -> None:
    """Raise InsufficientDiskSpace when ``size`` more bytes would leave too little free space."""
    with _lock:
        _check(folder, size)


def _check(folder: Path, size: int) -> None:
    awaited = 0
    for path, most in _reserved.items():
        # Blocks, not the length: a raw image has holes.
        with contextlib.suppress(FileNotFoundError):
            most -= path.stat().st_blocks * 512
        awaited += max(0, most)
    free = max(0, shutil.disk_usage(folder).free - awaited - CONF.outgoing.min_free_space * _MIB)
    if size > free:
        raise InsufficientDiskSpace(path=str(folder), required=-(-size // _MIB), actual=free // _MIB)


def fitting(pieces: Iterable[bytes], folder: Path) -> Iterator[bytes]:
    """Yield the pieces of an image; raise InsufficientDiskSpace before one for which there is no space."""
    for piece in pieces:
        check_space(folder, len(piece))
        yield piece
