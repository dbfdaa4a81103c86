"""A running API for tests that need more than an exchange: other settings, other rows, counted statements."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.api.settings import ApiSettings
from ironic.tests.functional.wire import service as services
from ironic.tests.functional.wire.service import Service


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Service]]:
    """Return a function that starts the API with some settings."""
    running: list[Service] = []

    def begin(**settings: Any) -> Service:
        running.append(services.start(tmp_path, ApiSettings(**{"node_locked_attempts": 1, **settings})))
        return running[-1]

    yield begin
    for one in running:
        one.close()


@pytest.fixture
def service(start: Callable[..., Service]) -> Service:
    """Return an API with the default settings and nothing in it."""
    return start()
