"""BIOS attributes of a Redfish machine: what the BMC reports, and whether requested values fit.

The BMC describes its attributes in a registry, which the service reads by itself: the library would load every registry
of the BMC to find one. Without a registry the attributes have names and values only.
"""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from sushy.resources.registry.message_registry_file import MessageRegistryFileCollection

from ironic.core import secrets, syntax
from ironic.core.errors import InvalidParameterValue
from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.redfish.bmc_connection import System, connector_of, optional

LOG = logging.getLogger(__name__)

Attributes = dict[str, Any]
Row = dict[str, Any]

# Fields of a row that the library's registry entry has under the same name.
_FIELDS: Final = (
    "attribute_type", "lower_bound", "upper_bound", "min_length", "max_length", "read_only", "reset_required", "unique",
)  # fmt: skip
# What a check needs.
CHECKED: Final = ("name", "allowable_values", *_FIELDS)
_BOUNDS: Final = (("lower_bound", "upper_bound"), ("min_length", "max_length"))
_WHOLE_NUMBERS: Final = tuple(name for bounds in _BOUNDS for name in bounds)
# Words of an enumeration that a message names, and the characters of each.
_MOST_WORDS: Final = 30
_LONGEST_WORD: Final = 64
# Attributes that a text about a change names.
_MOST_SHOWN: Final = 3
_LONGEST_NAME: Final = 255
# The versions of registries: `.v1_0_0`, or `.1.0.0`.
_VERSION: Final = re.compile(r"\.v(\d)")


def rows_of(system: System) -> list[Row]:
    """Return the attributes as rows of the table of BIOS settings."""
    bios = system.bios
    entries = _registry(system, bios)
    rows = []
    for name, value in (bios.attributes or {}).items():
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
            continue
        row: Row = {"name": name, "value": str(value) if isinstance(value, bool | int | float | str) else None}
        rows.append(row | _described(entries.get(name)))
    return rows


def _described(entry: Any) -> Row:
    """Return the fields of a row that the registry describes; those that are not as they should be are left out."""
    row: Row = dict.fromkeys((*_FIELDS, "allowable_values"))
    if entry is None:
        return row
    for field in _FIELDS:
        value = getattr(entry, field)
        if field in _WHOLE_NUMBERS:
            row[field] = int(value) if isinstance(value, int | float) and value == int(value) else None
        else:
            row[field] = value if isinstance(value, bool | str) else None
    for least, most in _BOUNDS:
        if None not in (row[least], row[most]) and row[least] > row[most]:
            # They would allow nothing.
            row[least] = row[most] = None
    if entry.allowable_values is not None:
        row["allowable_values"] = [item["ValueName"] for item in entry.allowable_values]
    return row


def _registry(system: System, bios: Any) -> dict[str, Any]:
    """Return the entries of the attribute registry by name; empty when the BMC has none that can be read."""
    wanted = bios.json.get("AttributeRegistry")
    path = (system.root.json.get("Registries") or {}).get("@odata.id")
    if not wanted or not path:
        return {}
    connector, version = connector_of(system), system.root.redfish_version
    files = optional(lambda: MessageRegistryFileCollection(connector, path, redfish_version=version), None)
    # Most BMCs name the file after its registry; the others are read one by one.
    for identity in sorted(files.members_identities or () if files else (), key=lambda one: wanted not in one):
        file = optional(partial(files.get_member, identity), None)
        if file is not None and any(_is_same(wanted, name) for name in (file.identity, file.registry)):
            registry = optional(partial(file.get_attribute_registry, "en", connector), None)
            if registry is not None and registry.registry_entries is not None:
                return {entry.name: entry for entry in registry.registry_entries.attributes or ()}
    LOG.info("The registry %s of the BIOS attributes can't be read, so they have names and values only", wanted)
    return {}


def _is_same(wanted: str, name: str) -> bool:
    """Return whether two names are of one registry: BMCs spell its version in two ways, or leave it out."""
    plain = [_VERSION.sub(r".\1", one.rpartition("/")[2].lower()).replace("_", ".") for one in (wanted, name)]
    shorter, longer = sorted(plain, key=len)
    return shorter == longer or (longer.startswith(f"{shorter}.") and longer[len(shorter) + 1].isdigit())


