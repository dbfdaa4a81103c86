"""Whose a runbook may be, and what it may be called.

Pure decisions. A runbook belongs to a project, to everybody (public), or to the operators. Who is bound to a project
can make runbooks for it only. Source: doc/contract/fields.md#runbook.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ironic.api.json_patch import Change
from ironic.api.verbs import RUNBOOK_NAMES_SINCE
from ironic.core.errors import InvalidParameterValue
from ironic.core.model.runbook import Runbook
from ironic.core.values import LogicalName, StrictBool, TraitName, ValueType


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks; ``is_bound`` to the project, unless an operator of the whole site."""

    project: str | None
    is_bound: bool


def settled_new(values: dict[str, Any], caller: Caller) -> dict[str, Any]:
    """Return the values of a new runbook with its owner."""
    owner = values.get("owner")
    if values.get("public"):
        if caller.is_bound:
            raise InvalidParameterValue(err="Only operators of the whole site can make a runbook public.")
        _check_public(owner)
        return values | {"owner": None}
    if caller.is_bound and owner not in (None, caller.project):
        raise InvalidParameterValue(err="owner can only be your own project.")
    return values | {"owner": caller.project if owner is None else owner}


def settled(values: dict[str, Any], *, was_public: bool) -> dict[str, Any]:
    """Return the new values of a runbook; one that becomes public loses its owner."""
    if values.get("public", was_public):
        _check_public(values.get("owner"))
    return values | {"owner": None} if values.get("public") else values


def _check_public(owner: str | None) -> None:
    if owner is not None:
        raise InvalidParameterValue(err="A public runbook has no owner.")


class NewName(LogicalName):
    """The name of a new runbook: in versions before traits of runbooks it had to be the trait."""

    _before = TraitName()

    def at(self, minor: int) -> ValueType:
        """Return the syntax of a version."""
        return self if minor >= RUNBOOK_NAMES_SINCE else self._before


# A patch may have words for true and false, as clients write them; a new runbook may not.
OF_NEW: Final = {"public": StrictBool(), "disable_ramdisk": StrictBool(), "name": NewName()}


def check_new(values: Mapping[str, object], minor: int) -> None:
    """Refuse in a new runbook what came later as if it did not exist."""
    if minor < RUNBOOK_NAMES_SINCE and values.get("description") is not None:
        raise InvalidParameterValue(err=f"description needs API version 1.{RUNBOOK_NAMES_SINCE} or later.")


def rules_for(changes: Iterable[Change]) -> list[str]:
    """Return the rules that guard the operations of a patch."""
    fields = Runbook.table.fields
    return list(dict.fromkeys(fields[change.root].right or "baremetal:runbook:update" for change in changes))
