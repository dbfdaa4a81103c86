"""Writing what machines are offered: whole files at once, with the modes that the operator wants."""

import os
import secrets
from pathlib import Path

from ironic.conf import CONF


def make_folder(path: Path) -> None:
    """Make a directory and those above it; those made get the mode of [pxe]dir_permission."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    if CONF.pxe.dir_permission is not None:
        os.chmod(path, CONF.pxe.dir_permission)


def write(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Give a file its content in one step: a machine that reads meanwhile gets the old one or the new one.

    Its mode is that of [pxe]file_permission unless another one is given.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return
    make_folder(path.parent)
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        fresh.write_bytes(data)
        os.chmod(fresh, CONF.pxe.file_permission if mode is None else mode)
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file that may be there."""
    path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove a directory of files that may be there."""
    if path.is_dir():
        for file in path.iterdir():
            file.unlink(missing_ok=True)
        path.rmdir()
