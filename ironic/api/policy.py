"""Policies: who decides whether a caller may do something.

With `auth_strategy = keystone` the rules of `ironic.api.policies`, and those of the operator's policy file, decide;
oslo.policy evaluates them. With the other strategies everything is allowed.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from oslo_config import cfg

from ironic.api.policy_files import STEP_RULE_PREFIX, SiteRules
from ironic.core.context import RequestContext


class Rights(Protocol):
    """What the caller of one request may do, by the rules that were in force when the request first asked."""

    @property
    def guarded_steps(self) -> frozenset[str]:
        """Return the steps, as `interface.step`, for which the operator's policy file has a rule."""

    def allows(self, rule: str, target: Mapping[str, Any]) -> bool:
        """Return whether a rule of the policy table allows the caller the action on the target."""

    def denies(self, rule: str, target: Mapping[str, Any]) -> bool:
        """Return whether a rule exists in the operator's policy file and denies the caller the action."""


class Policy(Protocol):
    """The rules of the service, which decide about every caller."""

    # True: every rule about a node passes, so no row is looked up to decide.
    is_open: ClassVar[bool]

    def rights(self, context: RequestContext) -> Rights:
        """Return what a caller may do."""


class NoauthPolicy:
    """Allow everything, except the two rules that would reveal secrets: an operator has to allow those explicitly.

    The rights of all callers are the same.
    """

    is_open: ClassVar[bool] = True
    guarded_steps: ClassVar[frozenset[str]] = frozenset()

    def rights(self, context: RequestContext) -> Rights:
        """Return the rights that every caller has."""
        return self

    def allows(self, rule: str, target: Mapping[str, Any]) -> bool:
        """Return True for every rule that reveals no secret."""
        return rule not in ("show_password", "show_instance_secrets")

    def denies(self, rule: str, target: Mapping[str, Any]) -> bool:
        """Return False: without a policy file no rule denies anything."""
        return False


class KeystonePolicy:
    """Evaluate rules with oslo.policy."""

    is_open: ClassVar[bool] = False

    def __init__(self, rules: SiteRules, service_project: str | None = None) -> None:
        self._rules = rules
        # Left out unless services are elevated: a rule that lacks what it compares with denies.
        self._site = {} if service_project is None else {"config.service_project_name": service_project}

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "KeystonePolicy":
        """Load the default rules and the operator's policy files; raises BadPolicyFile."""
        elevated = conf.rbac_service_role_elevated_access
        return cls(SiteRules(conf), conf.rbac_service_project_name if elevated else None)

    def rights(self, context: RequestContext) -> Rights:
        """Return what a caller may do by the present rules."""
        return _KeystoneRights(self._rules.enforcer, credentials(context), self._site)


class _KeystoneRights:
    """The rights of a caller with these credentials; each question is put to the rules once."""

    def __init__(self, enforcer: Any, caller: Mapping[str, Any], site: Mapping[str, str]) -> None:
        self._enforcer, self._caller, self._site = enforcer, caller, site
        # By the rule and what it was asked about.
        self._decisions: dict[tuple[object, ...], bool] = {}

    @property
    def guarded_steps(self) -> frozenset[str]:
        names = (name for name in self._enforcer.rules if name.startswith(STEP_RULE_PREFIX))
        return frozenset(name.removeprefix(STEP_RULE_PREFIX) for name in names)

    def allows(self, rule: str, target: Mapping[str, Any]) -> bool:
        question = (rule, *target.items())
        if (known := self._decisions.get(question)) is None:
            known = bool(self._enforcer.authorize(rule, {**target, **self._site}, dict(self._caller), do_raise=False))
            self._decisions[question] = known
        return known

    def denies(self, rule: str, target: Mapping[str, Any]) -> bool:
        if rule not in self._enforcer.rules:
            return False
        return not self._enforcer.enforce(rule, {**target, **self._site}, dict(self._caller), do_raise=False)


def credentials(context: RequestContext) -> dict[str, Any]:
    """Return the caller's credentials under the names that rules use."""
    # A caller without a project must not match rows without an owner: rules compare texts, and "None" is one.
    project = {} if context.project_id is None else {"project_id": context.project_id}
    return project | {
        "user_id": context.user_id,
        "user_domain_id": context.user_domain_id,
        "domain_id": context.domain_id,
        "project_name": context.project_name,
        "project_domain_id": context.project_domain_id,
        "is_admin_project": context.is_admin_project,
        "system_scope": context.system_scope,
        "roles": list(context.roles),
        "is_public_api": context.is_public_api,
    }
