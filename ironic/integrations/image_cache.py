"""Images that many machines need, fetched once and kept for the next one.

An image is known by its URL. Before each use its server is asked whether it has changed; what has not is taken from
here. Targets are hard links where the file system allows, so room is taken once. A file appears only when it is
complete, its checksum is right and whoever has the cache is content with it. Several threads and processes may share a
directory: who fetches an image makes the others wait for it. What no machine needs is removed by age, and the oldest
first when room is short.
"""

import fcntl
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.file_urls import names_file
from ironic.core.management_errors import BootImageFailed
from ironic.integrations import disk_room, image_servers, local_files
from ironic.integrations.outgoing import CallFailed, NotConnected

LOG = logging.getLogger(__name__)

_CHUNK: Final = 1024 * 1024
# Key among the facts about a kept image: what was found out when it was fetched.
_ABOUT: Final = "about"
_PART: Final = ".part"
_LOCK: Final = ".lock."
# Length of a checksum in hexadecimal digits -> algorithm.
ALGORITHMS: Final = {64: "sha256", 128: "sha512"}


# Looks at an image that was fetched, may change it in place, raises what speaks against it; what it returns is kept.
Finish = Callable[[Path], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Image:
    """An image by its URL (http, https or file), with its checksum where one is known: SHA256 or SHA512 unless named.

    ``variant`` tells apart what several callers make of one image.
    """

    url: str
    checksum: str | None = None
    algorithm: str | None = None
    variant: str = ""

    @property
    def name(self) -> str:
        """Name it for people: no path, no password."""
        parts = urlsplit(self.url)
        return f"{parts.path.rpartition('/')[2]} of {parts.hostname or 'this host'}"


class ImageCache:
    """The images in one directory."""

    def __init__(
        self, directory: Path, *, max_bytes: int, max_age_seconds: float, finish: Finish | None = None
    ) -> None:
        self._directory, self._max_bytes, self._max_age = directory, max_bytes, max_age_seconds
        self._finish = finish or _leave

    @classmethod
    def from_conf(cls, directory: str, finish: Finish | None = None) -> Self:
        """Return the cache in a directory, with the bounds that the options give all of them."""
        options = CONF.pxe
        return cls(
            Path(directory),
            max_bytes=options.image_cache_size * 1024 * 1024,
            max_age_seconds=options.image_cache_ttl * 60,
            finish=finish,
        )

    def provide(self, image: Image, target: Path, mode: int = 0o644) -> dict[str, Any]:
        """Put an image at a path in place of what is there, or raise BootImageFailed.

        Returns what ``finish`` has found out when the image was fetched.
        """
        key = hashlib.sha256(f"{image.url} {image.checksum} {image.variant}".encode()).hexdigest()[:40]
        try:
            _make_private(self._directory)
            with self._locked(key):
                master = self._directory / key
                _refresh(image, master, self._finish)
                os.chmod(master, mode)
                os.utime(master)
                _place(master, target)
                about = _facts_of(master).get(_ABOUT, {})
            self.trim()
        except CallFailed as error:
            raise BootImageFailed(image=image.name, reason=str(error)) from error
        except OSError as error:
            raise BootImageFailed(image=image.name, reason=error.strerror or type(error).__name__) from error
        return dict(about)

    def trim(self) -> None:
        """Remove what no machine needs, by age and by room."""
        masters = [(path, found) for path in self._directory.glob("[!.]*") if (found := _stat(path))]
        room = sum(_taken(found) for _, found in masters) - self._max_bytes
        oldest = time.time() - self._max_age
        for path, found in sorted(masters, key=lambda item: item[1].st_mtime):
            if found.st_nlink == 1 and (room > 0 or found.st_mtime < oldest):
                room -= _taken(found) if self._remove(path.name, path, _facts_file(path)) else 0
        for path in self._directory.glob(f".{'[0-9a-f]' * 40}{_PART}*"):
            # Nobody is at work on it, who was has been killed.
            self._remove(path.name[1:].partition(".")[0], path)
        for path in self._directory.glob(f"{_LOCK}*"):
            key = path.name.removeprefix(_LOCK)
            if not (self._directory / key).exists():
                self._remove(key, path)

    def _remove(self, key: str, *paths: Path) -> bool:
        """Remove what belongs to a kept image unless somebody is at work on it; return whether it is gone."""
        try:
            with self._locked(key, wait=False):
                for path in paths:
                    path.unlink(missing_ok=True)
        except BlockingIOError:
            return False
        return True

    @contextmanager
    def _locked(self, key: str, *, wait: bool = True) -> Iterator[None]:
        """Hold the lock of one image: a slow server keeps only those waiting who want the same image from it."""
        path = self._directory / f"{_LOCK}{key}"
        while True:
            with open(path, "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                found = _stat(path)
                if found is not None and os.path.samestat(found, os.fstat(file.fileno())):
                    yield
                    return
            # It was removed while it was waited for, and holds nothing any more.


def _make_private(directory: Path) -> None:
    """Make a directory that no other user of this host can look into; what is offered from it is linked elsewhere."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = directory.stat()
    if found.st_uid == os.geteuid() and found.st_mode & 0o077:
        directory.chmod(0o700)


def _stat(path: Path) -> os.stat_result | None:
    """Look at a file that others may remove meanwhile."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _taken(found: os.stat_result) -> int:
    """Return the room that a file takes; a raw image has holes."""
    return min(found.st_size, found.st_blocks * 512)


def _facts_file(master: Path) -> Path:
    return master.with_name(f".{master.name}.json")


def _leave(partial: Path) -> Mapping[str, Any]:
    """Take an image as it came."""
    return {}


def _refresh(image: Image, master: Path, finish: Finish) -> None:
    """Make the kept image what the URL has now."""
    known = _facts_of(master)
    if names_file(image.url):
        _refresh_from_file(image, master, known, finish)
    else:
        _refresh_from_server(image, master, known, finish)


def _facts_of(master: Path) -> dict[str, Any]:
    """Return what is known of a kept image, nothing when it is not there or was never completed."""
    try:
        facts = json.loads(_facts_file(master).read_text())
    except (OSError, ValueError):
        return {}
    return dict(facts) if master.is_file() else {}


def _refresh_from_file(image: Image, master: Path, known: dict[str, Any], finish: Finish) -> None:
    try:
        with local_files.opened(image.url) as source:
            found = os.fstat(source.fileno())
            facts = {"modified": found.st_mtime_ns, "size": found.st_size}
            if {name: known.get(name) for name in facts} != facts:
                disk_room.check_size(found.st_size)
                _keep(image, iter(lambda: source.read(_CHUNK), b""), master, facts, finish)
    except local_files.NotOffered as error:
        raise BootImageFailed(image=image.name, reason=f"it is {error}") from error


def _refresh_from_server(image: Image, master: Path, known: dict[str, Any], finish: Finish) -> None:
    headers = {name: known[name] for name in ("If-None-Match", "If-Modified-Since") if known.get(name)}
    try:
        answer = image_servers.get(image.url, headers=headers)
    except NotConnected as error:
        if not known:
            raise
        LOG.warning("%s can't be asked for (%s); the copy from before is used", image.name, error)
        return
    with answer:
        if answer.status == HTTPStatus.NOT_MODIFIED and known:
            return
        if not answer.is_good:
            raise BootImageFailed(image=image.name, reason=f"the server answers with status {answer.status}")
        facts = {"If-None-Match": answer.headers.get("ETag"), "If-Modified-Since": answer.headers.get("Last-Modified")}
        _keep(image, answer.chunks(), master, facts, finish)


def _keep(image: Image, chunks: Iterator[bytes], master: Path, facts: dict[str, Any], finish: Finish) -> None:
    """Write a new copy beside the old one, and put it in its place once it is right."""
    partial = master.with_name(f".{master.name}{_PART}")
    digest = hashlib.new(image.algorithm or (ALGORITHMS[len(image.checksum)] if image.checksum else "sha256"))
    try:
        with partial.open("wb") as file:
            for chunk in disk_room.fitting(chunks, partial.parent):
                digest.update(chunk)
                file.write(chunk)
        if image.checksum and digest.hexdigest() != image.checksum.lower():
            raise BootImageFailed(image=image.name, reason="its checksum is not the one that was given")
        about = dict(finish(partial))
        _facts_file(master).unlink(missing_ok=True)
        partial.rename(master)
        _facts_file(master).write_text(json.dumps({**facts, _ABOUT: about}))
    finally:
        partial.unlink(missing_ok=True)


def _place(master: Path, target: Path) -> None:
    """Link the image to the target, or copy it where that can't be; the target changes in one step."""
    fresh = target.with_name(f".{target.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        try:
            fresh.hardlink_to(master)
        except OSError:
            shutil.copyfile(master, fresh)
            shutil.copymode(master, fresh)
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
