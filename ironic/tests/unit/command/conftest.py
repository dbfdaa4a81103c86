"""Programs that start and end within the tests' own process leave no trace in it."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def thawed() -> Iterator[None]:
    """Have the garbage collector see what these tests left; all else stays out of its sight."""
    yield
    gc.unfreeze()
    gc.collect()
    gc.freeze()
