"""Every value is checked before any is used: at the start, and when the files are read again."""

import logging
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from keystoneauth1 import loading
from oslo_config import cfg

from ironic.command import lifecycle
from ironic.conf import BORROWED, CONF, OPTIONS, checked_values, config_files, prepare
from ironic.tests.unit.conf.test_files import as_before, written

__all__ = ["as_before"]

# What is right for one type is wrong for another.
TEXTS: Final = ("ture", "-5", "1.1.0", "many", "1", "[", "a:b:c", "it's", "http//x", "x" * 10_000)

# Options of which any text is right: texts, lists of texts and dictionaries of texts, without limits and choices.
PLAIN: Final = ("String", "List", "_Items", "Dict", "URI", "MultiString", "PublishedPort", "Url", "type")


def wrong_text(option: cfg.Opt) -> str | None:
    """Return a text that can't be a value of the option, if there is one."""
    for text in TEXTS:
        try:
            option.type(text)
        except ValueError:
            return text
    return None


LIMITED: Final = [
    (group, option, text)
    for group, options in (*OPTIONS.items(), *BORROWED.items())
    for option in options
    if (text := wrong_text(option)) is not None
]


def test_of_most_options_a_text_can_be_wrong() -> None:
    every = [option for options in (*OPTIONS.values(), *BORROWED.values()) for option in options]
    free = {option.dest for option in every} - {option.dest for _, option, _ in LIMITED}
    kinds = {option.dest: type(option.type).__name__ for option in every}
    assert {kinds[name] for name in free} <= {*PLAIN}
    assert len(LIMITED) > len(every) / 2


@pytest.mark.parametrize("group", sorted({group for group, _, _ in LIMITED}))
def test_no_option_of_a_group_starts_with_a_wrong_value(group: str, tmp_path: Path) -> None:
    path = tmp_path / "ironic.conf"
    for _, option, text in (each for each in LIMITED if each[0] == group):
        path.write_text(f"[DEFAULT]\n# a comment\n\n[{group}]\n{option.dest} = {text}\n")
        with pytest.raises(ValueError) as fault:
            prepare(["--config-file", str(path)])
        assert str(fault.value).startswith(f"[{group}]{option.dest} in {path}, line 5: ")


class Spoiler(lifecycle.Component):
    """Writes wrong values one after the other when it starts, with a signal to read them for each."""

    def __init__(self, path: Path, values: list[tuple[str, cfg.Opt, str]]) -> None:
        self._path, self._values = path, values
        self.reloads = 0

    def start(self) -> None:
        self._next()

    def reload(self) -> None:
        self.reloads += 1

    def _next(self) -> None:
        if self._values:
            group, option, text = self._values.pop()
            self._path.write_text(f"[{group}]\n{option.dest} = {text}\n")
            os.kill(os.getpid(), signal.SIGHUP)
        else:
            os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("group", sorted({group for group, _, _ in LIMITED}))
