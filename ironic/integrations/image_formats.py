"""Formats of image files: detect the format, check that the image is safe, and convert it to raw.

oslo.utils inspects files, qemu-img converts them. qemu-img never guesses a format, and images that refer to other files
of this host (a backing file, an external data file) are refused before. The detected format must be the named one;
formats that are written byte by byte (raw, gpt, iso and the like) may be named by each other's names.
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

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import ImageConvertFailed, ImageUnacceptable
from ironic.integrations import disk_space

LOG = logging.getLogger(__name__)

RAW: Final = "raw"

_PROGRAM: Final = "qemu-img"
# The last three are names for images of partitions, kernels and ramdisks that belong to each other.
_VERBATIM: Final = frozenset({RAW, "gpt", "iso", "ami", "aki", "ari"})
_ISO: Final = "iso"
_HYBRID: Final = frozenset({_ISO, "gpt"})
_MIB: Final = 1024 * 1024
_CHUNK: Final = 65536
# One malloc arena per thread would count against the limit of the address space.
_ENVIRONMENT: Final = {"LC_ALL": "C", "MALLOC_ARENA_MAX": "3"}


@dataclass(frozen=True, slots=True)
class Format:
    """The format of an image file, and its size on a disk in bytes."""

    name: str
    size: int

    @property
    def is_verbatim(self) -> bool:
        """Whether the file has the content of the disk byte by byte."""
        return self.name in _VERBATIM


def inspect(path: Path, called: str | None, permitted: Collection[str]) -> Format:
    """Return the format of a file; raise ImageUnacceptable when it is not permitted, not safe or not the named one.

    ``called`` is the format that the user has named, None for any.
    """
    # Imported at the first image, so that the service starts without loading it; so is processutils below.
    from oslo_utils.imageutils import format_inspector

    try:
        found = _detected(path)
        found.safety_check()
    except (format_inspector.ImageFormatError, format_inspector.SafetyCheckFailed) as error:
        raise ImageUnacceptable(reason=f"it is not safe to use: {error}") from error
    known = Format(str(found), int(found.virtual_size))
    disk_space.check_size(known.size)
    if known.name not in permitted:
        raise ImageUnacceptable(
            reason=f"its format is {known.name}; [conductor]permitted_image_formats has {', '.join(permitted)}"
        )
    if called and called != known.name and not {called, known.name} <= _VERBATIM:
        raise ImageUnacceptable(reason=f"its format is {known.name} although it is called {called}")
    return known


def _detected(path: Path) -> Any:
    """Return the inspector of oslo.utils for the format of a file, which has one format, or is a hybrid ISO image."""
    from oslo_utils.imageutils import format_inspector

    with path.open("rb") as file:
        wrapper = format_inspector.InspectWrapper(file)
        while wrapper.formats is None and wrapper.read(_CHUNK):
            pass
        wrapper.close()
    by_name = {str(one): one for one in wrapper.formats or ()}
    # An ISO image that starts from a disk too has a partition table in the area that ISO leaves to the system.
    if by_name.keys() == _HYBRID:
        return by_name[_ISO]
    if len(by_name) != 1:
        raise format_inspector.ImageFormatError(f"Multiple formats detected: {', '.join(sorted(by_name))}")
    return next(iter(by_name.values()))


def make_raw(path: Path, known: Format) -> None:
    """Replace an image of another format by a raw one; raises ImageConvertFailed or InsufficientDiskSpace."""
    raw = path.with_name(f"{path.name}.raw")
    with disk_space.reserved(raw, known.size):
        try:
            _convert(path, known, raw)
            raw.replace(path)
        finally:
            raw.unlink(missing_ok=True)


def _convert(source: Path, known: Format, target: Path) -> None:
    from oslo_concurrency import processutils

    if shutil.which(_PROGRAM) is None:
        raise ImageConvertFailed(format=known.name, reason=f"{_PROGRAM} can't be found; install it (qemu-utils)")
    options = CONF.disk_utils
    limits = processutils.ProcessLimits(
        address_space=options.image_convert_memory_limit * _MIB,
        core_file_size=0,
        # For a process that outlives this service; the timeout below ends it before.
        cpu_time=options.image_convert_timeout,
        file_size=known.size + _MIB,
    )
    try:
        processutils.execute(
            *(_PROGRAM, "convert", "-f", known.name, "-O", RAW, str(source), str(target)),
            prlimit=limits,
            attempts=options.image_convert_attempts,
            timeout=options.image_convert_timeout,
            on_completion=_kill_unfinished,
            env_variables={**os.environ, **_ENVIRONMENT},
        )
    except processutils.ProcessExecutionError as error:
        LOG.warning("qemu-img could not convert %s: %s", source.name, error.stderr)
        reason = f"qemu-img ended with status {error.exit_code}"
        raise ImageConvertFailed(format=known.name, reason=reason) from error
    except subprocess.TimeoutExpired as error:
        reason = f"qemu-img took longer than [disk_utils]image_convert_timeout, {options.image_convert_timeout} s"
        raise ImageConvertFailed(format=known.name, reason=reason) from error


def _kill_unfinished(process: "subprocess.Popen[bytes]") -> None:
    """Kill a conversion that has not ended in its time."""
    if process.poll() is None:
        process.kill()
        process.communicate()


def sha256(path: Path) -> str:
    """Return the SHA256 checksum of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
