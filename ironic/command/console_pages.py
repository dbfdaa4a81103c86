"""The files of noVNC for browsers: regular files below one directory, and nothing else."""

import http
import mimetypes
import os
import stat
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from websockets.datastructures import Headers
from websockets.http11 import Response

# Of what noVNC has, the largest file is a tenth of this.
_LARGEST: Final = 2 * 1024 * 1024
# The URL of a page has the token: no other site gets it, and nothing guesses what a file is.
_HEADERS: Final = {"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}


class ConsolePages:
    """Answers requests for files; links out of the directory, and names that begin with a dot, are not followed."""

    def __init__(self, directory: str) -> None:
        """Take an existing directory; raise ValueError for another."""
        self._root = Path(os.path.realpath(directory))
        if not self._root.is_dir():
            raise ValueError(f"[vnc]novnc_web, {directory}, is no directory; install noVNC, or name where it is")

    def response(self, path: str) -> Response:
        """Return the file that a path of a URL names, or a 404."""
        if (body := self._content(path)) is None:
            return _answer(http.HTTPStatus.NOT_FOUND, b"There is no such page.\n", "text/plain; charset=utf-8")
        kind, _encoding = mimetypes.guess_type(path)
        return _answer(http.HTTPStatus.OK, body, kind or "application/octet-stream")

    def _content(self, path: str) -> bytes | None:
        parts = [part for part in unquote(path).split("/") if part]
        if not parts or any(part.startswith(".") or "\0" in part for part in parts):
            return None
        try:
            found = (self._root / Path(*parts)).resolve(strict=True)
            if not found.is_relative_to(self._root):
                return None
            # Without waiting: another end of a pipe may never come.
            with open(found, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
                status = os.fstat(file.fileno())
                return file.read() if stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST else None
        except (OSError, RuntimeError):
            return None


def _answer(status: http.HTTPStatus, body: bytes, kind: str) -> Response:
    headers = Headers({**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"})
    return Response(status.value, status.phrase, headers, body)
