"""Files of this host that a node names as whom to believe: looked at without any risk to hang or to change something.

Opening a device or a pipe may wait for ever, or set something going. So the kind of file is asked for first.
"""

import os
import stat
from typing import Final

# All authorities of a system take a quarter of a megabyte.
_LONGEST: Final = 16 * 1024 * 1024


def is_usable(path: str) -> bool:
    """Tell whether certificates may be read from there: a regular file, or a directory of such files."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def is_directory(path: str) -> bool:
    """Tell whether it is a directory."""
    return os.path.isdir(path)


def read(path: str) -> str:
    """Return the text of a regular file, or raise OSError or ValueError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is no regular file")
    # It may have become another one just now.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LONGEST:
            raise ValueError("it is no regular file, or too large")
        return file.read(_LONGEST).decode("ascii", errors="replace")
