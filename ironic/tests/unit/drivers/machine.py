"""A node and a task as drivers see them, without a database or a conductor behind them."""

import copy
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from ironic.core.context import RequestContext
from ironic.core.errors import InterfaceNotFoundInEntrypoint
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.drivers.bare_driver import BareDriver
from ironic.drivers.task import HasInterfaces

UUID = "0d8a1c62-5d4c-4b0c-8a2e-6f0f6a4f3b11"


class Machine:
    """A node's record; what was saved is kept apart, so that a forgotten save shows."""

    # A column per kind, as on the record.
    bios_interface: str | None
    boot_interface: str | None
    console_interface: str | None
    deploy_interface: str | None

    def __init__(self, **columns: Any) -> None:
        self.id = 1
        self.uuid = UUID
        self.driver = "fake-hardware"
        self.driver_info: dict[str, Any] = {}
        self.driver_internal_info: dict[str, Any] = {}
        self.instance_uuid: str | None = None
        self.instance_info: dict[str, Any] = {}
        self.properties: dict[str, Any] = {}
        self.network_data: dict[str, Any] = {}
        self.raid_config: dict[str, Any] = {}
        self.target_raid_config: dict[str, Any] = {}
        self.power_state: str | None = None
        self.provision_state = "manageable"
        self.disable_power_off = False
        self.fault: str | None = None
        self.saved: dict[str, Any] = {}
        for kind in KINDS:
            setattr(self, interface_field(kind), None)
        for name, value in columns.items():
            setattr(self, name, value)

    def as_dict(self) -> dict[str, Any]:
        return copy.deepcopy({name: value for name, value in vars(self).items() if name != "saved"})

    def save(self) -> None:
        self.saved = copy.deepcopy({name: value for name, value in vars(self).items() if name != "saved"})

    def set_driver_internal_info(self, key: str, value: Any) -> None:
        self.driver_internal_info[key] = value

    def del_driver_internal_info(self, key: str) -> None:
        self.driver_internal_info.pop(key, None)


class Remembered:
    """Things of nodes, by the last word about each node."""

    def __init__(self) -> None:
        self.of: dict[int, list[dict[str, Any]]] = {}

    def sync(self, node_id: int, items: Iterable[Mapping[str, Any]]) -> None:
        self.of[node_id] = [dict(item) for item in items]

    def put(self, node_id: int, items: Iterable[Mapping[str, Any]]) -> None:
        self.of.setdefault(node_id, []).extend(dict(item) for item in items)


@dataclass
class Shelves:
    """The part of the store that interfaces write to."""

    bios_settings: Remembered = field(default_factory=Remembered)
    firmware: Remembered = field(default_factory=Remembered)


@dataclass
class Work(HasInterfaces):
    """A task."""

    node: Machine = field(default_factory=Machine)
    store: Shelves = field(default_factory=Shelves)
    context: RequestContext = field(default_factory=RequestContext)
    shared: bool = False
    ports: list[Any] = field(default_factory=list)
    portgroups: list[Any] = field(default_factory=list)
    driver: BareDriver = field(default_factory=BareDriver)
    alternatives: dict[str, Any] = field(default_factory=dict)

    def writing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def alternative(self, kind: str, name: str) -> Any:
        if name not in self.alternatives:
            raise InterfaceNotFoundInEntrypoint(kind=kind, name=name, enabled=", ".join(self.alternatives))
        return self.alternatives[name]


def work_on(**columns: Any) -> Work:
    """Return a task on a node with these columns."""
    return Work(Machine(**columns))
