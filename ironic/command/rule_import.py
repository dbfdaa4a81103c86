"""`ironic-inventory import-rules`: store the inspection rules of files (S161).

A file is JSON or YAML: a list of rules, an object with `inspection_rules` (an answer of the API) or `rules`, or one
rule, as the API shows and takes them, or as `convert-rules` writes them. All rules of all files are checked first; if
one is refused, none is stored. A rule whose UUID is stored already is brought to what the file says. A rule without a
UUID gets one from its contents, so importing a file twice changes nothing.
"""

import argparse
import json
import sys
import uuid as uuids
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sqlalchemy.engine import Connection

from ironic.command.lifecycle import FAILED, WELL
from ironic.command.rule_conversion import rules_of_file
from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue
from ironic.core.rules import check_possible, check_rule
from ironic.core.rules.inspector import IRONIC
from ironic.db import InspectionRuleRecord, Store
from ironic.inspection.rules.rule_book import load_built_in

NAME: Final = "import-rules"
# What the API shows of a rule besides what can be written.
_SHOWN: Final = frozenset({"created_at", "updated_at", "links", "hits", "dialect", "built_in"})
_UUIDS: Final = uuids.uuid5(uuids.NAMESPACE_URL, "ironic-inventory import-rules")


def add_command(parsers: Any) -> None:
    """Add the arguments of the command."""
    parser: argparse.ArgumentParser = parsers.add_parser(NAME, help="Store the inspection rules of files.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON or YAML with rules.")


def import_rules(store: Store, files: Sequence[Path]) -> int:
    """Store the rules of all files, or none, and print what became of each; return the exit status."""
    wanted: dict[str, tuple[str, dict[str, Any]]] = {}
    faults: list[str] = []
    taken = {rule.compiled.uuid: "is that of a built-in rule" for rule in load_built_in(CONF.inspection_rules.built_in)}
    for path in files:
        for number, document in enumerate(rules_of_file(path), 1):
            where = f"{path}, rule {number}"
            try:
                values = _values(document)
            except InvalidParameterValue as error:
                faults.append(f"{where}: {error}")
                continue
            if values["uuid"] in taken:
                faults.append(f"{where}: the UUID {values['uuid']} {taken[values['uuid']]}")
            taken[values["uuid"]] = f"is that of {where}, too"
            wanted[where] = (values["uuid"], values)
    results: dict[str, str] = {}

    def write(_connection: Connection) -> None:
        known = {rule.uuid: rule for rule in store.rules.find()}
        found = {where: _fault(known.get(ident), values) for where, (ident, values) in wanted.items()}
        faults[:] = [f"{where}: {fault}" for where, fault in found.items() if fault]
        if not faults:
            results.update({where: _put(store, known.get(ident), values) for where, (ident, values) in wanted.items()})

    if not faults:
        store.run(write)
    for where, result in results.items():
        print(f"{where}: {result}, UUID {wanted[where][0]}")
    for fault in faults:
        print(fault, file=sys.stderr)
    counts = Counter(results.values())
    print(", ".join(f"{counts[result]} {result}" for result in ("created", "changed", "unchanged")) + ".")
    if faults:
        print("No rule was stored; correct the files and repeat the import.", file=sys.stderr)
    return FAILED if faults else WELL


def _values(document: object) -> dict[str, Any]:
    """Return the columns of a rule; raises InvalidParameterValue with its first fault."""
    if not isinstance(document, Mapping):
        raise InvalidParameterValue(err="a rule must be an object")
    if document.get("dialect", IRONIC) != IRONIC:
        raise InvalidParameterValue(err="it is a rule of the standalone inspector; convert it with convert-rules first")
    given = {name: value for name, value in document.items() if name not in _SHOWN and value is not None}
    if document.get("sensitive") and not given.get("actions"):
        raise InvalidParameterValue(err="the API does not show conditions and actions of a sensitive rule; add them")
    if "uuid" not in given:
        given["uuid"] = str(uuids.uuid5(_UUIDS, json.dumps(given, sort_keys=True, default=str)))
    rule = check_rule(given)
    return {
        "uuid": rule.uuid,
        "description": rule.description,
        "priority": rule.priority,
        "phase": rule.phase,
        "scope": rule.scope,
        "sensitive": rule.sensitive,
        "conditions": given.get("conditions", []),
        "actions": given["actions"],
    }


def _fault(known: InspectionRuleRecord | None, values: Mapping[str, Any]) -> str | None:
    """Return why a rule can't replace the stored one."""
    if known is not None and known.dialect != IRONIC:
        return f"the UUID {known.uuid} is that of a stored rule of the standalone inspector"
    if known is not None and known.sensitive and not values["sensitive"]:
        return f"the stored rule {known.uuid} is sensitive and can't be made insensitive; delete it first"
    if known is None or known.actions != values["actions"]:
        try:
            check_possible(check_rule(values))
        except InvalidParameterValue as error:
            return str(error)
    return None


def _put(store: Store, known: InspectionRuleRecord | None, values: Mapping[str, Any]) -> str:
    if known is None:
        store.rules.create(values)
        return "created"
    changed = {name: value for name, value in values.items() if getattr(known, name) != value}
    if not changed:
        return "unchanged"
    store.rules.update(known.id, changed)
    return "changed"
