"""Options have the names, types and defaults that operators' files rely on."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1 import loading
from oslo_config import cfg
from oslo_middleware.opts import list_opts_healthcheck

import ironic
from ironic.conf import CONF, OPTIONS, external_services, without_effect
from ironic.conf.inspection import HOOK_OPTIONS
from ironic.core.hardware_interfaces import KINDS

# Where the demands decide otherwise than operators of the reference know it, the row is named.
DEFAULTS = [
    ("DEFAULT", "auth_strategy", "keystone"),
    ("DEFAULT", "rpc_transport", "oslo"),
    ("DEFAULT", "hash_ring_reset_interval", 15),
    ("DEFAULT", "hash_partition_exponent", 5),
    ("DEFAULT", "enabled_hardware_types", ["ipmi", "redfish"]),
    ("DEFAULT", "enabled_power_interfaces", None),
    ("DEFAULT", "enabled_inspect_interfaces", ["no-inspect", "redfish"]),
    ("DEFAULT", "default_storage_interface", "noop"),
    ("DEFAULT", "default_power_interface", None),
    ("api", "port", 6385),
    ("api", "host_ip", "0.0.0.0"),
    ("api", "max_limit", 1000),
    ("api", "max_json_body_size", 1024),
    ("api", "restrict_lookup", True),
    ("conductor", "heartbeat_timeout", 60),
    ("conductor", "automated_clean", True),
    ("conductor", "clean_step_priority_override", []),
    ("conductor", "workers_pool_size", 300),
    ("fake", "power_delay", "0"),
    ("inventory", "data_backend", "database"),
    ("inspection_rules", "mask_secrets", "always"),
    ("swift", "service_type", "object-store"),
    ("swift", "valid_interfaces", ["internal", "public"]),
    ("redfish", "connection_attempts", 5),
    ("agent", "require_tls", True),
]


@pytest.mark.parametrize("group, name, expected", DEFAULTS)
def test_it_has_the_known_default(group: str, name: str, expected: Any) -> None:
    assert (CONF[name] if group == "DEFAULT" else CONF[group][name]) == expected


def test_the_database_lies_under_the_state_path(conf: Any) -> None:
    conf(state_path="/some/where")
    assert CONF.database.connection == "sqlite:////some/where/ironic.sqlite"


@pytest.mark.demand("S9", "S10")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_interface_can_be_enabled_and_has_a_default_option(kind: str) -> None:
    assert f"enabled_{kind}_interfaces" in CONF
    assert f"default_{kind}_interface" in CONF


@pytest.mark.demand("S83", "S100")
def test_hooks_are_the_default_ones_and_can_be_added_to(tmp_path: Path) -> None:
    standard = "ramdisk-error,architecture,validate-interfaces,ports"
    assert CONF.inspector.hooks == standard
    (tmp_path / "a.conf").write_text("[inspector]\nhooks = $default_hooks,memory\n")
    try:
        CONF([], default_config_files=[str(tmp_path / "a.conf")])
        assert CONF.inspector.hooks == standard + ",memory"
    finally:
        CONF.clear()


@pytest.mark.demand("S101", "S102")
@pytest.mark.parametrize(
    "name, choices", [("add_ports", ["all", "active", "pxe", "disabled"]), ("keep_ports", ["all", "present", "added"])]
)
def test_ports_are_added_and_kept_by_rule(conf: Any, name: str, choices: list[str]) -> None:
    assert CONF.inspector[name] == "all"
    for choice in choices:
        conf(**{f"inspector__{name}": choice})
    with pytest.raises(ValueError, match="some"):
        conf(**{f"inspector__{name}": "some"})


@pytest.mark.parametrize(
    "option, value",
    [
        ("inspection_rules__supported_interfaces", "(agent"),
        ("api__unix_socket_mode", "rw"),
        ("api__unix_socket_mode", "0890"),
        ("conductor__workers_pool_size", "2"),
        ("auth_strategy", "trust"),
        ("hash_ring_algorithm", "rot13"),
    ],
)
def test_it_refuses_values_that_make_no_sense(conf: Any, option: str, value: str) -> None:
    with pytest.raises(ValueError):
        conf(**{option: value})


@pytest.mark.parametrize("written, mode", [("0660", 0o660), ("0o600", 0o600), ("777", 0o777)])
def test_a_file_mode_is_octal(conf: Any, written: str, mode: int) -> None:
    conf(api__unix_socket_mode=written)
    assert CONF.api.unix_socket_mode == mode


@pytest.mark.demand("S168", "S169")
def test_rules_see_no_secrets_and_act_on_in_band_inspection_unless_told(conf: Any) -> None:
    assert (CONF.inspection_rules.mask_secrets, CONF.inspection_rules.supported_interfaces) == (
        "always",
        "^(agent|inspector)$",
    )
    conf(inspection_rules__supported_interfaces=".*")
    assert CONF.inspection_rules.supported_interfaces == ".*"


def test_every_option_says_what_it_is_for() -> None:
    silent = [
        option.name
        for options in OPTIONS.values()
        for option in options
        if not (option.help or "").endswith((".", ".)"))
    ]
    assert silent == []


# Options that exist once they are used: oslo.messaging's, and the words after the name of ironic-dbsync.
REGISTERED_LATER = {"rpc_response_timeout", "command"}


def sources() -> list[str]:
    """Return the text of every module that may read options."""
    root = Path(ironic.__file__).parent
    rooms = [path for path in root.iterdir() if path.is_dir() and path.name not in ("conf", "tests")]
    return [path.read_text() for room in rooms for path in room.rglob("*.py")]


def group_of(node: ast.expr, groups: Collection[str]) -> str | None:
    """Return the group of options that an expression stands for: `CONF` and `self._conf`, `conf.api`, `CONF["api"]`."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None
    if name in ("CONF", "conf", "_conf"):
        return "DEFAULT"
    inner = node.value if isinstance(node, ast.Attribute | ast.Subscript) else None
    if inner is None or group_of(inner, ()) != "DEFAULT":
        return None
    if isinstance(node, ast.Subscript):
        name = str(node.slice.value) if isinstance(node.slice, ast.Constant) else None
    return name if name in groups else None


