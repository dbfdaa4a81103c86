"""BIOS attributes of a Redfish machine: what the BMC reports, and whether requested values fit.

The BMC describes its attributes in a registry, which the service reads by itself: the library would load every registry
of the BMC to find one. Without a registry the attributes have names and values only.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from sushy import exceptions as sushy_errors
from sushy.resources.registry.message_registry_file import MessageRegistryFileCollection

from ironic.core.errors import InvalidParameterValue
from ironic.core.secrets import masking
from ironic.core.texts import syntax
from ironic.drivers.modules.bmc.error_texts import safe_text
from ironic.drivers.modules.redfish.tree.certainty import Resource, Uncertain, given, leads_to, whole_paths
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer
from ironic.drivers.modules.redfish.wire.bmc_messages import reason_of
from ironic.drivers.modules.redfish.wire.bmc_system import Connector, System, connector_of, optional
from ironic.drivers.modules.redfish.wire.document_faults import fault_at
from ironic.drivers.modules.redfish.wire.document_repair import NAMELESS, ODD_PARTS

LOG = logging.getLogger(__name__)

Attributes = dict[str, Any]
Row = dict[str, Any]
Document = Mapping[str, Any]

# Fields of a row, by the names of what the registry has for them.
_NAMES: Final = {
    "attribute_type": "Type", "lower_bound": "LowerBound", "upper_bound": "UpperBound", "min_length": "MinLength",
    "max_length": "MaxLength", "read_only": "ReadOnly", "reset_required": "ResetRequired",
    "unique": "IsSystemUniqueProperty",
}  # fmt: skip
_FIELDS: Final = tuple(_NAMES)
# What a check needs.
CHECKED: Final = ("name", "allowable_values", *_FIELDS)
_BOUNDS: Final = (("lower_bound", "upper_bound"), ("min_length", "max_length"))
_BOUNDED: Final = dict(zip(("Integer", "String"), _BOUNDS, strict=True))
_KINDS: Final = ("Enumeration", "Integer", "String", "Boolean", "Password")
# What does not decide which values an attribute may have.
_IDLE: Final = ("AttributeName", "ResetRequired", "IsSystemUniqueProperty", "Type")
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
        rows.append(row | _described(next(reversed(entries.get(name, ())), {})))
    return rows


def rules_for(system: System, names: Iterable[str]) -> list[Row]:
    """Return what the BMC says for certain of these attributes, as rows; those without a description are left out.

    A row has a ``doubt`` in words where the BMC describes its attribute in an odd way or in half. Raise an error of the
    library where the BMC has a description that can't be read.
    """
    entries = _registry(system, system.bios, _unless_lacking)
    described = [(name, entry) for name in names for entry in entries.get(name, ())]
    unnamed = [name for name in names if name not in entries] if entries.get("") else []
    rows = [{"name": name, **_described(entry), "doubt": _doubt_of(entry)} for name, entry in described]
    odd = "may be one of the settings without a name in the BMC's registry, which can't be read"
    return [*rows, *({"name": name, **_described({}), "doubt": odd} for name in unnamed)]


def _doubt_of(entry: Document) -> str | None:
    """Return why it is not certain which values an attribute may have; None for one that is described well."""
    halves = [_NAMES[field] for field in _WHOLE_NUMBERS if (entry.get(_NAMES[field]) or 0) % 1]
    odd = [*halves, *(name for name in entry.get(ODD_PARTS, ()) if name not in _IDLE)]
    if odd:
        return f"can't be checked: the BMC's registry has an odd {' and '.join(odd)} for it"
    bounds = [(entry.get(_NAMES[least]), entry.get(_NAMES[most])) for least, most in _BOUNDS]
    if any(least is not None and most is not None and least > most for least, most in bounds):
        return "can't be checked: the BMC's registry has bounds for it that allow nothing"
    kind = _kind(_described(entry))
    if kind == "Enumeration" and not entry.get("Value"):
        return "can't be checked: the BMC's registry lists no values for it"
    return None if kind in _KINDS else "can't be checked: the BMC's registry does not say of which type it is"


def _kind(row: Row) -> str | None:
    """Return the type of an attribute, by what else is said of it where the BMC gives none that is known."""
    kind: str | None = row["attribute_type"]
    if kind in _KINDS:
        return kind
    if row["allowable_values"]:
        return "Enumeration"
    return next((kind for kind, names in _BOUNDED.items() if any(row[name] is not None for name in names)), kind)


def _described(entry: Document) -> Row:
    """Return the fields of a row that the registry describes; those that are not as they should be are left out."""
    row: Row = dict.fromkeys((*_FIELDS, "allowable_values"))
    for field in _FIELDS:
        value = entry.get(_NAMES[field])
        if field in _WHOLE_NUMBERS:
            row[field] = int(value) if isinstance(value, int | float) and value == int(value) else None
        else:
            row[field] = value if isinstance(value, bool | str) else None
    for least, most in _BOUNDS:
        if None not in (row[least], row[most]) and row[least] > row[most]:
            # They would allow nothing.
            row[least] = row[most] = None
    if entry.get("Immutable"):
        row["read_only"] = True
    if entry.get("Value") is not None:
        row["allowable_values"] = [item["ValueName"] for item in entry["Value"]]
    return row


Reader = Callable[[Callable[[], Any], Any], Any]


def _unless_lacking(get: Callable[[], Any], otherwise: Any) -> Any:
    """Return what is read, ``otherwise`` where the BMC has no such resource; raise where it has and can't show it."""
    try:
        return get()
    except sushy_errors.ResourceNotFoundError:
        return otherwise
    except sushy_errors.MissingAttributeError as error:
        reason = f"the description of its BIOS settings is there and can't be read: {reason_of(error)}"
        raise UnusableAnswer(reason) from error


