"""Changing rows that no node is held for: chassis, allocations, deploy templates and runbooks."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ironic.db import Store
from ironic.db.record import Record
from ironic.db.repository import Repository
from ironic.db.step_lists import NamedSteps

R = TypeVar("R", bound=Record)


def change(store: Store, rows: Repository[R], ident: str, revise: Callable[[R], Mapping[str, object]]) -> R:
    """Change a row; ``revise`` gets the record, which is held still, and returns the columns to change."""
    with store.writing():
        record = rows.lock_row(ident)
        for name, value in revise(record).items():
            setattr(record, name, value)
        record.save()
    return record


def change_step_list(
    store: Store, lists: NamedSteps[Any], ident: str, revise: Callable[[Any], Mapping[str, Any]]
) -> Any:
    """Change a deploy template or runbook in the same way; ``steps`` among the columns are its new list."""
    with store.writing():
        record = lists.lock_row(ident)
        values = dict(revise(record))
        if values:
            if "steps" in values:
                lists.steps.replace(record.id, values.pop("steps"))
            for name, value in values.items():
                setattr(record, name, value)
            # Steps are rows of their own; the list they belong to has changed all the same.
            record.updated_at = record.now()
            record.save()
    return record