def test_no_option_of_a_group_takes_a_wrong_value_later(
    group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "ironic.conf"
    mine = [each for each in LIMITED if each[0] == group]
    spoiler = Spoiler(path, mine[:])
    reload = lifecycle._reload

    def reload_and_go_on(*arguments: Any) -> None:
        reload(*arguments)
        spoiler._next()

    monkeypatch.setattr(lifecycle, "_reload", reload_and_go_on)
    CONF([], default_config_files=[written(path, "")])
    assert lifecycle.run_components(CONF, "Test", lambda _pause: [spoiler]) == 0
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert [line for line in said if "nothing changes" not in line] == []
    for (_, option, _), line in zip(reversed(mine), said, strict=True):
        assert f"[{group}]{option.dest} in {path}, line 2: " in line
    assert spoiler.reloads == 0 and "changed from" not in caplog.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[DEFAULT]\ndebug = ture\n", "[DEFAULT]debug in {}, line 2: "),
        (
            "[api]\n[vnc]\nenabled = 9\n[api]\nmax_limit =\n  many\n",
            "[api]max_limit in {}, line 5: ",
        ),
        ("[cors]\nmax_age = q\n", "[cors]max_age in {}, line 2: "),
        ("[oslo_messaging_rabbit]\nheartbeat_rate = q\n", "[oslo_messaging_rabbit]heartbeat_rate in {}, line 2: "),
        ("[database]\nmax_retries = $host\n[DEFAULT]\nhost=here\n", "[database]max_retries in {}, line 2: "),
        ("[DEFAULT]\nmy_ip = 300.1.1.1\n", "[DEFAULT]my_ip in {}, line 2, to which [console]socat_address refers: "),
        ("[swift]\ntimeout = abc\nauth_type = password\n", "[swift]timeout in {}, line 2: "),
        ("[swift]\nauth_type = password\nauth_url = keystone\n", "[swift]auth_url in {}, line 3: it is no URL"),
        ("[swift]\nauth_type = none\nendpoint = ftp://h\n", "[swift]endpoint in {}, line 3: it is no URL"),
        ("[swift]\nauth_type = password\npassword = pa$word\n", "[swift]password in {}, line 3: it refers by a dollar"),
        (
            "[inspector]\nauth_section = cloud\n[cloud]\nauth_type = v3password\nauth_url = http://:5000\n",
            "[cloud]auth_url in {}, line 5: it is no URL",
        ),
        (
            "[keystone_authtoken]\nauth_type = password\nauth_url = https://u:hunter2@keystone:port\n",
            "[keystone_authtoken]auth_url in {}, line 3: it is no URL",
        ),
    ],
)
def test_the_place_of_a_wrong_value_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "ironic.conf"
    with pytest.raises(ValueError) as fault:
        prepare([], default_config_files=[written(path, text)])
    assert said.format(path) in str(fault.value)
    assert "hunter2" not in str(fault.value)


@pytest.mark.parametrize("url", ["", "http://keystone/v3", "https://[2001:db8::1]:5000", "https://u:p@keystone"])
def test_credentials_that_can_be_used_stop_no_start(tmp_path: Path, url: str) -> None:
    login = f"auth_type = password\nauth_url = {url}\nusername = u\npassword = pa$$word\n"
    prepare([], default_config_files=[written(tmp_path / "a.conf", f"[swift]\n{login}[keystone_authtoken]\n{login}")])


@pytest.mark.parametrize("is_in_use", [False, True])
def test_a_wrong_url_of_keystone_is_not_taken_later(changing: Path, is_in_use: bool) -> None:
    options = loading.get_auth_plugin_conf_options("password") if is_in_use else []
    CONF.register_opts(options, group="swift")
    written(changing, "[swift]\nauth_type = password\nauth_url = keystone\n")
    try:
        with pytest.raises(ValueError, match=r"^\[swift\]auth_url in .*, line 3: it is no URL"):
            checked_values.require_again(CONF)
    finally:
        CONF.clear()
        CONF.unregister_opts(options, group="swift")


def test_the_file_that_wins_is_named_and_one_that_loses_may_be_wrong(tmp_path: Path) -> None:
    first, later = tmp_path / "1.conf", tmp_path / "2.conf"
    files = [written(first, "[api]\nport = x\nmax_limit = 5\n"), written(later, "[api]\nport = 1\nmax_limit = x\n")]
    with pytest.raises(ValueError) as fault:
        prepare([], default_config_files=files)
    assert str(fault.value).startswith(f"[api]max_limit in {later}, line 3: ")
    assert "port" not in str(fault.value)


@pytest.mark.parametrize("variable", ["OS_API__PORT", "OS_CORS__MAX_AGE"])
def test_a_variable_that_is_wrong_is_named(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "many")
    with pytest.raises(ValueError, match=f"by {variable} in the environment"):
        prepare([], default_config_files=[written(tmp_path / "a.conf", "")])


