"""Cache of images that many machines need: an image is downloaded once and kept for the next machine.

An image is identified by its URL. Before each use its server is asked whether it has changed; an unchanged image is
taken from the cache. Targets are hard links where the file system allows it, so an image takes its space once. A file
of this host is linked itself, and nothing is kept without a directory or where the server forbids it. A file appears
only when it is complete, its checksum is right and the owner of the cache has accepted it. Several threads and
processes may share a directory: while one downloads an image, the others that need it wait. Images that no machine uses
are removed by age, and the oldest first when space is short.
"""

import fcntl
import hashlib
import json
import logging
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from ironic.conf import CONF
from ironic.core.addresses.own_host import names_file
from ironic.core.errors.hardware_errors import BootImageFailed
from ironic.integrations import disk_space, host_files, image_servers, own_directories
from ironic.integrations.hidden_faults import NO_IMAGE, hidden
from ironic.integrations.http_client import CallFailed, NotConnected

LOG = logging.getLogger(__name__)

_CHUNK: Final = 1024 * 1024
# Key of the stored facts: the result of ``finish`` when the image was downloaded.
_ABOUT: Final = "about"
_PART: Final = ".part"
# Keys of the stored facts: what the server has said of keeping the image.
_FORBIDDEN: Final = "no-store"
_CHECKED: Final = "no-cache"
_LOCK: Final = ".lock."
# Length of a checksum in hexadecimal digits -> algorithm.
ALGORITHMS: Final = {64: "sha256", 128: "sha512"}

