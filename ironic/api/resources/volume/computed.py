"""What callers see of the properties of a volume target."""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from ironic.api import access, computed
from ironic.api.request import Request
from ironic.core import secrets
from ironic.core.model.volumes import VolumeTarget

_REDACTED: Final = orjson.Fragment(b'{"redacted_contents":"******"}')


def shown_properties(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[Any]:
    """Return the properties of each target without secrets, or a word in their place for who may not see them."""
    if not access.allows(request, "baremetal:volume:view_target_properties"):
        return [_REDACTED] * len(rows)
    return [secrets.masked(orjson.loads(text)) if text else {} for (text,) in rows]


computed.bind(VolumeTarget, properties=shown_properties)
