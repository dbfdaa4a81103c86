"""What these tests share: the wheels of this tree, made once, as `make wheels` makes them, and the service's image."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.tests.repository import ROOT
from ironic.tests.scenario.packages.images import Images


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the wheel of this tree and those of all that it needs."""
    directory = tmp_path_factory.mktemp("wheels")
    # Debian's interpreter is the one that the packages run with.
    environ = {**os.environ, "PYTHON": "/usr/bin/python3"}
    subprocess.run([ROOT / "tools" / "packaging" / "wheels.sh", directory], check=True, env=environ)
    return directory


@pytest.fixture(scope="session")
def own_wheel(wheels: Path) -> Path:
    """Return the wheel of this tree."""
    (wheel,) = wheels.glob("ironic-*.whl")
    return wheel


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Iterator[Images]:
    """Return a storage that has the image of the service."""
    made = Images(tmp_path_factory.mktemp("images"), wheels)
    made.build("Containerfile", "localhost/ironic")
    yield made
    made.close()
