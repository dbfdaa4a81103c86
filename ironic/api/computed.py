"""What the API computes for fields that are in no column of the thing's row: traits, conductors, links, counts.

A line of the model says from which columns; here a function is bound to the line, by name and once, when a module is
loaded. A function is called once for a whole page, so that whatever takes a statement takes one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ironic.api.request import Request
from ironic.core.model.fields import Field, Resource

# Given one tuple of the needed columns per row, returns one value per row.
Gather = Callable[[Request, Sequence[tuple[Any, ...]]], Sequence[object]]

_BOUND: dict[Field, Gather] = {}


def bind(resource: type[Resource], **gathers: Gather) -> None:
    """Say how the computed fields of a resource are made, all of them; TypeError when one is missing or is none."""
    fields = {name: one for name, one in resource.table.fields.items() if one.is_computed}
    if wrong := fields.keys() ^ gathers.keys():
        raise TypeError(f"{resource.__name__}: {', '.join(sorted(wrong))} must be bound exactly if computed")
    _BOUND.update({one: gathers[name] for name, one in fields.items()})


def gather(one: Field) -> Gather:
    """Return how the values of a computed field are made; KeyError when nothing was bound to it."""
    return _BOUND[one]
