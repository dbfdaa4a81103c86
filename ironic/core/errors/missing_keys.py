"""The error for a key that driver_info or instance_info must have; it mentions what may be a typing error."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Final

from ironic.core.errors import MissingParameterValue
from ironic.core.texts import syntax

# How much alike two names are, from 0 to 1.
_ALIKE: Final = 0.8


def missing_keys(
    node_uuid: str,
    place: str,
    needed: Collection[str],
    given: Mapping[str, object],
    known: Collection[str] = (),
    reason: str = "",
) -> MissingParameterValue:
    """Return the error for keys that are ``needed`` in a ``place`` of a node, such as driver_info.

    A key that is ``given`` and not ``known`` is mentioned if it is like one of them; no value is.
    """
    unknown = [key for key in given if key not in known and key not in needed]
    near = {key: match for key in needed for match in get_close_matches(key, unknown, 1, _ALIKE)}
    text = f"Node {node_uuid} needs {' and '.join(needed)} in its {place}{reason}."
    for key, match in near.items():
        text += f" It has {syntax.plain_text(match)!r} there; is {key} meant?"
    return MissingParameterValue(err=text)
