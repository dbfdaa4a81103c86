"""May this caller do this?

In noauth mode everything passes. In keystone mode the rules of `ironic.api.policies` (and the operator's file) decide,
evaluated by oslo.policy. What is refused in which way is decided in `ironic.api.access`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol

from oslo_config import cfg

from ironic.core.context import RequestContext

# How the name of a rule for a single step begins; the step's own name follows.
OF_STEP: Final = "baremetal:step:execute:"


class Policy(Protocol):
    """What handlers and the application ask."""

    # True: everything passes, nothing needs to be looked up to decide.
    is_open: ClassVar[bool]

    @property
    def guarded_steps(self) -> frozenset[str]:
        """Return the steps, as `interface.step`, for which an operator's file has a rule."""

    def allows(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        """Tell whether a rule lets the caller through."""

    def denies(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        """Tell whether a rule that only an operator's file may define is there and keeps the caller out."""


class Noauth:
    """Everything passes, except the two rules that would show secrets: they have to be allowed explicitly."""

    is_open: ClassVar[bool] = True
    guarded_steps: ClassVar[frozenset[str]] = frozenset()

    def allows(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        """Let everything pass that is no secret."""
        return rule not in ("show_password", "show_instance_secrets")

    def denies(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        """Keep nobody out."""
        return False


class Keystone:
    """Rules evaluated by oslo.policy."""

    is_open: ClassVar[bool] = False

    def __init__(self, enforcer: Any, service_project: str | None = None) -> None:
        self._enforcer = enforcer
        # Left out where services are nobody special: a rule that misses what it compares with lets nobody through.
        self._site = {} if service_project is None else {"config.service_project_name": service_project}

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> "Keystone":
        """Load the defaults and the operator's policy file."""
        from oslo_policy import policy

        from ironic.api import policies

        enforcer = policy.Enforcer(conf)
        # A site that asks for the rules of old knows that they are old.
        enforcer.suppress_default_change_warnings = True
        enforcer.register_defaults(policies.defaults())
        enforcer.load_rules()
        elevated = conf.rbac_service_role_elevated_access
        return cls(enforcer, conf.rbac_service_project_name if elevated else None)

    @property
    def guarded_steps(self) -> frozenset[str]:
        """Look for such rules; the file may have been changed."""
        self._enforcer.load_rules()
        return frozenset(name.removeprefix(OF_STEP) for name in self._enforcer.rules if name.startswith(OF_STEP))

    def allows(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        """Evaluate one rule."""
        return bool(self._enforcer.authorize(rule, self._facts(target), credentials(context), do_raise=False))

    def denies(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        """Evaluate one rule if there is such a rule."""
        self._enforcer.load_rules()
        if rule not in self._enforcer.rules:
            return False
        return not self._enforcer.enforce(rule, self._facts(target), credentials(context), do_raise=False)

    def _facts(self, target: Mapping[str, Any]) -> dict[str, Any]:
        return dict(target) | self._site


def credentials(context: RequestContext) -> dict[str, Any]:
    """Return the caller as rules see them."""
    # Who comes without a project must not pass for the owner of what nobody owns: rules compare texts, "None" as well.
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
