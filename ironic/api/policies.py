"""Who may do what by default: one table of rules.

Names and check strings are those of doc/contract/policies.md#names-and-defaults, for the routes there are; an
operator's policy file wins over each of them. The check strings repeat, so each has a name that says whom it lets
through. Rules whose scope is "system" alone refuse project tokens whatever their roles. What the rules once were is in
`old_policies`.
"""

from typing import Any, Final

from ironic.api.old_policies import HELPERS, PREDECESSORS

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
# As a lessee too.
_CONFIGURES_REMOTELY: Final = (
    f"({_SYSTEM_WRITES}) or ({_SERVICE}) or {_OWNING_ADMINS} "
    f"or (role:admin and project_id:%(node.lessee)s) or (role:manager and project_id:%(node.lessee)s)"
)
_OWNS_ALLOCATION: Final = f"({_SYSTEM_WRITES}) or (role:member and project_id:%(allocation.owner)s)"
_OWNS_RUNBOOK: Final = f"({_SYSTEM_WRITES}) or (role:manager and project_id:%(runbook.owner)s) or role:service"

BOTH: Final = ("system", "project")
SYSTEM: Final = ("system",)
PROJECT: Final = ("project",)
ANY: Final = ()

# name -> check, scopes, what it guards
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
    # Ours (S56): leaving "clean failed" without cleaning again.
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
        f"({_SYSTEM_READS}) or (role:reader and project_id:%(runbook.owner)s) or role:service",
        BOTH,
        "GET /runbooks/{runbook_ident}",
    ),
    ("baremetal:runbook:create", f"({_SYSTEM_WRITES}) or role:manager or role:service", BOTH, "POST /runbooks"),
    ("baremetal:runbook:update", _OWNS_RUNBOOK, BOTH, "PATCH /runbooks/{runbook_ident}"),
    ("baremetal:runbook:update:public", _SYSTEM_WRITES, BOTH, "PATCH /runbooks/{runbook_ident}"),
    ("baremetal:runbook:update:owner", _SYSTEM_WRITES, BOTH, "PATCH /runbooks/{runbook_ident}"),
    ("baremetal:runbook:delete", _OWNS_RUNBOOK, BOTH, "DELETE /runbooks/{runbook_ident}"),
    ("baremetal:runbook:use", _OWNS_RUNBOOK, BOTH, "PUT /nodes/{node_ident}/states/provision"),
    # Ours: what became of data that ramdisks posted.
    ("baremetal:inspection:rejected_callbacks", _SYSTEM_READS, SYSTEM, "GET /inspection/rejected_callbacks"),
    ("baremetal:inspection_rule:list_all", _SYSTEM_READS, BOTH, "GET /inspection_rules"),
    ("baremetal:inspection_rule:get", _SYSTEM_READS, BOTH, "GET /inspection_rules/{rule_id}"),
    ("baremetal:inspection_rule:create", _ADMIN, BOTH, "POST /inspection_rules"),
    ("baremetal:inspection_rule:update", _ADMIN, BOTH, "PATCH /inspection_rules/{rule_id}"),
    ("baremetal:inspection_rule:delete", _ADMIN, BOTH, "DELETE /inspection_rules/{rule_id}"),
)


def defaults() -> list[Any]:
    """Return the table as oslo.policy wants it; imported only where rules are enforced."""
    from oslo_policy import policy

    def predecessor(name: str) -> Any:
        if (old := PREDECESSORS.get(name)) is None:
            return None
        return policy.DeprecatedRule(*old, deprecated_reason="Tokens have scopes and roles.", deprecated_since="W")

    helpers = [policy.RuleDefault(name, check) for name, check in HELPERS.items()]
    return helpers + [
        policy.RuleDefault(name, check, scope_types=list(scopes) or None, deprecated_rule=predecessor(name))
        for name, check, scopes, _ in RULES
    ]
