"""Files that plug-ins write, fill and remove."""

import logging
import os
import stat
from pathlib import Path

import jinja2
import pytest

from ironic.common import utils
from ironic.common.exception import DirectoryNotWritable, InsufficientDiskSpace, PathNotFound
from ironic.tests.conftest import Setter


def test_removing_raises_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tree, kept = tmp_path / "tree", tmp_path / "kept"
    (tree / "inner").mkdir(parents=True)
    kept.mkdir()
    (kept / "file").write_text("x")
    utils.rmtree_without_raise(str(tree))
    utils.unlink_without_raise(str(kept / "file"))
    assert not tree.exists() and kept.exists() and not (kept / "file").exists()
    utils.rmtree_without_raise(str(tree))
    utils.unlink_without_raise(str(kept / "file"))
    assert not caplog.records
    utils.unlink_without_raise(str(kept))
    assert f"Can't remove {kept}" in caplog.text
    # What a link leads to stays.
    link = tmp_path / "link"
    link.symlink_to(kept)
    utils.rmtree_without_raise(str(link))
    assert kept.exists() and f"Can't remove {link}" in caplog.text


def test_links(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    link = tmp_path / "link"
    utils.create_link_without_raise("first", str(link))
    utils.create_link_without_raise("second", str(link))
    assert os.readlink(link) == "first" and not caplog.records
    utils.create_link_without_raise("first", str(tmp_path / "gone" / "link"))
    assert "Can't link" in caplog.text


def test_written_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    utils.write_to_file(str(path), "long text")
    utils.write_to_file(str(path), "ä", permission=0o640)
    assert path.read_text() == "ä" and stat.S_IMODE(path.stat().st_mode) == 0o640
    utils.write_to_file(str(tmp_path / "new"), "x", permission=0o600)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_a_directory_for_a_moment(tmp_path: Path, conf: Setter, caplog: pytest.LogCaptureFixture) -> None:
    conf(tempdir=str(tmp_path))
    with utils.tempdir(prefix="acme-") as made:
        assert Path(made).parent == tmp_path and Path(made).name.startswith("acme-")
        assert stat.S_IMODE(os.stat(made).st_mode) == 0o700
        (Path(made) / "file").write_text("x")
    assert not list(tmp_path.iterdir())
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(KeyError), utils.tempdir(dir=other) as made:
        assert Path(made).parent == other
        raise KeyError
    assert not list(other.iterdir())


def test_room_in_a_directory(tmp_path: Path, conf: Setter, monkeypatch: pytest.MonkeyPatch) -> None:
    conf(tempdir=str(tmp_path), outgoing__min_free_space=0)
    utils.check_dir()
    utils.check_dir(str(tmp_path), required_space=1)
    with pytest.raises(PathNotFound, match="There is no directory"):
        utils.check_dir(str(tmp_path / "gone"))
    with pytest.raises(InsufficientDiskSpace, match="MiB"):
        utils.check_dir(str(tmp_path), required_space=1 << 40)
    # Root may write anywhere, so the system is asked whether it may.
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    with pytest.raises(DirectoryNotWritable, match=str(tmp_path)):
        utils.check_dir(str(tmp_path))


def test_templates(tmp_path: Path) -> None:
    (tmp_path / "part").write_text("kernel {{ kernel }}")
    (tmp_path / "whole").write_text("{% include 'part' %} {{ options.split(',')|join(' ') }}")
    values = {"kernel": "http://a/<k>", "options": "quiet,ro"}
    assert utils.render_template(str(tmp_path / "whole"), values) == "kernel http://a/<k> quiet ro"
    assert utils.render_template("a {{ b }}{{ gone }}", {"b": 1}, is_file=False) == "a 1"
    with pytest.raises(jinja2.UndefinedError, match="gone"):
        utils.render_template("{{ gone }}", {}, is_file=False, strict=True)
    with pytest.raises(jinja2.TemplateNotFound):
        utils.render_template(str(tmp_path / "none"), {})


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ value.__init__.__globals__ }}",
        "{{ log.info.__func__.__globals__['os'].getpid() }}",
        "{{ '%s'|attr('__class__')|attr('mro') }}",
        "{% include '../../etc/hostname' %}",
    ],
)
def test_templates_reach_nothing_but_their_values(tmp_path: Path, template: str) -> None:
    path = tmp_path / "hostile"
    path.write_text(template)
    with pytest.raises(jinja2.TemplateError):
        utils.render_template(str(path), {"value": jinja2.DictLoader({}), "log": logging.getLogger("a")}, strict=True)
