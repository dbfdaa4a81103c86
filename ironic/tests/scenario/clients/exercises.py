"""Which commands and methods of the clients a test has to run; a table made of what stands above the tests."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., Any])


def exercises(*names: str) -> Callable[[Test], Test]:
    """Say what the test runs successfully; a fixture sees to it that it does."""

    def mark(test: Test) -> Test:
        test.exercises = names  # type: ignore[attr-defined]
        return test

    return mark


def claimed(test: Callable[..., Any]) -> tuple[str, ...]:
    """Return what a test says that it runs."""
    names: tuple[str, ...] = getattr(test, "exercises", ())
    return names


def table(modules: Iterable[ModuleType]) -> Mapping[str, list[str]]:
    """Return the tests that run each of them, by its name."""
    found: dict[str, list[str]] = {}
    for module in modules:
        for test in filter(inspect.isfunction, vars(module).values()):
            for name in claimed(test):
                found.setdefault(name, []).append(f"{module.__name__.rpartition('.')[2]}.{test.__name__}")
    return found