def reads(tree: ast.Module, groups: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (group, option) for what a module reads by attribute, also through a variable that holds a group.

    The option is "" where the module takes an option by a name from elsewhere, as in `CONF.fake[name]`.
    """
    holders: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.NamedExpr):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for one, value in pairs:
                if isinstance(one, ast.Name) and (group := group_of(value, groups)):
                    holders.setdefault(one.id, set()).add(group)

    def of(node: ast.expr) -> set[str]:
        return {group_of(node, groups) or ""} - {""} | (
            holders.get(node.id, set()) if isinstance(node, ast.Name) else set()
        )

    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield from ((group, node.attr) for group in of(node.value))
        elif isinstance(node, ast.Subscript):
            yield from ((group, "") for group in of(node.value))


# Options whose name the code composes, by group.
COMPOSED = {
    "DEFAULT": r"(enabled|default)_\w+_interfaces?",  # ironic/drivers/composition/driver_options.py, for every kind
    "api": r"disallow_\w+_steps",  # ironic/api/settings.py, for every kind of steps
    "conductor": r"(deploy|rescue)_(kernel|ramdisk)(_by_arch)?",  # ironic/drivers/modules/netboot/kernel_and_ramdisk.py
    "fake": r"\w+_delay",  # ironic/drivers/modules/fake.py, for every kind
    "metrics": r"agent_\w+",  # ironic/api/settings.py
    "metrics_statsd": r"agent_\w+",
    "nfs": r"base_url",  # ironic/integrations/image_places.py, for every kind of share
    "pxe": r"(uefi_)?i?pxe_bootfile_name(_by_arch)?",  # ironic/drivers/modules/netboot/boot_files.py
}
# Read by the library that registers them: pycadf, the health check once one is served, and keystoneauth.
HEALTH_CHECK = {("healthcheck", option.dest) for _, options in list_opts_healthcheck() for option in options}
CLIENTS = {(group, option.dest) for group, options in external_services.BORROWED.items() for option in options}
# Those that a kind of login brings, which keystoneauth registers once the kind is chosen.
LOGINS = {
    (group, option.dest)
    for group in external_services.BORROWED
    for kind in loading.get_available_plugin_names()
    for option in loading.get_auth_plugin_conf_options(kind)
}
# Values of other options refer to them.
NAMES = {("DEFAULT", name) for name in without_effect.REFERRED_TO}
READ_ELSEWHERE = {("audit", "namespace"), *HOOK_OPTIONS.values(), *HEALTH_CHECK, *CLIENTS, *LOGINS, *NAMES}


def test_an_option_that_is_registered_is_read() -> None:
    """An option counts as read by attribute, by a name from a table, or when another option's default refers to it."""
    trees = [ast.parse(text) for text in sources()]
    groups = set(CONF._groups)
    read = {found for tree in trees for found in reads(tree, groups)}
    by_name = {group for group, option in read if not option}
    constants = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    infos = [info for info, _ in CONF._all_opt_infos()]
    referred = set(re.findall(r"\$(\w+)", " ".join(str(info["opt"].default) for info in infos)))
    registered = {(group, option.dest) for group, options in OPTIONS.items() for option in options}
    # Those of a library that are in a group of ours; groups of their own are passed on to the library as a whole.
    registered |= {(group, name) for group in OPTIONS if group != "DEFAULT" for name in CONF[group]}
    unread = {
        f"[{group}]{name}"
        for group, name in registered - read - READ_ELSEWHERE
        if not (group in by_name and name in constants)
        and name not in referred
        and not re.fullmatch(COMPOSED.get(group, "-"), name)
    }
    assert unread == set()


def test_an_option_that_is_read_is_offered() -> None:
    text = "\n".join(sources())
    grouped = set(re.findall(r"\b(?:CONF|conf)\.([a-z_]+)\.([a-z_]+)\b(?!\()", text))
    missing = {f"[{group}]{name}" for group, name in grouped if group in CONF and name not in CONF[group]}
    single = {name for name in re.findall(r"\bCONF\.([a-z_]+)\b", text) if not hasattr(cfg.ConfigOpts, name)}
    assert missing | {name for name in single - REGISTERED_LATER if name not in CONF} == set()
