"""Nearly right HTTP: whatever the server takes for a request, another parser takes for the same request."""

import logging
import os

import pytest

from ironic.tests import http_differential

LONG = "IRONIC_FUZZ" in os.environ


def test_it_understands_nothing_that_a_reference_does_not(caplog: pytest.LogCaptureFixture) -> None:
    seed, count = (int.from_bytes(os.urandom(4)), 50_000) if LONG else (16, 1500)
    found = http_differential.differences(seed, count)
    assert not found, f"seed {seed}: {found[:5]}"
    # Nothing that a client sends is an error of the server.
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING], f"seed {seed}"
