"""A program that reads the OpenAPI document sends the service what it allows and what it does not.

Nothing it meets may be a 5xx, a status or a shape that the document does not have, a value taken that the document
forbids, or a thing that is still there after it was deleted. Every run has the same seed; `make fuzz` takes a new one,
says which, and tries ten times as much.
"""

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.tests import fuzzing
from ironic.tests.fuzzing import Effort
from ironic.tests.live_service import Service

LONG = "IRONIC_FUZZ" in os.environ
EFFORT = Effort(examples=40, rounds=60, steps=12) if LONG else Effort(examples=4, rounds=2, steps=8)
SEED = random.randrange(2**32) if LONG else 1


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Run a service of the version's own: what one run leaves behind must not decide about the next."""
    with fuzzing.seeded(tmp_path) as running:
        yield running


@pytest.mark.parametrize("minor", [31, 115])
def test_the_service_does_what_its_document_says(service: Service, tmp_path: Path, minor: int) -> None:
    found = fuzzing.explore(service, minor, tmp_path, EFFORT, SEED)
    assert not found, f"seed {SEED}, version 1.{minor}:\n{found}"
    assert "Traceback" not in service.log
    for phase in ("coverage", "fuzzing"):
        said = (tmp_path / f"{phase}-{minor}.txt").read_text()
        (selected, whole), tested = re.findall(r"Selected: (\d+)/(\d+)", said)[0], re.findall(r"Tested: (\d+)", said)[0]
        assert selected == whole == tested, "some operations were left out"
    # It is no use if everything was refused: stories start with a node that was made.
    assert len(service.get("/v1/nodes").json()["nodes"]) > 1
