"""Images in files of this host: which of them may be handed to machines, and opening one.

Only files below [conductor]file_url_allowed_paths are, links followed, and none of the service's own: whoever may set
up a node must not be able to read the host's secrets that way. A file is opened step by step from the allowed directory
without following links, so that nothing can be put in its place after it was judged; what is read comes from that
handle.
"""

import logging
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from ironic.conf import CONF, written
from ironic.core.file_urls import path_in
from ironic.integrations import own_files
from ironic.integrations.own_files import is_below

LOG = logging.getLogger(__name__)

_OPTION = ("conductor", "file_url_allowed_paths")
_NAME = "[conductor]file_url_allowed_paths"


class NotOffered(Exception):
    """The file can't be handed out; the text says why, after "is"."""


def fault_of(url: str) -> str | None:
    """Return why the file of a file URL can't be handed out, None when it can."""
    try:
        with opened(url):
            return None
    except NotOffered as error:
        return str(error)


@contextmanager
def opened(url: str) -> Iterator[BinaryIO]:
    """Open the file that a file URL names, for reading; raises NotOffered."""
    path = path_in(url)
    if path is None:
        raise NotOffered("no file:// URL with a whole path on this host")
    try:
        # Links are followed here, once; whatever becomes one afterwards is refused by the walk.
        path = os.path.realpath(path)
    except OSError as error:
        raise NotOffered(f"no file that conductor {CONF.host} can read ({error.strerror})") from error
    root = next((root for root in _roots() if is_below(path, root) and path != root), None)
    if root is None:
        raise NotOffered(f"a file that {_NAME} does not allow")
    with ExitStack() as stack:
        file = stack.enter_context(_walk(root, os.path.relpath(path, root)))
        if own_files.is_own(path, os.fstat(file.fileno())):
            raise NotOffered("a file of this service itself, which is no image")
        yield file


def check_roots() -> None:
    """Refuse, with a ValueError, allowed directories in which the service keeps secrets of its own, or images of nodes.

    Where the option's default has secrets below it there is a warning only: no file of the service is handed out
    anyway, but copies of them are not known to it.
    """
    for root in _roots():
        for own in own_files.stores():
            if is_below(root, own.path):
                raise ValueError(f"{_NAME} has {root}, which {own.option} gives to the service itself. {_ADVICE}")
        for own in own_files.secrets():
            if is_below(own.path, root):
                _found_inside(root, own)


_ADVICE = f"Keep images in a directory of their own, such as /var/lib/ironic/images, and set {_NAME} to that."


def _found_inside(root: str, own: own_files.Own) -> None:
    text = f"{_NAME} has {root}, and with it {own.path} ({own.option}), which the service keeps for itself. {_ADVICE}"
    if written.holds(CONF, *_OPTION):
        raise ValueError(text)
    LOG.warning("%s", text)


def _roots() -> list[str]:
    return [os.path.realpath(root) for root in CONF.conductor.file_url_allowed_paths]


@contextmanager
def _walk(root: str, below: str) -> Iterator[BinaryIO]:
    """Open a regular file by its path below a directory, neither following links nor waiting for anything."""
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
