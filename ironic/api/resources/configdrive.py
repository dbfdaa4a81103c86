"""The config drive that may come with a deployment.

A URL, base64 text, or since 1.56 an object from which the conductor builds one. What is in it is the instance's secret:
no text here quotes it.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from ironic.api.types import ValueType
from ironic.core.errors import InvalidParameterValue

_OBJECTS: Final = ("meta_data", "network_data", "vendor_data")
_KEYS: Final = frozenset({*_OBJECTS, "user_data"})


class ConfigDrive(ValueType):
    """Text or object."""

    name = "config drive"
    sortable = False

    def validate(self, value: Any) -> Any:
        """Check the form."""
        if isinstance(value, str):
            return _text(value)
        if isinstance(value, dict):
            return _object(value)
        raise ValueError("must be text or an object")


def _text(value: str) -> str:
    if "://" in value:
        return value
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("must be a URL or base64 text") from None
    return value


def _object(value: Mapping[str, Any]) -> Mapping[str, Any]:
    if value.keys() - _KEYS:
        raise ValueError(f"must have no other keys than {', '.join(sorted(_KEYS))}")
    if any(not isinstance(value.get(key, {}), dict) for key in _OBJECTS):
        raise ValueError(f"must have objects as {', '.join(_OBJECTS)}")
    if not isinstance(value.get("user_data"), (dict, list, str, type(None))):
        raise ValueError("must have an object, a list or text as user_data")
    return value


def check_use(verb: str, value: Any, minor: int) -> None:
    """Refuse a config drive where the verb or the version has none."""
    if value is None:
        return
    if verb != "active" and not (verb == "rebuild" and minor >= 35):
        raise InvalidParameterValue(err="configdrive goes with active, and since 1.35 with rebuild.")
    if isinstance(value, dict) and minor < 56:
        raise InvalidParameterValue(err="configdrive can be an object from API version 1.56 on.")
    if isinstance(value, dict) and "vendor_data" in value and minor < 59:
        raise InvalidParameterValue(err="configdrive can have vendor_data from API version 1.59 on.")
