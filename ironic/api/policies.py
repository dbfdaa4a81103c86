"""The default policy rules, and their deprecated predecessors.

Names and check strings are those of doc/contract/policies.md#names-and-defaults, for the routes that exist; an
operator's policy file overrides each of them. Check strings repeat, so each has a name that says who passes. Rules
whose only scope is "system" deny project tokens whatever their roles.

Predecessors are the rules from before tokens had scopes. With `[oslo_policy]enforce_new_defaults = false` a caller
passes if the predecessor or the present rule allows it. A policy file that has a rule by its old name means all the
rules that replaced it. Source: doc/contract/policies.md#rules-of-old.
"""

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, Self

from oslo_config import cfg

# Rules that no request checks; policy files and predecessors refer to them.
HELPERS: Final[Mapping[str, str]] = {
    "admin_api": "role:admin or role:administrator",
    "is_member": (
        "(project_domain_id:default or project_domain_id:None) and (project_name:demo or project_name:baremetal)"
    ),
    "is_observer": "rule:is_member and (role:observer or role:baremetal_observer)",
    "is_admin": "rule:admin_api or (rule:is_member and role:baremetal_admin)",
    "is_node_owner": "project_id:%(node.owner)s",
    "is_node_lessee": "project_id:%(node.lessee)s",
    "is_allocation_owner": "project_id:%(allocation.owner)s",
}

_OLD_ADMIN: Final = "rule:is_admin"
_OLD_READER: Final = "rule:is_admin or rule:is_observer"


def _all(words: str, subjects: Iterable[str]) -> list[str]:
    """Return a rule name for each subject and each of the words."""
    return [f"baremetal:{subject}:{word}" for subject in subjects for word in words.split()]


_WRITTEN: Final = ("port", "portgroup", "chassis", "volume", "deploy_template")

# Check string -> rules that had it under their present name.
_SAME_NAME: Final[Mapping[str, list[str]]] = {
    _OLD_ADMIN: [
        *_all("create update delete", ("node", *_WRITTEN)),
        *_all("update delete", ["allocation"]),
        *_all("attach detach list", ["node:vif"]),
        *_all("set delete", ["node:traits"]),
        *_all(
            "update_owner_provisioned validate set_maintenance clear_maintenance set_indicator_state inject_nmi "
            "set_power_state set_provision_state set_raid_state get_console set_console_state vendor_passthru",
            ["node"],
        ),
        "baremetal:driver:vendor_passthru",
        "baremetal:events:post",
    ],
    _OLD_READER: [
        *_all("get", ("node", *_WRITTEN, "driver", "conductor", "allocation", "node:bios")),
        *_all("get_boot_device get_indicator_state get_states", ["node"]),
        *_all("get_properties get_raid_logical_disk_properties", ["driver"]),
        "baremetal:node:traits:list",
    ],
    "rule:baremetal:node:get": _all("list list_all", ["node"]),
    "rule:baremetal:node:update": _all("update_extra update_instance_info disable_cleaning", ["node"]),
    "rule:baremetal:port:get": _all("list list_all", ["port"]),
    "rule:baremetal:allocation:get": ["baremetal:allocation:list"],
    "rule:baremetal:allocation:get and is_admin_project:True": ["baremetal:allocation:list_all"],
    "rule:is_admin and is_admin_project:True": ["baremetal:allocation:create"],
    "rule:baremetal:allocation:create": ["baremetal:allocation:create_restricted"],
    "rule:public_api": ["baremetal:node:ipa_heartbeat", "baremetal:driver:ipa_lookup"],
}

# Old name -> its check string, and the rules that replaced it.
_OLD_NAME: Final[Mapping[str, tuple[str, list[str]]]] = {
    "baremetal:node:get": (
        _OLD_READER,
        [
            *_all("filter_threshold last_error reservation driver_internal_info driver_info", ["node:get"]),
            *_all("get", ["node:history", "node:inventory"]),
        ],
    ),
    "baremetal:node:update": (
        _OLD_ADMIN,
        _all(
            "driver_info properties chassis_uuid instance_uuid lessee owner driver_interfaces network_data "
            "conductor_group name retired",
            ["node:update"],
        ),
    ),
    "baremetal:node:set_maintenance": (_OLD_ADMIN, ["baremetal:node:set_boot_device"]),
    "baremetal:node:set_power_state": (_OLD_ADMIN, _all("set_boot_mode set_secure_boot", ["node"])),
    "baremetal:portgroup:get": (_OLD_READER, _all("list list_all", ["portgroup"])),
    "baremetal:volume:get": (_OLD_READER, _all("list list_all", ["volume"])),
    "baremetal:volume:update": (_OLD_ADMIN, ["baremetal:volume:view_target_properties"]),
}

