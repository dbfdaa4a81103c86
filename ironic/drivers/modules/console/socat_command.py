"""The command line of socat that offers the console of one node on a TCP port.

What a node brings is in no address of socat, which keeps an address in a small buffer: the words of the console command
come to a shell in its environment, each quoted, and the shell becomes that command.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ironic.core.texts import syntax

PROGRAM: Final = "socat"

# Variables of every process of a console, by which its processes are found again.
PID_FILE: Final = "IRONIC_CONSOLE_PID_FILE"
CONDUCTOR: Final = "IRONIC_CONSOLE_CONDUCTOR"
_COMMAND: Final = "IRONIC_CONSOLE_COMMAND"
# What the processes of a console take from the environment of the service.
_KEPT: Final = ("PATH", "TZ", "LANG")

_SPECIAL: Final = frozenset(",:!'\"()[]{}\\ ")


def _escaped(word: str) -> str:
    """Return a word as socat reads it: once as part of an address, once as a word of a command."""
    return "".join(rf"\\\{char}" if char in _SPECIAL else char for char in word)


_EXEC: Final = "EXEC:/bin/sh -c " + _escaped(f'eval "exec ${_COMMAND}"') + ",pty,stderr"


@dataclass(frozen=True, slots=True)
class ConsoleCommand:
    """The command that connects its terminal with a machine, and the variables that it needs.

    Every user of the host sees its words; secrets belong into the variables, which end with the console.
    """

    words: Sequence[str]
    environment: Mapping[str, str | bytes] = field(default_factory=dict, repr=False)


def is_ipv6(address: str) -> bool:
    """Return whether an address is one of IPv6."""
    return ":" in address


def arguments(address: str, port: int, pid_file: Path, idle_seconds: int) -> list[str]:
    """Return the arguments of socat; one viewer at a time is served, the next one waits."""
    family = "TCP6" if is_ipv6(address) else "TCP4"
    return [
        PROGRAM,
        *([f"-T{idle_seconds}"] if idle_seconds > 0 else []),
        f"-L{pid_file}",
        f"{family}-LISTEN:{port},bind={syntax.host_in_url(address)},reuseaddr,fork,max-children=1",
        _EXEC,
    ]


def environment(command: ConsoleCommand, pid_file: Path, conductor: str) -> dict[str, str | bytes]:
    """Return the variables of socat: those of the command, and those that mark the console."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    marks = {PID_FILE: str(pid_file), CONDUCTOR: conductor, _COMMAND: shlex.join(command.words)}
    return {**kept, **command.environment, **marks}
