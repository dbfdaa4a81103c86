"""What the rules were before tokens had scopes: for sites that keep to them, or whose files speak of them.

With `[oslo_policy]enforce_new_defaults = false` a predecessor lets callers through beside the rule of today. A file
that has a rule by its old name means all the rules that came of it. Source: doc/contract/policies.md#rules-of-old.
"""

from collections.abc import Iterable, Mapping
from typing import Final

# Rules that no request asks for; files and predecessors are written with them.
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

_ADMIN: Final = "rule:is_admin"
_READER: Final = "rule:is_admin or rule:is_observer"


def _all(words: str, subjects: Iterable[str]) -> list[str]:
    """Return the name of each subject with each of the words behind it."""
    return [f"baremetal:{subject}:{word}" for subject in subjects for word in words.split()]


_WRITTEN: Final = ("port", "portgroup", "chassis", "volume", "deploy_template")

# Check -> rules that had it under the same name.
_SAME_NAME: Final[Mapping[str, list[str]]] = {
    _ADMIN: [
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
    _READER: [
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

# Old name -> its check, and the rules that came of it.
_OLD_NAME: Final[Mapping[str, tuple[str, list[str]]]] = {
    "baremetal:node:get": (
        _READER,
        [
            *_all("filter_threshold last_error reservation driver_internal_info driver_info", ["node:get"]),
            *_all("get", ["node:history", "node:inventory"]),
        ],
    ),
    "baremetal:node:update": (
        _ADMIN,
        _all(
            "driver_info properties chassis_uuid instance_uuid lessee owner driver_interfaces network_data "
            "conductor_group name retired",
            ["node:update"],
        ),
    ),
    "baremetal:node:set_maintenance": (_ADMIN, ["baremetal:node:set_boot_device"]),
    "baremetal:node:set_power_state": (_ADMIN, _all("set_boot_mode set_secure_boot", ["node"])),
    "baremetal:portgroup:get": (_READER, _all("list list_all", ["portgroup"])),
    "baremetal:volume:get": (_READER, _all("list list_all", ["volume"])),
    "baremetal:volume:update": (_ADMIN, ["baremetal:volume:view_target_properties"]),
}

# Rule -> its old name and check.
PREDECESSORS: Final[Mapping[str, tuple[str, str]]] = {
    **{name: (name, check) for check, names in _SAME_NAME.items() for name in names},
    **{name: (old, check) for old, (check, names) in _OLD_NAME.items() for name in names},
}
