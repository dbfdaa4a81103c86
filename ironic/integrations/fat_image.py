"""Small FAT images, made with mtools: the EFI system partition of a boot CD, floppies with settings."""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from ironic.core.errors.hardware_errors import ImageCreationFailed

# Bytes of a floppy, which every BMC has a drive for.
FLOPPY_SIZE: Final = 1440 * 1024

_KIB: Final = 1024
# Room for directories and the tables of the file system.
_OVERHEAD: Final = 256 * _KIB
_SECONDS: Final = 60
_PACKAGE: Final = "mtools"


def size_for(files: Mapping[str, bytes]) -> int:
    """Return the bytes of an image that has room for files: whole MiB."""
    needed = sum(len(content) for content in files.values()) + _OVERHEAD
    return -(-needed // (_KIB * _KIB)) * _KIB * _KIB


def make(path: Path, size: int, label: str, files: Mapping[str, bytes]) -> None:
    """Write an image of ``size`` bytes with these files, by path in the image; raises ImageCreationFailed."""
    image = str(path)
    with path.open("wb") as file:
        file.truncate(size)
    # Floppies have a format of their own; for others mtools needs the number of sectors.
    form = ["-f", str(size // _KIB)] if size == FLOPPY_SIZE else ["-T", str(size // 512), "-h", "64", "-s", "32"]
    _run("mformat", "-i", image, *form, "-v", label, "::")
    folders = {str(folder): None for name in files for folder in reversed(PurePosixPath(name).parents)}
    for folder in folders:
        if folder != ".":
            _run("mmd", "-i", image, f"::{folder}")
    for name, content in files.items():
        # Beside the image: the system's directory for temporary files may be one that can't be written.
        with tempfile.NamedTemporaryFile(dir=path.parent) as source:
            source.write(content)
            source.flush()
            _run("mcopy", "-i", image, source.name, f"::{name}")


def _run(*command: str) -> None:
    program = command[0]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise ImageCreationFailed(
            image_type="FAT", error=f"{program} is not installed; install package {_PACKAGE}"
        ) from None
    except subprocess.TimeoutExpired:
        raise ImageCreationFailed(image_type="FAT", error=f"{program} took longer than {_SECONDS} seconds") from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip()[:200]
        raise ImageCreationFailed(image_type="FAT", error=f"{program}: {reason}") from None
