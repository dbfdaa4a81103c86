"""May this caller do this?

In noauth mode everything passes. In keystone mode the rules of `ironic.api.policies` (and the operator's file) decide,
evaluated by oslo.policy. What is refused in which way is decided in `ironic.api.access`.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from ironic.core.context import RequestContext


class Policy(Protocol):
    """What handlers and the application ask."""

    # True: everything passes, nothing needs to be looked up to decide.
    is_open: ClassVar[bool]

    def allows(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        """Tell whether a rule lets the caller through."""

    def denies(self, context: RequestContext, rule: str, target: Mapping[str, Any]) -> bool:
        """Tell whether a rule that only an operator's file may define is there and keeps the caller out."""


class Noauth:
    """Everything passes, except the two rules that would show secrets: they have to be allowed explicitly."""

    is_open: ClassVar[bool] = True

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
        self._service_project = service_project

    @classmethod
    def from_conf(cls, conf: Any) -> "Keystone":
        """Load the defaults and the operator's policy file."""
        from oslo_policy import policy

        from ironic.api import policies

        enforcer = policy.Enforcer(conf)
        enforcer.register_defaults(policies.defaults())
        enforcer.load_rules()
        elevated = conf.rbac_service_role_elevated_access
        return cls(enforcer, conf.rbac_service_project_name if elevated else None)

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
        return dict(target) | {"config.service_project_name": self._service_project}


def credentials(context: RequestContext) -> dict[str, Any]:
    """Return the caller as rules see them."""
    return {
        "user_id": context.user_id,
        "project_id": context.project_id,
        "project_name": context.project_name,
        "system_scope": context.system_scope,
        "roles": list(context.roles),
        "is_public_api": context.is_public_api,
    }
