"""Images fetched once for many machines, from files and from a web server that counts."""

import contextlib
import hashlib
import http.server
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ironic.conf import CONF
from ironic.core.errors.hardware_errors import BootImageFailed, ImageUnacceptable, InsufficientDiskSpace
from ironic.integrations.image_cache import Image, ImageCache
from ironic.tests.conftest import Setter

MEBIBYTE = 1024 * 1024


class Server:
    """A web server with one image at every path; some paths, by their names, behave otherwise."""

    def __init__(self) -> None:
        self.content, self.tag = b"an image" * 50_000, '"1"'
        self.sent, self.asked = 0, 0
        self.cache_control: str | None = None
        self.pause = threading.Event()
        self.pause.set()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked += 1
                server.pause.wait(30)
                if "missing" in self.path:
                    self.send_error(404)
                elif self.headers.get("If-None-Match") == server.tag:
                    self.send_response(304)
                    self.end_headers()
                else:
                    server.sent += 1
                    self.send_response(200)
                    self.send_header("ETag", server.tag)
                    if server.cache_control:
                        self.send_header("Cache-Control", server.cache_control)
                    self.send_header("Content-Length", str(len(server.content)))
                    self.end_headers()
                    self.wfile.write(server.content if "short" not in self.path else server.content[:100])

            def log_message(self, *arguments: Any) -> None:
                pass

        self.httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_port}"
        self._thread = threading.Thread(target=self.httpd.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self._runs = True

    def end(self) -> None:
        if self._runs:
            self._runs = False
            self.httpd.shutdown()
            self._thread.join()
            self.httpd.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.end()


def cache(tmp_path: Path, *, max_bytes: int = 100 * MEBIBYTE, max_age: float = 3600) -> ImageCache:
    return ImageCache(tmp_path / "master", max_bytes=max_bytes, max_age_seconds=max_age)


def kept(tmp_path: Path) -> list[Path]:
    return [path for path in (tmp_path / "master").iterdir() if not path.name.startswith(".")]


def test_an_image_is_sent_once_however_often_it_is_needed(server: Server, tmp_path: Path) -> None:
    images = cache(tmp_path)
    for number in range(3):
        images.provide(Image(f"{server.url}/kernel"), tmp_path / f"kernel{number}", 0o640)
        assert (tmp_path / f"kernel{number}").read_bytes() == server.content
    assert (server.sent, server.asked) == (1, 3)
    (master,) = kept(tmp_path)
    assert (tmp_path / "kernel0").samefile(master)
    assert master.stat().st_mode & 0o777 == 0o640


def test_a_changed_image_is_fetched_again_and_old_targets_stay_whole(server: Server, tmp_path: Path) -> None:
    images, before = cache(tmp_path), server.content
    images.provide(Image(f"{server.url}/kernel"), tmp_path / "old")
    server.content, server.tag = b"another one", '"2"'
    images.provide(Image(f"{server.url}/kernel"), tmp_path / "new")
    assert ((tmp_path / "old").read_bytes(), (tmp_path / "new").read_bytes()) == (before, b"another one")


def test_many_machines_at_once_make_it_come_once(server: Server, tmp_path: Path) -> None:
    server.pause.clear()
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(cache(tmp_path).provide, Image(f"{server.url}/kernel"), tmp_path / f"kernel{number}")
            for number in range(8)
        ]
        server.pause.set()
        for job in jobs:
            job.result(30)
    assert server.sent == 1
    assert {(tmp_path / f"kernel{number}").read_bytes() for number in range(8)} == {server.content}


def test_a_server_that_is_away_does_no_harm_to_what_is_kept(server: Server, tmp_path: Path) -> None:
    images = cache(tmp_path)
    images.provide(Image(f"{server.url}/kernel"), tmp_path / "one")
    server.end()
    images.provide(Image(f"{server.url}/kernel"), tmp_path / "two")
    assert (tmp_path / "two").read_bytes() == server.content
    with pytest.raises(BootImageFailed, match="Connection refused"):
        images.provide(Image(f"{server.url}/other"), tmp_path / "three")


