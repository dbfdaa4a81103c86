"""The directory that dnsmasq watches (dhcp-hostsdir), one small file per host.

A file is rewritten in place under a lock: dnsmasq reads it when it is closed and might not notice other changes. Files
of other names are somebody else's and are left alone.
"""

import fcntl
import os
from typing import Final

from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_fixed

from ironic.core.errors import IronicError
from ironic.inspection.pxe_filter.decide import is_ours

_ATTEMPTS: Final = 10
_PAUSE: Final = 0.01


class HostsDirError(IronicError):
    """The directory can't be worked with."""

    text = "[pxe_filter]dhcp_hostsdir {path}: {error}"


class HostsDir:
    """The files of one dnsmasq."""

    def __init__(self, path: str | None) -> None:
        if not path:
            raise HostsDirError(path="is not set", error="name the directory that dnsmasq watches")
        if not os.path.isdir(path):
            raise HostsDirError(path=path, error="there is no such directory; create it before dnsmasq starts")
        self.path = path

    def sizes(self) -> dict[str, int]:
        """Return our files with their sizes."""
        with os.scandir(self.path) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if is_ours(entry.name)}

    def write(self, name: str, content: str) -> None:
        """Give a file its content, or raise OSError."""
        data = content.encode()
        file = os.open(os.path.join(self.path, name), os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            _lock(file)
            os.pwrite(file, data, 0)
            os.ftruncate(file, len(data))
        finally:
            os.close(file)


@retry(
    retry=retry_if_exception_type(BlockingIOError),
    stop=stop_after_attempt(_ATTEMPTS),
    wait=wait_fixed(_PAUSE),
    reraise=True,
)
def _lock(file: int) -> None:
    """Keep other filters out for as long as the file is open."""
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