# Checks a downloaded image, may change it in place, raises an error to refuse it; the result is stored with the image.
Finish = Callable[[Path], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Image:
    """An image by its URL (http, https or file), with its checksum if known.

    The checksum is SHA256 or SHA512 unless ``algorithm`` is set. ``variant`` separates the results that several callers
    make of one image. What goes wrong at a URL ``by_project`` has one text.
    """

    url: str
    checksum: str | None = None
    algorithm: str | None = None
    variant: str = ""
    by_project: bool = False

    @property
    def name(self) -> str:
        """The name of the image for messages, without path and password."""
        parts = urlsplit(self.url)
        return f"{parts.path.rpartition('/')[2]} of {parts.hostname or 'this host'}"


class ImageCache:
    """The cached images of one directory; without one nothing is kept."""

    def __init__(
        self, directory: Path | None, *, max_bytes: int, max_age_seconds: float, finish: Finish | None = None
    ) -> None:
        self._directory, self._max_bytes, self._max_age = directory, max_bytes, max_age_seconds
        self._finish = finish or (lambda partial: {})

    @classmethod
    def from_conf(cls, directory: str, finish: Finish | None = None) -> Self:
        """Return the cache of a directory, with the limits of [pxe]; an empty text is no directory."""
        options = CONF.pxe
        return cls(
            directory_of(directory),
            max_bytes=options.image_cache_size * 1024 * 1024,
            max_age_seconds=options.image_cache_ttl * 60,
            finish=finish,
        )

    def provide(self, image: Image, target: Path, mode: int = 0o644) -> dict[str, Any]:
        """Put an image at a path, replacing what is there; return what ``finish`` returned for the image.

        Raises BootImageFailed.
        """
        try:
            about = _linked(image, target, mode, self._finish) if names_file(image.url) else None
            if about is None:
                kept = self._kept if self._directory else self._fetched
                about = kept(image, target, mode)
        except CallFailed as error:
            reason = hidden(NO_IMAGE, f"Image {image.name}", error) if image.by_project else str(error)
            raise BootImageFailed(image=image.name, reason=reason) from error
        except OSError as error:
            raise BootImageFailed(image=image.name, reason=own_directories.explained(error)) from error
        except host_files.NotOffered as error:
            raise BootImageFailed(image=image.name, reason=f"it is {error}") from error
        return dict(about)

    def _fetched(self, image: Image, target: Path, mode: int) -> dict[str, object]:
        """Put an image at a path without keeping it."""
        fresh = target.with_name(f".{target.name}.once")
        try:
            _refresh(image, fresh, self._finish)
            os.chmod(fresh, mode)
            about: dict[str, object] = _facts_of(fresh).get(_ABOUT, {})
            fresh.replace(target)
        finally:
            _forget(fresh)
        return about

    def _kept(self, image: Image, target: Path, mode: int) -> dict[str, object]:
        """Put an image at a path, from the directory of the cache."""
        assert self._directory is not None, "without a directory nothing is kept"
        key = hashlib.sha256(f"{image.url} {image.checksum} {image.variant}".encode()).hexdigest()[:40]
        # No other user of this host may read the directory; published images are linked elsewhere.
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self._directory.stat()
        if found.st_uid == os.geteuid() and found.st_mode & 0o077:
            self._directory.chmod(0o700)
        with self._locked(key):
            master = self._directory / key
            _refresh(image, master, self._finish)
            os.chmod(master, mode)
            os.utime(master)
            link_or_copy(master, target)
            facts = _facts_of(master)
            if facts.get(_FORBIDDEN):
                _forget(master)
        self.trim()
        about: dict[str, object] = facts.get(_ABOUT, {})
        return about

    def trim(self) -> None:
        """Remove images that no machine uses: old ones, and the oldest while the cache is too large."""
        if self._directory is None:
            return
        masters = [(path, found) for path in self._directory.glob("[!.]*") if (found := _stat(path))]
        excess = sum(_size_on_disk(found) for _, found in masters) - self._max_bytes
        oldest = time.time() - self._max_age
        for path, found in sorted(masters, key=lambda item: item[1].st_mtime):
            if found.st_nlink == 1 and (excess > 0 or found.st_mtime < oldest):
                excess -= _size_on_disk(found) if self._remove(path.name, path, _facts_file(path)) else 0
        for path in self._directory.glob(f".{'[0-9a-f]' * 40}{_PART}*"):
            # Left by a process that was killed; a download in progress holds the lock.
            self._remove(path.name[1:].partition(".")[0], path)
        for path in self._directory.glob(f"{_LOCK}*"):
            key = path.name.removeprefix(_LOCK)
            if not (self._directory / key).exists():
                self._remove(key, path)

    def _remove(self, key: str, *paths: Path) -> bool:
        """Remove the files of an image unless it is locked; return whether they are removed."""
        try:
            with self._locked(key, wait=False):
                for path in paths:
                    path.unlink(missing_ok=True)
        except BlockingIOError:
            return False
        return True

    @contextmanager
    def _locked(self, key: str, *, wait: bool = True) -> Iterator[None]:
        """Hold the lock of one image; a slow server delays only users of the same image."""
        assert self._directory is not None, "without a directory there is nothing to lock"
        path = self._directory / f"{_LOCK}{key}"
        while True:
            with open(path, "w") as file:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                found = _stat(path)
                if found is not None and os.path.samestat(found, os.fstat(file.fileno())):
                    yield
                    return
            # The lock file was removed during the wait, so its lock is void: try again.


def directory_of(option: str) -> Path | None:
    """Return the directory that an option names; None for an empty one, which turns its cache off."""
    return Path(option) if option.strip() else None


def _stat(path: Path) -> os.stat_result | None:
    """Return the status of a file, None when it does not exist."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _size_on_disk(found: os.stat_result) -> int:
    """Return the bytes that a file occupies; a raw image has holes."""
    return min(found.st_size, found.st_blocks * 512)


def _facts_file(master: Path) -> Path:
    return master.with_name(f".{master.name}.json")


def _forget(master: Path) -> None:
    """Remove a copy and the facts about it."""
    _facts_file(master).unlink(missing_ok=True)
    master.unlink(missing_ok=True)


def _linked(image: Image, target: Path, mode: int, finish: Finish) -> dict[str, object] | None:
    """Link a file of this host to the target; return what ``finish`` returned, None where it can't be linked."""
    partial = target.with_name(f".{target.name}{_PART}")
    with host_files.open_image(image.url) as source:
        found = os.fstat(source.fileno())
        disk_space.check_size(found.st_size)
        partial.unlink(missing_ok=True)
        try:
            if stat.S_IMODE(found.st_mode) != mode:
                return None  # a link has the mode of the file, which is its owner's choice
            # Links of /proc are followed only by the call that takes a directory, which an absolute path ignores.
            number = source.fileno()
            os.link(f"/proc/self/fd/{number}", partial, src_dir_fd=number, follow_symlinks=True)
        except OSError as error:
            LOG.debug("%s is copied, because it can't be linked: %s", image.name, error)
            return None
        try:
            if image.checksum:
                with partial.open("rb") as file:
                    _check_sum(image, hashlib.file_digest(file, lambda: _digest_of(image)).hexdigest())
            about = dict(finish(partial))
            if not os.path.samestat(found, partial.stat()):
                partial.chmod(mode)  # it was converted
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    return about


def _digest_of(image: Image) -> "hashlib._Hash":
    return hashlib.new(image.algorithm or (ALGORITHMS[len(image.checksum)] if image.checksum else "sha256"))


def _check_sum(image: Image, value: str) -> None:
    if image.checksum and value != image.checksum.lower():
        raise BootImageFailed(image=image.name, reason="its checksum is not the given one")


def _refresh(image: Image, master: Path, finish: Finish) -> None:
    """Update the cached image to what the URL has now."""
    known = _facts_of(master)
    if names_file(image.url):
        _refresh_from_file(image, master, known, finish)
    else:
        _refresh_from_server(image, master, known, finish)


def _facts_of(master: Path) -> dict[str, Any]:
    """Return the stored facts about an image, none when it is missing or incomplete."""
    try:
        facts = json.loads(_facts_file(master).read_text())
    except (OSError, ValueError):
        return {}
    return dict(facts) if master.is_file() else {}


def _refresh_from_file(image: Image, master: Path, known: dict[str, Any], finish: Finish) -> None:
    with host_files.open_image(image.url) as source:
        found = os.fstat(source.fileno())
        facts = {"modified": found.st_mtime_ns, "size": found.st_size}
        if {name: known.get(name) for name in facts} != facts:
            disk_space.check_size(found.st_size)
            _keep(image, iter(lambda: source.read(_CHUNK), b""), master, facts, finish)


def _refresh_from_server(image: Image, master: Path, known: dict[str, Any], finish: Finish) -> None:
    headers = {name: known[name] for name in ("If-None-Match", "If-Modified-Since") if known.get(name)}
    try:
        answer = image_servers.get(image.url, headers=headers)
    except NotConnected as error:
        if not known or known.get(_CHECKED):
            raise
        LOG.warning("%s can't be checked for changes (%s); the cached copy is used", image.name, error)
        return
    with answer:
        if answer.status == HTTPStatus.NOT_MODIFIED and known:
            return
        if not answer.is_good:
            raise CallFailed(f"the server answers with status {answer.status}")
        facts = {
            "If-None-Match": answer.headers.get("ETag"),
            "If-Modified-Since": answer.headers.get("Last-Modified"),
            **_kept_how(answer.headers.get("Cache-Control")),
        }
        _keep(image, answer.chunks(), master, facts, finish)


def _kept_how(cache_control: str | None) -> dict[str, bool]:
    """Return whether the server forbids to keep the image, and whether it has to be asked before each use."""
    words = {word.partition("=")[0].strip().lower() for word in (cache_control or "").split(",")}
    return {_FORBIDDEN: _FORBIDDEN in words, _CHECKED: not words.isdisjoint((_CHECKED, "must-revalidate"))}


def _keep(image: Image, chunks: Iterator[bytes], master: Path, facts: dict[str, Any], finish: Finish) -> None:
    """Write a new copy, check it, and replace the old one by it."""
    partial = master.with_name(f".{master.name}{_PART}")
    digest = _digest_of(image)
    try:
        with partial.open("wb") as file:
            for chunk in disk_space.fitting(chunks, partial.parent):
                digest.update(chunk)
                file.write(chunk)
        _check_sum(image, digest.hexdigest())
        about = dict(finish(partial))
        _facts_file(master).unlink(missing_ok=True)
        partial.rename(master)
        _facts_file(master).write_text(json.dumps({**facts, _ABOUT: about}))
    finally:
        partial.unlink(missing_ok=True)


def link_or_copy(master: Path, target: Path) -> None:
    """Link the image to the target, or copy it to another file system; the target changes in one step."""
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
