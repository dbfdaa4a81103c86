"""It reads files from the places they are named in, and says once what in them means nothing."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from oslo_config import cfg
from oslo_context.context import RequestContext as OsloContext

from ironic.conf import CONF, config_files, logging_setup, prepare
from ironic.core.context import RequestContext, logged
from ironic.db import Store


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave no parsed file and no handler of a file behind."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(level)
    CONF.reset()
    CONF.clear()


def written(path: Path, text: str) -> str:
    """Write a configuration file and return its name."""
    path.write_text(text)
    return str(path)


def test_it_takes_the_files_it_is_given(tmp_path: Path) -> None:
    prepare([], default_config_files=[written(tmp_path / "a.conf", "[api]\nport = 1234\n")])
    assert CONF.api.port == 1234


def test_it_takes_files_from_the_command_line(tmp_path: Path) -> None:
    prepare(["--config-file", written(tmp_path / "a.conf", "[DEFAULT]\nhost = here\n")])
    assert CONF.host == "here"


def test_it_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        prepare(["--version"])
    assert end.value.code == 0
    assert re.fullmatch(r"[0-9]+(\.[0-9]+)+\S*\n", capsys.readouterr().out)


def test_it_takes_the_file_and_the_directory_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = tmp_path / "more"
    more.mkdir()
    written(more / "10.conf", "[conductor]\nconductor_group = g9\n")
    monkeypatch.setenv("IRONIC_CONFIG_FILE", written(tmp_path / "a.conf", "[DEFAULT]\nhost = there\n"))
    monkeypatch.setenv("IRONIC_CONFIG_DIR", str(more))
    prepare([])
    assert (CONF.host, CONF.conductor.conductor_group) == ("there", "g9")


def test_it_takes_the_certificate_from_its_older_group(tmp_path: Path) -> None:
    text = "[ssl]\ncert_file = /c.pem\nkey_file = /k.pem\n"
    prepare([], default_config_files=[written(tmp_path / "a.conf", text)])
    assert (CONF.api.cert_file, CONF.api.key_file) == ("/c.pem", "/k.pem")


def test_it_lists_every_unknown_option_in_one_warning(tmp_path: Path) -> None:
    log = tmp_path / "log"
    text = f"[DEFAULT]\nlog_file = {log}\nwibble = 1\n[api]\nprt = 1\nhst = 2\nport = 1\n[nowhere]\nx = 1\n"
    prepare([], default_config_files=[written(tmp_path / "a.conf", text)])
    warnings = [line for line in log.read_text().splitlines() if "WARNING" in line]
    assert len(warnings) == 1
    assert warnings[0].endswith("[DEFAULT] wibble; [api] prt, hst; [nowhere] x")


def test_it_says_nothing_about_a_file_whose_options_are_all_known(tmp_path: Path) -> None:
    log = tmp_path / "log"
    prepare([], default_config_files=[written(tmp_path / "a.conf", f"[DEFAULT]\nlog_file = {log}\n")])
    assert log.read_text() == ""


@pytest.mark.parametrize(
    "text",
    [
        "[DEFAULT]\ntransport_url = rabbit://\nrpc_response_timeout = 3\ndebug = true",
        "[oslo_messaging_rabbit]\nheartbeat_timeout_threshold = 2",
        "[keystone_authtoken]\nwww_authenticate_uri = http://keystone",
        "[oslo_policy]\npolicy_file = x.yaml",
        "[cors]\nallowed_origin = http://there",
        "[database]\nmax_pool_size = 3",
        "[DEFAULT]\ngraceful_shutdown_timeout = 3",
        "[swift]\nauth_type = password\nauth_url = http://keystone\nuser_domain_name = d\nregion_name = r",
        "[swift]\nauth_section = cloud\n[cloud]\nauth_type = password\nauth_url = http://keystone\nusername = u",
        "[keystone_authtoken]\nauth_type = password\nauth_url = http://keystone\nusername = u\npassword = p\n"
        "project_domain_name = d\nmemcached_servers = localhost",
        "[inspection_rules]\nbuilt_in_rules = /some/file",
        "[api]\ntls_ciphers = HIGH",
    ],
)
def test_it_knows_options_of_libraries_and_older_names(tmp_path: Path, text: str) -> None:
    CONF([], project="ironic", default_config_files=[written(tmp_path / "a.conf", text)])
    assert config_files.unknown_options(CONF) == {}


def test_a_misspelt_option_of_a_library_is_unknown(tmp_path: Path) -> None:
    CONF([], project="ironic", default_config_files=[written(tmp_path / "a.conf", "[DEFAULT]\ntransprt_url = x")])
    assert config_files.unknown_options(CONF) == {"DEFAULT": ["transprt_url"]}


@pytest.mark.parametrize(
    "group, names",
    [
        (
            "database",
            ["mysql_engine", "slave_connection", "backend", "sqlite_synchronous", "use_db_reconnect", "db_max_retries"],
        ),
        ("keystone_authtoken", ["auth_uri", "identity_uri", "admin_user", "signing_dir", "revocation_cache_time"]),
        ("oslo_middleware", ["max_request_body_size"]),
        ("oslo_middleware_tracing", ["enabled", "otlp_endpoint"]),
        ("service_catalog", ["auth_type", "username", "region_name", "valid_interfaces", "cafile", "timeout"]),
    ],
)
def test_the_start_names_options_of_libraries_that_have_no_effect(tmp_path: Path, group: str, names: list[str]) -> None:
    text = f"[{group}]\n" + "".join(f"{name} = 1\n" for name in names)
    CONF([], project="ironic", default_config_files=[written(tmp_path / "a.conf", text)])
    assert config_files.unknown_options(CONF) == {group: names}


def test_a_plugin_for_credentials_that_is_not_installed_leaves_its_options_unknown(tmp_path: Path) -> None:
    text = "[keystone_authtoken]\nauth_type = nonsense\nusername = u\n"
    CONF([], project="ironic", default_config_files=[written(tmp_path / "a.conf", text)])
    assert config_files.unknown_options(CONF) == {"keystone_authtoken": ["username"]}


def test_chatty_libraries_are_quiet_by_default() -> None:
    assert CONF.default_log_levels == logging_setup.LEVELS


@pytest.mark.parametrize(
    ("driver", "unknown"),
    [("prometheus_exporter", {}), ("messagingv2", {"oslo_messaging_notifications": ["location"]})],
)
def test_only_a_foreign_notification_driver_has_options_of_its_own(
    tmp_path: Path, driver: str, unknown: dict[str, list[str]]
) -> None:
    text = f"[oslo_messaging_notifications]\ndriver = {driver}\nlocation = /var/lib/x\n"
    CONF([], project="ironic", default_config_files=[written(tmp_path / "a.conf", text)])
    assert config_files.unknown_options(CONF) == unknown


def test_a_bad_value_is_told_with_group_option_file_and_value(tmp_path: Path) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text("[vnc]\nhost_ip = 127.0.0.1\n[api]\nhost_ip = <address>\n")
    CONF(["--config-file", str(path)])
    with pytest.raises(cfg.ConfigFileValueError) as fault:
        _ = CONF.api.host_ip
    said = config_files.in_words(fault.value)
    assert said.startswith(f"[api]host_ip in {path}: ")
    assert "<address>" in said and "LocationInfo" not in said


def test_without_a_file_it_says_where_it_looked(capsys: pytest.CaptureFixture[str]) -> None:
    prepare([], default_config_files=[])
    assert "No configuration file was found (looked for ~/.ironic/ironic.conf" in capsys.readouterr().err


def test_the_environment_sets_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text("[DEFAULT]\nhost = c1\n")
    monkeypatch.setenv("OS_DEFAULT__TRANSPORT_URL", "rabbit://broker/")
    monkeypatch.setenv("OS_DEFAULT__ENABLED_NETWORK_INTERFACES", "noop")
    monkeypatch.setenv("OS_CORS__ALLOWED_ORIGIN", "http://dashboard")
    prepare(["--config-file", str(path)])
    is_set = {
        name
        for name in (
            ("DEFAULT", "transport_url"),
            ("DEFAULT", "enabled_network_interfaces"),
            ("cors", "allowed_origin"),
            ("DEFAULT", "host"),
            ("DEFAULT", "enabled_storage_interfaces"),
            ("cors", "max_age"),
        )
        if config_files.is_set(CONF, *name)
    }
    assert is_set == {
        ("DEFAULT", "transport_url"),
        ("DEFAULT", "enabled_network_interfaces"),
        ("cors", "allowed_origin"),
        ("DEFAULT", "host"),
    }


def test_no_database_is_created_in_the_package(tmp_path: Path) -> None:
    prepare([], default_config_files=[])
    with pytest.raises(ValueError, match="would be created within the installed package"):
        Store.from_conf()


def test_a_line_names_the_request_that_it_is_written_for(tmp_path: Path) -> None:
    log, log_lines = tmp_path / "log", logging.getLogger(__name__)
    prepare([], default_config_files=[written(tmp_path / "a.conf", f"[DEFAULT]\nlog_file = {log}\n")])
    of_request = RequestContext(request_id="req-1", user_id="alice\nb", project_id="p1")
    with logged(of_request):
        log_lines.warning("within")
        with logged(RequestContext(request_id="req-2")):
            log_lines.warning("of another")
    # A library that is used in this thread leaves its own request there.
    OsloContext(request_id="req-3")
    log_lines.warning("without")
    within, other, without = [line.partition(" WARNING ")[2] for line in log.read_text().splitlines()[-3:]]
    assert within.endswith("[- req-1 alice\\nb p1 - - - -] within")
    assert other.endswith("[- req-2 - - - - - -] of another")
    assert without.endswith("[-] without")
