"""Create, patch and delete inspection rules.

A rule is checked in full before it is stored, so that no inspection fails on it. Built-in rules, those of the
operator's file, can't be changed. Conditions and actions of a sensitive rule are never sent, not even in the text of an
error.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ironic.api import answers, json_patch, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.crud import Create, Delete, Patch
from ironic.api.json_patch import Change
from ironic.api.request import Request
from ironic.api.resources.inspection_rules import reads
from ironic.api.routes import FAULT, Route
from ironic.core.errors import Conflict, InvalidParameterValue
from ironic.core.errors.resource_errors import InspectionRuleAlreadyExists, InspectionRuleNotFound
from ironic.core.model.inspection_rule import InspectionRule, Parts
from ironic.core.rules import check_possible, check_rule
from ironic.core.rules.inspector import IRONIC
from ironic.db import InspectionRuleRecord

# Fields that a patch may name although they never change, because some clients send all fields. The times are ignored;
# another UUID is a rule that does not exist.
_TIMES: Final = ("created_at", "updated_at")
_WRITABLE: Final = InspectionRule.writable("patch")
_NAMEABLE: Final = {name: InspectionRule.table.fields[name] for name in ("uuid", *_TIMES)}


class NewActions(Parts):
    """The type of the actions of a new rule, which needs one: `check_rule` checks that."""

    def described(self) -> dict[str, object]:
        """Return the schema of one or more actions."""
        return super().described() | {"minItems": 1}


# Fields of a sensitive rule that are never sent.
_PARTS: Final = frozenset({"conditions", "actions"})


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Create an inspection rule."""
    check_possible(check_rule(values))
    if reads.of(request).is_built_in(values.get("uuid", "")):
        raise InspectionRuleAlreadyExists(resource="inspection rule", field="uuid", value=values["uuid"])
    uuid = request.store.rules.create(_plain(values)).uuid
    return answers.created(_document(request, uuid), request.url(f"/v1/inspection_rules/{uuid}"))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values without unknown keys of conditions and actions, and without `multiple` outside a loop."""
    plain = dict(values)
    for name in _PARTS & values.keys():
        plain[name] = []
        for part in values[name]:
            known = ("op", "args", "loop", "multiple") if "loop" in part else ("op", "args")
            plain[name].append({key: part[key] for key in known if key in part})
    return plain


def _document(request: Request, uuid: str) -> dict[str, object]:
    view = projection.full(InspectionRule, request.minor)
    return view.document(request, reads.of(request).row(view.columns, uuid))


def patch(request: Request, rule: str, changes: Sequence[Change]) -> Answer:
    """Change an inspection rule."""
    _refuse_built_in(request, rule)
    record = request.store.rules.get(rule)
    if record.dialect != IRONIC:
        raise InvalidParameterValue(
            err=f"Inspection rule {rule} is a rule of the standalone inspector: replace it by PUT /v1/rules/{rule} of "
            "that API, or convert it to a rule of this API."
        )
    values = _plain(_changed(request, record, changes))
    # Only if no other request has changed the rule since it was read, because it was checked as a whole.
    if values and not request.store.rules.update(record.id, values, where={"updated_at": record.updated_at}):
        raise Conflict(
            f"Inspection rule {rule} was changed by another request at the same time. Read it and try again."
        )
    return answers.document(_document(request, record.uuid))


def _changed(request: Request, record: InspectionRuleRecord, changes: Sequence[Change]) -> dict[str, object]:
    """Return the new values of the fields of a rule after a check of the rule as a whole."""
    before = {name: getattr(record, name) for name in ("uuid", *_WRITABLE)}
    if any(change.root == "uuid" and (change.value != record.uuid or not change.is_whole) for change in changes):
        raise InspectionRuleNotFound(rule="with another UUID")
    # A path inside of a time does not exist.
    json_patch.apply(dict.fromkeys(_TIMES), [change for change in changes if change.root in _TIMES])
    about = [change for change in changes if change.root in _WRITABLE]
    with _hidden_details(hiding=record.sensitive and any(change.root in _PARTS for change in about)):
        values = json_patch.patched(InspectionRule, before, about, request)
    if record.sensitive and values.get("sensitive") is False:
        raise InvalidParameterValue(err="A sensitive rule can't be made insensitive. Delete it and create another one.")
    with _hidden_details(hiding=record.sensitive):
        made = check_rule(before | values)
        # An old rule can still get another description or priority.
        if "actions" in values:
            check_possible(made)
    return values


@contextmanager
def _hidden_details(*, hiding: bool) -> Iterator[None]:
    """Replace the text of an error about a sensitive rule by one without details (S120)."""
    try:
        yield
    except InvalidParameterValue:
        if not hiding:
            raise
        raise InvalidParameterValue(err="The patch can't be applied, or leads to an invalid rule.") from None


def delete(request: Request, rule: str) -> Answer:
    """Delete an inspection rule."""
    _refuse_built_in(request, rule)
    request.store.rules.delete(rule)
    return NO_CONTENT


def _refuse_built_in(request: Request, rule: str) -> None:
    if reads.of(request).is_built_in(rule):
        raise InvalidParameterValue(
            err=f"Inspection rule {rule} is built in; it can only be changed in the file of built-in rules."
        )


def clear(request: Request) -> Answer:
    """Delete all stored inspection rules."""
    # Built-in rules stay (S160).
    request.store.rules.clear()
    return NO_CONTENT


_ALL: Final = "/v1/inspection_rules"
_ONE: Final = "/v1/inspection_rules/{rule}"

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
    # The second is what the stock client sends for `baremetal inspection rule delete all`.
    *(
        Route("DELETE", path, clear, since=96, below=405, shape=FAULT, rule="baremetal:inspection_rule:delete", ok=204)
        for path in (_ALL, f"{_ALL}/all")
    ),
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
