"""Recordings of what screens show, one file per session: lines of JSON with seconds and the bytes of the VNC server."""

import base64
import json
import logging
import os
import time
from types import TracebackType
from typing import BinaryIO, Final, Self

LOG = logging.getLogger(__name__)

_LARGEST: Final = 1024 * 1024 * 1024


class Recording:
    """Writes to a file until it is too large; without a file it forgets everything."""

    def __init__(self, uuid: str, file: BinaryIO | None) -> None:
        self._uuid, self._file, self._began, self._size = uuid, file, time.monotonic(), 0

    @classmethod
    def of(cls, prefix: str | None, uuid: str) -> Self:
        """Return the recording of a session at a node; a file that can't be written is no reason against a session."""
        if not prefix:
            return cls(uuid, None)
        path = f"{prefix}.{uuid}.{time.time_ns()}"
        try:
            return cls(uuid, open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"))
        except OSError as error:
            LOG.error("Node %s: its console is not recorded, as %s can't be written: %s", uuid, path, error.strerror)
            return cls(uuid, None)

    def add(self, shown: bytes) -> None:
        """Add what the VNC server has sent."""
        if self._file is None or self._size > _LARGEST:
            return
        line = json.dumps([round(time.monotonic() - self._began, 3), base64.b64encode(shown).decode()]) + "\n"
        self._size += len(line)
        try:
            self._file.write(line.encode())
        except OSError as error:
            LOG.error("Node %s: the recording of its console ends early: %s", self._uuid, error.strerror)
            self._size = _LARGEST + 1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
