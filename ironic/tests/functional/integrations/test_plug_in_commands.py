"""Programs that plug-ins run: real ones, and what the log and the errors show of them."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from oslo_concurrency.processutils import ProcessExecutionError

from ironic.common import utils
from ironic.common.exception import FileSystemNotSupported, InvalidParameterValue

SECRET = "s3cr3t-of-a-bmc"


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


def test_both_outputs() -> None:
    assert utils.execute(*python("import sys; print('out'); print('err', file=sys.stderr)")) == ("out\n", "err\n")


def test_arguments_are_no_shell(tmp_path: Path) -> None:
    output, _ = utils.execute("echo", f"; touch {tmp_path}/made", "$(id)", 7)
    assert output == f"; touch {tmp_path}/made $(id) 7\n"
    assert not (tmp_path / "made").exists()


def test_a_failure_has_all_that_plug_ins_read() -> None:
    with pytest.raises(ProcessExecutionError) as raised:
        utils.execute(*python("import sys; print('half'); print('no disk', file=sys.stderr); sys.exit(3)"))
    error = raised.value
    assert (error.exit_code, error.stdout, error.stderr) == (3, "half\n", "no disk\n")
    assert sys.executable in str(error.cmd)
    with pytest.raises(OSError):
        utils.execute("/nowhere/program")


def test_keywords_of_the_library() -> None:
    assert utils.execute(*python("import sys; sys.exit(3)"), check_exit_code=[0, 3]) == ("", "")
    assert utils.execute("cat", process_input="given")[0] == "given"
    shown = python("import os; print(os.environ.get('LC_ALL'), os.environ.get('COLOUR'), 'PATH' in os.environ)")
    assert utils.execute(*shown, env_variables={"COLOUR": "red"})[0].split()[1] == "red"


def test_messages_in_english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    shown = python("import os; print(os.environ.get('LC_ALL'), os.environ.get('COLOUR'), 'PATH' in os.environ)")
    assert utils.execute(*shown, use_standard_locale=True)[0] == "C None True\n"
    assert utils.execute(*shown, use_standard_locale=True, env_variables={"COLOUR": "red"})[0].startswith("C red")
    assert os.environ["LC_ALL"] == "de_DE.UTF-8"


def test_passwords_are_masked_in_log_and_errors(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("WORD", SECRET)
    says = "import os, sys; word = os.environ['WORD']; print('password=' + word); "
    utils.execute("echo", "--password", SECRET)
    utils.execute(*python(f"{says} print('password: ' + word, file=sys.stderr)"))
    assert utils.try_execute(*python(f"{says} sys.exit(1)")) is None
    with pytest.raises(ProcessExecutionError) as raised:
        utils.execute("sh", "-c", "echo password=$WORD; exit 1", "--password", SECRET)
    assert SECRET not in caplog.text and SECRET not in str(raised.value)
    assert "echo wrote: --password ***" in caplog.text


def test_output_is_logged_unless_that_is_not_wanted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    code = python("print(6 * 7 * 1000003)")
    utils.execute(*code, log_stdout=False)
    assert "42000126" not in caplog.text
    utils.execute(*code)
    assert "42000126" in caplog.text


def test_trying() -> None:
    assert utils.try_execute("echo", "there") == ("there\n", "")
    assert utils.try_execute("false") is None
    assert utils.try_execute("/nowhere/program") is None


def test_blocks_are_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(bytes(range(256)) * 8)
    utils.dd(str(source), str(target), "bs=1024", "count=1")
    assert target.read_bytes() == source.read_bytes()[:1024]


def test_a_file_system_is_made(tmp_path: Path) -> None:
    path = tmp_path / "disk"
    path.write_bytes(bytes(4 << 20))
    utils.mkfs("ext4", str(path), label="config-2")
    content = path.read_bytes()
    # Magic number and label of its superblock.
    assert content[0x438:0x43A] == b"\x53\xef" and b"config-2" in content[0x400:0x500]


def test_a_file_system_that_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(FileSystemNotSupported, match="File system nosuchfs is not supported"):
        utils.mkfs("nosuchfs", str(tmp_path / "disk"))
    for wrong in ("-V", "ext4 -n", "", "../../bin/sh"):
        with pytest.raises(InvalidParameterValue, match="no name of a file system"):
            utils.mkfs(wrong, str(tmp_path / "disk"))


def test_mime_types(tmp_path: Path) -> None:
    (tmp_path / "-a").write_text("plain text\n")
    assert utils.file_mime_type(str(tmp_path / "-a")) == "text/plain"


def test_a_program_that_hangs(tmp_path: Path) -> None:
    code = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    heard: list[object] = []
    assert utils.try_execute(*python(code), timeout=2, on_execute=heard.append) is None
    assert len(heard) == 1
    with pytest.raises(subprocess.TimeoutExpired):
        utils.execute("sleep", "60", timeout=0.1)
    # It is gone.
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