# Rule -> its old name and check string.
PREDECESSORS: Final[Mapping[str, tuple[str, str]]] = {
    **{name: (name, check) for check, names in _SAME_NAME.items() for name in names},
    **{name: (old, check) for old, (check, names) in _OLD_NAME.items() for name in names},
}


_SERVICE: Final = "role:service and system_scope:all"
_OWNER_SERVICE: Final = "(role:service and project_id:%(node.owner)s)"
_SYSTEM_READS: Final = f"(role:reader and system_scope:all) or ({_SERVICE}) or rule:service_role"
_SYSTEM_WRITES: Final = "(role:member and system_scope:all) or rule:service_role"
_ADMIN: Final = "role:admin and system_scope:all"
_CREATES: Final = f"(role:admin and system_scope:all) or ({_SERVICE})"
_OWNING_ADMINS: Final = (
    f"(role:admin and project_id:%(node.owner)s) or (role:manager and project_id:%(node.owner)s) or {_OWNER_SERVICE}"
)

_LISTS: Final = "(role:reader) or (role:service)"
_SEES: Final = (
    f"({_SYSTEM_READS}) or (role:reader and (project_id:%(node.owner)s or project_id:%(node.lessee)s)) "
    f"or {_OWNER_SERVICE}"
)
_SEES_ALL_OF: Final = (
    f"({_SYSTEM_READS}) or ({_SERVICE}) or (role:reader and project_id:%(node.owner)s) or {_OWNER_SERVICE}"
)
_OWNS: Final = f"({_SYSTEM_WRITES}) or ({_SERVICE}) or (role:member and project_id:%(node.owner)s) or {_OWNER_SERVICE}"
_USES: Final = (
    f"({_SYSTEM_WRITES}) or (role:member and (project_id:%(node.owner)s or project_id:%(node.lessee)s)) or ({_SERVICE})"
)
_OPERATES: Final = (
    f"({_SYSTEM_WRITES}) or ({_SERVICE}) or (role:member and project_id:%(node.owner)s) "
    f"or (role:admin and project_id:%(node.lessee)s) or (role:manager and project_id:%(node.lessee)s) "
    f"or {_OWNER_SERVICE}"
)
_CONFIGURES: Final = f"({_SYSTEM_WRITES}) or ({_SERVICE}) or {_OWNING_ADMINS}"
_CREATES_ON: Final = f"{_CREATES} or {_OWNING_ADMINS}"
# Lessees too.
_CONFIGURES_REMOTELY: Final = (
    f"({_SYSTEM_WRITES}) or ({_SERVICE}) or {_OWNING_ADMINS} "
    f"or (role:admin and project_id:%(node.lessee)s) or (role:manager and project_id:%(node.lessee)s)"
)
_OWNS_ALLOCATION: Final = f"({_SYSTEM_WRITES}) or (role:member and project_id:%(allocation.owner)s)"
# In the reference role service passes for the runbooks of every project.
_RUNBOOK_SERVICE: Final = f"({_SERVICE}) or (role:service and project_id:%(runbook.owner)s)"
_OWNS_RUNBOOK: Final = f"({_SYSTEM_WRITES}) or (role:manager and project_id:%(runbook.owner)s) or {_RUNBOOK_SERVICE}"

BOTH: Final = ("system", "project")
SYSTEM: Final = ("system",)
PROJECT: Final = ("project",)
ANY: Final = ()

