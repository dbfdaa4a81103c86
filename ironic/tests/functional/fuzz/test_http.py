"""Nearly right HTTP: whatever the server takes for a request, another parser takes for the same request."""

import logging
import os

import pytest

from ironic.tests import http_differential
from ironic.tests.effort import IS_FULL


def test_it_understands_nothing_that_a_reference_does_not(caplog: pytest.LogCaptureFixture) -> None:
    seed, count = (int.from_bytes(os.urandom(4)), 50_000) if IS_FULL else (16, 1500)
    found = http_differential.differences(seed, count)
    assert not found, f"seed {seed}: {found[:5]}"
    # Nothing that a client sends is an error of the server.
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING], f"seed {seed}"
