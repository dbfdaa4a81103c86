"""Images in files of this host: which of them may be handed to machines.

Only files below [conductor]file_url_allowed_paths are, links followed: whoever may set up a node must not be able to
read the host's secrets that way.
"""

import os
from urllib.parse import unquote, urlsplit

from ironic.conf import CONF


def path_of(url: str) -> str:
    """Return the path in a file URL."""
    return unquote(urlsplit(url).path)


def fault_of(url: str) -> str | None:
    """Return why the file of a file URL can't be handed out, None when it can."""
    path = os.path.realpath(path_of(url))
    allowed = [os.path.realpath(root) for root in CONF.conductor.file_url_allowed_paths]
    if urlsplit(url).netloc not in ("", "localhost") or not any(_is_below(path, root) for root in allowed):
        return "a file that [conductor]file_url_allowed_paths does not allow"
    if not os.path.isfile(path):
        return f"no file on conductor {CONF.host}"
    return None


def _is_below(path: str, root: str) -> bool:
    return os.path.commonpath((path, root)) == root
