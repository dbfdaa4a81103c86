"""The wheel, installed with what it needs into an environment of its own, and used outside of the checkout."""

import configparser
import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from ironic.conf.release import PACKAGE, release
from ironic.tests.repository import ROOT
from ironic.tests.wheels import Environment

pytestmark = pytest.mark.packages

DATA = (".j2", ".yaml", ".mako", ".typed")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, own_wheel: Path, wheels: Path) -> Path:
    environment = Environment(tmp_path_factory.mktemp("environment"))
    done = environment.pip("install", "--no-index", "--find-links", wheels, own_wheel)
    assert done.returncode == 0, done.stderr
    return environment.directory


def programs() -> list[str]:
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(ROOT / "setup.cfg")
    lines = setup["options.entry_points"]["console_scripts"].strip().splitlines()
    return [line.partition("=")[0].strip() for line in lines]


def run(program: Path, *words: str, directory: Path) -> str:
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(directory)}
    done = subprocess.run(
        [program, *words], cwd=directory, env=environ, capture_output=True, text=True, timeout=120
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_has_every_file_of_the_product_and_no_test(own_wheel: Path) -> None:
    names = set(zipfile.ZipFile(own_wheel).namelist())
    tree = [path.relative_to(ROOT) for path in (ROOT / PACKAGE).rglob("*") if path.suffix in (".py", *DATA)]
    product = {path.as_posix() for path in tree if path.parts[1] != "tests"}
    assert {Path(name).suffix for name in product} == {".py", *DATA}
    assert {name for name in names if name.startswith(f"{PACKAGE}/")} == product
    assert {name.rpartition("/")[2] for name in names if ".data/data/etc/" in name} == {
        path.name for path in (ROOT / "etc" / PACKAGE).iterdir()
    }


def test_every_program_starts_outside_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    assert len(programs()) > 8
    for program in programs():
        assert "usage: " in run(installed / "bin" / program, "--help", directory=tmp_path).lower(), program
    assert run(installed / "bin" / PACKAGE, "--version", directory=tmp_path) == f"{release()}\n"


def test_a_database_is_made_by_the_migrations_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    settings = tmp_path / "own.conf"
    settings.write_text(f"[DEFAULT]\nstate_path = {tmp_path}\n")
    words = ("--config-file", str(settings))
    dbsync = installed / "bin" / "ironic-dbsync"
    assert run(dbsync, *words, "version", directory=tmp_path).strip() == "None"
    run(dbsync, *words, "upgrade", directory=tmp_path)
    assert run(dbsync, *words, "version", directory=tmp_path).startswith("r00")


def test_what_the_checkout_publishes_is_published_by_the_wheel(installed: Path, tmp_path: Path) -> None:
    setup = configparser.ConfigParser(interpolation=None)
    setup.optionxform = str  # type: ignore[assignment,method-assign]
    setup.read(ROOT / "setup.cfg")
    code = "import importlib.metadata as m, json; d = m.distribution('ironic').entry_points; "
    code += "[one.load() for one in d]; print(json.dumps([[one.group, one.name] for one in d]))"
    found = json.loads(run(installed / "bin" / "python", "-W", "ignore", "-c", code, directory=tmp_path))
    declared = {
        (group, line.partition("=")[0].strip())
        for group, lines in setup["options.entry_points"].items()
        for line in lines.strip().splitlines()
    }
    assert {(group, name) for group, name in found} == declared
