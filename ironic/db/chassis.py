"""Chassis, which group nodes."""

from collections.abc import Mapping
from typing import ClassVar

from oslo_db.exception import DBReferenceError
from sqlalchemy.engine import Connection

from ironic.core.errors import IronicError
from ironic.core.errors.resource_errors import ChassisAlreadyExists, ChassisNotEmpty, ChassisNotFound
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.row_selection import Filter, any_of
from ironic.db.tables import ChassisColumns, chassis
from ironic.db.transactions import unit_of_work


class ChassisRecord(Record, ChassisColumns):
    """One chassis."""


class Chassis(Repository[ChassisRecord], record=ChassisRecord):
    """All chassis."""

    filters: ClassVar[Mapping[str, Filter]] = {"uuid_in": any_of(chassis.c.uuid)}
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: ChassisAlreadyExists(resource="chassis", field="uuid", value=value),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a chassis that does not exist."""
        return ChassisNotFound(chassis=ident)

    @unit_of_work
    def delete(self, connection: Connection, ident: str | int) -> None:
        """Remove a chassis; raises ChassisNotEmpty if it has nodes."""
        try:
            with self.transactions.attempt():
                super().delete(ident)
        except DBReferenceError:
            raise ChassisNotEmpty(chassis=ident) from None
