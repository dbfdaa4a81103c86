"""The default rules let the same people do the same things as those of a reference release.

Ours are written differently; so both are asked about everybody: every set of roles that is handed out, for the whole
system and for the owner's, the lessee's, another and the services' project.
"""

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest
from oslo_config import cfg
from oslo_policy import policy

from ironic.api import policies
from ironic.tests.repository import ROOT

REFERENCE: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "ironic" / "tests" / "data" / "default-policies.json").read_text()
)
OURS = {name: (check, list(scopes)) for name, check, scopes, _ in policies.RULES}
ADDED = {"baremetal:node:skip_cleaning", "baremetal:inspection:rejected_callbacks"}
# Of a time before there were projects; asked for nothing any more.
LEFT_OUT = {"baremetal:allocation:create_pre_rbac"}

ROLES: tuple[list[str], ...] = (
    [],
    ["reader"],
    ["reader", "member"],
    ["reader", "member", "manager"],
    ["reader", "member", "manager", "admin"],
)
PROJECTS = (("owners", "a"), ("lessees", "b"), ("others", "c"), ("services", "service"), (None, None))
OWNERS = {"node.owner": "owners", "node.lessee": "lessees", "allocation.owner": "owners", "runbook.owner": "owners"}


def enforcer(rules: Mapping[str, str]) -> Any:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[], default_config_dirs=[])
    made = policy.Enforcer(conf, use_conf=False)
    made.register_defaults([policy.RuleDefault(name, check) for name, check in rules.items()])
    made.load_rules()
    return made


@pytest.fixture(scope="module")
def both() -> tuple[Any, Any]:
    theirs = enforcer({name: rule["check"] for name, rule in REFERENCE.items() if name not in LEFT_OUT})
    return theirs, enforcer({name: check for name, (check, _) in OURS.items()})


def test_there_are_the_same_rules() -> None:
    assert OURS.keys() - ADDED == REFERENCE.keys() - LEFT_OUT


def everybody() -> list[dict[str, Any]]:
    found = []
    for roles, (project, name) in itertools.product((*ROLES, ["service"]), PROJECTS):
        scope = "all" if project is None else None
        found.append({"roles": roles, "system_scope": scope, "project_id": project, "project_name": name})
    return [who | {"user_id": "u", "is_public_api": False} for who in found]


@pytest.mark.parametrize("name", sorted(OURS.keys() - ADDED))
def test_a_rule_lets_the_same_people_through(both: tuple[Any, Any], name: str) -> None:
    theirs, ours = both
    for who in everybody():
        for elevated in (None, "service"):
            target = OWNERS | {"config.service_project_name": elevated}
            wanted = theirs.enforce(name, target, dict(who))
            assert ours.enforce(name, target, dict(who)) == wanted, (who, elevated)
    assert sorted(OURS[name][1]) == sorted(REFERENCE[name]["scopes"])
