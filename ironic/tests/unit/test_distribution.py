"""What is installed: the product with its data files and what operators generate files from, without the tests."""

import subprocess
import sys
from pathlib import Path

from ironic.tests.repository import ROOT


def test_an_installation_has_the_data_files_and_no_tests(tmp_path: Path) -> None:
    build, data = tmp_path / "build", tmp_path / "data"
    commands: list[str | Path] = ["egg_info", "--egg-base", tmp_path, "build_py", "--build-lib", build]
    commands += ["install_data", "--install-dir", data]
    # What setuptools thinks of its own commands does not matter here.
    arguments = [sys.executable, "-W", "ignore", "setup.py", "-q", *commands]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = {path.relative_to(build).as_posix() for path in build.rglob("*") if path.is_file()}
    assert not [name for name in found if name.startswith("ironic/tests")]
    suffixes = (".py", ".j2", ".yaml", ".mako", ".typed")
    files = (path.relative_to(ROOT) for path in (ROOT / "ironic").rglob("*") if path.suffix in suffixes)
    product = {path.as_posix() for path in files if path.parts[1] != "tests"} | {"ironic/py.typed"}
    assert len({Path(name).suffix for name in product}) == len(suffixes)
    assert product <= found
    assert {path.name for path in (data / "etc" / "ironic").iterdir()} == {
        "api_audit_map.conf",
        "ironic-config-generator.conf",
    }
