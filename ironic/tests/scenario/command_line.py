"""The stock `baremetal` command line, run as a user runs it."""

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any

from ironic.tests.live_service import PROGRAMS

PATIENCE = 120


class CommandFailed(AssertionError):
    """The command line ended with an error; the text is what it printed."""


@dataclass(frozen=True)
class Baremetal:
    """The client pointed at one service; with a name and a password, or without credentials."""

    url: str
    login: tuple[str, str] | None = None

    def __call__(self, *words: str) -> str:
        """Run one command and return what it printed."""
        done = subprocess.run(
            [PROGRAMS / "baremetal", *words],
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if done.returncode:
            raise CommandFailed(f"baremetal {' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout

    def json(self, *words: str) -> Any:
        """Run one command and return its answer."""
        return json.loads(self(*words, "-f", "json"))

    def environment(self) -> dict[str, str]:
        """Return this process's environment with this service in it, and without settings of another cloud."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        ours |= {"OS_AUTH_TYPE": "none", "OS_ENDPOINT": self.url}
        if self.login:
            ours |= {"OS_AUTH_TYPE": "http_basic", "OS_USERNAME": self.login[0], "OS_PASSWORD": self.login[1]}
        return ours