def test_the_value_of_a_secret_is_not_shown(tmp_path: Path) -> None:
    CONF.register_opt(cfg.IntOpt("pin_of_something", secret=True), group="api")
    try:
        with pytest.raises(ValueError) as fault:
            prepare([], default_config_files=[written(tmp_path / "a.conf", "[api]\npin_of_something = hunter2\n")])
    finally:
        CONF.reset()
        CONF.unregister_opt(cfg.IntOpt("pin_of_something", secret=True), group="api")
    assert "hunter2" not in str(fault.value) and "[api]pin_of_something" in str(fault.value)


@pytest.mark.parametrize("place", ["[DEFAULT]\nhost", "[api]\npublic_endpoint", "[pxe]\ntftp_root"])
def test_a_dollar_sign_that_refers_to_nothing_is_explained(tmp_path: Path, place: str) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text(f"{place} = pa$word\n")
    with pytest.raises(ValueError) as fault:
        prepare(["--config-file", str(path)])
    said = str(fault.value)
    assert f"{place.replace(chr(10), '')} in {path}, line 2: it refers by a dollar sign" in said
    assert "pa$word" not in said


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[Path]:
    """Return a file that the options were read from."""
    path = tmp_path / "a.conf"
    CONF([], default_config_files=[written(path, "[api]\nmax_limit = 10\n")])
    yield path
    CONF.clear()


def test_after_an_error_the_old_values_are_there_again(changing: Path) -> None:
    def use() -> None:
        with checked_values.taken(CONF):
            assert CONF.api.max_limit == 20
            raise OSError("a file that it names is gone")

    assert CONF.api.max_limit == 10
    written(changing, "[api]\nmax_limit = 20\n")
    with pytest.raises(OSError):
        use()
    assert CONF.api.max_limit == 10
    with checked_values.taken(CONF):
        pass
    assert CONF.api.max_limit == 20


def test_a_part_that_can_not_work_by_new_values_leaves_the_old_ones_to_all(
    changing: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[int] = []

    class Follower(lifecycle.Component):
        def reload(self) -> None:
            seen.append(CONF.api.max_limit)

    class Refuser(lifecycle.Component):
        def start(self) -> None:
            written(changing, "[api]\nmax_limit = 20\n")
            os.kill(os.getpid(), signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGTERM)

        def reload(self) -> None:
            if CONF.api.max_limit == 20:
                raise ValueError("20 is no good here")

    assert lifecycle.run_components(CONF, "Test", lambda _pause: [Follower(), Refuser()]) == 0
    assert seen == [20, 10]
    assert "nothing changes: 20 is no good here" in caplog.text


def test_bytes_that_are_no_text_are_named_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "ironic.conf"
    path.write_bytes("[DEFAULT]\n# größer\nhost = ".encode() + b"gr\xfcn\n")
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}, line 3: its bytes are no text in UTF-8"):
        prepare(["--config-file", str(path)])


@pytest.mark.parametrize("named", ["--config-file", "--config-dir", "environment"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ironic.conf"
    os.mkfifo(path)
    if named == "environment":
        monkeypatch.setenv("IRONIC_CONFIG_FILE", str(path))
    arguments = {"--config-file": [named, str(path)], "--config-dir": [named, str(tmp_path)]}.get(named, [])
    said = rf"^{re.escape(str(path))} can't be read: it is no regular file: a pipe, .* write the options to a file "
    with pytest.raises(ValueError, match=said):
        prepare(arguments)


@pytest.mark.parametrize("named", ["--config-file", "--config-dir"])
def test_a_directory_in_the_place_of_a_file_is_named_with_a_way_on(named: str, tmp_path: Path) -> None:
    path = tmp_path / "more.conf"
    path.mkdir()
    place = path if named == "--config-file" else tmp_path
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))} is a directory: name it by --config-dir, or, "):
        prepare([named, str(place)])


