"""Check a request to change the provision state: the verb, steps, a runbook, and the config drive.

Pure. `ARGUMENTS` checks the form of the arguments; `check` checks them against the node and the version, in the order
that clients know (doc/contract/states.md#order-of-checks). What only drivers know is left to the conductor.

A config drive is a URL, base64 text, or since 1.56 an object from which the conductor builds one. Its content is
secret, so no error text quotes it.
"""

import base64
import binascii
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from ironic.api.arguments import Argument, BodyOrQuery, check_types
from ironic.api.error_responses import unacceptable
from ironic.api.json_schema import OPEN, TEXT, Schema, closed
from ironic.api.version_negotiation import (
    ABORT_SINCE,
    DEPLOY_STEPS_SINCE,
    RAMDISK_SINCE,
    RUNBOOK_SINCE,
    VERB_SINCE,
    VERB_SINCE_AFTER_STATE,
)
from ironic.core import node_rules
from ironic.core.errors import InvalidParameterValue
from ironic.core.errors.resource_errors import RunbookNotFound
from ironic.core.flows import states
from ironic.core.flows.flow import DEPLOY, FLOWS
from ironic.core.node_rules import NodeValues
from ironic.core.secrets import masking, secret_updates
from ironic.core.values import user_steps
from ironic.core.values.value_types import Array, Bool, Enum, Text, ValueType

if TYPE_CHECKING:
    from ironic.api.step_lists import UsableRunbook


_OBJECTS: Final = ("meta_data", "network_data", "vendor_data")
_OBJECT_SINCE: Final = 56
_VENDOR_DATA_SINCE: Final = 59
_KEYS: Final = frozenset({*_OBJECTS, "user_data"})


class ConfigDrive(ValueType):
    """The type of a config drive; `check` checks its content, which depends on the verb and the version."""

    name = "config drive"
    sortable = False

    def __init__(self, minor: int = 10**6) -> None:
        self._minor = minor

    def at(self, minor: int) -> "ConfigDrive":
        """Return the type in one version."""
        return ConfigDrive(minor)

    def validate(self, value: Any) -> Any:
        """Check that the value is text or an object."""
        if not isinstance(value, (str, dict)):
            raise ValueError("must be text or an object")
        return value

    def described(self) -> dict[str, object]:
        """Return the schema in the version of the type."""
        if self._minor < _OBJECT_SINCE:
            return dict(TEXT)
        known = [name for name in _OBJECTS if name != "vendor_data" or self._minor >= _VENDOR_DATA_SINCE]
        user_data: Schema = {"type": ["object", "array", "string", "null"]}
        return {"anyOf": [TEXT, closed({**dict.fromkeys(known, OPEN), "user_data": user_data})]}


def _check_config_drive(verb: str, value: Any, minor: int) -> None:
    """Raise InvalidParameterValue for a config drive that the verb or the version does not take, or a malformed one."""
    if value is None:
        return
    if verb != "active" and not (verb == "rebuild" and minor >= 35):
        raise InvalidParameterValue(err="configdrive is allowed with active, and since 1.35 with rebuild.")
    if isinstance(value, dict):
        if minor < _OBJECT_SINCE:
            raise InvalidParameterValue(err=f"configdrive can be an object since API version 1.{_OBJECT_SINCE}.")
        if "vendor_data" in value and minor < _VENDOR_DATA_SINCE:
            raise InvalidParameterValue(
                err=f"configdrive can contain vendor_data since API version 1.{_VENDOR_DATA_SINCE}."
            )
        if value.keys() - _KEYS:
            raise InvalidParameterValue(err=f"configdrive must have no keys other than {', '.join(sorted(_KEYS))}.")
        if any(not isinstance(value.get(key, {}), dict) for key in _OBJECTS):
            raise InvalidParameterValue(err=f"{', '.join(_OBJECTS)} of configdrive must be objects.")
        if not isinstance(value.get("user_data"), (dict, list, str, type(None))):
            raise InvalidParameterValue(err="user_data of configdrive must be an object, a list or text.")
    elif "://" not in value:
        try:
            # Tools break the text into lines.
            base64.b64decode("".join(value.split()), validate=True)
        except (binascii.Error, ValueError):
            raise InvalidParameterValue(err="configdrive must be a URL or base64 text.") from None


DEPLOYING: Final = frozenset(verb.word for verb in DEPLOY.verbs)
# Verbs that take a runbook.
RUNBOOKS: Final = tuple(verb.word for flow in FLOWS for verb in flow.verbs if f"{verb.word}_steps" in verb.needs)

# Kinds of steps, the verbs that take them, and their types.
STEPS: Final[tuple[tuple[str, tuple[str, ...], ValueType], ...]] = tuple(
    (flow.name, flow.list_verbs, user_steps.DeploySteps() if flow.keeps_users_list else user_steps.AskedSteps())
    for flow in FLOWS
    if flow.list_verbs
)

