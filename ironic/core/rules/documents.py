"""Working copies of what rules may write, and the patch that leads to them.

A document is one node, one port or the plug-in data, in one or two views: masked for rules that must not see secrets,
clear for those that may, and for what is true. Each write is checked against the view of the rule that asks, done on
all views, and noted as a patch that holds just the new value: so secrets that a rule does not see stay what they are.
A write that the clear view refuses is refused, so that every patch can be applied to what it was made for.

A document knows which of its parts rules have written literally; all else counts as reported by a machine.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ironic.core.model.fields import Field
from ironic.core.rules.faults import RuleFault
from ironic.core.rules.limits import WRITING, Budget, copied, pay
from ironic.core.rules.paths import APPEND, Path, pointer
from ironic.core.rules.plain_data import Operation, Patch, copy, find, holds, keys_of, place, putting, take
from ironic.core.rules.provenance import Provenance
from ironic.core.rules.writable import checked, emptied, field_of
from ironic.core.secrets import REPLACEMENT, is_secret, masked

MASKED, CLEAR = False, True

Views = dict[bool, dict[str, Any]]


@dataclass(slots=True)
class Writer:
    """The action at work; ``reported``: what it writes is made from what a machine reported."""

    reported: bool = False


class Document:
    """One thing that rules write; ``acting`` says which view is worked on."""

    def __init__(
        self,
        owner: str,
        views: Views,
        fields: Mapping[str, Field] | None,
        budget: Budget,
        writer: Writer,
        literal: Collection[Path] = (),
    ) -> None:
        """Begin with these views; into the paths in ``literal`` nothing is written that a machine reported."""
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
        """What the rule at work sees."""
        return self.views[self.acting]

    def require_writable(self, path: Path) -> None:
        """Refuse a path that leads to nothing rules may write."""
        if self._fields is not None:
            field_of(self._fields, self._owner, path)

    def set(self, path: Path, value: object) -> None:
        """Put a value at the path; objects on the way there are created."""
        self._judge_origin(path, value)
        if len(path) == 1 and self._fields is not None:
            value = self._checked(path, value)
        self._create_way(path)
        self._carry_out(putting(self.data, path, self._copied(value)))
        self._note(path)

    def extend(self, path: Path, value: object, *, unique: bool) -> None:
        """Add a value to the list at the path, creating the list; with ``unique`` only if it isn't there yet."""
        present = find(self.data, path)
        if present is None:
            self.set(path, [value])
        elif not isinstance(present, list) and (unique or present != REPLACEMENT):
            raise RuleFault(f"{pointer(path)} of the {self._owner} is no list")
        elif not unique or not self._holds(present, value):
            self._judge_origin(path, value)
            self._carry_out(putting(self.data, (*path, APPEND), self._copied(value)))
            self._note((*path, APPEND))

    def _holds(self, present: Sequence[object], value: object) -> bool:
        pay(value, self._budget, times=len(present))
        self._budget.spend(len(present))
        return value in present

    def remove(self, path: Path) -> None:
        """Take away what is at the path; it is no fault when nothing is."""
        if len(path) == 1 and self._fields is not None:
            self._empty(path)
        elif holds(self.data, path) or find(self.data, path[:-1]) == REPLACEMENT:
            # In a list those behind it move up.
            moved = path[:-1] if isinstance(find(self.data, path[:-1]), list) else path
            self._carry_out({"op": "remove", "path": pointer(path)})
            self.provenance.note(moved, reported=True)

    def _checked(self, path: Path, value: object) -> object:
        return self._judged(path, lambda field: checked(field, value))

    def _empty(self, path: Path) -> None:
        self._carry_out(putting(self.data, path, copy(self._judged(path, emptied))))

    def _judged(self, path: Path, judge: Callable[[Field], object]) -> object:
        field = field_of(self._fields or {}, self._owner, path)
        try:
            return judge(field)
        except RuleFault as fault:
            raise RuleFault(f"{pointer(path)} of the {self._owner} {fault}") from None

    def _copied(self, value: object) -> object:
        """Return a copy, for which is paid twice: each view gets one of its own."""
        before = self._budget.left
        copy_of_it = copied(value, self._budget)
        self._budget.spend(before - self._budget.left)
        return copy_of_it

    def _judge_origin(self, path: Path, value: object) -> None:
        """Refuse to write what a machine reported where only rules and people decide."""
        if not self._writer.reported:
            return
        for kept in self._literal:
            inside = path[: len(kept)] == kept
            above = kept[: len(path)] == path and find(value, kept[len(path) :]) != find(self.data, kept)
            if inside or above:
                raise RuleFault(
                    f"{pointer(kept)} of the {self._owner} is never made from what a machine reported: write its value "
                    "in the rule, without an expression"
                )

    def _note(self, path: Path) -> None:
        self.provenance.note(path, reported=self._writer.reported)
        if self._writer.reported:
            self.reported.add(path[0])

    def _create_way(self, path: Path) -> None:
        """Create the objects above the path that are missing."""
        for depth in range(1, len(path)):
            present = find(self.data, path[:depth])
            if present == REPLACEMENT and depth < len(path) - 1:
                raise RuleFault(f"{pointer(path)} of the {self._owner} lies deep under a secret that rules don't see")
            if present is None:
                self._carry_out(putting(self.data, path[:depth], {}))
            elif present == REPLACEMENT:
                return

    def _carry_out(self, operation: Operation) -> None:
        """Do it on all views and note it; the view of the rule at work may refuse, and the clear one."""
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
        take(data, path)
        return
    value = operation["value"]
    secret = hiding and next((depth for depth, key in enumerate(path, 1) if is_secret(key)), 0)
    if secret and (value not in (None, "") or secret < len(path)):
        place(data, path[:secret], REPLACEMENT)
    else:
        place(data, path, masked(value) if hiding else copy(value))


def shown(operation: Operation) -> Operation:
    """Return an operation as it may be shown: without secrets in it."""
    if "value" not in operation:
        return dict(operation)
    value = operation["value"]
    secret = value not in (None, "") and any(is_secret(key) for key in keys_of(operation))
    return operation | {"value": REPLACEMENT if secret else masked(value)}