def _registry(system: System, bios: Any, reader: Reader = optional) -> dict[str, list[Document]]:
    """Return the entries of the attribute registry by name; empty when the BMC has none that ``reader`` can read.

    Entries that have no name are under the empty one.
    """
    is_strict = reader is _unless_lacking
    wanted = given(bios, "AttributeRegistry", str) if is_strict else bios.json.get("AttributeRegistry")
    is_listed = leads_to(system.root, "Registries") if is_strict else True
    path = (system.root.json.get("Registries") or {}).get("@odata.id") if is_listed else None
    if not wanted or not path:
        return {}
    connector, version = connector_of(system), system.root.redfish_version
    files = reader(lambda: MessageRegistryFileCollection(connector, path, redfish_version=version), None)
    # Most BMCs name the file after its registry; the others are read one by one.
    for identity in sorted(files.members_identities or () if files else (), key=lambda one: wanted not in one):
        file = reader(partial(files.get_member, identity), None)
        if file is not None and any(_is_same(wanted, name) for name in (file.identity, file.registry)):
            registry = reader(partial(file.get_attribute_registry, "en", connector), None)
            if registry is not None and registry.registry_entries is not None:
                return _by_name(registry.json["RegistryEntries"])
            if is_strict:
                _check_lacking(connector, file)
    if is_strict and files is not None:
        # One that is missing in the list may be the registry.
        whole_paths(files)
    LOG.info("The registry %s of the BIOS attributes can't be read, so they have names and values only", wanted)
    return {}


def _by_name(entries: Document) -> dict[str, list[Document]]:
    found: dict[str, list[Document]] = {"": [{}]} if entries.get(NAMELESS) else {}
    for entry in entries["Attributes"]:
        found.setdefault(entry["AttributeName"], []).append(entry)
    return found


def _check_lacking(connector: Connector, file: Resource) -> None:
    """Raise an error where the BMC has the registry that a file names, or may have it, and it can't be used."""
    for place in given(file, "Location", list) or ():
        if (fault := fault_at(place, "Uri")) is not None:
            raise Uncertain(file.path, f"Uri {fault}")
        uri = place.get("Uri")
        if isinstance(uri, str) and uri.startswith("/") and _unless_lacking(partial(connector.get, uri), None):
            raise UnusableAnswer(
                f"the registry of its BIOS settings at {uri} can't be read, so no value can be checked"
            )


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
    rows: dict[str, list[Row]] = {}
    for row in known:
        rows.setdefault(row["name"], []).append(row)
    found: Attributes = {}
    faults = []
    for setting in settings:
        is_pair = isinstance(setting, Mapping) and isinstance(setting.get("name"), str) and "value" in setting
        if not is_pair:
            raise InvalidParameterValue(err=f"Each BIOS setting for node {uuid} must have a name and a value.")
        name, value = setting["name"], setting["value"]
        for row in rows.get(name, ()):
            value = _converted(row, value)
            if fault := row.get("doubt") or _fault(row, value):
                faults.append(f"{name} {fault}")
                break
        found[name] = value
    if faults:
        raise InvalidParameterValue(err=f"BIOS settings for node {uuid} can't be applied: {'; '.join(faults)}.")
    return found


def in_words(attributes: Attributes) -> str:
    """Return attributes for people: a few of them, without secrets."""
    shown = masking.masked(dict(list(attributes.items())[:_MOST_SHOWN]))
    more = f" and {len(attributes) - _MOST_SHOWN} more" if len(attributes) > _MOST_SHOWN else ""
    return ", ".join(f"{name}={str(value)[:_LONGEST_WORD]}" for name, value in shown.items()) + more


def _converted(row: Row, value: Any) -> Any:
    """Return a value that is given as text in the type of its attribute, where that is possible."""
    kind = _kind(row)
    if kind == "Integer" and isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            return value
    if kind == "Boolean" and isinstance(value, str):
        return value if (truth := syntax.truth_of(value)) is None else truth
    return value


def _fault(row: Row, value: Any) -> str | None:
    """Return what is wrong with the value of an attribute; None when nothing is."""
    kind = _kind(row)
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