@pytest.mark.parametrize("path, why", [("missing", "status 404"), ("short", "broke off")])
def test_what_did_not_come_whole_is_never_offered(server: Server, tmp_path: Path, path: str, why: str) -> None:
    with pytest.raises(BootImageFailed, match=why) as refusal:
        cache(tmp_path).provide(Image(f"{server.url.replace('//', '//user:password@')}/{path}"), tmp_path / "kernel")
    assert "password" not in str(refusal.value)
    assert not (tmp_path / "kernel").exists()
    assert kept(tmp_path) == []


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
def test_a_checksum_is_held_against_the_image(server: Server, tmp_path: Path, algorithm: str) -> None:
    right = hashlib.new(algorithm, server.content).hexdigest()
    cache(tmp_path).provide(Image(f"{server.url}/k", right.upper()), tmp_path / "kernel")
    with pytest.raises(BootImageFailed, match="checksum"):
        cache(tmp_path).provide(Image(f"{server.url}/k", "0" * len(right)), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_file_is_taken_when_it_may_and_again_when_it_has_changed(conf: Setter, tmp_path: Path) -> None:
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "images")])
    (tmp_path / "images").mkdir()
    source = tmp_path / "images" / "kernel"
    source.write_bytes(b"one")
    images = cache(tmp_path)
    images.provide(Image(f"file://{source}"), tmp_path / "kernel")
    (tmp_path / "images" / "new").write_bytes(b"other")
    (tmp_path / "images" / "new").replace(source)
    assert (tmp_path / "kernel").read_bytes() == b"one"
    images.provide(Image(f"file://{source}"), tmp_path / "kernel")
    assert (tmp_path / "kernel").read_bytes() == b"other"
    with pytest.raises(BootImageFailed, match="does not allow"):
        images.provide(Image("file:///etc/hostname"), tmp_path / "stolen")


def test_what_no_machine_needs_goes_when_it_is_old_or_room_is_short(server: Server, tmp_path: Path) -> None:
    images = cache(tmp_path)
    for name in ("a", "b", "c"):
        images.provide(Image(f"{server.url}/{name}"), tmp_path / name)
        time.sleep(0.01)
    (tmp_path / "a").unlink()
    (tmp_path / "b").unlink()
    assert len(kept(tmp_path)) == 3
    cache(tmp_path, max_bytes=len(server.content) * 2).trim()
    assert len(kept(tmp_path)) == 2  # the older one of two that no machine needs
    cache(tmp_path, max_bytes=0, max_age=0).trim()
    assert [path.samefile(tmp_path / "c") for path in kept(tmp_path)] == [True]


def test_what_a_killed_process_has_begun_goes_unless_somebody_is_at_work_on_it(server: Server, tmp_path: Path) -> None:
    images = cache(tmp_path)
    images.provide(Image(f"{server.url}/a"), tmp_path / "a")
    (key,) = (path.name for path in kept(tmp_path))
    parts = [tmp_path / "master" / f".{key}.part{more}" for more in ("", ".raw")]
    other = tmp_path / "master" / ".mine.part"
    for path in (*parts, other):
        path.touch()
    with images._locked(key):
        images.trim()
        assert all(path.exists() for path in parts)
    images.trim()
    assert [path.exists() for path in (*parts, other)] == [False, False, True]


def test_an_image_without_end_is_left_for_its_bytes_or_for_want_of_room(
    conf: Setter, server: Server, tmp_path: Path
) -> None:
    server.content = b"x" * 3 * MEBIBYTE
    conf(outgoing__download_max_size=2)
    with pytest.raises(BootImageFailed, match="larger than"):
        cache(tmp_path).provide(Image(f"{server.url}/kernel"), tmp_path / "kernel")
    conf(outgoing__download_max_size=4, outgoing__min_free_space=1 << 40)
    with pytest.raises(InsufficientDiskSpace):
        cache(tmp_path).provide(Image(f"{server.url}/kernel"), tmp_path / "kernel")
    assert kept(tmp_path) == []
    assert [path for path in (tmp_path / "master").iterdir() if "part" in path.name] == []


def test_a_file_that_is_larger_than_images_may_be_is_not_copied(conf: Setter, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "images")], outgoing__download_max_size=1)
    with (tmp_path / "images" / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ImageUnacceptable, match="download_max_size"):
        cache(tmp_path).provide(Image(f"file://{tmp_path}/images/huge"), tmp_path / "kernel")


def test_a_slow_server_keeps_no_other_image_waiting(server: Server, tmp_path: Path) -> None:
    server.pause.clear()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(cache(tmp_path).provide, Image(f"{server.url}/slow"), tmp_path / "slow")
        while not server.asked:
            time.sleep(0.01)
        images = cache(tmp_path)
        for number in range(200):  # more than one could miss by luck
            with images._locked(f"{number:040x}", wait=False):
                pass
        images.trim()
        assert [path.name[:6] for path in (tmp_path / "master").glob(".lock*")] == [".lock."]
        server.pause.set()
        slow.result(30)
    assert (tmp_path / "slow").read_bytes() == server.content


def test_a_lock_that_is_removed_while_it_is_waited_for_holds_nobody_apart(server: Server, tmp_path: Path) -> None:
    """Fetch and forget one image from several threads: each sees it whole, and no file is left behind."""

    def turn(number: int) -> bool:
        images, target = cache(tmp_path, max_bytes=0, max_age=0), tmp_path / f"kernel{number}"
        for _ in range(20):
            images.provide(Image(f"{server.url}/kernel"), target)
            if target.read_bytes() != server.content:
                return False
            target.unlink()
            images.trim()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(turn, range(4)))
    cache(tmp_path, max_bytes=0, max_age=0).trim()
    assert list((tmp_path / "master").iterdir()) == []


