"""Files that third-party plug-ins write, fill from templates and remove on the conductor's host.

A template is the plug-in's or the operator's, and it is filled in a sandbox: it reaches no more than the values that it
is given. What stands in the values is not escaped; who fills a template quotes them for the program that reads it.
"""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from ironic.conf import CONF
from ironic.core.plug_ins.plug_in_errors import DirectoryNotWritable, PathNotFound
from ironic.integrations.disk_space import check_space

LOG = logging.getLogger(__name__)

_MIB: Final = 1024 * 1024


def rmtree_without_raise(path: str) -> None:
    """Remove a directory with all that is in it; a fault is only logged."""
    with _logged("remove", path):
        if os.path.isdir(path):
            shutil.rmtree(path)


def unlink_without_raise(path: str) -> None:
    """Remove a file, if there is one; a fault is only logged."""
    with _logged("remove", path), suppress(FileNotFoundError):
        os.unlink(path)


def create_link_without_raise(source: str, link: str) -> None:
    """Make a symbolic link to ``source``, if nothing of its name is there; a fault is only logged."""
    with _logged("link", link), suppress(FileExistsError):
        os.symlink(source, link)


@contextmanager
def _logged(act: str, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        LOG.warning("Can't %s %s: %s", act, path, error.strerror or error)


def write_to_file(path: str, contents: str, permission: int | None = None) -> None:
    """Write text to a file, in the place of what it had; ``permission`` is its mode from the first byte on."""
    mode = 0o666 if permission is None else permission
    with open(path, "w", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        if permission is not None:
            # A file that was there has its old mode, and the process takes bits from that of a new one.
            os.fchmod(file.fileno(), permission)
        file.write(contents)


@contextmanager
def tempdir(**keywords: Any) -> Iterator[str]:
    """Yield a new directory that only this service can read, in [DEFAULT]tempdir, and remove it afterwards.

    ``keywords`` are those of `tempfile.mkdtemp`; ``dir`` names another place. A fault of the removal is only logged.
    """
    made = tempfile.mkdtemp(**{"dir": CONF.tempdir, **keywords})
    try:
        yield made
    finally:
        rmtree_without_raise(made)


def check_dir(directory_to_check: str | None = None, required_space: int = 1) -> None:
    """Check a directory, or [DEFAULT]tempdir, for a free space in MiB.

    Raises PathNotFound, DirectoryNotWritable or InsufficientDiskSpace. [outgoing]min_free_space stays free besides.
    """
    path = CONF.tempdir if directory_to_check is None else directory_to_check
    if not os.path.isdir(path):
        raise PathNotFound(dir=path)
    if not os.access(path, os.W_OK | os.X_OK):
        raise DirectoryNotWritable(dir=path)
    check_space(Path(path), required_space * _MIB)


def render_template(template: str, params: Mapping[str, object], is_file: bool = True, strict: bool = False) -> str:
    """Return a Jinja2 template with its values; ``template`` is a path, or the text itself.

    A template of a file may include others of its directory. An unknown variable is empty, or jinja2.UndefinedError
    with ``strict``.
    """
    place, name = os.path.split(os.path.abspath(template)) if is_file else ("", "template")
    loader = jinja2.FileSystemLoader(place) if is_file else jinja2.DictLoader({name: template})
    undefined = jinja2.StrictUndefined if strict else jinja2.Undefined
    environment = SandboxedEnvironment(loader=loader, undefined=undefined, autoescape=False)
    return environment.get_template(name).render(params)