# Name, check string, scopes, and the route that it guards.
RULES: Final[tuple[tuple[str, str, tuple[str, ...], str], ...]] = (
    ("public_api", "is_public_api:True", ANY, ""),
    ("show_password", "!", ANY, ""),
    ("show_instance_secrets", "!", ANY, ""),
    ("service_role", "role:service and project_name:%(config.service_project_name)s", ANY, ""),
    ("baremetal:node:create", _CREATES, BOTH, "POST /nodes"),
    ("baremetal:node:create:self_owned_node", "(role:admin) or (role:service)", BOTH, "POST /nodes"),
    ("baremetal:node:list", _LISTS, BOTH, "GET /nodes"),
    ("baremetal:node:list_all", _SYSTEM_READS, BOTH, "GET /nodes"),
    ("baremetal:node:get", _SEES, BOTH, "GET /nodes/{node_ident}"),
    ("baremetal:node:get:filter_threshold", _SYSTEM_READS, BOTH, "GET /nodes/{node_ident}"),
    ("baremetal:node:get:last_error", _SEES_ALL_OF, BOTH, "GET /nodes/{node_ident}"),
    ("baremetal:node:get:reservation", _SEES_ALL_OF, BOTH, "GET /nodes/{node_ident}"),
    ("baremetal:node:get:driver_internal_info", _SEES_ALL_OF, BOTH, "GET /nodes/{node_ident}"),
    ("baremetal:node:get:driver_info", _SEES_ALL_OF, BOTH, "GET /nodes/{node_ident}"),
    ("baremetal:node:update", _USES, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update_extra", _USES, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update_instance_info", _OPERATES, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update_owner_provisioned", _ADMIN, SYSTEM, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:driver_info", _OWNS, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:properties", _OWNS, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:chassis_uuid", _ADMIN, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:instance_uuid", _OWNS, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:lessee", _OWNS, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:owner", _SYSTEM_WRITES, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:driver_interfaces", _CONFIGURES, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:network_data", _OWNS, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:conductor_group", _SYSTEM_WRITES, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:name", _OWNS, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:retired", _OWNS, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:shard", _ADMIN, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:parent_node", _SYSTEM_WRITES, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:update:disable_power_off", _ADMIN, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:disable_cleaning", _ADMIN, BOTH, "PATCH /nodes/{node_ident}"),
    ("baremetal:node:delete", _ADMIN, BOTH, "DELETE /nodes/{node_ident}"),
    (
        "baremetal:node:delete:self_owned_node",
        "role:admin and project_id:%(node.owner)s",
        BOTH,
        "DELETE /nodes/{node_ident}",
    ),
    ("baremetal:node:validate", _OPERATES, BOTH, "GET /nodes/{node_ident}/validate"),
    ("baremetal:node:set_maintenance", _OPERATES, BOTH, "PUT /nodes/{node_ident}/maintenance"),
    ("baremetal:node:clear_maintenance", _OPERATES, BOTH, "DELETE /nodes/{node_ident}/maintenance"),
    ("baremetal:node:get_boot_device", _CONFIGURES, BOTH, "GET /nodes/{node_ident}/management/boot_device"),
    ("baremetal:node:set_boot_device", _CONFIGURES, BOTH, "PUT /nodes/{node_ident}/management/boot_device"),
    ("baremetal:node:inject_nmi", _CONFIGURES, BOTH, "PUT /nodes/{node_ident}/management/inject_nmi"),
    ("baremetal:node:get_indicator_state", _SEES, BOTH, "GET /nodes/{node_ident}/management/indicators"),
    ("baremetal:node:set_indicator_state", _OWNS, BOTH, "PUT /nodes/{node_ident}/management/indicators/{indicator}"),
    ("baremetal:node:set_boot_mode", _USES, BOTH, "PUT /nodes/{node_ident}/states/boot_mode"),
    ("baremetal:node:set_secure_boot", _USES, BOTH, "PUT /nodes/{node_ident}/states/secure_boot"),
    ("baremetal:node:set_raid_state", _OWNS, BOTH, "PUT /nodes/{node_ident}/states/raid"),
    ("baremetal:node:get_console", _OWNS, BOTH, "GET /nodes/{node_ident}/states/console"),
    ("baremetal:node:set_console_state", _OWNS, BOTH, "PUT /nodes/{node_ident}/states/console"),
    ("baremetal:node:vif:list", _SEES, BOTH, "GET /nodes/{node_ident}/vifs"),
    ("baremetal:node:vif:attach", _OPERATES, BOTH, "POST /nodes/{node_ident}/vifs"),
    ("baremetal:node:vif:detach", _OPERATES, BOTH, "DELETE /nodes/{node_ident}/vifs/{node_vif_ident}"),
    ("baremetal:node:bios:get", _SEES, BOTH, "GET /nodes/{node_ident}/bios"),
    ("baremetal:node:firmware:get", _SEES, BOTH, "GET /nodes/{node_ident}/firmware"),
    ("baremetal:node:vmedia:get", _SEES, BOTH, "GET /nodes/{node_ident}/vmedia"),
    ("baremetal:node:vmedia:attach", _USES, BOTH, "POST /nodes/{node_ident}/vmedia"),
    ("baremetal:node:vmedia:detach", _USES, BOTH, "DELETE /nodes/{node_ident}/vmedia"),
    ("baremetal:node:vendor_passthru", _ADMIN, BOTH, "POST /nodes/{node_ident}/vendor_passthru"),
    ("baremetal:node:get_states", _SEES, BOTH, "GET /nodes/{node_ident}/states"),
    ("baremetal:node:set_power_state", _USES, BOTH, "PUT /nodes/{node_ident}/states/power"),
    ("baremetal:node:set_provision_state", _OPERATES, BOTH, "PUT /nodes/{node_ident}/states/provision"),
    ("baremetal:node:set_provision_state:clean_steps", _OPERATES, BOTH, "PUT /nodes/{node_ident}/states/provision"),
    ("baremetal:node:set_provision_state:service_steps", _OPERATES, BOTH, "PUT /nodes/{node_ident}/states/provision"),
    # Only in this service (S56): leave "clean failed" without another cleaning.
    ("baremetal:node:skip_cleaning", _ADMIN, BOTH, "PUT /nodes/{node_ident}/states/provision"),
    ("baremetal:node:traits:list", _SEES, BOTH, "GET /nodes/{node_ident}/traits"),
    ("baremetal:node:traits:set", _CONFIGURES, BOTH, "PUT /nodes/{node_ident}/traits"),
    ("baremetal:node:traits:delete", _CONFIGURES, BOTH, "DELETE /nodes/{node_ident}/traits"),
    ("baremetal:node:history:get", _SEES_ALL_OF, BOTH, "GET /nodes/{node_ident}/history"),
    ("baremetal:node:inventory:get", _SEES_ALL_OF, BOTH, "GET /nodes/{node_ident}/inventory"),
    ("baremetal:node:ipa_heartbeat", "", ANY, "POST /heartbeat/{node_ident}"),
    ("baremetal:port:list", _LISTS, BOTH, "GET /ports"),
    ("baremetal:port:list_all", _SYSTEM_READS, BOTH, "GET /ports"),
    ("baremetal:port:get", _SEES, BOTH, "GET /ports/{port_id}"),
    ("baremetal:port:create", _CREATES_ON, BOTH, "POST /ports"),
    ("baremetal:port:update", _CONFIGURES, BOTH, "PATCH /ports/{port_id}"),
    ("baremetal:port:delete", _CREATES_ON, BOTH, "DELETE /ports/{port_id}"),
    ("baremetal:portgroup:list", _LISTS, BOTH, "GET /portgroups"),
    ("baremetal:portgroup:list_all", _SYSTEM_READS, BOTH, "GET /portgroups"),
    ("baremetal:portgroup:get", _SEES, BOTH, "GET /portgroups/{portgroup_ident}"),
    ("baremetal:portgroup:create", _CREATES_ON, BOTH, "POST /portgroups"),
    ("baremetal:portgroup:update", _CONFIGURES, BOTH, "PATCH /portgroups/{portgroup_ident}"),
    ("baremetal:portgroup:delete", _CREATES_ON, BOTH, "DELETE /portgroups/{portgroup_ident}"),
    ("baremetal:volume:list", _LISTS, BOTH, "GET /volume/connectors"),
    ("baremetal:volume:list_all", _SYSTEM_READS, BOTH, "GET /volume/connectors"),
    ("baremetal:volume:get", _SEES, BOTH, "GET /volume"),
    ("baremetal:volume:create", _CONFIGURES_REMOTELY, BOTH, "POST /volume/connectors"),
    ("baremetal:volume:update", _OPERATES, BOTH, "PATCH /volume/connectors/{volume_connector_id}"),
    ("baremetal:volume:delete", _CONFIGURES_REMOTELY, BOTH, "DELETE /volume/connectors/{volume_connector_id}"),
    (
        "baremetal:volume:view_target_properties",
        f"({_SYSTEM_READS}) or (role:admin)",
        BOTH,
        "GET /volume/targets/{volume_target_id}",
    ),
    ("baremetal:chassis:get", _SYSTEM_READS, SYSTEM, "GET /chassis"),
    ("baremetal:chassis:create", _ADMIN, SYSTEM, "POST /chassis"),
    ("baremetal:chassis:update", _SYSTEM_WRITES, SYSTEM, "PATCH /chassis/{chassis_id}"),
    ("baremetal:chassis:delete", _ADMIN, SYSTEM, "DELETE /chassis/{chassis_id}"),
    ("baremetal:driver:get", _SYSTEM_READS, SYSTEM, "GET /drivers"),
    ("baremetal:driver:get_properties", _SYSTEM_READS, SYSTEM, "GET /drivers/{driver_name}/properties"),
    (
        "baremetal:driver:get_raid_logical_disk_properties",
        _SYSTEM_READS,
        SYSTEM,
        "GET /drivers/{driver_name}/raid/logical_disk_properties",
    ),
    ("baremetal:driver:vendor_passthru", _ADMIN, SYSTEM, "POST /drivers/{driver_name}/vendor_passthru"),
    ("baremetal:driver:ipa_lookup", "", ANY, "GET /lookup"),
    ("baremetal:driver:ipa_continue_inspection", "", ANY, "POST /continue_inspection"),
    ("baremetal:shards:get", _SYSTEM_READS, BOTH, "GET /shards"),
    ("baremetal:events:post", _ADMIN, SYSTEM, "POST /events"),
    ("baremetal:conductor:get", _SYSTEM_READS, BOTH, "GET /conductors"),
    ("baremetal:allocation:list", _LISTS, BOTH, "GET /allocations"),
    ("baremetal:allocation:list_all", _SYSTEM_READS, BOTH, "GET /allocations"),
    (
        "baremetal:allocation:get",
        f"({_SYSTEM_READS}) or (role:reader and project_id:%(allocation.owner)s)",
        BOTH,
        "GET /allocations/{allocation_id}",
    ),
    ("baremetal:allocation:create", f"({_SYSTEM_WRITES}) or (role:member)", BOTH, "POST /allocations"),
    ("baremetal:allocation:create_restricted", _SYSTEM_WRITES, BOTH, "POST /allocations"),
    (
        "baremetal:allocation:create_pre_rbac",
        "(rule:is_member and role:baremetal_admin) or (is_admin_project:True and role:admin)",
        PROJECT,
        "POST /allocations",
    ),
    ("baremetal:allocation:update", _OWNS_ALLOCATION, BOTH, "PATCH /allocations/{allocation_id}"),
    ("baremetal:allocation:delete", _OWNS_ALLOCATION, BOTH, "DELETE /allocations/{allocation_id}"),
    ("baremetal:deploy_template:get", _SYSTEM_READS, BOTH, "GET /deploy_templates"),
    ("baremetal:deploy_template:create", _ADMIN, BOTH, "POST /deploy_templates"),
    ("baremetal:deploy_template:update", _ADMIN, BOTH, "PATCH /deploy_templates/{deploy_template_ident}"),
    ("baremetal:deploy_template:delete", _ADMIN, BOTH, "DELETE /deploy_templates/{deploy_template_ident}"),
    ("baremetal:runbook:list", _LISTS, BOTH, "GET /runbooks"),
    ("baremetal:runbook:list_all", _SYSTEM_READS, BOTH, "GET /runbooks"),
    (
        "baremetal:runbook:get",
        f"({_SYSTEM_READS}) or (role:reader and project_id:%(runbook.owner)s) or {_RUNBOOK_SERVICE}",
        BOTH,
        "GET /runbooks/{runbook_ident}",
    ),
    ("baremetal:runbook:create", f"({_SYSTEM_WRITES}) or role:manager or role:service", BOTH, "POST /runbooks"),
    ("baremetal:runbook:update", _OWNS_RUNBOOK, BOTH, "PATCH /runbooks/{runbook_ident}"),
    ("baremetal:runbook:update:public", _SYSTEM_WRITES, BOTH, "PATCH /runbooks/{runbook_ident}"),
    ("baremetal:runbook:update:owner", _SYSTEM_WRITES, BOTH, "PATCH /runbooks/{runbook_ident}"),
    ("baremetal:runbook:delete", _OWNS_RUNBOOK, BOTH, "DELETE /runbooks/{runbook_ident}"),
    ("baremetal:runbook:use", _OWNS_RUNBOOK, BOTH, "PUT /nodes/{node_ident}/states/provision"),
    # Only in this service: refused inspection data.
    ("baremetal:inspection:rejected_callbacks", _SYSTEM_READS, SYSTEM, "GET /inspection/rejected_callbacks"),
    ("baremetal:inspection_rule:list_all", _SYSTEM_READS, BOTH, "GET /inspection_rules"),
    ("baremetal:inspection_rule:get", _SYSTEM_READS, BOTH, "GET /inspection_rules/{rule_id}"),
    ("baremetal:inspection_rule:create", _ADMIN, BOTH, "POST /inspection_rules"),
    ("baremetal:inspection_rule:update", _ADMIN, BOTH, "PATCH /inspection_rules/{rule_id}"),
    ("baremetal:inspection_rule:delete", _ADMIN, BOTH, "DELETE /inspection_rules/{rule_id}"),
)


