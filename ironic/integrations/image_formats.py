"""What an image file is, whether it is harmless, and making a raw one of it.

Looking into a file is left to oslo.utils and converting to qemu-img, which never has to guess a format: what could
lead it to other files of this host (a backing file, a data file outside) is refused before. An image must be what it
is called; what is written byte by byte (raw, gpt, iso and such) may be called by each other's name.
"""

import hashlib
import logging
import os
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from oslo_concurrency import processutils
from oslo_utils.imageutils import format_inspector

from ironic.conf import CONF
from ironic.core.image_errors import ImageConvertFailed, ImageUnacceptable
from ironic.integrations import disk_room

LOG = logging.getLogger(__name__)

RAW: Final = "raw"

_PROGRAM: Final = "qemu-img"
# The last three are what images of partitions, kernels and ramdisks are called where they come with each other.
_VERBATIM: Final = frozenset({RAW, "gpt", "iso", "ami", "aki", "ari"})
_MIB: Final = 1024 * 1024
# As many places of memory as there are threads would count against the limit.
_ENVIRONMENT: Final = {"LC_ALL": "C", "MALLOC_ARENA_MAX": "3"}


@dataclass(frozen=True, slots=True)
class Format:
    """The format of an image file, and how many bytes it has on a disk."""

    name: str
    size: int

    @property
    def is_verbatim(self) -> bool:
        """Whether the file is what stands on the disk, byte by byte."""
        return self.name in _VERBATIM


def inspect(path: Path, called: str | None, permitted: Collection[str]) -> Format:
    """Return what a file is, or raise ImageUnacceptable when that is not allowed, not harmless or called otherwise."""
    try:
        found: Any = format_inspector.detect_file_format(str(path))
        found.safety_check()
    except (format_inspector.ImageFormatError, format_inspector.SafetyCheckFailed) as error:
        raise ImageUnacceptable(reason=f"it is not safe to use: {error}") from error
    known = Format(str(found), int(found.virtual_size))
    disk_room.check_size(known.size)
    if known.name not in permitted:
        raise ImageUnacceptable(
            reason=f"its format is {known.name}; [conductor]permitted_image_formats has {', '.join(permitted)}"
        )
    if called and called != known.name and not {called, known.name} <= _VERBATIM:
        raise ImageUnacceptable(reason=f"its format is {known.name} although it is called {called}")
    return known


def make_raw(path: Path, known: Format) -> None:
    """Put a raw image in the place of one of another format."""
    raw = path.with_name(f"{path.name}.raw")
    with disk_room.promised(raw, known.size):
        try:
            _convert(path, known, raw)
            raw.replace(path)
        finally:
            raw.unlink(missing_ok=True)


def _convert(source: Path, known: Format, target: Path) -> None:
    if shutil.which(_PROGRAM) is None:
        raise ImageConvertFailed(format=known.name, reason=f"{_PROGRAM} can't be found; install it (qemu-utils)")
    options = CONF.disk_utils
    limits = processutils.ProcessLimits(
        address_space=options.image_convert_memory_limit * _MIB,
        core_file_size=0,
        # For a program that outlives this service; until then the clock decides.
        cpu_time=options.image_convert_timeout,
        file_size=known.size + _MIB,
    )
    try:
        processutils.execute(
            *(_PROGRAM, "convert", "-f", known.name, "-O", RAW, str(source), str(target)),
            prlimit=limits,
            attempts=options.image_convert_attempts,
            timeout=options.image_convert_timeout,
            on_completion=_end,
            env_variables={**os.environ, **_ENVIRONMENT},
        )
    except processutils.ProcessExecutionError as error:
        LOG.warning("qemu-img could not convert %s: %s", source.name, error.stderr)
        reason = f"qemu-img ended with status {error.exit_code}"
        raise ImageConvertFailed(format=known.name, reason=reason) from error
    except subprocess.TimeoutExpired as error:
        reason = f"qemu-img took longer than [disk_utils]image_convert_timeout, {options.image_convert_timeout} s"
        raise ImageConvertFailed(format=known.name, reason=reason) from error


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a conversion that is still under way when its time is over."""
    if process.poll() is None:
        process.kill()
        process.communicate()


def sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