def test_a_file_is_linked_and_takes_its_space_once(conf: Setter, tmp_path: Path) -> None:
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "images")])
    (tmp_path / "images").mkdir()
    source = tmp_path / "images" / "kernel"
    source.write_bytes(b"one")
    source.chmod(0o644)
    right = hashlib.sha256(b"one").hexdigest()
    for _ in range(2):
        cache(tmp_path).provide(Image(f"file://{source}", right), tmp_path / "kernel")
    assert (tmp_path / "kernel").samefile(source)
    assert not (tmp_path / "master").exists()
    with pytest.raises(BootImageFailed, match="checksum"):
        cache(tmp_path).provide(Image(f"file://{source}", right[::-1]), tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["kernel"]


def test_a_file_that_is_changed_for_its_use_stays_as_it_was(conf: Setter, tmp_path: Path) -> None:
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "images")])
    (tmp_path / "images").mkdir()
    source = tmp_path / "images" / "disk"
    source.write_bytes(b"one")

    def convert(path: Path) -> dict[str, object]:
        path.with_name("raw").write_bytes(b"raw")
        path.with_name("raw").replace(path)
        return {"format": "raw"}

    images = ImageCache(tmp_path / "master", max_bytes=MEBIBYTE, max_age_seconds=60, finish=convert)
    assert images.provide(Image(f"file://{source}"), tmp_path / "disk", 0o640) == {"format": "raw"}
    assert ((tmp_path / "disk").read_bytes(), source.read_bytes()) == (b"raw", b"one")
    assert (tmp_path / "disk").stat().st_mode & 0o777 == 0o640


def test_a_file_whose_mode_is_too_strict_is_copied(conf: Setter, tmp_path: Path) -> None:
    conf(conductor__file_url_allowed_paths=[str(tmp_path / "images")])
    (tmp_path / "images").mkdir()
    source = tmp_path / "images" / "kernel"
    source.write_bytes(b"one")
    source.chmod(0o600)
    cache(tmp_path).provide(Image(f"file://{source}"), tmp_path / "kernel", 0o644)
    assert [path.stat().st_mode & 0o777 for path in (source, tmp_path / "kernel")] == [0o600, 0o644]
    assert not (tmp_path / "kernel").samefile(source)


@pytest.mark.parametrize("option", ["", "  "])
def test_an_empty_option_keeps_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    (tmp_path / "cwd").mkdir(mode=0o755)
    monkeypatch.chdir(tmp_path / "cwd")
    images = ImageCache.from_conf(option)
    for number in range(2):
        images.provide(Image(f"{server.url}/kernel"), tmp_path / "kernel", 0o640)
        assert (tmp_path / "kernel").read_bytes() == server.content
        assert server.sent == number + 1
    images.trim()
    assert list((tmp_path / "cwd").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cwd", "kernel"]
    assert (tmp_path / "kernel").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("said, is_kept, is_used", [
    ("no-store", False, False), ("private, No-Store", False, False), ("no-cache", True, False),
    ("max-age=5, must-revalidate", True, False), ("max-age=5", True, True), (None, True, True),
])  # fmt: skip
def test_a_server_says_how_an_image_may_be_kept(
    server: Server, tmp_path: Path, said: str | None, is_kept: bool, is_used: bool
) -> None:
    server.cache_control = said
    images = cache(tmp_path)
    images.provide(Image(f"{server.url}/kernel"), tmp_path / "kernel")
    assert (tmp_path / "kernel").read_bytes() == server.content
    assert bool(kept(tmp_path)) is is_kept
    server.end()
    with contextlib.nullcontext() if is_used else pytest.raises(BootImageFailed):
        images.provide(Image(f"{server.url}/kernel"), tmp_path / "again")


@pytest.mark.parametrize(("below", "place"), [("masters", "[pxe]tftp_master_path"), ("http", "[deploy]http_root")])
def test_what_can_not_be_written_is_named_with_its_option(
    server: Server, conf: Setter, tmp_path: Path, below: str, place: str
) -> None:
    conf(pxe__tftp_master_path=str(tmp_path / "masters"), deploy__http_root=str(tmp_path / "http"))
    (tmp_path / below).touch()
    with pytest.raises(BootImageFailed) as error:
        ImageCache.from_conf(CONF.pxe.tftp_master_path).provide(Image(f"{server.url}/a"), tmp_path / "http" / "target")
    assert f"{tmp_path}/{below}" in str(error.value) and place in str(error.value)
