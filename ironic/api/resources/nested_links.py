"""Links to things that live below another: their place in the path is known only when the request is."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from ironic.api.computed import Gather
from ironic.api.request import Request


def below(part: str) -> Gather:
    """Return what makes the links to `<request.within>/<part>/<name of the thing>`."""

    def gather(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
        return [_links(request, f"{request.within}/{part}/{quote(row[0], safe='@:')}") for row in rows]

    return gather


def _links(request: Request, path: str) -> list[dict[str, str]]:
    return [
        {"href": request.url(f"/v1/{path}"), "rel": "self"},
        {"href": request.url(f"/{path}"), "rel": "bookmark"},
    ]
