"""The default rules let the same people do the same things as those of a reference release.

Ours are written differently; so both are asked about everybody: every set of roles that is handed out, for the whole
system and for the owner's, the lessee's, another, the services' and the site's own project.
"""

import itertools
import warnings
from pathlib import Path
from typing import Any

import pytest

from ironic.api import policies
from ironic.api.policy import KeystonePolicy
from ironic.core.context import RequestContext
from ironic.tests.reference_rules import RANKS, REFERENCE, configuration, everybody, judge

ADDED = {"baremetal:node:skip_cleaning", "baremetal:inspection:rejected_callbacks"}

# Roles that had a meaning before there were ranks.
OLD_ROLES = (("administrator",), ("baremetal_admin",), ("baremetal_observer",), ("observer",))

OF_TODAY = everybody(RANKS, {"owners": "a", "lessees": "b", "others": "c"})
SERVICES = everybody([("service",)], {"services": "service"})
OF_OLD = [
    *everybody(OLD_ROLES, {"owners": "a", "site": "baremetal"}),
    RequestContext(project_id="x", project_name="demo", project_domain_id="default", roles=("baremetal_admin",)),
    RequestContext(project_id="x", project_name="demo", project_domain_id="other", roles=("baremetal_admin",)),
    RequestContext(project_id="owners", is_admin_project=False, roles=("admin",)),
]
OWNERS = {"node.owner": "owners", "node.lessee": "lessees", "allocation.owner": "owners", "runbook.owner": "owners"}
NOBODYS = dict.fromkeys(OWNERS)

SYSTEM_MANAGER = RequestContext(system_scope="all", roles=("reader", "member", "manager"))
DOMAIN_ADMIN = RequestContext(domain_id="d", roles=("reader", "member", "manager", "admin"))


def test_there_are_the_same_rules() -> None:
    assert {rule.name for rule in policies.defaults()} - ADDED == REFERENCE.keys()


def test_the_rules_are_asked_for_the_same_scopes_and_were_the_same() -> None:
    for rule in policies.defaults():
        if rule.name not in ADDED:
            wanted, old = REFERENCE[rule.name], rule.deprecated_rule
            assert sorted(rule.scope_types or []) == sorted(wanted["scopes"])
            assert (old and {"name": old.name, "check": old.check_str}) == wanted.get("deprecated")


@pytest.mark.parametrize(
    ("people", "options"),
    [
        pytest.param(OF_TODAY, {}, id="today"),
        pytest.param(SERVICES, {}, id="services"),
        pytest.param(SERVICES, {"rbac_service_role_elevated_access": True}, id="elevated services"),
        pytest.param(OF_OLD, {}, id="of old"),
        pytest.param(OF_OLD, {"enforce_new_defaults": False}, id="of old with the old rules"),
    ],
)
def test_the_rules_let_the_same_people_through(
    tmp_path: Path, people: list[RequestContext], options: dict[str, Any]
) -> None:
    conf = configuration(tmp_path, **options)
    theirs, ours = judge(conf), KeystonePolicy.from_conf(conf)
    more = {"config.service_project_name": "service"} if "rbac_service_role_elevated_access" in options else {}
    verdicts = set()
    for name, who in itertools.product(sorted(REFERENCE), people):
        wanted = theirs(who, name, OWNERS | more)
        assert ours.rights(who).allows(name, OWNERS) == wanted, (name, who)
        verdicts.add(wanted)
    assert verdicts == {False, True}


@pytest.mark.parametrize("who", [DOMAIN_ADMIN, SYSTEM_MANAGER])
def test_what_nobody_owns_is_not_owned_by_who_comes_without_a_project(tmp_path: Path, who: RequestContext) -> None:
    rules = KeystonePolicy.from_conf(configuration(tmp_path))
    for name in ("baremetal:port:delete", "baremetal:portgroup:create", "baremetal:node:delete:self_owned_node"):
        assert not rules.rights(who).allows(name, NOBODYS)
        assert not rules.rights(who).allows(name, OWNERS)


@pytest.mark.parametrize(
    ("file", "name", "allowed"),
    [
        ('"baremetal:node:delete": "role:member"', "baremetal:node:delete", True),
        ('"baremetal:node:delete": "rule:is_admin"', "baremetal:node:delete", False),
        ('"baremetal:node:delete": "rule:is_node_owner"', "baremetal:node:delete", True),
        ('"baremetal:node:delete": "user_domain_id:home"', "baremetal:node:delete", True),
        ('"baremetal:chassis:get": "role:member"', "baremetal:chassis:get", False),  # for system tokens only
        ('{"baremetal:node:delete": "role:member"}', "baremetal:node:delete", True),  # JSON
    ],
)
def test_a_sites_file_wins(tmp_path: Path, file: str, name: str, allowed: bool) -> None:
    who = RequestContext(project_id="owners", user_domain_id="home", roles=("reader", "member"))
    assert KeystonePolicy.from_conf(configuration(tmp_path, file)).rights(who).allows(name, OWNERS) is allowed


def test_an_old_name_in_a_sites_file_stands_for_what_came_of_it(tmp_path: Path) -> None:
    conf = configuration(tmp_path, '"baremetal:node:update": "role:reader"')
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rules = KeystonePolicy.from_conf(conf)
    assert any("baremetal:node:update:owner" in str(each.message) for each in told)
    who = RequestContext(project_id="others", roles=("reader",))
    assert rules.rights(who).allows("baremetal:node:update:owner", OWNERS)
    assert not rules.rights(who).allows("baremetal:node:update_extra", OWNERS)


@pytest.mark.parametrize("owner", ["owners", None])
def test_who_may_name_the_project_of_an_instance_may_lease_the_node(tmp_path: Path, owner: str | None) -> None:
    """A deployment makes that project the lessee of a node without one, and asks no further right."""
    policy = KeystonePolicy.from_conf(configuration(tmp_path))
    node = {"node.owner": owner, "node.lessee": None}
    writers = [
        one for one in [*OF_TODAY, *SERVICES] if policy.rights(one).allows("baremetal:node:update_instance_info", node)
    ]
    assert writers
    assert all(policy.rights(one).allows("baremetal:node:update:lessee", node) for one in writers)
