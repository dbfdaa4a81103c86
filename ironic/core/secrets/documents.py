"""Plain data without the secrets in it: by the names in it, by pairs of a name and a value, and by its texts."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ironic.core.secrets.names import REPLACEMENT, is_secret
from ironic.core.secrets.texts import masked_text

# The config drive, the URL of the image.
_HIDDEN_OF_INSTANCE: Final = ("configdrive", "image_url")

# How lists of settings spell the name of one and what it is set to: BIOS settings, headers, variables.
_NAMES: Final = ("name", "key", "setting", "attribute", "attribute_name", "header", "option", "parameter", "variable")
_SPELLINGS: Final = frozenset(
    spelled
    for name in _NAMES
    for spelled in dict.fromkeys((name, name.title(), "".join(map(str.title, name.split("_")))))
)


def masked(value: Any) -> Any:
    """Return a copy of plain data with every secret replaced; what holds none (null, empty text) stays as it is."""
    if isinstance(value, str):
        return masked_text(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, dict | Mapping):
        names_a_secret = not _SPELLINGS.isdisjoint(value) and _names_a_secret(value)
        return {
            key: REPLACEMENT if _is_hidden(key, names_a_secret) and _is_there(inner) else masked(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_masked_pair(inner) if _is_pair(inner) else masked(inner) for inner in value]
    return value


def masked_instance_info(info: Mapping[str, Any]) -> dict[str, object]:
    """Return a masked copy of what is known of an instance, without what may carry a secret in itself."""
    shown: dict[str, Any] = masked(info)
    return shown | {key: REPLACEMENT for key in _HIDDEN_OF_INSTANCE if shown.get(key)}


def _is_hidden(key: object, names_a_secret: bool) -> bool:
    """Judge the name of a value, and the name that stands beside it."""
    return isinstance(key, str) and (is_secret(key) or (names_a_secret and "val" in key.lower()))


def _is_there(value: object) -> bool:
    """Tell whether there is something to hide: nothing set is none, and that something is set or wanted neither."""
    return value is not None and value != "" and not isinstance(value, bool)


def _names_a_secret(value: Mapping[object, object]) -> bool:
    return any(isinstance(name := value.get(spelled), str) and is_secret(name) for spelled in _SPELLINGS)


def _is_pair(value: object) -> bool:
    """Tell whether this is a name and its value, as lists of headers have them."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not isinstance(value[0], str):
        return False
    return ":" not in value[0] and is_secret(value[0])


def _masked_pair(pair: Sequence[object]) -> list[object]:
    name, value = pair
    return [name, REPLACEMENT if _is_there(value) else value]
