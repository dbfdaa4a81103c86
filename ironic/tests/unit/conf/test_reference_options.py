"""Every option of the reference is registered here, or the start says what to do instead; none is taken in silence."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from oslo_config import cfg
from oslo_db.options import database_opts
from oslo_log import versionutils
from oslo_middleware import opts as oslo_middleware_opts

from ironic.conf import CONF, OPTIONS, config_files, library_options, prepare, without_effect

REFERENCE: dict[str, Any] = yaml.safe_load((Path(__file__).parents[2] / "data" / "reference-options.yaml").read_text())
NAMES = [(group, name) for group, options in REFERENCE["groups"].items() for name in options]

# Names that deployment tools of 2026 write and that the reference's last release does not read any more.
RENDERED = {
    ("conductor", "send_sensor_data"): ("sensor_data", "send_sensor_data"),
    ("conductor", "send_sensor_data_interval"): ("sensor_data", "interval"),
    ("conductor", "send_sensor_data_workers"): ("sensor_data", "workers"),
    ("conductor", "send_sensor_data_wait_timeout"): ("sensor_data", "wait_timeout"),
    ("conductor", "send_sensor_data_types"): ("sensor_data", "data_types"),
    ("conductor", "send_sensor_data_for_undeployed_nodes"): ("sensor_data", "enable_for_undeployed_nodes"),
    ("pxe", "pxe_append_params"): ("pxe", "kernel_append_params"),
    ("ssl", "cert_file"): ("api", "cert_file"),
    ("ssl", "key_file"): ("api", "key_file"),
}

# Defaults that differ on purpose, as doc/contract/options.md says; and those that each host or package has its own of.
OTHER_DEFAULTS = {
    ("audit", "ignore_req_list"),  # a list
    ("api", "response_validation"),
    ("pxe", "images_path"),
    ("deploy", "image_server_auth_permit_unknown_hosts"),
    ("inspector", "add_ports"),
    ("inspector", "default_hooks"),
    ("inspector", "disk_partitioning_spacing"),
    ("pxe_filter", "supported_inspect_interfaces"),
    ("DEFAULT", "host"),
    ("DEFAULT", "my_ip"),
    ("DEFAULT", "pybasedir"),
    ("DEFAULT", "tempdir"),
    ("DEFAULT", "isolinux_bin"),
    ("DEFAULT", "ldlinux_c32"),
}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave no parsed file behind, and log what is logged once for a process."""
    versionutils._deprecated_messages_sent.clear()
    yield
    CONF.reset()
    CONF.clear()


def registered() -> dict[tuple[str, str], cfg.Opt]:
    """Return the registered options by group and name."""
    return {
        (group.name if group else "DEFAULT", info["opt"].dest): info["opt"] for info, group in CONF._all_opt_infos()
    }


def spellings() -> set[tuple[str, str]]:
    """Return the names of all registered options, older ones included."""
    return {each for (group, _), option in registered().items() for each in library_options.spellings(group, option)}


def test_every_option_of_the_reference_is_registered_or_has_a_way_on() -> None:
    assert len(NAMES) > 500
    known = spellings()
    lost = [f"[{group}]{name}" for group, name in NAMES if (group, name) not in known]
    assert [each for each in lost if without_effect.instead(*each[1:].split("]")) is None] == []


def test_no_option_is_registered_and_called_without_effect() -> None:
    both = {(group, name) for group, name in spellings() if without_effect.instead(group, name) is not None}
    # Protected as an address of the service, and never connected to.
    assert {(group, name) for group, name in both if group != "service_catalog"} == {("database", "slave_connection")}
    assert not without_effect.GROUPS.keys() & OPTIONS.keys()


def test_every_older_name_of_the_reference_is_read() -> None:
    known = spellings()
    missing = {
        older
        for group, options in REFERENCE["groups"].items()
        for name, facts in options.items()
        for older in facts.get("older", ())
        if tuple(older[1:].split("]")) not in known and group not in without_effect.GROUPS
    }
    assert {each for each in missing if without_effect.instead(*each[1:].split("]")) is None} == set()


def test_every_group_with_a_login_of_the_reference_has_one_here_or_a_way_on() -> None:
    known = spellings()
    lost = [(group, name) for group in REFERENCE["logins"] for name in REFERENCE["login_options"]]
    assert [name for name in lost if name not in known and without_effect.instead(*name) is None] == []


@pytest.mark.parametrize(("group", "name"), NAMES, ids=lambda part: str(part))
def test_a_default_of_the_reference_is_the_default_here(group: str, name: str) -> None:
    option, facts = registered().get((group, name)), REFERENCE["groups"][group][name]
    if option is None or (group, name) in OTHER_DEFAULTS or "$pybasedir" in str(facts["default"]):
        return
    wanted = facts["default"]
    assert option.default == wanted or str(option.default) == str(wanted) or (option.multi and not wanted)


