"""The config drive that may come with a deployment.

A URL, base64 text, or since 1.56 an object from which the conductor builds one. What is in it is the instance's secret:
no text here quotes it.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

from ironic.api.schema import OPEN, TEXT, Schema, closed
from ironic.core.errors import InvalidParameterValue
from ironic.core.values import ValueType

_OBJECTS: Final = ("meta_data", "network_data", "vendor_data")
_OBJECT_SINCE: Final = 56
_VENDOR_DATA_SINCE: Final = 59
_KEYS: Final = frozenset({*_OBJECTS, "user_data"})


class ConfigDrive(ValueType):
    """Text or object; what is in it is judged with the verb and the version."""

    name = "config drive"
    sortable = False

    def __init__(self, minor: int = 10**6) -> None:
        self._minor = minor

    def at(self, minor: int) -> "ConfigDrive":
        """Return it as one version describes it."""
        return ConfigDrive(minor)

    def validate(self, value: Any) -> Any:
        """Check the kind."""
        if not isinstance(value, (str, dict)):
            raise ValueError("must be text or an object")
        return value

    def described(self) -> dict[str, object]:
        """Say what an object has in the version."""
        if self._minor < _OBJECT_SINCE:
            return dict(TEXT)
        known = [name for name in _OBJECTS if name != "vendor_data" or self._minor >= _VENDOR_DATA_SINCE]
        user_data: Schema = {"type": ["object", "array", "string", "null"]}
        return {"anyOf": [TEXT, closed({**dict.fromkeys(known, OPEN), "user_data": user_data})]}


def _check_text(value: str) -> None:
    if "://" in value:
        return
    try:
        # Tools break the text into lines.
        base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        raise InvalidParameterValue(err="configdrive must be a URL or base64 text.") from None


def _check_object(value: Mapping[str, object], minor: int) -> None:
    if minor < _OBJECT_SINCE:
        raise InvalidParameterValue(err="configdrive can be an object from API version 1.56 on.")
    if "vendor_data" in value and minor < _VENDOR_DATA_SINCE:
        raise InvalidParameterValue(err="configdrive can have vendor_data from API version 1.59 on.")
    if value.keys() - _KEYS:
        raise InvalidParameterValue(err=f"configdrive must have no other keys than {', '.join(sorted(_KEYS))}.")
    if any(not isinstance(value.get(key, {}), dict) for key in _OBJECTS):
        raise InvalidParameterValue(err=f"configdrive must have objects as {', '.join(_OBJECTS)}.")
    if not isinstance(value.get("user_data"), (dict, list, str, type(None))):
        raise InvalidParameterValue(err="configdrive must have an object, a list or text as user_data.")


def check_use(verb: str, value: Any, minor: int) -> None:
    """Refuse a config drive where the verb or the version has none, and one that is none."""
    if value is None:
        return
    if verb != "active" and not (verb == "rebuild" and minor >= 35):
        raise InvalidParameterValue(err="configdrive goes with active, and since 1.35 with rebuild.")
    if isinstance(value, dict):
        _check_object(value, minor)
    else:
        _check_text(value)