def test_addresses_and_paths_are_written_by_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ironic.conf"
    options = "my_ipv6 = 2001:db8::1\nbindir = /opt/bin\nstate_path = /srv/ironic\n"
    path.write_text(f"[DEFAULT]\n{options}")
    prepare(["--config-file", str(path)])
    said = capsys.readouterr().err
    assert all(f"Without effect: [DEFAULT]{name}: no other option" in said for name in ("bindir", "my_ipv6"))
    path.write_text(
        f"[DEFAULT]\n{options}isolinux_bin = $bindir/isolinux.bin\n[pxe]\ntftp_server = $my_ipv6\n"
        "tftp_root = ${state_path}/tftp\n[deploy]\nhttp_url = http://[${my_ipv6}]:8080\n"
    )
    prepare(["--config-file", str(path)])
    assert (CONF.pxe.tftp_server, CONF.pxe.tftp_root) == ("2001:db8::1", "/srv/ironic/tftp")
    assert (CONF.deploy.http_url, CONF.isolinux_bin) == ("http://[2001:db8::1]:8080", "/opt/bin/isolinux.bin")
    assert "Without effect" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["firmware_update_status_interval", "raid_config_status_interval"])
def test_an_interval_of_the_reference_that_switches_looks_off_is_taken(tmp_path: Path, name: str) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text(f"[redfish]\n{name} = 0\n")
    prepare(["--config-file", str(path)])
    assert CONF.redfish[name] == 0


def test_a_missing_file_for_logging_is_one_line_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text(f"[DEFAULT]\nlog_config_append = {tmp_path}/none.conf\n")
    assert lifecycle.run_program("ironic", lambda _pause: [], ["--config-file", str(path)]) == lifecycle.FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("ironic can't start: ") and f"{tmp_path}/none.conf" in line


@pytest.mark.parametrize(
    ("group", "name", "text"),
    [
        ("deploy", "erase_devices_priority", "-5"),
        ("api", "api_workers", "-1"),
        ("api", "max_limit", "0"),
        ("conductor", "periodic_max_workers", "0"),
        ("conductor", "node_locked_retry_interval", "-1"),
        ("conductor", "heartbeat_interval", "0"),
        ("conductor", "heartbeat_timeout", "0"),
        ("pxe", "file_permission", "-1"),
        ("pxe", "dir_permission", "4096"),
        ("redfish", "file_permission", "4096"),
    ],
)
def test_a_number_without_a_meaning_is_refused_with_its_option(
    group: str, name: str, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text(f"[{group}]\n{name} = {text}\n")
    with pytest.raises(ValueError, match=rf"^\[{group}\]{name} in .*, line 2: "):
        prepare(["--config-file", str(path)])


def test_every_number_has_a_lower_bound() -> None:
    numbers = [option for options in OPTIONS.values() for option in options if isinstance(option, cfg.IntOpt)]
    assert numbers
    assert [option.dest for option in numbers if getattr(option.type, "min", None) is None] == []


@pytest.mark.parametrize("name", ["workers_pool_size", "heartbeat_interval"])
def test_a_number_that_is_empty_is_named_at_the_start(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text(f"[conductor]\n{name} =\n")
    with pytest.raises(ValueError, match=rf"\[conductor\]{name} in {path}, line 2: it is empty"):
        prepare(["--config-file", str(path)])
    path.write_text("")
    variable = f"OS_CONDUCTOR__{name.upper()}"
    monkeypatch.setenv(variable, "")
    with pytest.raises(ValueError, match=rf"\[conductor\]{name} by {variable} in the environment: it is empty"):
        prepare(["--config-file", str(path)])


def test_a_group_in_another_case_is_not_called_unknown(tmp_path: Path) -> None:
    path = tmp_path / "ironic.conf"
    path.write_text("[CONDUCTOR]\nworkers_pool_size = 7\n")
    prepare(["--config-file", str(path)])
    assert CONF.conductor.workers_pool_size == 7
    assert config_files.unknown_options(CONF) == {}