# Requested values


def requested(uuid: str, settings: object, known: Iterable[Row]) -> Attributes:
    """Return the requested attributes in the types that the BMC wants; raise InvalidParameterValue naming wrong ones.

    ``known`` are the stored settings with the columns `CHECKED`. Names that are not among them pass as they are.
    """
    if not isinstance(settings, list) or not settings:
        raise InvalidParameterValue(err=f"BIOS settings for node {uuid} must be a list, not empty.")
    rows = {row["name"]: row for row in known}
    found: Attributes = {}
    faults = []
    for setting in settings:
        is_pair = isinstance(setting, Mapping) and isinstance(setting.get("name"), str) and "value" in setting
        if not is_pair:
            raise InvalidParameterValue(err=f"Each BIOS setting for node {uuid} must have a name and a value.")
        name, value = setting["name"], setting["value"]
        row = rows.get(name)
        if row is not None:
            value = _converted(row, value)
            if fault := _fault(row, value):
                faults.append(f"{name} {fault}")
        found[name] = value
    if faults:
        raise InvalidParameterValue(err=f"BIOS settings for node {uuid} can't be applied: {'; '.join(faults)}.")
    return found


def in_words(attributes: Attributes) -> str:
    """Return attributes for people: a few of them, without secrets."""
    shown = secrets.masked(dict(list(attributes.items())[:_MOST_SHOWN]))
    more = f" and {len(attributes) - _MOST_SHOWN} more" if len(attributes) > _MOST_SHOWN else ""
    return ", ".join(f"{name}={str(value)[:_LONGEST_WORD]}" for name, value in shown.items()) + more


def _converted(row: Row, value: Any) -> Any:
    """Return a value that is given as text in the type of its attribute, where that is possible."""
    if row["attribute_type"] == "Integer" and isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return value
    if row["attribute_type"] == "Boolean" and isinstance(value, str):
        return value if (truth := syntax.truth_of(value)) is None else truth
    return value


def _fault(row: Row, value: Any) -> str | None:
    """Return what is wrong with the value of an attribute; None when nothing is."""
    kind = row["attribute_type"]
    if row["read_only"]:
        return "is read-only"
    if kind == "Enumeration" and (words := row["allowable_values"]) and not _is_among(value, words):
        return f"must be one of {_listed(words, is_text=isinstance(value, str))}"
    if kind == "Boolean" and not isinstance(value, bool):
        return "must be true or false"
    if kind == "Integer":
        if not isinstance(value, int) or isinstance(value, bool):
            return "must be a whole number"
        return _outside(value, row["lower_bound"], row["upper_bound"], "")
    if kind == "String":
        if not isinstance(value, str):
            return "must be text"
        return _outside(len(value), row["min_length"], row["max_length"], " characters")
    return None


def _is_among(value: object, words: Iterable[object]) -> bool:
    """Return whether a value is one of an enumeration; a number is no word, even where the word has its digits."""
    return any(type(value) is type(word) and value == word for word in words)


def _listed(words: Sequence[object], *, is_text: bool) -> str:
    """Return the values of an enumeration; texts have quotes where it may not be plain which of them are texts."""
    has_quotes = not (is_text and all(isinstance(word, str) for word in words))
    quotes = '"' if has_quotes else ""
    named = [
        f"{quotes}{safe_text(word)[:_LONGEST_WORD]}{quotes}" if isinstance(word, str) else str(word)
        for word in words[:_MOST_WORDS]
    ]
    more = f" and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
    return f"{', '.join(named)}{more}{' (text in quotes)' if has_quotes else ''}"


def _outside(value: int, least: int | None, most: int | None, of: str) -> str | None:
    if least is not None and value < least:
        return f"must be at least {least}{of}"
    if most is not None and value > most:
        return f"must be at most {most}{of}"
    return None
