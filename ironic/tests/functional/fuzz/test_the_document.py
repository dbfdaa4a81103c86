"""A program that reads the OpenAPI document sends the service what it allows and what it does not.

Nothing it meets may be a 5xx, a status or a shape that the document does not have, a value taken that the document
forbids, or a thing that is still there after it was deleted. Every run has the same seed; `make fuzz` takes a new one,
says which, and tries ten times as much; every run tries less of the old version.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.tests import fuzzing
from ironic.tests.effort import IS_FULL
from ironic.tests.fuzzing import Effort
from ironic.tests.live_service import Service

NEWEST = 115
SEED = random.randrange(2**32) if IS_FULL else 1


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Run a service of the version's own: what one run leaves behind must not decide about the next."""
    with fuzzing.seeded(tmp_path) as running:
        yield running


def effort(minor: int) -> Effort:
    """Return what is tried in this run; an old version differs in too little for every value in every run."""
    if IS_FULL:
        return Effort(examples=40, rounds=60, steps=12)
    return Effort(examples=4, rounds=2, steps=8, coverage=minor == NEWEST)


@pytest.mark.parametrize("minor", [31, NEWEST])
def test_the_service_does_what_its_document_says(service: Service, tmp_path: Path, minor: int) -> None:
    found = fuzzing.explore(service, minor, tmp_path, effort(minor), SEED)
    assert not found, f"seed {SEED}, version 1.{minor}:\n{found}"
    assert "Traceback" not in service.log
    for phase in ("coverage", "fuzzing") if effort(minor).coverage else ("fuzzing",):
        said = (tmp_path / f"{phase}-{minor}.txt").read_text()
        (selected, whole), tested = re.findall(r"Selected: (\d+)/(\d+)", said)[0], re.findall(r"Tested: (\d+)", said)[0]
        assert selected == whole == tested, "some operations were left out"
    # It is no use if everything was refused: stories start with a node that was made.
    assert len(service.get("/v1/nodes").json()["nodes"]) > 1
