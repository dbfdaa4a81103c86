"""Programs that third-party plug-ins run on the conductor's host.

A program is run with a list of arguments and no shell, unless a plug-in asks for one. The log has commands and what
they print only with what looks like a password masked, as have errors. Nothing is run as root unless a plug-in names
what to run it with (``run_as_root`` and ``root_helper``), or the service runs as root.
"""

import logging
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from oslo_concurrency import processutils
from oslo_utils.strutils import mask_password  # noqa: TID251

from ironic.core.errors import InvalidParameterValue
from ironic.core.plug_ins.plug_in_errors import FileSystemNotSupported
from ironic.core.secrets.masking import masked_text
from ironic.core.texts.syntax import one_line

LOG = logging.getLogger(__name__)

# Text; bytes with the keyword ``binary``.
Outputs = tuple[Any, Any]

# What a file system is called; anything else could be an option of the program.
_FILE_SYSTEM: Final = re.compile(r"[a-z][a-z0-9.]{0,31}")
_FLAG_OF_LABEL: Final = {"msdos": "-n", "vfat": "-n"}
# Those that ask before they overwrite.
_ASKING: Final = ("ext3", "ext4")


def execute(
    *cmd: object, use_standard_locale: bool = False, log_stdout: bool = True, **keywords: Any
) -> tuple[Any, Any]:
    """Run a program and return what it writes to its two outputs.

    ``keywords`` are those of `oslo_concurrency.processutils.execute`. With ``use_standard_locale`` its messages are in
    English. Raises ProcessExecutionError with exit_code, stdout, stderr and cmd for another exit code than
    ``check_exit_code``, OSError if the program can't be run, subprocess.TimeoutExpired after ``timeout`` seconds.
    """
    if use_standard_locale:
        given = keywords.get("env_variables")
        keywords["env_variables"] = {**(os.environ if given is None else given), "LC_ALL": "C"}
    with _killed_late(keywords) as hearing:
        output, errors = processutils.execute(*map(str, cmd), **hearing)
    if log_stdout:
        LOG.debug("%s wrote: %s", cmd[0], _shown(output))
    LOG.debug("%s wrote to its errors: %s", cmd[0], _shown(errors))
    return output, errors


@contextmanager
def _killed_late(keywords: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Have a program killed after its time-out, which the library leaves running."""
    started: list[subprocess.Popen[bytes]] = []
    asked = keywords.get("on_execute")

    def note(process: subprocess.Popen[bytes]) -> None:
        started.append(process)
        if asked is not None:
            asked(process)

    try:
        yield {**keywords, "on_execute": note}
    except subprocess.TimeoutExpired:
        with started[-1] as late:
            late.kill()
        raise


def try_execute(*cmd: object, **keywords: Any) -> Outputs | None:
    """Do the same, but return None if the program fails or can't be run."""
    try:
        return execute(*cmd, **keywords)
    except (processutils.ProcessExecutionError, OSError, subprocess.TimeoutExpired) as error:
        LOG.debug("%s failed: %s", cmd[0], _shown(error))
        return None


def _shown(said: object) -> str:
    # The library knows what follows an argument such as --password, which our own masks don't.
    return one_line(masked_text(mask_password(str(said))))


def dd(src: str, dst: str, *args: str) -> None:
    """Copy blocks from one file or device to another; ``args`` are more operands, such as bs=1M."""
    execute("dd", f"if={src}", f"of={dst}", *args, use_standard_locale=True)


def mkfs(fs: str, path: str, label: str | None = None) -> None:
    """Make a file system or swap space; raise FileSystemNotSupported if this host has no program for it."""
    if not _FILE_SYSTEM.fullmatch(fs):
        raise InvalidParameterValue(err=f"{fs[:80]!r} is no name of a file system.")
    # An absolute path begins with no dash, so it is no option.
    target = os.path.abspath(path)
    program = ["mkswap"] if fs == "swap" else ["mkfs", "-t", fs, *(["-F"] if fs in _ASKING else [])]
    named = [_FLAG_OF_LABEL.get(fs, "-L"), label] if label else []
    try:
        execute(*program, *named, target, use_standard_locale=True)
    except (processutils.ProcessExecutionError, OSError) as error:
        if isinstance(error, OSError) or f"mkfs.{fs}: No such file" in str(error.stderr):
            raise FileSystemNotSupported(fs=fs) from error
        raise


def file_mime_type(path: str) -> str:
    """Return the MIME type of a file, as the program `file` sees it."""
    output, _ = execute("file", "--brief", "--mime-type", "--", path, use_standard_locale=True)
    return str(output).strip()
