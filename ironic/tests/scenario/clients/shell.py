"""The `baremetal` command line inside the process of the tests: the same program, without the second that it starts."""

import contextlib
import functools
import importlib.metadata
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

from ironic.tests.scenario.command_line import Baremetal, CommandFailed

ENTRY_POINTS = "openstack.baremetal.v1"
# It repeats what was answered with a conflict, as it always does; only without the pauses.
_HURRIED = ("--retry-interval", "0")
_LOGGERS = (None, "openstack", "keystoneauth", "ironicclient", "stevedore.extension", "urllib3")


@functools.cache
def commands() -> frozenset[str]:
    """Return every command that the installed client has, as it is typed."""
    names = {point.name for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}
    return frozenset(name.removeprefix("baremetal_").replace("_", " ") for name in names)


class Shell(Baremetal):
    """Runs commands as `Baremetal` does, and remembers which ones ended well."""

    def __init__(self, url: str, login: tuple[str, str] | None = None) -> None:
        super().__init__(url, login)
        self.exercised: set[str] = set()

    def __call__(self, *words: str) -> str:
        """Run one command and return what it printed."""
        said = run_here("baremetal", words, self.environment(), lambda: _run([*_HURRIED, *words]))
        self.exercised |= _named(words)
        return said

    def rows(self, *words: str) -> list[dict[str, Any]]:
        """Run a command that lists; its versions are of several minds about how a column is written."""
        return [{name.lower().replace(" ", "_"): value for name, value in row.items()} for row in self.json(*words)]


def run_here(program: str, words: Sequence[str], environment: dict[str, str], run: Callable[[], object]) -> str:
    """Run a client in this process and return what it printed; raises CommandFailed."""
    output, complaints = io.StringIO(), io.StringIO()
    with (
        _surroundings([program, *words], environment),
        _logging_as_it_was(),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(complaints),
        # What the client's libraries think of each other is not what is tested here.
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            status = run()
        except SystemExit as end:
            status = end.code
    if status:
        raise CommandFailed(f"{program} {' '.join(words)}: {output.getvalue()}{complaints.getvalue()}")
    return output.getvalue()


def _run(words: list[str]) -> object:
    from ironicclient import shell
    from ironicclient.v1 import utils

    # With --wait it looks every ten seconds otherwise, and these machines are never that slow.
    actions: Any = utils.PROVISION_ACTIONS
    for action in filter(None, actions.values()):
        action["poll_interval"] = 0.1
    return shell.App().run(words)


def _named(words: tuple[str, ...]) -> set[str]:
    """Return the command that these words begin with; the longest, for some are the beginning of others."""
    beginnings = (" ".join(words[:length]) for length in range(len(words), 0, -1))
    found = next((beginning for beginning in beginnings if beginning in commands()), None)
    return {found} if found else set()


@contextlib.contextmanager
def _surroundings(words: Sequence[str], environment: dict[str, str]) -> Iterator[None]:
    """Let the client find what it would find in a terminal; it looks at sys.argv beside its arguments."""
    with mock.patch.dict(os.environ, environment, clear=True), mock.patch.object(sys, "argv", list(words)):
        yield


@contextlib.contextmanager
def _logging_as_it_was() -> Iterator[None]:
    """Take back what the client does to the logging of the whole process."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(logger, logger.level, logger.propagate, list(logger.handlers)) for logger in loggers]
    try:
        yield
    finally:
        for logger, level, propagate, handlers in before:
            logger.level, logger.propagate, logger.handlers = level, propagate, handlers
