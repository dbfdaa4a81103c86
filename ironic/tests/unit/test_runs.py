"""What makes a run of the tests fail, or speak up, beside a test that fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SKIPPED = "import pytest\n\ndef test_one():\n    pytest.skip('no server')\n\ndef test_two():\n    pass\n"
SKIPPED_WHOLE = "import pytest\npytest.skip('no server', allow_module_level=True)\n"
EMPTY = "import pytest\n\n@pytest.mark.parametrize('each', [])\ndef test_one(each):\n    pass\n"
FLAKY = "tries = []\n\ndef test_one():\n    tries.append(1)\n    assert len(tries) > 1\n"


# Of the plug-ins that are installed only these have to do with it; finding and loading all takes a second of each run.
PLUGINS = ("xdist.plugin", "pytest_rerunfailures")


def run(directory: Path, text: str, *arguments: str) -> tuple[int, str]:
    """Run a file of tests as the project's own are run; return the exit status and what was printed."""
    (directory / "test_it.py").write_text(text)
    words = [word for name in PLUGINS for word in ("-p", name)]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(ROOT / "setup.cfg"), *words]
    ended = subprocess.run(
        [*command, f"--rootdir={directory}", *arguments, str(directory / "test_it.py")],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
@pytest.mark.parametrize("text", [SKIPPED, SKIPPED_WHOLE])
def test_a_skip_fails_the_run_and_is_named(tmp_path: Path, text: str, workers: list[str]) -> None:
    status, said = run(tmp_path, text, *workers)
    assert status == 1, said
    assert "SKIPPED, which fails the run: test_it.py" in said


def test_an_empty_set_of_parameters_fails_the_run(tmp_path: Path) -> None:
    status, said = run(tmp_path, EMPTY)
    assert status not in (0, 5), said
    assert "Empty parameter set" in said


@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
def test_what_passes_at_its_second_try_only_fails_the_run_and_is_named_last(tmp_path: Path, workers: list[str]) -> None:
    status, said = run(tmp_path, FLAKY, "--reruns", "1", *workers)
    assert status == 1, said
    assert "FLAKY, which fails the run: test_it.py::test_one" in "\n".join(said.splitlines()[-2:])
    assert "1 passed" in said


@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
def test_what_is_left_in_the_checkout_fails_the_run_and_is_named(tmp_path: Path, workers: list[str]) -> None:
    text = f"import pathlib\n\ndef test_one():\n    pathlib.Path({str(tmp_path / 'conductor.lock')!r}).touch()\n"
    status, said = run(tmp_path, text, *workers)
    assert status == 1, said
    assert "LEFT in the checkout, which fails the run: conductor.lock" in said
    assert run(tmp_path, text, *workers)[0] == 0


def test_what_fails_twice_is_a_failure_and_not_called_flaky(tmp_path: Path) -> None:
    status, said = run(tmp_path, "def test_one():\n    assert 0\n", "--reruns", "1")
    assert status == 1, said
    assert "FLAKY" not in said
