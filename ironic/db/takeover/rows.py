"""One row of the reference as a row of this service: by the types of the columns, and by what differs in a table.

All of it are functions of the row and of what is known beforehand (`Known`), so that planning, copying and comparing
get the same result. Rows of a table are read in the order of its key, owners before what belongs to them.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Final

import sqlalchemy as sa

from ironic.core.flows import states
from ironic.core.flows.flow import INSPECT
from ironic.core.texts.syntax import as_utc
from ironic.db import tables
from ironic.db.column_types import Json, LongText, ShortText, UtcDateTime, decode_json, storable
from ironic.db.takeover.findings import Findings, Loss
from ironic.db.takeover.json_text import NoJson, recoded

Row = dict[str, Any]

# Stands for the time of creation of a row that has none at all.
UNKNOWN_TIME: Final = datetime(2000, 1, 1)
_MOST, _BIG = 2**31 - 1, 2**63 - 1
_TRUE, _FALSE = (True, 1, "1", "true", "True", "t"), (False, 0, "0", "false", "False", "f")


@dataclass
class Known:
    """What the conversion of a row depends on beside the row itself."""

    inspector_to_agent: bool = False
    """Whether nodes that the standalone inspector inspected are inspected by the agent from now on."""
    kept: dict[str, set[int]] = field(default_factory=dict)
    """The keys of the rows that are kept, of each table that others refer to."""
    newest_inventories: frozenset[int] = frozenset()
    runbooks_with_traits: frozenset[int] = frozenset()


Convert = Callable[[Any, str], object]
Derive = Callable[[Row, Known, Findings], Iterable[Row]]


@dataclass(frozen=True)
class Reading:
    """What becomes of the rows of one table: ``derive`` gives rows of ``into`` from a row that is of ``source``."""

    into: sa.Table
    source: str
    derive: Derive
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of the source only rows are read that have these values in these columns."""
    is_main: bool = True
    """The rows of the source are counted with this reading."""

    @property
    def name(self) -> str:
        """The name by which its place is stored."""
        return self.source if self.is_main else f"{self.into.name} from {self.source}"


def _same(row: Row, _known: Known, _findings: Findings) -> Iterable[Row]:
    return (row,)


def _node(row: Row, known: Known, findings: Findings) -> Iterable[Row]:
    state, who = row["provision_state"], f"node {row['uuid']}"
    findings.states[str(state)] += 1
    findings.used["driver", str(row["driver"])] += 1
    for column in (one for one in row if one.endswith("_interface") and row[one]):
        findings.used[column.removesuffix("_interface"), str(row[column])] += 1
    row["conductor_affinity"] = None
    if state is None:
        # As nodes of before 2015 are shown.
        row["provision_state"] = states.AVAILABLE
        findings.changed["nodes.provision_state without a value becomes 'available'"] += 1
    if state in states.WORKING or row["target_power_state"]:
        # With its reservation, so that a conductor finds it as it finds what a dead one has left.
        findings.lose(Loss.WORK, f"{who} in state '{state}'" + (", power" if row["target_power_state"] else ""))
    elif row["reservation"]:
        findings.changed["a lock of a node at rest is released"] += 1
        row["reservation"] = None
    inspected = (states.INSPECTING, states.INSPECTWAIT, states.INSPECTFAIL)
    if known.inspector_to_agent and row["inspect_interface"] == "inspector" and state not in inspected:
        findings.changed["nodes.inspect_interface 'inspector' becomes 'agent'"] += 1
        row["inspect_interface"] = "agent"
    row["auto_discovered"] = _internal(row).get("auto_discovered") is True
    return (row,)


