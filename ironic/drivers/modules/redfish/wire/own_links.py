"""Links of a document, brought to paths on the BMC that sent it.

The standard wants paths. Some BMCs put their own scheme, host and port before them, leave out the first slash, or have
blanks around them. What names another server stays as it is, and is not followed.
"""

import re
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from ironic.core.addresses.allowed_addresses import Server, server_of

_ID: Final = "@odata.id"
_ROOT: Final = "/redfish/"
# A slash or a letter may be escaped, and a document be in another encoding.
_ESCAPED: Final = (b"\\/", b"\\u", b"\0")
# A URL of a resource; a link that begins with no slash, or has a blank in it, which may be escaped.
_ODD_LINK: Final = re.compile(rb"://[^\"/]*/redfish/|@odata\.id\"\s*:\s*\"(?:[^/]|[^\"\s\\]*[\s\\])")


def may_have_urls(content: bytes) -> bool:
    """Return whether a document may have links that are no paths yet, before all of it is looked through."""
    return any(sign in content for sign in _ESCAPED) or _ODD_LINK.search(content) is not None


def with_own_paths(value: Any, own: Server) -> Any:
    """Return a document in which each URL of a resource on ``own`` is its path."""
    if isinstance(value, list):
        return [with_own_paths(item, own) for item in value]
    if isinstance(value, dict):
        return {
            name: _link(item, own) if name == _ID and isinstance(item, str) else with_own_paths(item, own)
            for name, item in value.items()
        }
    return _path(value, own) if isinstance(value, str) and "://" in value else value


def _link(text: str, own: Server) -> str:
    text = text.strip()
    return f"/{text}" if f"/{text}".startswith(_ROOT) else _path(text, own)


def _path(text: str, own: Server) -> str:
    """Return the path of a URL of a resource on ``own``, any other text as it is."""
    try:
        parts = urlsplit(text)
        is_own = "@" not in parts.netloc and parts.path.startswith(_ROOT) and server_of(text) == own
    except ValueError:
        return text
    return urlunsplit(("", "", parts.path, parts.query, parts.fragment)) if is_own else text
