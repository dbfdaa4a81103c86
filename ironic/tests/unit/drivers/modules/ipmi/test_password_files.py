"""Files with passwords: who can read them, and how long they live."""

import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ironic.core.errors.hardware_errors import PasswordFileFailedToCreate
from ironic.drivers.modules.ipmi.password_files import password_file, write_password

CANARY = "canary-of-the-password"

# Writes a password and waits to be killed.
VICTIM = """
import sys
from ironic.conf import CONF
from ironic.drivers.modules.ipmi.password_files import write_password
CONF.set_override("tempdir", sys.argv[1])
print(write_password("canary-of-the-password"), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(conf: Callable[..., Any], tmp_path: Path) -> Path:
    conf(tempdir=str(tmp_path))
    return tmp_path


def test_a_file_is_private_and_gone_afterwards() -> None:
    with password_file(CANARY) as path:
        assert path.read_text() == CANARY
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(path.parent.iterdir()) == []


def test_a_file_is_gone_after_an_error() -> None:
    with pytest.raises(KeyError), password_file(CANARY) as path:
        raise KeyError
    assert not path.exists()


@pytest.mark.parametrize("password", [None, ""])
def test_an_empty_password_is_a_zero_byte(password: str | None) -> None:
    with password_file(password) as path:
        assert path.read_bytes() == b"\0"


def test_a_directory_that_was_removed_is_made_again() -> None:
    first = write_password(CANARY)
    first.unlink()
    first.parent.rmdir()
    with password_file(CANARY) as path:
        assert path.exists()


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_process_leaves_is_removed(place: Path, way: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", VICTIM, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as victim:
        assert victim.stdout is not None
        left = Path(victim.stdout.readline().strip())
        with password_file(CANARY):
            assert left.read_text() == CANARY  # that of a living process stays
        os.kill(victim.pid, way)
        victim.wait()
        assert left.exists()
        # As at the start of the next conductor.
        _forget_own_directory(place)
        with password_file(CANARY):
            assert not left.parent.exists()


def test_a_directory_of_others_stays(place: Path) -> None:
    _forget_own_directory(place)
    strange = place / "ironic-ipmi-strange"
    strange.mkdir(mode=0o755)
    linked = place / "ironic-ipmi-linked"
    linked.symlink_to(strange)
    with password_file(CANARY):
        assert strange.is_dir()
        assert linked.is_symlink()


def test_a_place_that_can_not_be_written_is_named(conf: Callable[..., Any], place: Path) -> None:
    conf(tempdir=str(place / "missing"))
    with pytest.raises(PasswordFileFailedToCreate, match="tempdir") as failed, password_file(CANARY):
        pytest.fail("there is no such directory")
    assert CANARY not in str(failed.value)


def test_a_full_disk_is_named_and_nothing_is_left(place: Path) -> None:
    with password_file(CANARY) as path:
        directory = path.parent
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(PasswordFileFailedToCreate, match="tempdir"):
            write_password(CANARY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize("locale", ["C", "de_DE.ISO-8859-1", "C.UTF-8"])
def test_a_password_is_the_same_in_every_locale(place: Path, locale: str) -> None:
    program = (
        "import sys; from pathlib import Path; from ironic.conf import CONF\n"
        "from ironic.drivers.modules.ipmi.password_files import password_file\n"
        "CONF([], default_config_files=[]); CONF.set_override('tempdir', sys.argv[1])\n"
        "with password_file('p\\xe4ss') as path: print(path.read_bytes().hex())"
    )
    # Without its own choice of UTF-8, Python takes the encoding of the locale.
    environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(
        [sys.executable, "-c", program, str(place)], env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "päss".encode().hex()


def _forget_own_directory(place: Path) -> None:
    for path in place.glob("ironic-ipmi-*"):
        if not any(path.iterdir()):
            path.rmdir()
