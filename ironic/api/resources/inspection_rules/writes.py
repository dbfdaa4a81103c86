"""Creating, changing and deleting inspection rules.

The form of a rule is checked in full before it is stored, so that no inspection fails on it. Rules of the operator's
file are shown beside the stored ones and can't be touched. What a sensitive rule holds never leaves, not even in the
words of an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ironic.api import answers, json_patch, patching, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.forms import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.resources.inspection_rules import rows
from ironic.api.routes import FAULT, Route
from ironic.core.errors import Conflict, InvalidParameterValue
from ironic.core.model.inspection_rule import InspectionRule, Parts
from ironic.core.resource_errors import InspectionRuleAlreadyExists, InspectionRuleNotFound
from ironic.core.rules import check_rule
from ironic.db import InspectionRuleRecord

# A patch may name what never changes, as clients do that send all they have. The times stay as they are; a rule with
# another UUID is another rule, and there is none.
_TIMES: Final = ("created_at", "updated_at")
_WRITABLE: Final = InspectionRule.writable("patch")
_NAMEABLE: Final = {name: InspectionRule.table.fields[name] for name in ("uuid", *_TIMES)}


class NewActions(Parts):
    """The actions of a new rule, of which there is one at least: `check_rule` says so."""

    def described(self) -> dict[str, object]:
        """Say what an action has, and that there is one."""
        return super().described() | {"minItems": 1}


# What nobody gets to see of a sensitive rule.
_PARTS: Final = frozenset({"conditions", "actions"})


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Store a rule."""
    check_rule(values)
    if rows.of(request).is_built_in(values.get("uuid", "")):
        raise InspectionRuleAlreadyExists(resource="inspection rule", field="uuid", value=values["uuid"])
    uuid = request.store.rules.create(_plain(values)).uuid
    return answers.created(_document(request, uuid), request.url(f"/v1/inspection_rules/{uuid}"))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out of checked conditions and actions what means nothing: unknown keys, how to join what is no loop."""
    return {name: [_plain_part(part) for part in value] if name in _PARTS else value for name, value in values.items()}


def _plain_part(part: Mapping[str, object]) -> dict[str, Any]:
    known = ("op", "args", "loop", "multiple") if "loop" in part else ("op", "args")
    return {key: part[key] for key in known if key in part}


def _document(request: Request, uuid: str) -> dict[str, object]:
    view = projection.full(InspectionRule, request.minor)
    return view.document(request, rows.of(request).row(view.columns, uuid))


def patch(request: Request, rule: str, changes: Sequence[Change]) -> Answer:
    """Change a rule."""
    _refuse_built_in(request, rule)
    record = request.store.rules.get(rule)
    values = _plain(_changed(record, changes, request.minor))
    # Nobody must have changed the rule since it was read: what was judged is the rule as a whole.
    if values and not request.store.rules.update(record.id, values, where={"updated_at": record.updated_at}):
        raise Conflict(f"Inspection rule {rule} was changed by somebody else in this moment. Read it and try again.")
    return answers.document(_document(request, record.uuid))


def _changed(record: InspectionRuleRecord, changes: Sequence[Change], minor: int) -> dict[str, object]:
    """Return the new values of a rule's fields once the rule as a whole is fine with them."""
    before = {name: getattr(record, name) for name in ("uuid", *_WRITABLE)}
    if any(change.root == "uuid" and (change.value != record.uuid or not change.is_whole) for change in changes):
        raise InspectionRuleNotFound(rule="with another UUID")
    # There is nothing inside of a time that could be changed.
    json_patch.apply(dict.fromkeys(_TIMES), [change for change in changes if change.root in _TIMES])
    about = [change for change in changes if change.root in _WRITABLE]
    with _terse(hiding=record.sensitive and any(change.root in _PARTS for change in about)):
        values = patching.patched(InspectionRule, before, about, minor)
    if record.sensitive and values.get("sensitive") is False:
        raise InvalidParameterValue(err="A sensitive rule stays sensitive. Delete it and create another one.")
    with _terse(hiding=record.sensitive):
        check_rule(before | values)
    return values


@contextmanager
def _terse(*, hiding: bool) -> Iterator[None]:
    """Keep what an error says about a sensitive rule to the fact that there is one (S120)."""
    try:
        yield
    except InvalidParameterValue:
        if not hiding:
            raise
        raise InvalidParameterValue(err="The patch can't be applied, or leads to a rule that is not valid.") from None


def delete(request: Request, rule: str) -> Answer:
    """Delete a rule."""
    _refuse_built_in(request, rule)
    request.store.rules.delete(rule)
    return NO_CONTENT


def _refuse_built_in(request: Request, rule: str) -> None:
    if rows.of(request).is_built_in(rule):
        raise InvalidParameterValue(err=f"Inspection rule {rule} is built in; it can be changed in its file only.")


def clear(request: Request) -> Answer:
    """Delete all stored rules; built-in ones stay (S160)."""
    request.store.rules.clear()
    return NO_CONTENT


_ALL, _ONE = "/v1/inspection_rules", "/v1/inspection_rules/{rule}"

ROUTES = (
    Route(
        "POST",
        _ALL,
        create,
        since=96,
        below=405,
        shape=FAULT,
        rule="baremetal:inspection_rule:create",
        of=Create(InspectionRule, exact={"actions": NewActions(closed=False)}),
    ),
    Route("DELETE", _ALL, clear, since=96, below=405, shape=FAULT, rule="baremetal:inspection_rule:delete", ok=204),
    Route(
        "PATCH",
        _ONE,
        patch,
        since=96,
        below=405,
        shape=FAULT,
        rule="baremetal:inspection_rule:update",
        of=Patch(InspectionRule, also=_NAMEABLE),
    ),
    Route(
        "DELETE",
        _ONE,
        delete,
        since=96,
        below=405,
        shape=FAULT,
        rule="baremetal:inspection_rule:delete",
        of=Delete(InspectionRule),
    ),
)
