"""Base class for RAID interfaces, and the JSON schema of a RAID configuration.

The API shows the descriptions in the schema. `faults` supports only the schema keywords that are used here.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from ironic.core.errors import InvalidParameterValue
from ironic.drivers.contract.contract_types import Task
from ironic.drivers.contract.interfaces.base_interface import BaseInterface

RAID_LEVELS: Final = ("JBOD", "0", "1", "2", "5", "6", "1+0", "5+0", "6+0")

_LOGICAL_DISK: Final[dict[str, dict[str, Any]]] = {
    "raid_level": {
        "enum": [*RAID_LEVELS],
        "description": "RAID level of the logical disk: JBOD, 0, 1, 2, 5, 6, 1+0, 5+0 or 6+0. Required.",
    },
    "size_gb": {
        "anyOf": [{"type": "integer", "minimum": 1}, {"enum": ["MAX"]}],
        "description": "Size of the logical disk in GiB, or MAX for all remaining space. Required.",
    },
    "is_root_volume": {
        "type": "boolean",
        "description": "Whether the operating system is installed on this logical disk; at most one may be.",
    },
    "volume_name": {
        "type": "string",
        "description": "Name of the logical disk; the controller chooses one otherwise.",
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
        "description": "Name of the controller to use, as the driver reports it.",
    },
    "physical_disks": {
        "type": "array",
        "items": {"anyOf": [{"type": "string"}, {"type": "object"}]},
        "description": "Names of the physical disks to use, as the driver reports them.",
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
    """Return the properties of a logical disk by name, each with its description."""
    return {name: schema["description"] for name, schema in _LOGICAL_DISK.items()}


def faults(config: Any) -> list[str]:
    """Return the faults of a configuration, an empty list when it is valid."""
    found = list(_faults(config, RAID_CONFIG_SCHEMA, "RAID configuration"))
    if not found and sum(bool(disk.get("is_root_volume")) for disk in config["logical_disks"]) > 1:
        found.append("only one logical disk can be the root volume")
    return found


def _faults(value: Any, schema: dict[str, Any], where: str) -> Iterator[str]:
    if "anyOf" in schema and all(any(_faults(value, choice, where)) for choice in schema["anyOf"]):
        yield f"{where} has a value that is not allowed"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} must be one of {', '.join(schema['enum'])}"
    if "type" in schema and not _is_of_type(value, schema["type"]):
        yield f"{where} must be of type {schema['type']}"
    elif isinstance(value, dict):
        yield from _object_faults(value, schema, where)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{where} must not be empty"
        for item in value:
            yield from _faults(item, schema.get("items", {}), f"an item of {where}")
    elif "minimum" in schema and value < schema["minimum"]:
        yield f"{where} must be at least {schema['minimum']}"


def _object_faults(value: dict[str, Any], schema: dict[str, Any], where: str) -> Iterator[str]:
    known = schema.get("properties")
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where} needs {name}"
    for name, item in value.items():
        if known is not None and name not in known:
            yield f"{where} has no property {name}"
        elif known is not None:
            yield from _faults(item, known[name], name)


def _is_of_type(value: object, name: str) -> bool:
    """Return whether a value is of a JSON type; true and false are no integers."""
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


class RAIDInterface(BaseInterface[Task]):
    """RAID configuration: target_raid_config of the node is the requested one, raid_config the present one."""

    interface_type: ClassVar[str] = "raid"

    def get_properties(self) -> dict[str, str]:
        """Return the driver_info properties of this interface: none by default."""
        return {}

    def validate(self, task: Task) -> None:
        """Check the node's target configuration, if there is one."""
        if task.node.target_raid_config:
            self.validate_raid_config(task, task.node.target_raid_config)

    def validate_raid_config(self, task: Task, raid_config: dict[str, object]) -> None:
        """Raise InvalidParameterValue with all faults of a configuration."""
        if found := faults(raid_config):
            raise InvalidParameterValue(
                err=f"The RAID configuration for node {task.node.uuid} is wrong: {'; '.join(found)}."
            )

    def apply_configuration(
        self,
        task: Task,
        raid_config: dict[str, object],
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        """Set a configuration as the node's target and create it; return the flow's wait state or None."""
        self.validate_raid_config(task, raid_config)
        task.node.target_raid_config = raid_config
        task.node.save()
        return self.create_configuration(
            task,
            create_root_volume=create_root_volume,
            create_nonroot_volumes=create_nonroot_volumes,
            delete_existing=delete_existing,
        )

    @abstractmethod
    def create_configuration(
        self,
        task: Task,
        create_root_volume: bool = True,
        create_nonroot_volumes: bool = True,
        delete_existing: bool = True,
    ) -> str | None:
        """Create the logical disks of the target configuration; return the flow's wait state or None."""

    @abstractmethod
    def delete_configuration(self, task: Task) -> str | None:
        """Delete all logical disks; return the flow's wait state or None. May be repeated."""

    def get_logical_disk_properties(self) -> dict[str, str]:
        """Return the properties of a logical disk by name, each with its description."""
        return describe()
