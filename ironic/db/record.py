"""A row in the hands of a driver or a flow.

Columns are attributes. JSON columns are read the first time they are asked for and may be changed in place; `save`
finds out what changed and writes just that. A record is never written back as a whole, so two holders of one row who
change different columns both keep their changes. Who may save, and under which condition, is the repository's matter.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from ironic.db.stored_form import StoredForm
from ironic.db.stored_text import JsonText, decode, encode
from ironic.db.tables.columns import Columns


class Home(Protocol):
    """Where records of one kind come from and go to."""

    def save(self, record: Any, /) -> None:
        """Write what changed."""

    def read_again(self, record: Any, /) -> dict[str, object]:
        """Return the row as stored now."""

    def now(self) -> datetime:
        """Return the time as it is stored."""


class Record:
    """One row; see the module."""

    form: ClassVar[StoredForm]
    _plain: ClassVar[tuple[str, ...]]
    _writable: ClassVar[frozenset[str]]

    id: int
    _home: Home
    _stored: dict[str, Any]

    def __init_subclass__(cls, *, extra: tuple[str, ...] = (), **more: Any) -> None:
        """Learn the columns of the table that is the other base; ``extra`` names attributes that are no columns."""
        super().__init_subclass__(**more)
        if issubclass(cls, Columns):
            cls.form = StoredForm(cls.table)
            cls._plain = tuple(name for name in cls.form.names if name not in cls.form.empties)
            cls._writable = frozenset((*cls.form.names, *extra))

    def __init__(self, home: Home, stored: Mapping[str, object]) -> None:
        self.__dict__["_home"] = home
        self._take(stored)

    def _take(self, stored: Mapping[str, object]) -> None:
        mine = self.__dict__
        mine["_stored"] = stored
        for name in self._plain:
            mine[name] = stored[name]
        for name in self.form.empties:
            mine.pop(name, None)

    if not TYPE_CHECKING:  # a checker knows the attributes by the lines of the table

        def __getattr__(self, name: str) -> object:
            """Read a JSON column the first time it is asked for."""
            if name not in type(self).form.empties:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            text = self._stored[name]
            value = self.__dict__[name] = self.form.empties[name]() if text is None else decode(text)
            return value

        def __setattr__(self, name: str, value: object) -> None:
            """Set a column; a name that is none is a mistake, not a new attribute."""
            if name not in self._writable:
                raise AttributeError(f"{type(self).__name__} has no attribute {name}")
            if value is None and name in self.form.empties:
                value = self.form.empties[name]()
            self.__dict__[name] = value

    def save(self) -> None:
        """Write what changed, in one statement; nothing changed is no statement."""
        self._home.save(self)

    def refresh(self) -> None:
        """Read the row again; what was changed here and not saved is gone."""
        self._take(self._home.read_again(self))

    def now(self) -> datetime:
        """Return the time as it is stored: UTC, naive."""
        return self._home.now()

    def changes(self) -> dict[str, object]:
        """Return what a save would write, by name."""
        return {name: getattr(self, name) for name in self.stored_changes()}

    def stored_changes(self) -> dict[str, object]:
        """Return what a save would write, in the form of the columns."""
        return self._plain_changes() | self._json_changes()

    def _plain_changes(self) -> dict[str, object]:
        mine, stored = self.__dict__, self._stored
        touched = [name for name in self._plain if mine[name] is not stored[name] and mine[name] != stored[name]]
        changed = {name: self.form.of(name, mine[name]) for name in touched}
        return {name: value for name, value in changed.items() if value != stored[name]}

    def _json_changes(self) -> dict[str, object]:
        mine = self.__dict__
        encoded = {name: encode(mine[name], name) for name in self.form.empties if name in mine}
        return {name: text for name, text in encoded.items() if self._differs(name, text)}

    def _differs(self, name: str, text: JsonText) -> bool:
        stored = self._stored[name]
        if stored == text:
            return False
        # Text that another encoder wrote, or NULL, may still mean the same.
        return encode(self.form.empties[name]() if stored is None else decode(stored)) != text

    def mark_stored(self, values: Mapping[str, object]) -> dict[str, object]:
        """Take note that these values are in the row now; return what was there before."""
        before = {name: self._stored[name] for name in values}
        self.mark_lost(values)
        self.__dict__.update((name, value) for name, value in values.items() if name not in self.form.empties)
        return before

    def mark_lost(self, before: Mapping[str, object]) -> None:
        """Take note that the row holds these values after all; what the record was changed to is still to be saved."""
        self._stored.update(before)

    def as_dict(self) -> dict[str, Any]:
        """Return a plain copy of all columns that shares nothing with the record."""
        return {name: self._copy(name) for name in self.form.names}

    def _copy(self, name: str) -> object:
        value = getattr(self, name)
        return decode(encode(value, name)) if name in self.form.empties else value

    def __copy__(self) -> Self:
        """Return a second record of the same row, without what was not saved."""
        return type(self)(self._home, dict(self._stored))

    def __deepcopy__(self, memo: Mapping[int, object]) -> Self:
        """Return a second record of the same row, without what was not saved."""
        return self.__copy__()

    def __repr__(self) -> str:
        """Name the row, without its contents."""
        return f"<{type(self).__name__} {self.__dict__.get('uuid', self.id)}>"