# A missing node or a wrong state is refused before the value of an argument, so `check` checks all but their form.
_SINCE: Final = {
    name: since
    for flow in FLOWS
    for verb in flow.verbs
    for name, since in {**verb.needs, **verb.takes}.items()
    if since
}
ARGUMENTS: Final = BodyOrQuery(
    Argument(
        "target",
        Text(),
        required=True,
        exact=Enum(*sorted({verb for state in states.ALL for verb in states.verbs_of(state)}), name="verb"),
        words={**VERB_SINCE, **VERB_SINCE_AFTER_STATE},
        handler_checks=True,
    ),
    Argument("configdrive", ConfigDrive(), handler_checks=True),
    *(
        Argument(f"{kind}_steps", Array(), since=_SINCE[f"{kind}_steps"], exact=form, handler_checks=True)
        for kind, _, form in STEPS
    ),
    Argument("rescue_password", Text(None), since=_SINCE["rescue_password"], handler_checks=True),
    Argument("disable_ramdisk", Bool(), since=min(RAMDISK_SINCE.values()), handler_checks=True),
    Argument("runbook", Text(), since=RUNBOOK_SINCE, handler_checks=True),
)


def without_empty(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments without empty lists and false flags, which count as not given."""
    return {name: value for name, value in given.items() if value not in ([], False)}


def _no_runbook(ident: str) -> "UsableRunbook":
    raise RunbookNotFound(runbook=ident)


def check(
    facts: NodeValues,
    given: Mapping[str, Any],
    minor: int,
    disallowed: Mapping[str, Collection[str]],
    find: "Callable[[str], UsableRunbook]" = _no_runbook,
) -> dict[str, Any]:
    """Return the arguments for the conductor; raises an error if the node or the version does not allow the request.

    ``disallowed`` are the steps that the operator disallows, by kind. ``find`` returns a runbook that the node can use,
    or raises.
    """
    verb = given["target"]
    if (since := VERB_SINCE.get(verb, 1)) > minor:
        raise unacceptable(f"Provision target '{verb}'", since)
    if verb not in states.VERBS:
        raise InvalidParameterValue(
            err=f"There is no such provision target. Known ones: {', '.join(sorted(states.VERBS))}."
        )
    node_rules.check_verb(facts, verb, by_holder=False)
    _check_config_drive(verb, given.get("configdrive"), minor)
    runbook = _runbook(given, minor, find)
    _check_steps(verb, given, minor)
    arguments = {name: value for name, value in given.items() if name not in ("target", "runbook")}
    if runbook is not None:
        arguments[f"{verb}_steps"] = runbook.steps
        if runbook.disable_ramdisk:
            arguments["disable_ramdisk"] = True
    if verb in RUNBOOKS and f"{verb}_steps" not in arguments:
        raise InvalidParameterValue(err=f"{verb} needs {verb}_steps.")
    for kind, _, _ in STEPS:
        user_steps.check_allowed(arguments.get(f"{kind}_steps", []), disallowed.get(kind, ()))
    password = given.get("rescue_password")
    if verb != "rescue" and password is not None:
        raise InvalidParameterValue(err="rescue_password is allowed with rescue only.")
    if verb == "rescue" and not (password or "").strip():
        raise InvalidParameterValue(err="rescue needs a rescue_password that is not blank.")
    _check_late(facts, verb, minor)
    node_rules.check_marks(facts, verb)
    return arguments


def _runbook(given: Mapping[str, Any], minor: int, find: "Callable[[str], UsableRunbook]") -> "UsableRunbook | None":
    """Return the runbook of a request, None for a request without one."""
    if "runbook" not in given:
        return None
    if minor < RUNBOOK_SINCE:
        raise unacceptable("runbook", RUNBOOK_SINCE)
    found = find(given["runbook"])
    if given["target"] not in RUNBOOKS:
        raise InvalidParameterValue(err=f"runbook is allowed with {' and '.join(RUNBOOKS)} only.")
    if given.keys() & {f"{verb}_steps" for verb in RUNBOOKS}:
        raise InvalidParameterValue(err="Give either a runbook or steps.")
    return found


def _check_steps(verb: str, given: Mapping[str, object], minor: int) -> None:
    """Raise an error for lists of steps, or disable_ramdisk, that the verb or the version does not take."""
    if "disable_ramdisk" in given:
        if verb not in RAMDISK_SINCE:
            raise InvalidParameterValue(err=f"disable_ramdisk is allowed with {' and '.join(RAMDISK_SINCE)} only.")
        if (since := RAMDISK_SINCE[verb]) > minor:
            raise unacceptable(f"disable_ramdisk with {verb}", since)
    if "deploy_steps" in given and minor < DEPLOY_STEPS_SINCE:
        raise unacceptable("deploy_steps", DEPLOY_STEPS_SINCE)
    for kind, verbs, form in STEPS:
        if (name := f"{kind}_steps") in given:
            if verb not in verbs:
                raise InvalidParameterValue(err=f"{name} are allowed with {' and '.join(verbs)} only.")
            check_types({name: form}, {name: given[name]})
            # As clients copy them from a runbook that they read: the machine would get the asterisks.
            secret_updates.restored_secrets(given[name], None, masking.masked)


def _check_late(facts: NodeValues, verb: str, minor: int) -> None:
    """Raise 406 for a verb that is newer than the request, where that depends on the state of the node."""
    since = VERB_SINCE_AFTER_STATE.get(verb, 1)
    if verb == "abort":
        since = ABORT_SINCE.get(facts.provision_state, 1)
    if since > minor:
        raise unacceptable(f"Provision target '{verb}' in state '{facts.provision_state}'", since)
