"""The page of the API's history: doc/microversions.md."""

from collections.abc import Iterable

from ironic.api import versions
from ironic.core.microversions import MICROVERSIONS, Microversion

HEAD = f"""\
# Versions of the API

Read off `ironic/core/microversions.py` by `make docs`: what versions {versions.text(versions.MAXIMUM)} back to \
{versions.text(versions.MINIMUM)} brought and changed. A client says
in each request which one it speaks ([clients.md](clients.md)) and is shown nothing that came later;
[api-ref](../api-ref/README.md) tells what there is now.

`node.owner` is a field and `node` a resource with the fields that it began with; `GET /v1/shards` is a request and
`/v1/shards` every request there and below. `GET /v1/nodes?owner` is a parameter; a word after a request is a key of its
body, and one after `=` what that key may be, or what a field reads.

| version | what it is about | new | changed |
| --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page, the newest version first."""
    return HEAD + "".join(_row(one) for one in reversed(MICROVERSIONS))


def _row(version: Microversion) -> str:
    cells = (versions.text(version.minor), version.sentence, _names(version.added), _names(version.changed))
    return f"| {' | '.join(cells)} |\n"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
