"""The stock `openstack` command line with the plug-in of the standalone inspector, in the process of the tests."""

import functools
import importlib.metadata
import json
import os
from typing import Any

from ironic.tests.scenario.clients.shell import run_here

ENTRY_POINTS = "openstack.baremetal_introspection.v1"


@functools.cache
def commands() -> frozenset[str]:
    """Return every command of the installed plug-in, as it is typed."""
    return frozenset(point.name.replace("_", " ") for point in importlib.metadata.entry_points(group=ENTRY_POINTS))


class Openstack:
    """Runs commands without credentials, and remembers which ones ended well."""

    def __init__(self, url: str) -> None:
        self._url, self.exercised = url, set[str]()

    def __call__(self, *words: str) -> str:
        """Run one command and return what it printed."""

        def run() -> object:
            from openstackclient import shell

            return shell.OpenStackShell().run(list(words))

        ours = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
        said = run_here("openstack", words, ours | {"OS_AUTH_TYPE": "none", "INSPECTOR_URL": self._url}, run)
        # The longest, for some commands are the beginning of others.
        beginnings = (" ".join(words[:length]) for length in range(len(words), 0, -1))
        self.exercised |= {next(beginning for beginning in beginnings if beginning in commands())}
        return said

    def json(self, *words: str) -> Any:
        """Run one command and return its answer."""
        return json.loads(self(*words, "-f", "json"))
