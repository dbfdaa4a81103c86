"""Files of this host that a node may name: images to hand out, CA files to trust, and files that stay private.

Private files are those of the service itself: secrets (database, logs, configuration, passwords and keys) and the
directories in which it keeps or offers images of all nodes. No URL leads to them; machines get files of these
directories from the service only.

Images may be handed out from files below [conductor]file_url_allowed_paths, with links followed, except private files:
a user who configures nodes must not be able to read secrets of this host. A file is opened step by step from the
allowed directory without following links, so that nothing can replace it after the check.

CA files are opened without blocking and only when they are regular files: opening a device or a pipe may wait for ever
or trigger an action.
"""

import contextlib
import logging
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final
from urllib.parse import urlsplit

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from ironic.conf import CONF, checked_values, config_files
from ironic.core.addresses.own_host import path_in
from ironic.core.texts.syntax import is_stored_uuid

LOG = logging.getLogger(__name__)

_OPTION: Final = ("conductor", "file_url_allowed_paths")
_NAME: Final = "[conductor]file_url_allowed_paths"
_ADVICE: Final = f"Keep images in a directory of their own, such as /var/lib/ironic/images, and set {_NAME} to that."
# The authorities of a usual system take a quarter of a megabyte.
_LARGEST_CA_FILE: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class PrivatePath:
    """A file or directory of the service, links followed, and the option that names it."""

    path: str
    option: str
    is_directory: bool = False
    is_deep: bool = False  # includes the directories below it

    def holds(self, path: str) -> bool:
        """Return whether a path, links followed, is this file, a copy with a longer name, or in the directory."""
        if self.is_deep:
            return is_below(path, self.path)
        if self.is_directory:
            return os.path.dirname(path) == self.path
        return os.path.dirname(path) == os.path.dirname(self.path) and path.startswith(self.path)


def is_below(path: str, directory: str) -> bool:
    """Return whether a path is a directory or below it; both are absolute, links followed."""
    return os.path.commonpath((path, directory)) == directory


def secret_files() -> Collection[PrivatePath]:
    """Return the files and directories that hold secrets of the service."""
    return {
        PrivatePath(os.path.realpath(path), option, is_directory)
        for path, option, is_directory in (*_database_files(), *_option_files())
        if path
    }


def image_directories() -> Collection[PrivatePath]:
    """Return the directories in which images of all nodes are kept or offered."""
    http, tftp, images = CONF.deploy.http_root, CONF.pxe.tftp_root, CONF.deploy.http_image_subdir
    named = (
        (CONF.pxe.tftp_master_path, "[pxe]tftp_master_path"),
        (CONF.pxe.instance_master_path, "[pxe]instance_master_path"),
        (CONF.pxe.images_path, "[pxe]images_path"),
        (CONF.deploy.iso_master_path, "[deploy]iso_master_path"),
        (CONF.dnsmasq.dhcp_hostsdir, "[dnsmasq]dhcp_hostsdir"),
        (CONF.dnsmasq.dhcp_optsdir, "[dnsmasq]dhcp_optsdir"),
        (os.path.join(http, images), "[deploy]http_root"),
        (os.path.join(http, "vmedia"), "[deploy]http_root"),
        (os.path.join(http, "firmware"), "[deploy]http_root"),
        (os.path.join(http, CONF.pxe.pxe_config_subdir), "[deploy]http_root"),
        (os.path.join(tftp, CONF.pxe.pxe_config_subdir), "[pxe]tftp_root"),
        (CONF.nfs.share_path, "[nfs]share_path"),
        (CONF.cifs.share_path, "[cifs]share_path"),
    )
    return {
        PrivatePath(os.path.realpath(path), option, is_directory=True, is_deep=True) for path, option in named if path
    }


def is_private(path: str, found: os.stat_result) -> bool:
    """Return whether a file belongs to the service: by its path, links followed, or by a hard link of another name."""
    kept = secret_files()
    if any(own.holds(path) for own in kept) or is_of_nodes(path):
        return True
    configured = (text for _, text in checked_values.texts_set(CONF) if text.startswith("/"))
    for own in (*(one.path for one in kept), *map(os.path.realpath, configured)):
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                if os.path.samestat(found, os.stat(own + suffix)):
                    return True
    return False


def is_of_nodes(path: str) -> bool:
    """Return whether a path, links followed, is in a directory for images or boot files of all nodes or of one."""
    if any(own.holds(path) for own in image_directories()):
        return True
    for root in map(os.path.realpath, (CONF.deploy.http_root, CONF.pxe.tftp_root)):
        # Files for one node are in a folder named by its UUID.
        if is_below(path, root) and is_stored_uuid(os.path.relpath(path, root).partition(os.sep)[0]):
            return True
    return False


def is_secret_or_cached(path: str) -> bool:
    """Return whether a path, links followed, is a secret of the service or in a cache from which files are linked."""
    caches = (
        CONF.pxe.tftp_master_path,
        CONF.pxe.instance_master_path,
        CONF.pxe.images_path,
        CONF.deploy.iso_master_path,
    )
    return any(is_below(path, os.path.realpath(cache)) for cache in caches if cache) or any(
        own.holds(path) for own in secret_files()
    )


