"""The command line of ipmitool: arguments and environment for one command at one BMC.

Neither the password nor the key K_g is among the arguments, which every user of the host can read: they come from a
file or from the environment, which only this service and root can read.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ironic.core.errors import DriverLoadError
from ironic.drivers.modules.ipmi import password_files
from ironic.drivers.modules.ipmi.bmc_access import USUAL_PORT, Access

PROGRAM: Final = "ipmitool"

# What ipmitool takes from the environment of the service; it reads no settings of a user from there.
_KEPT: Final = ("PATH", "TZ")
_TRIAL_SECONDS: Final = 20
# Of a longer password in a file ipmitool takes this beginning, as BMCs do; in the environment it refuses one.
_PASSWORD_BYTES: Final = 20
_NEEDED: Final = ("-m", "-B", "-T", "-b", "-t", "-R", "-N")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A program to run: its arguments, and all variables of its environment."""

    arguments: tuple[str, ...]
    environment: Mapping[str, str | bytes] = field(repr=False)


def command_line(
    access: Access,
    command: Sequence[str],
    password_file: Path | None,
    *,
    before: Sequence[str] = (),
) -> CommandLine:
    """Return how to run a command of ipmitool at a BMC.

    ``command`` is the command with its arguments, which the caller has checked; ``before`` are further options.
    ``password_file`` is a file of `password_files`, which must exist while ipmitool starts; None passes the password in
    the environment, which is also what [ipmi]store_cred_in_env wants.
    """
    arguments = [PROGRAM, "-I", access.protocol, "-H", access.address, "-L", access.privilege]
    environment: dict[str, str | bytes] = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment["LC_ALL"] = "C"
    if access.port != USUAL_PORT:
        arguments += "-p", str(access.port)
    if access.username:
        arguments += "-U", access.username
    if access.kg_key:
        arguments += ("-K",)
        environment["IPMI_KGKEY"] = access.kg_key
    if access.cipher_suite:
        arguments += "-C", access.cipher_suite
    arguments += *access.bridge, *before
    if password_file is not None:
        arguments += "-f", str(password_file)
    else:
        arguments += ("-E",)
        environment["IPMI_PASSWORD"] = (access.password or "").encode()[:_PASSWORD_BYTES]
    return CommandLine((*arguments, *command), environment)


def check_tool() -> None:
    """Raise DriverLoadError unless ipmitool is installed and has the options that are used; clean up after a crash."""
    if shutil.which(PROGRAM) is None:
        raise DriverLoadError(faults=f"{PROGRAM} can't be found; install it, or disable the hardware types that use it")
    trial = [PROGRAM, *(text for option in _NEEDED for text in (option, "0")), "-h"]
    try:
        ended = subprocess.run(trial, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TRIAL_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DriverLoadError(faults=f"{PROGRAM} can't be run: {error}") from error
    if ended.returncode:
        raise DriverLoadError(
            faults=f"{PROGRAM} does not take the options {', '.join(_NEEDED)}; install version 1.8.18 or later"
        )
    password_files.prepare()
