"""The documents that rules write: writable fields, working copies, the origin of values, and the resulting patch.

Rules may write what an administrator's PATCH may change, as the model declares: no states, power, reservation or
identity (uuid, id), and not the node and port group of a port. The fields that decide to whom a node belongs and how it
is managed may be written literally, but not from what a machine reported (`LITERAL`).

A document is a node, a port or the plug-in data, in one or two views: masked for rules that must not see secrets, and
clear for the others and for the result. A write is checked against the view of the current rule, applied to all views,
and recorded as an operation with the new value only, so secrets that the rule does not see stay unchanged. A write that
fails on the clear view is refused, so that every patch can be applied to the stored document.

`Provenance` records which parts of a document were written literally; all other values count as reported by a machine,
except those of fields that reports can't reach (``own``).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ironic.core.model.fields import REQUIRED, Field
from ironic.core.model.node import Node
from ironic.core.model.port import Port
from ironic.core.rules.limits import WRITING, Budget, RuleFault, copied, pay
from ironic.core.rules.paths import (
    APPEND,
    Operation,
    Patch,
    Path,
    copy,
    find,
    holds,
    keys_of,
    pointer,
    put,
    put_operation,
    remove,
)
from ironic.core.secrets.masking import REPLACEMENT, is_secret, masked

NODE: Final[Mapping[str, Field]] = Node.writable("rules")
PORT: Final[Mapping[str, Field]] = Port.writable("rules")
LITERAL: Final[frozenset[Path]] = Node.table.literal

_FREE: Final = "extra"


def field_of(table: Mapping[str, Field], owner: str, path: Path) -> Field:
    """Return the field that a path begins with, or raise RuleFault."""
    field = table.get(path[0])
    if field is None:
        raise RuleFault(f"rules can't write field '{path[0][:80]}' of a {owner}")
    return field


def checked_value(field: Field, value: object) -> object:
    """Return a value as the field stores it, or raise RuleFault; true and false have no other spelling here."""
    kind = (field.by_rules or field.type).strict
    if value is None and field.nullable and field.empty is None and not field.only_removed:
        return None
    try:
        return kind.validate(value)
    except ValueError:
        raise RuleFault(f"must be {kind.noun}") from None


def emptied_value(field: Field) -> object:
    """Return the value of a field after its removal; raises RuleFault if the field is required."""
    if field.empty is REQUIRED:
        raise RuleFault("can't be removed")
    return field.empty


def check_reported_path(path: Path) -> None:
    """Refuse a path with a key that a machine reported, unless it leads below extra; raises RuleFault."""
    if path[0] != _FREE or len(path) == 1:
        raise RuleFault(
            f"a path can't contain what a machine reported, except for keys below {_FREE} and in the plug-in data"
        )


def check_node_path(path: Path) -> None:
    """Refuse a path that leads to no writable field of a node; raises RuleFault."""
    field_of(NODE, "node", path)


def check_port_path(path: Path) -> None:
    """Refuse a path that leads to no writable field of a port; raises RuleFault."""
    field_of(PORT, "port", path)


def accept_any_path(path: Path) -> None:
    """Accept every path: all plug-in data are writable."""


# Marks a branch that was written literally as a whole.
_LITERAL: Final[dict[str, Any]] = {}


class Provenance:
    """Where the values of one document come from: literal text of rules, or what a machine reported."""

    __slots__ = ("_own", "_written")

    def __init__(self, own: Collection[Path] = ()) -> None:
        self._own = own
        self._written: dict[str, Any] = {}

    def is_reported(self, path: Path) -> bool:
        """Return whether the value at a path may come from what a machine reported."""
        return not (path[:1] in self._own or path[:2] in self._own or self._is_literal(path))

    def note(self, path: Path, *, reported: bool) -> None:
        """Record that a path was written, which replaces everything below it."""
        branch = self._written
        for key in path[:-1]:
            inner = branch.get(key)
            if inner is _LITERAL:
                if not reported:
                    return
                # No longer literal as a whole.
                inner = None
            if inner is None:
                if reported:
                    branch.pop(key, None)
                    return
                inner = branch[key] = {}
            branch = inner
        if reported:
            branch.pop(path[-1], None)
        else:
            branch[path[-1]] = _LITERAL

    def _is_literal(self, path: Path) -> bool:
        branch: Any = self._written
        for key in path:
            branch = branch.get(key)
            if branch is None or branch is _LITERAL:
                return branch is _LITERAL
        return False


MASKED, CLEAR = False, True

Views = dict[bool, dict[str, Any]]


@dataclass(slots=True)
class Writer:
    """The current action; ``reported``: the values that it writes come from what a machine reported."""

    reported: bool = False


class Document:
    """One document that rules write; ``acting`` is the view of the current rule."""

    def __init__(
        self,
        owner: str,
        views: Views,
        fields: Mapping[str, Field] | None,
        budget: Budget,
        writer: Writer,
        literal: Collection[Path] = (),
    ) -> None:
        """Begin with these views; the paths in ``literal`` are never written from what a machine reported."""
        self.views = views
        self.acting = next(iter(views))
        self.patch: Patch = []
        self._owner = owner
        self._fields = fields
        self._budget = budget
        self._writer = writer
        self._literal = literal
        self.provenance = Provenance(literal)
        self.reported: set[str] = set()

    @property
    def data(self) -> dict[str, Any]:
        """The document as the current rule sees it."""
        return self.views[self.acting]

    def require_writable(self, path: Path) -> None:
        """Refuse a path that leads to no writable field; raises RuleFault."""
        if self._fields is not None:
            field_of(self._fields, self._owner, path)

    def set(self, path: Path, value: object) -> None:
        """Set the value at a path; missing objects above it are created."""
        self._check_origin(path, value)
        if len(path) == 1 and self._fields is not None:
            value = self._by_field(path, lambda field: checked_value(field, value))
        self._create_parents(path)
        self._apply_to_views(put_operation(self.data, path, self._copied(value)))
        self._note(path)

    def extend(self, path: Path, value: object, *, unique: bool) -> None:
        """Append a value to the list at a path, which is created if missing; ``unique``: unless it has the value."""
        present = find(self.data, path)
        if present is None:
            self.set(path, [value])
        elif not isinstance(present, list) and (unique or present != REPLACEMENT):
            raise RuleFault(f"{pointer(path)} of the {self._owner} is not a list")
        elif not unique or not self._contains(present, value):
            self._check_origin(path, value)
            self._apply_to_views(put_operation(self.data, (*path, APPEND), self._copied(value)))
            self._note((*path, APPEND))

    def _contains(self, present: Sequence[object], value: object) -> bool:
        pay(value, self._budget, times=len(present))
        self._budget.spend(len(present))
        return value in present

    def remove(self, path: Path) -> None:
        """Remove the value at a path, if there is one."""
        if len(path) == 1 and self._fields is not None:
            self._apply_to_views(put_operation(self.data, path, copy(self._by_field(path, emptied_value))))
        elif holds(self.data, path) or find(self.data, path[:-1]) == REPLACEMENT:
            # The items behind it in a list get other indexes.
            moved = path[:-1] if isinstance(find(self.data, path[:-1]), list) else path
            self._apply_to_views({"op": "remove", "path": pointer(path)})
            self.provenance.note(moved, reported=True)

    def _by_field(self, path: Path, value_of: Callable[[Field], object]) -> object:
        """Return the value to store in the field of a path; a fault names the path."""
        field = field_of(self._fields or {}, self._owner, path)
        try:
            return value_of(field)
        except RuleFault as fault:
            raise RuleFault(f"{pointer(path)} of the {self._owner} {fault}") from None

    def _copied(self, value: object) -> object:
        """Return a copy, and spend its steps twice, because each view gets one."""
        before = self._budget.left
        copy_of_it = copied(value, self._budget)
        self._budget.spend(before - self._budget.left)
        return copy_of_it

    def _check_origin(self, path: Path, value: object) -> None:
        """Refuse a reported value in a path that is literal for rules; raises RuleFault."""
        if not self._writer.reported:
            return
        for literal in self._literal:
            inside = path[: len(literal)] == literal
            above = literal[: len(path)] == path and find(value, literal[len(path) :]) != find(self.data, literal)
            if inside or above:
                raise RuleFault(
                    f"{pointer(literal)} of the {self._owner} can't be set to what a machine reported: write its value "
                    "in the rule, without an expression"
                )

    def _note(self, path: Path) -> None:
        self.provenance.note(path, reported=self._writer.reported)
        if self._writer.reported:
            self.reported.add(path[0])

    def _create_parents(self, path: Path) -> None:
        """Create the missing objects above a path."""
        for depth in range(1, len(path)):
            present = find(self.data, path[:depth])
            if present == REPLACEMENT and depth < len(path) - 1:
                raise RuleFault(f"{pointer(path)} of the {self._owner} is inside a secret that the rule can't see")
            if present is None:
                if depth == 1 and self._fields is not None:
                    self._by_field(path[:1], lambda field: checked_value(field, {}))
                self._apply_to_views(put_operation(self.data, path[:depth], {}))
            elif present == REPLACEMENT:
                return

    def _apply_to_views(self, operation: Operation) -> None:
        """Apply an operation to all views and record it; it has to succeed on the current and the clear view."""
        self._budget.spend(WRITING)
        for clear, data in self.views.items():
            try:
                _apply(data, operation, hiding=not clear)
            except RuleFault:
                if clear or clear == self.acting:
                    raise
        self.patch.append(operation)


def _apply(data: Mapping[str, object], operation: Operation, *, hiding: bool) -> None:
    path = keys_of(operation)
    if operation["op"] == "remove":
        remove(data, path)
        return
    value = operation["value"]
    # In the masked view, a mask stands in the place of the topmost secret key.
    secret = hiding and next((depth for depth, key in enumerate(path, 1) if is_secret(key)), 0)
    if secret and (value not in (None, "") or secret < len(path)):
        put(data, path[:secret], REPLACEMENT)
    else:
        put(data, path, masked(value) if hiding else copy(value))


def shown_operation(operation: Operation) -> Operation:
    """Return an operation as it may be shown: with the secrets in it masked."""
    if "value" not in operation:
        return dict(operation)
    value = operation["value"]
    secret = value not in (None, "") and any(is_secret(key) for key in keys_of(operation))
    return operation | {"value": REPLACEMENT if secret else masked(value)}
