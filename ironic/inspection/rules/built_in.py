"""Rules that are always there: a YAML file of the operator's, read and checked at start (S114).

They are not stored, and no user can change them. Their priority may lie outside of the users' range. A rule without a
UUID gets one that is made from its place in the file, so it is the same on every conductor and after every start.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from ironic.core.errors import InvalidParameterValue
from ironic.core.rules import CompiledRule, check_rule, vocabulary

_UUID: Final = "00000000-0000-0000-0000-{number:012x}"


class BuiltInRule(NamedTuple):
    """One rule: made ready, and as the file has it."""

    compiled: CompiledRule
    document: Mapping[str, Any]


def load(path: str | None) -> tuple[BuiltInRule, ...]:
    """Return the rules of the file, or raise InvalidParameterValue with everything that is wrong with it."""
    vocabulary.check()
    if not path:
        return ()
    faults: list[str] = []
    rules = [_checked(document, number, faults) for number, document in enumerate(_documents(path), 1)]
    found = tuple(rule for rule in rules if rule is not None)
    faults.extend(_repeated(found))
    if faults:
        raise _invalid(path, "; ".join(faults))
    return found


def _documents(path: str) -> list[object]:
    try:
        documents = yaml.safe_load(Path(path).read_bytes())
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise _invalid(path, f"it can't be read: {error}") from None
    if documents is not None and not isinstance(documents, list):
        raise _invalid(path, "it is no list of rules")
    return documents or []


def _checked(document: Any, number: int, faults: list[str]) -> BuiltInRule | None:
    if isinstance(document, dict) and document.get("uuid") is None:
        document = document | {"uuid": _UUID.format(number=number)}
    try:
        return BuiltInRule(check_rule(document, built_in=True), document)
    except InvalidParameterValue as error:
        faults.append(f"rule {number}: {error}")
        return None


def _repeated(rules: tuple[BuiltInRule, ...]) -> list[str]:
    uuids = [rule.compiled.uuid for rule in rules]
    return [f"UUID {uuid} is used more than once" for uuid in sorted(set(uuids)) if uuids.count(uuid) > 1]


def _invalid(path: str, reason: str) -> InvalidParameterValue:
    return InvalidParameterValue(err=f"The built-in inspection rules in {path} can't be used: {reason}")