def _internal(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = decode_json(row["driver_internal_info"] or "{}")
    return found


def _bmc_addresses(row: Row, known: Known, _findings: Findings) -> Iterable[Row]:
    """Give the addresses by which the ramdisk of a node under inspection is found."""
    if row["id"] not in known.kept["nodes"]:
        return
    found = _internal(row).get("lookup_bmc_addresses")
    for address in sorted({one for one in found if isinstance(one, str)} if isinstance(found, list) else ()):
        if len(address) <= 45:
            yield {"node_id": row["id"], "address": address}


def _inventory(row: Row, known: Known, findings: Findings) -> Iterable[Row]:
    if row["id"] in known.newest_inventories:
        yield row
    else:
        findings.lose(Loss.INVENTORIES, f"node_inventory {row['id']}")


def _allocation(row: Row, _known: Known, _findings: Findings) -> Iterable[Row]:
    row["conductor_affinity"] = None
    return (row,)


def _trait_of_runbook(row: Row, known: Known, findings: Findings) -> Iterable[Row]:
    """Give the trait that the name of a runbook stood for in releases before 36.0."""
    if row["id"] in known.kept["runbooks"] and row["id"] not in known.runbooks_with_traits:
        findings.changed["a runbook without traits gets its name as a trait"] += 1
        yield {"runbook_id": row["id"], "trait": row["name"]}


READINGS: Final = (
    Reading(tables.chassis, "chassis", _same),
    Reading(tables.allocations, "allocations", _allocation),
    Reading(tables.nodes, "nodes", _node),
    Reading(
        tables.node_bmc_addresses,
        "nodes",
        _bmc_addresses,
        only={"provision_state": INSPECT.busy},
        is_main=False,
    ),
    Reading(tables.node_traits, "node_traits", _same),
    Reading(tables.node_inventory, "node_inventory", _inventory),
    Reading(tables.node_history, "node_history", _same),
    Reading(tables.bios_settings, "bios_settings", _same),
    Reading(tables.firmware_information, "firmware_information", _same),
    Reading(tables.portgroups, "portgroups", _same),
    Reading(tables.ports, "ports", _same),
    Reading(tables.volume_connectors, "volume_connectors", _same),
    Reading(tables.volume_targets, "volume_targets", _same),
    Reading(tables.deploy_templates, "deploy_templates", _same),
    Reading(tables.deploy_template_steps, "deploy_template_steps", _same),
    Reading(tables.runbooks, "runbooks", _same),
    Reading(tables.runbook_steps, "runbook_steps", _same),
    Reading(tables.runbook_traits, "runbook_traits", _same),
    Reading(tables.runbook_traits, "runbooks", _trait_of_runbook, is_main=False),
    Reading(tables.inspection_rules, "inspection_rules", _same),
)
# Tables that others refer to: the keys of their rows are remembered.
OWNERS: Final = frozenset({"chassis", "allocations", "nodes", "portgroups", "deploy_templates", "runbooks"})
# These are not read: the processes behind the conductors are gone, and tags have no place here.
NOT_READ: Final = ("conductor_hardware_interfaces", "conductors", "node_tags")


class Conversion:
    """Converts the rows of one reading."""

    def __init__(self, reading: Reading, known: Known, findings: Findings) -> None:
        self._reading, self._known, self._findings = reading, known, findings
        # What is derived from another table is converted as a row of that one first.
        self._form = reading.into if reading.is_main else tables.metadata.tables[reading.source]
        self._lengths = {str(column.name): _length(column) for column in self._form.c}
        self._columns = {str(column.name): self._of_column(column) for column in self._form.c}
        # What older releases do not have.
        self._absent = {str(column.name): _default(column) for column in self._form.c}
        self._present: list[tuple[str, int, Convert | None]] = []
        self._filled = {str(one.name) for one in self._form.c if isinstance(one.type, sa.Boolean) and not one.nullable}
        self._times = {"created_at", "updated_at"} <= self._columns.keys()
        self._required = [str(column.name) for column in self._form.c if not column.nullable]
        references = [(column, key.column.table.name) for column in self._form.c for key in column.foreign_keys]
        self._owners = [(str(column.name), owner) for column, owner in references if not column.nullable]
        self._loose = [(str(column.name), owner) for column, owner in references if column.nullable and owner in OWNERS]

    def of(self, row: Mapping[str, Any]) -> list[Row]:
        """Return the rows of this service that a row of the reference becomes; all rows have the same columns."""
        if not self._present:
            self._present = [
                (name, self._lengths[name], convert) for name, convert in self._columns.items() if name in row
            ]
        if self._reading.is_main:
            self._findings.rows[self._reading.source] += 1
        # It is printed, which halves of characters can't be.
        where = storable(f"{self._reading.source} {row.get('uuid') or row.get('id') or row.get('node_id')}", None)
        values = self._absent.copy()
        for name, most, convert in self._present:
            value = row[name]
            if value is None:
                if name in self._filled:
                    self._count(f"{name} without a value becomes {str(values[name]).lower()}")
            # Nearly all text is as it has to be; looking at it here takes half as long as a call.
            elif convert is None or (
                most and type(value) is str and len(value) <= most and value.isascii() and "\0" not in value
            ):
                values[name] = value
            else:
                values[name] = convert(value, where)
        self._complete(values, where)
        if not self._is_whole(values, where):
            return []
        made = list(self._reading.derive(values, self._known, self._findings))
        if self._reading.is_main and self._form.name in OWNERS:
            self._known.kept.setdefault(self._form.name, set()).update(one["id"] for one in made)
        return made

    def _complete(self, values: Row, where: str) -> None:
        """Fill in what older releases did not have, and leave out references to rows that are not there."""
        if self._times and values["created_at"] is None:
            values["created_at"] = values["updated_at"] or UNKNOWN_TIME
            self._count("created_at without a time becomes that of the last change")
        for name, owner in self._loose:
            if values[name] is not None and values[name] not in self._kept(owner):
                self._lose(Loss.ORPHANS, f"{where}.{name}")
                values[name] = None

    def _is_whole(self, values: Row, where: str) -> bool:
        for name in self._required:
            if values[name] is None:
                self._lose(Loss.INCOMPLETE, f"{where}.{name}")
                return False
        for name, owner in self._owners:
            if values[name] not in self._kept(owner):
                self._lose(Loss.ORPHANS, where)
                return False
        return True

    def _kept(self, owner: str) -> set[int]:
        return self._known.kept.setdefault(owner, set())

    def _count(self, what: str) -> None:
        if self._reading.is_main:
            self._findings.changed[f"{self._form.name}.{what}"] += 1

    def _lose(self, kind: Loss, where: str) -> None:
        if self._reading.is_main:
            self._findings.lose(kind, where)

    def _refuse(self, text: str) -> None:
        if self._reading.is_main:
            self._findings.refused.append(text)

    def _of_column(self, column: sa.Column[object]) -> Convert | None:
        """Return the function that converts a value of one column, from it and the name of the row; None: as it is."""
        name, kind = str(column.name), column.type
        if isinstance(kind, Json):
            return partial(self._json, name, kind.empty, _default(column))
        if isinstance(kind, ShortText | LongText):
            return partial(self._text, name, self._lengths[name])
        if isinstance(kind, UtcDateTime):
            return partial(self._time, name)
        if isinstance(kind, sa.Integer):
            return partial(self._integer, name, _BIG if isinstance(kind, sa.BigInteger) else _MOST)
        return partial(self._flag, name) if isinstance(kind, sa.Boolean) else None

    def _flag(self, name: str, value: object, where: str) -> bool:
        if value in _TRUE:
            return True
        if value not in _FALSE:
            self._refuse(f"{where}.{name} is {value!r}, which is neither true nor false")
        return False

    def _text(self, name: str, length: int, value: object, where: str) -> str:
        text = self._characters(name, value, where)
        stored = storable(text, length)
        if stored != text:
            self._lose(Loss.TEXT, f"{where}.{name}")
        return stored

    def _characters(self, name: str, value: object, where: str) -> str:
        """Return text as such: SQLite may hold bytes in a column of text."""
        if not isinstance(value, bytes):
            return str(value)
        text = value.decode(errors="replace")
        if text.encode() != value:
            self._lose(Loss.TEXT, f"{where}.{name}")
        return text

    def _time(self, name: str, value: object, where: str) -> object:
        # SQLite holds text; MariaDB may hold days that do not exist, which its driver gives as text.
        if isinstance(value, str):
            with suppress(ValueError):
                value = datetime.fromisoformat(value)
        if not isinstance(value, datetime):
            self._refuse(f"{where}.{name} is {value!r}, which is no time: correct the row, or make it NULL")
            return None
        if value.tzinfo is not None:
            self._count(f"{name} with a time zone becomes that of UTC")
        return as_utc(value)

    def _integer(self, name: str, most: int, value: object, where: str) -> object:
        # SQLite keeps whatever it is given.
        if not isinstance(value, int) or abs(value) > most:
            self._refuse(f"{where}.{name} is {value!r}, which is no integer up to {most}: correct the row")
        return value

    def _json(self, name: str, empty: type, absent: object, value: object, where: str) -> object:
        if value in ("", "{}", "[]", "null"):
            return absent
        try:
            read, text, numbers, characters = recoded(self._characters(name, value, where))
        except NoJson as fault:
            self._refuse(f"{where}.{name} {fault}: correct the row")
            return absent
        if numbers:
            self._lose(Loss.NUMBERS, f"{where}.{name}")
        if characters:
            self._lose(Loss.TEXT, f"{where}.{name}")
        if read is None or read == {} or read == []:
            return absent
        if not isinstance(read, dict if empty is dict else list):
            self._refuse(f"{where}.{name} is no JSON {'object' if empty is dict else 'array'}")
            return absent
        return text


def _length(column: sa.Column[object]) -> int:
    """Return how many characters a column has at most, 0 if it is not for plain text."""
    kind = column.type
    return getattr(kind, "length", None) or sys.maxsize if isinstance(kind, ShortText | LongText) else 0


def _default(column: sa.Column[object]) -> object:
    """Return what a column holds that has no value."""
    if column.nullable:
        return None
    if isinstance(column.type, Json):
        return "{}" if column.type.empty is dict else "[]"
    return column.default.arg if isinstance(column.default, sa.ColumnDefault) else None
