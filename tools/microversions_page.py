"""The page of the microversions of the API: doc/microversions.md."""

from collections.abc import Iterable

from ironic.api.version_negotiation import MAXIMUM, MINIMUM, text
from ironic.core.microversions import MICROVERSIONS

HEAD = f"""\
# Versions of the API

What versions {text(MAXIMUM)} back to {text(MINIMUM)} added and changed. A client names its version in each request
([clients.md](clients.md)); the service hides what later versions added. The [API reference](../api-ref/README.md)
describes the newest version.

`node.owner` is a field, and `node` a resource with its first fields; `GET /v1/shards` is a request and
`/v1/shards` every request there and below. `GET /v1/nodes?owner` is a parameter; a word after a request is a key of its
body, and one after `=` what that key may be, or what a field reads.

| version | what it is about | new | changed |
| --- | --- | --- | --- |
"""


def page() -> str:
    """Return the page, the newest version first."""
    rows = [
        f"| {text(one.minor)} | {one.sentence} | {_names(one.added)} | {_names(one.changed)} |\n"
        for one in reversed(MICROVERSIONS)
    ]
    return HEAD + "".join(rows)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
