"""The ETags under which a BMC may take a change of a resource.

BMCs send the ETag in the header, in the document, or in both; weak where they want the strong form, with two quotes
around it or with none. Some take `*` only, and some refuse each ETag that they have sent.
"""

from collections.abc import Callable, Iterator
from typing import Final

from ironic.drivers.modules.redfish.wire.forms import Forms

_CONDITION_FAILED: Final = (412, 428)


def etags(first: str | None, current: Callable[[], Iterator[str | None]]) -> Forms[str | None]:
    """Yield the ETags to try, the likeliest first; None is for an order without one.

    ``first`` is that of the document that was read before. ``current`` reads those of the present document; it is
    called only when more are asked for. A refusal for another reason than the ETag leads to no other one.
    """
    for tag in _candidates(first, current):
        if (yield tag).status_code not in _CONDITION_FAILED:
            return


def _candidates(first: str | None, current: Callable[[], Iterator[str | None]]) -> Iterator[str | None]:
    seen: set[str | None] = set()

    def new(tags: Iterator[str | None]) -> Iterator[str | None]:
        for tag in tags:
            if tag not in seen:
                seen.add(tag)
                yield tag

    yield from new(_forms(first) if first else iter((None,)))
    for tag in current():
        if isinstance(tag, str) and tag:
            yield from new(_forms(tag))
    yield from new(iter(("*", None)))


def _forms(tag: str) -> Iterator[str | None]:
    """Yield an ETag as it was sent, in its strong form, and with one pair of quotes."""
    strong = tag.removeprefix("W/")
    yield tag
    yield strong
    bare = strong.strip('"')
    if bare and "\n" not in bare and "\r" not in bare:
        yield f'"{bare}"'
