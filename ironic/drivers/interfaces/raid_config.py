"""The shape of a RAID configuration: what a user may ask of a disk controller.

Said once, as JSON schema with a sentence per property: `RAID_CONFIG_SCHEMA` is what plug-ins know, the sentences are
what the API shows, and `faults` reads the few words of the schema language that stand here.
"""

from collections.abc import Iterator
from typing import Any, Final

_LOGICAL_DISK: Final[dict[str, dict[str, Any]]] = {
    "raid_level": {
        "enum": ["JBOD", "0", "1", "2", "5", "6", "1+0", "5+0", "6+0"],
        "description": "RAID level of the logical disk: JBOD, 0, 1, 2, 5, 6, 1+0, 5+0 or 6+0. Required.",
    },
    "size_gb": {
        "anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["MAX"]}],
        "description": "Size of the logical disk in GiB, or MAX for all the room that is left. Required.",
    },
    "is_root_volume": {
        "type": "boolean",
        "description": "Whether this logical disk gets the operating system; at most one may.",
    },
    "volume_name": {
        "type": "string",
        "description": "Name of the logical disk; the controller makes one up otherwise.",
    },
    "share_physical_disks": {
        "type": "boolean",
        "description": "Whether the physical disks may be shared with other logical disks.",
    },
    "disk_type": {
        "enum": ["hdd", "ssd"],
        "description": "Kind of physical disk to use: hdd or ssd.",
    },
    "interface_type": {
        "enum": ["sata", "scsi", "sas"],
        "description": "How the physical disks to use are connected: sata, scsi or sas.",
    },
    "number_of_physical_disks": {
        "type": "integer",
        "minimum": 1,
        "description": "How many physical disks to use; the RAID level decides otherwise.",
    },
    "controller": {
        "type": "string",
        "description": "Controller to use, by the name that the driver knows it by.",
    },
    "physical_disks": {
        "type": "array",
        "items": {"anyOf": [{"type": "string"}, {"type": "object"}]},
        "description": "Physical disks to use, by the names that the driver knows them by.",
    },
}

RAID_CONFIG_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "logical_disks": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": _LOGICAL_DISK,
                "required": ["raid_level", "size_gb"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["logical_disks"],
    "additionalProperties": False,
}

RAID_APPLY_CONFIGURATION_ARGSINFO: Final[dict[str, Any]] = {
    "raid_config": {"description": "The RAID configuration to apply.", "required": True},
    "create_root_volume": {"description": "Whether to create the logical disk for the system; true if left out."},
    "create_nonroot_volumes": {"description": "Whether to create the other logical disks; true if left out."},
    "delete_existing": {"description": "Whether to delete the logical disks that are there; true if left out."},
}

_TYPES: Final[dict[str, Any]] = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int}


def describe() -> dict[str, str]:
    """Return the properties of a logical disk, each with its sentence."""
    return {name: schema["description"] for name, schema in _LOGICAL_DISK.items()}


def faults(config: Any) -> list[str]:
    """Return what is wrong with a configuration, nothing when it is fine."""
    found = list(_faults(config, RAID_CONFIG_SCHEMA, "RAID configuration"))
    if not found and sum(bool(disk.get("is_root_volume")) for disk in config["logical_disks"]) > 1:
        found.append("only one logical disk can be the root volume")
    return found


def _faults(value: Any, schema: dict[str, Any], where: str) -> Iterator[str]:
    if "anyOf" in schema and all(any(_faults(value, choice, where)) for choice in schema["anyOf"]):
        yield f"{where} has a value that is not allowed"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} must be one of {', '.join(schema['enum'])}"
    if "type" in schema and not _is(value, schema["type"]):
        yield f"{where} must be of type {schema['type']}"
    elif isinstance(value, dict):
        yield from _object_faults(value, schema, where)
    elif isinstance(value, list):
        yield from _array_faults(value, schema, where)
    elif "minimum" in schema and value < schema["minimum"]:
        yield f"{where} must be at least {schema['minimum']}"


def _object_faults(value: dict[str, Any], schema: dict[str, Any], where: str) -> Iterator[str]:
    known = schema.get("properties")
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where} needs {name}"
    for name, item in value.items():
        if known is not None and name not in known:
            yield f"{where} knows no {name}"
        elif known is not None:
            yield from _faults(item, known[name], name)


def _array_faults(value: list[Any], schema: dict[str, Any], where: str) -> Iterator[str]:
    if len(value) < schema.get("minItems", 0):
        yield f"{where} must not be empty"
    for item in value:
        yield from _faults(item, schema.get("items", {}), f"an item of {where}")


def _is(value: object, name: str) -> bool:
    """Tell whether a value is of a JSON type; true and false are no numbers."""
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
