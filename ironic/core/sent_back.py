"""What clients send back of what they were shown: a mask stands for the secret it hides.

A client that reads an object, changes one key and writes all of it means the secrets to stay as they are. Positions in
lists say nothing about which secret is meant, so a mask in a changed list is refused, as is one where no secret is
stored.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ironic.core.errors import InvalidParameterValue
from ironic.core.secrets import REPLACEMENT

# Stands for a secret, to find out where one would be hidden.
_ANY: Final = "any"


def restored(given: object, stored: object, mask: Callable[[Any], Any]) -> object:
    """Return what a caller sent with the stored secrets in the place of their masks, or raise InvalidParameterValue.

    ``mask`` makes what callers see of what is stored; None is stored where nothing is.
    """
    if not _has_mask(given):
        return given
    shown = None if stored is None else mask(stored)
    return _restored(given, stored, shown, mask(_without_masks(given)), "")


def _restored(given: object, stored: object, shown: object, hidden: object, key: str) -> object:
    if stored is not None and given == shown:
        return stored
    if isinstance(given, Mapping) and isinstance(hidden, Mapping):
        return {
            name: _restored(one, _inner(stored, name), _inner(shown, name), hidden.get(name), name)
            for name, one in given.items()
        }
    if isinstance(given, list) and isinstance(hidden, list):
        return [_restored(one, None, None, its, key) for one, its in zip(given, hidden, strict=True)]
    if _has_mask(given) and (hidden == REPLACEMENT or stored != shown or "://" in str(given)):
        raise InvalidParameterValue(
            err=f"{key[:80]} has asterisks in the place of a secret that is not stored there. Send the secret itself."
        )
    return given


def _inner(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _has_mask(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_mask, value.values()))
    if isinstance(value, list):
        return any(map(_has_mask, value))
    return isinstance(value, str) and REPLACEMENT in value


def _without_masks(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _without_masks(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_masks(one) for one in value]
    return _ANY if value == REPLACEMENT else value
