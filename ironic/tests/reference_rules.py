"""The access rules of a reference release, who there is to be judged by them, and what they say."""

import functools
import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from oslo_config import cfg
from oslo_policy import opts, policy

from ironic.conf import OPTIONS
from ironic.core.context import RequestContext
from ironic.tests.repository import ROOT

# Name -> check, scopes, the operations it guards and what it was before.
REFERENCE: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "ironic" / "tests" / "data" / "default-policies.json").read_text()
)
RANKS: tuple[tuple[str, ...], ...] = (
    (),
    ("reader",),
    ("reader", "member"),
    ("reader", "member", "manager"),
    ("reader", "member", "manager", "admin"),
    ("admin",),
    ("service",),
)

# Decided otherwise: role service of a project is for its own runbooks. Source: doc/contract/policies.md#roles.
_ANY_SERVICE = "role:service"
_OWN_SERVICE = "(role:service and system_scope:all) or (role:service and project_id:%(runbook.owner)s)"
for _word in ("get", "update", "delete", "use"):
    _rule = REFERENCE[f"baremetal:runbook:{_word}"]
    assert _rule["check"].endswith(f" or {_ANY_SERVICE}")
    _rule["check"] = _rule["check"].removesuffix(_ANY_SERVICE) + _OWN_SERVICE

Judge = Callable[[RequestContext, str, Mapping[str, Any]], bool]


def everybody(ranks: Iterable[tuple[str, ...]], projects: Mapping[str, str]) -> list[RequestContext]:
    """Return callers of each rank in the whole system and in each project, by id and name."""
    found = [RequestContext(system_scope="all", roles=rank) for rank in ranks]
    return found + [
        RequestContext(project_id=one, project_name=name, roles=rank)
        for rank, (one, name) in itertools.product(ranks, projects.items())
    ]


def configuration(directory: Path, file: str = "{}", **options: Any) -> Any:
    """Return the options of a service, with its policy file."""
    (directory / "policy.yaml").write_text(file)
    conf = cfg.ConfigOpts()
    conf.register_opts(OPTIONS["DEFAULT"])
    conf([], default_config_files=[], default_config_dirs=[])
    opts.set_defaults(conf, policy_file=str(directory / "policy.yaml"))
    for name, value in options.items():
        conf.set_override(name, value, None if name.startswith("rbac") else "oslo_policy")
    return conf


def judge(conf: Any) -> Judge:
    """Return what the reference's table says of a caller, a rule and a thing."""
    enforcer = policy.Enforcer(conf)
    enforcer.suppress_default_change_warnings = True
    for name, rule in REFERENCE.items():
        old = rule.get("deprecated")
        was = old and policy.DeprecatedRule(
            old["name"], old["check"], deprecated_reason="It is old.", deprecated_since="W"
        )
        enforcer.register_default(
            policy.RuleDefault(name, rule["check"], scope_types=rule["scopes"] or None, deprecated_rule=was)
        )

    @functools.cache
    def judged(name: str, facts: frozenset[tuple[str, Any]], known: frozenset[tuple[str, Any]]) -> bool:
        caller = dict(known)
        return bool(enforcer.enforce(name, dict(facts), caller | {"roles": list(caller["roles"])}))

    def allows(who: RequestContext, name: str, target: Mapping[str, Any]) -> bool:
        known = frozenset((field, getattr(who, field)) for field in who.__slots__ if field != "request_id")
        return judged(name, frozenset((key, value) for key, value in target.items() if value is not None), known)

    return allows