class _SharesItsCheck:
    """A rule whose copies have the same parsed check.

    Each enforcer copies every rule and gives its copy another check where it wants one; no check is ever changed. To
    copy the checks as well takes longer than all the rest of the API's start.
    """

    def __deepcopy__(self, memo: object) -> Self:
        return copy.copy(self)


NAMES: Final = frozenset((*HELPERS, *(name for name, _, _, _ in RULES)))


def defaults() -> list[Any]:
    """Return the rules as objects of oslo.policy, which is imported only where rules are enforced."""
    return list(_parsed())


@cache
def _parsed() -> tuple[Any, ...]:
    from oslo_policy import policy

    class Helper(_SharesItsCheck, policy.RuleDefault):
        pass

    class Documented(_SharesItsCheck, policy.DocumentedRuleDefault):
        pass

    def predecessor(name: str) -> Any:
        if (old := PREDECESSORS.get(name)) is None:
            return None
        return policy.DeprecatedRule(*old, deprecated_reason="Tokens have scopes and roles.", deprecated_since="W")

    def rule(name: str, check: str, scopes: tuple[str, ...], route: str) -> Any:
        options: dict[str, Any] = {"scope_types": list(scopes) or None, "deprecated_rule": predecessor(name)}
        if not route:
            return Helper(name, check, **options)
        method, _, path = route.partition(" ")
        return Documented(name, check, _description(name), [{"method": method, "path": f"/v1{path}"}], **options)

    helpers = [Helper(name, check) for name, check in HELPERS.items()]
    return (*helpers, *(rule(*row) for row in RULES))


def _description(name: str) -> str:
    """Return the comment on a rule in a sample file, made of its name: ``Node: update, driver info.``"""
    _, subject, *words = name.replace("_", " ").split(":")
    return f"{subject.capitalize()}: {', '.join(words)}."


def enforcer(conf: cfg.ConfigOpts = cfg.CONF) -> Any:
    """Return an enforcer of oslo.policy with these rules and those of the policy file.

    Tools of oslo.policy call it through the entry point `oslo.policy.enforcer`, with their own options parsed already;
    so this module must not register options.
    """
    from oslo_policy import policy

    made = policy.Enforcer(conf)
    # Operators who set enforce_new_defaults = false know that they use deprecated rules.
    made.suppress_default_change_warnings = True
    made.register_defaults(defaults())
    made.load_rules()
    return made
