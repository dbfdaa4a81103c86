"""A request to change the provision state: which verbs there are, since when, and what may come with them.

Pure. `ARGUMENTS` checks their form, `check` judges them against node and version in the order clients know
(doc/contract/states.md#order-of-checks). What only drivers can judge is left to the conductor.
"""

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from ironic.api import input
from ironic.api.arguments import Argument, BodyOrQuery
from ironic.api.errors import unacceptable
from ironic.api.resources.nodes import configdrive
from ironic.api.verbs import (
    ABORT_SINCE,
    DEPLOY_STEPS_SINCE,
    RAMDISK_SINCE,
    RUNBOOK_SINCE,
    SINCE,
    SINCE_AFTER_STATE,
)
from ironic.core import node_rules, states, user_steps
from ironic.core.errors import InvalidParameterValue
from ironic.core.flow import DEPLOY, FLOWS
from ironic.core.node_rules import NodeValues
from ironic.core.resource_errors import RunbookNotFound
from ironic.core.values import Array, Bool, Enum, Text, ValueType

if TYPE_CHECKING:
    from ironic.api.usable_runbooks import UsableRunbook

DEPLOYING: Final = frozenset(verb.word for verb in DEPLOY.verbs)
# What can be done by a runbook.
RUNBOOKS: Final = tuple(verb.word for flow in FLOWS for verb in flow.verbs if f"{verb.word}_steps" in verb.needs)

# What each kind of steps goes with, and what they look like.
STEPS: Final[tuple[tuple[str, tuple[str, ...], ValueType], ...]] = tuple(
    (flow.name, flow.list_verbs, user_steps.DeploySteps() if flow is DEPLOY else user_steps.AskedSteps())
    for flow in FLOWS
    if flow.list_verbs
)

# Clients know that a node is not there, or not in the right state, before they learn what is wrong with an argument: so
# `check` judges all but their form.
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
        words={**SINCE, **SINCE_AFTER_STATE},
        late=True,
    ),
    Argument("configdrive", configdrive.ConfigDrive(), late=True),
    *(
        Argument(f"{kind}_steps", Array(), since=_SINCE[f"{kind}_steps"], exact=form, late=True)
        for kind, _, form in STEPS
    ),
    Argument("rescue_password", Text(None), since=_SINCE["rescue_password"], late=True),
    Argument("disable_ramdisk", Bool(), since=min(RAMDISK_SINCE.values()), late=True),
    Argument("runbook", Text(), since=RUNBOOK_SINCE, late=True),
)


def meant(given: Mapping[str, object]) -> dict[str, object]:
    """Return the arguments that mean something: an empty list and a false flag always counted as not given."""
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
    """Refuse what this node can't do now or this version does not know; return the arguments for the conductor.

    ``find`` returns a runbook that may be used for the node, or refuses it.
    """
    verb = given["target"]
    _check_verb(verb, minor)
    node_rules.check_verb(facts, verb, by_holder=False)
    configdrive.check_use(verb, given.get("configdrive"), minor)
    runbook = _runbook(given, minor, find)
    _check_ramdisk(verb, given, minor)
    _check_steps(verb, given, minor)
    arguments = _arguments(given, runbook)
    _check_work(verb, arguments, disallowed)
    _check_password(verb, given)
    _check_late(facts, verb, minor)
    node_rules.check_marks(facts, verb)
    return arguments


def _check_verb(verb: str, minor: int) -> None:
    if (since := SINCE.get(verb, 1)) > minor:
        raise unacceptable(f"Provision target '{verb}'", since)
    if verb not in states.VERBS:
        raise InvalidParameterValue(err="There is no such provision target.")


def _runbook(given: Mapping[str, Any], minor: int, find: "Callable[[str], UsableRunbook]") -> "UsableRunbook | None":
    if "runbook" not in given:
        return None
    if minor < RUNBOOK_SINCE:
        raise unacceptable("runbook", RUNBOOK_SINCE)
    found = find(given["runbook"])
    if given["target"] not in RUNBOOKS:
        raise InvalidParameterValue(err=f"runbook goes with {' and '.join(RUNBOOKS)} only.")
    if given.keys() & {f"{verb}_steps" for verb in RUNBOOKS}:
        raise InvalidParameterValue(err="Give a runbook or steps, not both.")
    return found


def _arguments(given: Mapping[str, object], runbook: "UsableRunbook | None") -> dict[str, object]:
    """Return what goes to the conductor, with what a runbook stands for in its place."""
    arguments = {name: value for name, value in given.items() if name not in ("target", "runbook")}
    if runbook is not None:
        arguments[f"{given['target']}_steps"] = runbook.steps
        if runbook.disable_ramdisk:
            arguments["disable_ramdisk"] = True
    return arguments


def _check_ramdisk(verb: str, given: Mapping[str, object], minor: int) -> None:
    if "disable_ramdisk" not in given:
        return
    if verb not in RAMDISK_SINCE:
        raise InvalidParameterValue(err=f"disable_ramdisk goes with {' and '.join(RAMDISK_SINCE)} only.")
    if (since := RAMDISK_SINCE[verb]) > minor:
        raise unacceptable(f"disable_ramdisk with {verb}", since)


def _check_steps(verb: str, given: Mapping[str, object], minor: int) -> None:
    if "deploy_steps" in given and minor < DEPLOY_STEPS_SINCE:
        raise unacceptable("deploy_steps", DEPLOY_STEPS_SINCE)
    for kind, verbs, form in STEPS:
        if (name := f"{kind}_steps") not in given:
            continue
        if verb not in verbs:
            raise InvalidParameterValue(err=f"{name} go with {' and '.join(verbs)} only.")
        input.check({name: form}, {name: given[name]})


def _check_work(verb: str, arguments: Mapping[str, Any], disallowed: Mapping[str, Collection[str]]) -> None:
    """Refuse to do nothing, and steps the operator keeps callers from, in their own list or a runbook's."""
    if verb in RUNBOOKS and f"{verb}_steps" not in arguments:
        raise InvalidParameterValue(err=f"{verb} needs {verb}_steps.")
    for kind, _, _ in STEPS:
        user_steps.check_allowed(arguments.get(f"{kind}_steps", []), disallowed.get(kind, ()))


def _check_password(verb: str, given: Mapping[str, Any]) -> None:
    password = given.get("rescue_password")
    if verb != "rescue" and password is not None:
        raise InvalidParameterValue(err="rescue_password goes with rescue only.")
    if verb == "rescue" and not (password or "").strip():
        raise InvalidParameterValue(err="rescue needs a rescue_password that is not blank.")


def _check_late(facts: NodeValues, verb: str, minor: int) -> None:
    since = SINCE_AFTER_STATE.get(verb, 1)
    if verb == "abort":
        since = ABORT_SINCE.get(facts.provision_state, 1)
    if since > minor:
        raise unacceptable(f"Provision target '{verb}' in state '{facts.provision_state}'", since)