def _database_files() -> Iterator[tuple[str, str, bool]]:
    for name in ("connection", "slave_connection"):
        try:
            url = make_url(CONF.database[name] or "")
        except ArgumentError:
            continue
        if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
            # The file may be named by a URL with options of SQLite.
            path = urlsplit(url.database).path if url.database.startswith("file:") else url.database
            yield path, f"[database]{name}", False


def _option_files() -> Iterator[tuple[str, str, bool]]:
    """Yield path, option and whether it is a directory: logs, configuration, passwords and keys."""
    yield CONF.log_dir or "", "[DEFAULT]log_dir", True
    yield os.path.join(CONF.log_dir or "", CONF.log_file) if CONF.log_file else "", "[DEFAULT]log_file", False
    yield CONF.agent.deploy_logs_local_path or "", "[agent]deploy_logs_local_path", True
    # These two exist once a command line was parsed.
    yield from ((path, "--config-file", False) for path in getattr(CONF, "config_file", None) or ())
    yield from ((path, "--config-dir", True) for path in getattr(CONF, "config_dir", None) or ())
    yield CONF.log_config_append or "", "[DEFAULT]log_config_append", False
    yield CONF.http_basic_auth_user_file, "[DEFAULT]http_basic_auth_user_file", False
    # Keys, those of options of libraries included.
    for (group, option), text in checked_values.texts_set(CONF):
        if "key" in option and text.startswith("/"):
            yield text, f"[{group}]{option}", False


class NotOffered(Exception):
    """The file can't be handed out; the text continues "it is"."""


def path_fault(url: str) -> str | None:
    """Return why the file of a file URL can't be handed out, None when it can."""
    try:
        with open_image(url):
            return None
    except NotOffered as error:
        return str(error)


@contextmanager
def open_image(url: str) -> Iterator[BinaryIO]:
    """Open the file that a file URL names, for reading; raises NotOffered."""
    path = path_in(url)
    if path is None:
        raise NotOffered("no file:// URL with a whole path on this host")
    try:
        # Links are followed here, once; what becomes a link afterwards is refused when it is opened.
        path = os.path.realpath(path)
    except OSError as error:
        raise NotOffered(f"no file that conductor {CONF.host} can read ({error.strerror})") from error
    root = next((root for root in _roots() if is_below(path, root) and path != root), None)
    if root is None:
        raise NotOffered(f"a file that {_NAME} does not allow")
    with _opened_below(root, os.path.relpath(path, root)) as file:
        if is_private(path, os.fstat(file.fileno())):
            raise NotOffered("a file of this service itself, which is no image")
        yield file


def check_roots() -> None:
    """Raise ValueError when an allowed directory holds secrets of the service or is used for images of nodes.

    For the default of the option secrets cause a warning only: private files are never handed out, but copies of them
    can't be recognised.
    """
    for root in _roots():
        for own in image_directories():
            if is_below(root, own.path):
                raise ValueError(f"{_NAME} has {root}, which {own.option} uses for images of nodes. {_ADVICE}")
        for own in secret_files():
            if not is_below(own.path, root):
                continue
            text = f"{_NAME} has {root}, and with it {own.path} ({own.option}), which holds secrets of the service."
            if config_files.is_set(CONF, *_OPTION):
                raise ValueError(f"{text} {_ADVICE}")
            LOG.warning("%s %s", text, _ADVICE)


def _roots() -> list[str]:
    return [os.path.realpath(root) for root in CONF.conductor.file_url_allowed_paths]


@contextmanager
def _opened_below(root: str, below: str) -> Iterator[BinaryIO]:
    """Open a regular file by its path below a directory, without following links and without blocking."""
    *folders, name = below.split(os.sep)
    with ExitStack() as stack:
        try:
            handle = _handle(stack, root, os.O_DIRECTORY)
            for folder in folders:
                handle = _handle(stack, folder, os.O_DIRECTORY, handle)
            handle = _handle(stack, name, os.O_NONBLOCK | os.O_NOCTTY, handle)
        except OSError as error:
            raise NotOffered(f"no file that conductor {CONF.host} can read ({error.strerror})") from error
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotOffered(f"no regular file on conductor {CONF.host}")
        yield stack.enter_context(open(handle, "rb", closefd=False))


def _handle(stack: ExitStack, path: str, flags: int, parent: int | None = None) -> int:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=parent)
    stack.callback(os.close, handle)
    return handle


def is_certificate_path(path: str) -> bool:
    """Return whether a path is a regular file or a directory, from which certificates may be read."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def is_directory(path: str) -> bool:
    """Return whether a path is a directory."""
    return os.path.isdir(path)


def read_regular_file(path: str) -> str:
    """Return the text of a regular file, or raise OSError or ValueError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is no regular file")
    # Checked again on the open file: it may have been replaced.
    with open(path, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST_CA_FILE:
            raise ValueError("it is no regular file, or too large")
        return file.read(_LARGEST_CA_FILE).decode("ascii", errors="replace")
