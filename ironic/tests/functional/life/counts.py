"""What a process of the service holds: bytes, files, threads, connections to databases, classes."""

import json
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_LOOKED_UP = Path(__file__).with_name("counting")
# The first question makes things of its own and is not counted.
_QUESTIONS = 8
_PAUSE = 0.3


class Counts(NamedTuple):
    """What was there at one moment, with garbage collected and bounded caches empty."""

    bytes: int
    files: int
    threads: int
    connections: int
    objects: int
    classes: int
    wsme: int


class Counted:
    """One process that can be asked; ``environment`` is what it has to be started with."""

    def __init__(self, directory: Path, name: str) -> None:
        self._place = directory / f"{name}.counts"

    @property
    def environment(self) -> Mapping[str, str]:
        """What makes a program answer."""
        return {"PYTHONPATH": str(_LOOKED_UP), "PYTHONMALLOC": "malloc", "IRONIC_COUNTING": str(self._place)}

    def now(self) -> Counts:
        """Ask the process several times and return the least: periodic work makes things that are gone at once."""
        seen = [self._asked()]
        for _ in range(_QUESTIONS):
            time.sleep(_PAUSE)
            seen.append(self._asked())
        return Counts(*map(min, *seen[1:]))

    def _asked(self) -> Counts:
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(120)
            door.connect(str(self._place))
            told = b"".join(iter(lambda: door.recv(65536), b""))
        return Counts(**json.loads(told))


def grown(counted: Counted, before: Counts, most: Counts, seconds: float = 60) -> Counts:
    """Return what came on top since then, once it is no more than ``most`` or a while has passed: threads take time."""
    deadline = time.monotonic() + seconds
    while True:
        more = Counts(*(after - first for after, first in zip(counted.now(), before, strict=True)))
        if all(one <= limit for one, limit in zip(more, most, strict=True)) or time.monotonic() > deadline:
            return more
