"""Programs that start and end within the tests' own process leave no trace in it."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    """Have the garbage collector look at everything again."""
    yield
    gc.unfreeze()
