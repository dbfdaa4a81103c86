"""Room on the disks of this host for images: some of it is always left to the service and its database.

Room for a conversion is promised before it is taken, so that several at once don't count on the same bytes.
"""

import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ironic.conf import CONF
from ironic.core.image_errors import ImageUnacceptable, InsufficientDiskSpace

_MIB: Final = 1024 * 1024

_lock = threading.Lock()
# File that is being written -> bytes it may have in the end.
_promised: dict[Path, int] = {}


def most_bytes() -> int:
    """Return how many bytes the largest image has that is taken."""
    most: int = CONF.outgoing.download_max_size * _MIB
    return most


def check_size(size: int) -> None:
    """Refuse an image that is larger than images may be."""
    if size > most_bytes():
        raise ImageUnacceptable(
            reason=f"it has {size // _MIB} MiB; [outgoing]download_max_size allows {CONF.outgoing.download_max_size}"
        )


@contextmanager
def promised(path: Path, size: int) -> Iterator[None]:
    """Promise room to a file that is to be written, or raise InsufficientDiskSpace."""
    with _lock:
        _check(path.parent, size)
        _promised[path] = size
    try:
        yield
    finally:
        with _lock:
            del _promised[path]


def check_room(folder: Path, size: int) -> None:
    """Raise InsufficientDiskSpace when so many bytes more would leave too little room."""
    with _lock:
        _check(folder, size)


def _check(folder: Path, size: int) -> None:
    awaited = sum(max(0, most - _taken(path)) for path, most in _promised.items())
    free = max(0, shutil.disk_usage(folder).free - awaited - CONF.outgoing.min_free_space * _MIB)
    if size > free:
        raise InsufficientDiskSpace(path=str(folder), required=-(-size // _MIB), actual=free // _MIB)


def _taken(path: Path) -> int:
    """Return the room that a file takes already; a raw image has holes."""
    try:
        return path.stat().st_blocks * 512
    except FileNotFoundError:
        return 0


def fitting(pieces: Iterable[bytes], folder: Path) -> Iterator[bytes]:
    """Yield pieces of an image as long as there is room for each of them."""
    for piece in pieces:
        check_room(folder, len(piece))
        yield piece
