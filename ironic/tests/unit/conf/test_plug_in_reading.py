"""Programs of third parties read the configuration: in processes of their own, as it is global."""

import os
import subprocess
import sys
from pathlib import Path

HEAD = "from ironic.common import config; from ironic.conf import CONF\n"


def ran(code: str, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IRONIC_CONFIG", "OS_"))}
    done = subprocess.run(
        [sys.executable, "-c", HEAD + code], env={**kept, **variables}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def named(path: Path, host: str, more: str = "") -> str:
    path.write_text(f"[DEFAULT]\nhost = {host}\n{more}")
    return str(path)


def test_the_name_of_the_program_is_left_out(tmp_path: Path) -> None:
    one, two = named(tmp_path / "one.conf", "one"), named(tmp_path / "two.conf", "two")
    assert ran(f"config.parse_args(['--version', '--config-file', {one!r}]); print(CONF.host)") == "one"
    # It may be called again, and what was read first is gone.
    assert (
        ran(
            f"config.parse_args(['x', '--config-file', {one!r}]); config.parse_args([], [{two!r}]); "
            "config.parse_args([], default_config_files=["
            f"{two!r}]); print(CONF.host)"
        )
        == "two"
    )


def test_files_of_the_environment(tmp_path: Path) -> None:
    one = named(tmp_path / "one.conf", "one")
    assert ran("config.parse_args([]); print(CONF.host)", IRONIC_CONFIG_FILE=one) == "one"
    (tmp_path / "dir").mkdir()
    named(tmp_path / "dir" / "two.conf", "two")
    both = {"IRONIC_CONFIG_FILE": one, "IRONIC_CONFIG_DIR": str(tmp_path / "dir")}
    assert ran("config.parse_args([]); print(CONF.host)", **both) == "two"


def test_files_of_the_project(tmp_path: Path) -> None:
    (tmp_path / ".ironic").mkdir()
    named(tmp_path / ".ironic" / "ironic.conf", "usual")
    assert ran("config.parse_args([]); print(CONF.host)", HOME=str(tmp_path)) == "usual"


def test_options_of_a_plug_in_are_read_and_nothing_is_logged(tmp_path: Path) -> None:
    log = tmp_path / "service.log"
    one = named(tmp_path / "one.conf", "one", f"log_file = {log}\nnonsense = 1\n[acme]\ncolour = red\n")
    code = (
        "from oslo_config import cfg; cfg.CONF.register_opts([cfg.StrOpt('colour')], group='acme')\n"
        "config.parse_args([]); print(CONF.acme.colour)"
    )
    assert ran(code, IRONIC_CONFIG_FILE=one) == "red"
    assert not log.exists()
