"""Images that are fetched or converted have an end: in bytes, in room, in time."""

import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ironic.core.errors.hardware_errors import ImageConvertFailed, ImageUnacceptable, InsufficientDiskSpace
from ironic.integrations import disk_space, image_formats
from ironic.integrations.image_formats import Format
from ironic.tests.conftest import Setter

MIB = 1024 * 1024


def left_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """Return a file in a directory of its own; whether it is an image does not matter to a program of the test's."""
    directory = tmp_path / "images"
    directory.mkdir()
    (directory / "a").write_bytes(b"an image")
    return directory / "a"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, conf: Setter) -> Callable[[str], None]:
    """Return a function that has a script do the work of qemu-img; its last argument is the file to write."""
    conf(disk_utils__image_convert_attempts=1)

    def instead(script: str) -> None:
        place = tmp_path / "bin"
        place.mkdir()
        (place / "qemu-img").write_text(f'#!/bin/bash\ntarget="${{@: -1}}"\n{script}\n')
        (place / "qemu-img").chmod(0o755)
        monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")

    return instead


def test_a_conversion_that_takes_too_long_is_ended(
    program: Callable[[str], None], image: Path, tmp_path: Path, conf: Setter
) -> None:
    conf(disk_utils__image_convert_timeout=2)
    program(f"echo $$ > {tmp_path}/pid; echo begun > $target; exec sleep 600")
    begun = time.monotonic()
    with pytest.raises(ImageConvertFailed, match="image_convert_timeout"):
        image_formats.make_raw(image, Format("qcow2", 1024))
    assert time.monotonic() - begun < 120
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()
    assert left_in(image.parent) == ["a"]


def test_a_conversion_writes_no_more_than_the_image_has(program: Callable[[str], None], image: Path) -> None:
    program("head -c 50000000 /dev/zero > $target")
    with pytest.raises(ImageConvertFailed, match="ended with status"):
        image_formats.make_raw(image, Format("qcow2", 10 * MIB))
    assert left_in(image.parent) == ["a"]
    image_formats.make_raw(image, Format("qcow2", 50 * MIB))
    assert image.stat().st_size == 50_000_000


def test_a_conversion_is_held_to_its_memory(program: Callable[[str], None], image: Path, conf: Setter) -> None:
    conf(disk_utils__image_convert_memory_limit=256)
    program('exec /usr/bin/python3 -c "bytearray(1 << 29)"')
    with pytest.raises(ImageConvertFailed, match="ended with status"):
        image_formats.make_raw(image, Format("qcow2", 1024))


def test_an_image_that_swells_is_not_converted(tmp_path: Path, conf: Setter) -> None:
    conf(outgoing__download_max_size=1024)
    path = tmp_path / "a"
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", str(path), "2G"], check=True)
    with pytest.raises(ImageUnacceptable, match="it has 2048 MiB"):
        image_formats.inspect(path, "qcow2", ["qcow2"])
    assert left_in(tmp_path) == ["a"]


def test_room_is_promised_once(tmp_path: Path) -> None:
    most = int(shutil.disk_usage(tmp_path).free * 0.6)
    with (
        disk_space.reserved(tmp_path / "a", most),
        pytest.raises(InsufficientDiskSpace),
        disk_space.reserved(tmp_path / "b", most),
    ):
        pass
    with disk_space.reserved(tmp_path / "b", most):
        pass


def test_what_was_written_already_counts_once(tmp_path: Path) -> None:
    size = 64 * MIB
    free = shutil.disk_usage(tmp_path).free
    with disk_space.reserved(tmp_path / "a", size):
        (tmp_path / "a").write_bytes(b"x" * size)
        with (
            disk_space.reserved(tmp_path / "b", int((free - size) * 0.9)),
            pytest.raises(InsufficientDiskSpace),
            disk_space.reserved(tmp_path / "c", int((free - size) * 0.2)),
        ):
            pass


def test_an_endless_file_ends_with_the_room(tmp_path: Path, conf: Setter) -> None:
    conf(outgoing__min_free_space=64)
    free = shutil.disk_usage(tmp_path).free
    chunks = itertools.repeat(b"x" * MIB, 10 * free // MIB)
    with (
        disk_space.reserved(tmp_path / "other", free - 96 * MIB),
        (tmp_path / "a").open("wb") as file,
        pytest.raises(InsufficientDiskSpace),
    ):
        file.writelines(disk_space.fitting(chunks, tmp_path))
    assert (tmp_path / "a").stat().st_size < free
    (tmp_path / "a").unlink()
