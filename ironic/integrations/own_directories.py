"""The directories in which this service keeps and offers images, by the options that name them.

A fault of the system there says the path only, and an operator needs the option: what is looked at before a node needs
a directory, and what is said when it fails, both name it.
"""

import logging
import os
import pwd
from collections.abc import Iterable
from typing import Final, NamedTuple

from ironic.conf import CONF

LOG = logging.getLogger(__name__)


class OwnDirectory(NamedTuple):
    """A directory that the service makes and writes to, by its option."""

    group: str
    option: str

    @property
    def is_used(self) -> bool:
        """Whether there is one: an empty option turns it off."""
        return bool(str(CONF[self.group][self.option] or "").strip())

    @property
    def path(self) -> str:
        """Its absolute path."""
        return os.path.abspath(str(CONF[self.group][self.option]))

    def __str__(self) -> str:
        return f"{self.path} ([{self.group}]{self.option})"

    def fault(self) -> str | None:
        """Return why this process can't make it or write to it, None if it can; nothing is made."""
        if not self.is_used:
            return None
        path = self.path
        while not os.path.lexists(path):
            path = os.path.dirname(path)
        if not os.path.isdir(path):
            return f"{self} can't be a directory, because {path} is none."
        if os.access(path, os.W_OK | os.X_OK):
            return None
        return (
            f"{self} can't be written: this service runs as {_user()}, which may not write to {path}. Give {path} to "
            "it, or set the option to a directory of its own."
        )


RAMDISKS: Final = OwnDirectory("pxe", "tftp_master_path")
INSTANCES: Final = OwnDirectory("pxe", "instance_master_path")
IMAGES: Final = OwnDirectory("pxe", "images_path")
READY_ISOS: Final = OwnDirectory("deploy", "iso_master_path")
WEB: Final = OwnDirectory("deploy", "http_root")
TFTP: Final = OwnDirectory("pxe", "tftp_root")
# Those that may be within others come first.
_ALL: Final = (RAMDISKS, INSTANCES, IMAGES, READY_ISOS, WEB, TFTP)


def explained(error: OSError) -> str:
    """Return what the system says, with the file that it is about, and the option if that is in such a directory."""
    reason = error.strerror or type(error).__name__
    if not isinstance(error.filename, str):
        return reason
    path = os.path.abspath(error.filename)
    for own in (each for each in _ALL if each.is_used):
        # The directories above it are made with it.
        if os.path.commonpath((path, own.path)) in (own.path, path) and path != os.sep:
            place = f"[{own.group}]{own.option}"
            return f"{path} ({place if path == own.path else f'{place} = {own.path}'}): {reason}"
    return f"{path}: {reason}"


def warn_of_faults(directories: Iterable[OwnDirectory]) -> None:
    """Log a warning for every directory that can't be written; nodes that need it would fail."""
    for fault in filter(None, (each.fault() for each in sorted(set(directories)))):
        LOG.warning("%s Until then, nodes that need it fail.", fault)


def _user() -> str:
    try:
        return f"user {pwd.getpwuid(os.geteuid()).pw_name}"
    except KeyError:
        return f"user {os.geteuid()}"