@pytest.mark.parametrize(
    ("group", "name", "value"),
    [
        (group, name, value)
        for group, options in REFERENCE["groups"].items()
        for name, facts in options.items()
        for value in facts.get("choices", ())
    ],
    ids=lambda part: str(part),
)
def test_a_choice_of_the_reference_is_one_here(group: str, name: str, value: str) -> None:
    option = registered().get((group, name))
    if option is not None and (group, name, value) != ("deploy", "ramdisk_image_download_source", "swift"):
        option.type(value)


@pytest.mark.parametrize(("older", "newer"), RENDERED.items())
def test_a_name_that_tools_still_write_is_read_with_one_warning(
    tmp_path: Path, older: tuple[str, str], newer: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    option = registered()[newer]
    value = {"BoolOpt": "true", "IntOpt": "77", "ListOpt": "Fan"}.get(type(option).__name__, "quiet")
    path = tmp_path / "ironic.conf"
    path.write_text(f"[{older[0]}]\n{older[1]} = {value}\n")
    prepare(["--config-file", str(path)])
    read = [CONF[newer[0]][newer[1]] for _ in range(3)][0]
    assert str(read).strip("[]'").lower() == value.lower()
    (line,) = capsys.readouterr().err.splitlines()
    assert f'Option "{older[1]}" from group "{older[0]}" is deprecated.' in line


def test_the_start_has_a_line_for_each_option_without_effect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OS_NEUTRON__CLEANING_NETWORK", "x")
    monkeypatch.setenv("OS_AGENT__MANAGE_AGENT_BOOT", "/x")
    monkeypatch.setenv("OS_CONDUCTOR__INSPECT_TIMEUOT", "3")
    monkeypatch.setenv("OS_OTHERS__THING", "x")
    path = tmp_path / "ironic.conf"
    path.write_text(
        "[glance]\nglance_host = x\nnum_retries = 3\n[pxe]\nipxe_enabled = true\nwibble = 1\n"
        "[service_catalog]\nauth_type = password\nusername = u\n"
    )
    prepare(["--config-file", str(path)])
    lines = [line.partition(" WARNING ")[2] for line in capsys.readouterr().err.splitlines()]
    said = {line.partition("Without effect: ")[2].partition(":")[0] for line in lines if "Without effect: " in line}
    assert said == {
        "[glance]glance_host, num_retries",
        "[pxe]ipxe_enabled",
        "[service_catalog]auth_type",
        "[service_catalog]username",
        "[neutron]cleaning_network",
        "[agent]manage_agent_boot",
    }
    (unknown,) = [line for line in lines if "does not know" in line]
    assert unknown.endswith(": [pxe] wibble; [conductor] inspect_timeuot")


def test_options_of_libraries_that_are_not_passed_on_have_a_way_on() -> None:
    known = spellings()
    groups = {
        "database": database_opts,
        "oslo_middleware": dict(oslo_middleware_opts.list_opts_sizelimit())["oslo_middleware"],
    }
    lost = [(group, option.dest) for group, options in groups.items() for option in options]
    assert [name for name in lost if name not in known and without_effect.instead(*name) is None] == []


def test_a_way_on_is_one_sentence_whose_end_the_log_writes() -> None:
    texts = [
        *(text for pair in without_effect.GROUPS.values() for text in pair),
        *(text for options in without_effect.OPTIONS.values() for text in options.values()),
    ]
    assert [text for text in texts if text.endswith(".") or not text] == []


# The environment


def environment(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_a_variable_sets_an_option_by_its_older_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment(monkeypatch, OS_SSL__CERT_FILE="/c.pem", OS_PXE__PXE_APPEND_PARAMS="quiet")
    prepare([], default_config_files=[])
    assert (CONF.api.cert_file, CONF.pxe.kernel_append_params) == ("/c.pem", "quiet")
    assert config_files.is_set(CONF, "api", "cert_file")
    assert config_files.unknown_options(CONF) == {}
    assert (
        capsys.readouterr().err.count("OS_SSL__CERT_FILE in the environment is an older name of OS_API__CERT_FILE") == 1
    )


def test_the_newest_name_in_the_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, OS_SSL__CERT_FILE="/old.pem", OS_API__CERT_FILE="/new.pem")
    prepare([], default_config_files=[])
    assert CONF.api.cert_file == "/new.pem"


def test_a_variable_sets_an_option_that_may_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(
        monkeypatch,
        OS_CONDUCTOR__CLEAN_STEP_PRIORITY_OVERRIDE="deploy.erase_devices:95",
        OS_IPMI__ADDITIONAL_RETRYABLE_IPMI_ERRORS="busy",
    )
    prepare([], default_config_files=[])
    assert CONF.conductor.clean_step_priority_override == [{"deploy.erase_devices": "95"}]
    assert CONF.ipmi.additional_retryable_ipmi_errors == ["busy"]


def test_a_wrong_value_names_the_variable_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    environment(monkeypatch, OS_API__PORT="web", OS_API__TLS_MINIMUM_VERSION="0.9")
    with pytest.raises(ValueError) as fault:
        prepare([], default_config_files=[])
    assert "[api]port by OS_API__PORT in the environment: " in str(fault.value)
    assert "[api]server_tls_minimum_version by OS_API__TLS_MINIMUM_VERSION in the environment: " in str(fault.value)
