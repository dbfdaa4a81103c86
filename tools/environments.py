"""Virtual environments that the tests need beside the project's own.

A stamp in an environment holds a hash of what it is made of; it is made again only when the hash changes. A lock keeps
two calls from making it at once.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

_STAMP = ".made-of"


def ensure(directory: Path, made_of: Iterable[bytes], make: Callable[[Path], None]) -> None:
    """Call ``make`` on a directory that exists, unless it did its work there before with the same ingredients."""
    wanted = hashlib.sha256(b"\0".join(made_of)).hexdigest()
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        stamp = directory / _STAMP
        if not stamp.exists() or stamp.read_text() != wanted:
            make(directory)
            stamp.write_text(wanted)
    finally:
        os.close(descriptor)


def install(directory: Path, packages: Iterable[str]) -> None:
    """Make the directory a virtual environment with these packages, of this program's Python."""
    wanted = list(packages)
    print(f"Installing {', '.join(wanted)} into {directory} ...", flush=True)
    # Copying pip into it, and compiling modules that nothing may import, would take longer than the packages.
    run(sys.executable, "-m", "venv", "--clear", "--without-pip", directory)
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", directory / "bin" / "python"]
    quiet = ("-qq", "--disable-pip-version-check", "--no-input")
    run(*pip, *quiet, "install", "--no-compile", *wanted)


def run(*command: str | Path) -> None:
    """Run a command of an installation; raises CalledProcessError when it fails."""
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, umask=0o022, cwd="/")
