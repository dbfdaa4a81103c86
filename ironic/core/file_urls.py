"""URLs of files on a conductor's host, however they are spelled."""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

# As urlsplit reads a scheme: in any case, behind blanks, with line ends and tabs left out.
_FILE: Final = re.compile(r"[\x00-\x20]*f[\t\r\n]*i[\t\r\n]*l[\t\r\n]*e[\t\r\n]*:", re.IGNORECASE)
_THIS_HOST: Final = ("", "localhost")


def names_file(value: object) -> bool:
    """Tell whether a value is text that names a file by a URL."""
    return isinstance(value, str) and _FILE.match(value) is not None


def path_in(url: str) -> str | None:
    """Return the absolute path that a file URL names on the host itself; None when it names none."""
    try:
        parts = urlsplit(url)
        path = unquote(parts.path, errors="surrogateescape")
    except ValueError:
        return None
    is_here = parts.scheme == "file" and parts.netloc in _THIS_HOST
    return path if is_here and path.startswith("/") and "\0" not in path else None


def names_file_anywhere(document: object) -> bool:
    """Tell whether a document has text anywhere that names a file by a URL."""
    left = [document]
    while left:
        one = left.pop()
        if names_file(one):
            return True
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one
    return False
