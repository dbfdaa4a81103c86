"""The commands of the pages about backups and copies, typed one after another."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ironic.db import engines
from ironic.tests.databases import database_with_tables
from ironic.tests.filled_database import fill, stored
from ironic.tests.repository import ROOT


def commands(page: str) -> list[str]:
    """Return the lines of the blocks of the service's user."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", (ROOT / "doc" / page).read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in textwrap.dedent(block).splitlines()]


@pytest.mark.parametrize(("page", "count"), [("backup.md", 3), ("move-database.md", 2)])
def test_every_command_of_the_page_does_what_it_says(tmp_path: Path, page: str, count: int) -> None:
    typed = commands(page)
    assert len(typed) == count
    with database_with_tables("sqlite", tmp_path) as url:
        engine = engines.create(url, engines.PoolOptions())
        fill(engine, {})
        before = list(stored(engine))
        engine.dispose()
        (tmp_path / "ironic.conf").write_text(f"[database]\nconnection = {url}\n")
        (tmp_path / "new-database-url").write_text(f"sqlite:///{tmp_path}/new.sqlite\n")
        for line in typed:
            for usual in ("/etc/ironic", "/var/backups/ironic", "/var/lib/ironic"):
                line = line.replace(usual, str(tmp_path))
            line = line.replace("ironic-dbsync", f"{sys.executable} -m ironic.command.dbsync", 1)
            done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
            assert (done.returncode, done.stderr) == (0, ""), line
        for name in ("new.sqlite", "copy.sqlite") if page == "move-database.md" else (url.rpartition("/")[2],):
            copied = engines.create(f"sqlite:///{tmp_path}/{name}", engines.PoolOptions())
            assert list(stored(copied)) == before
            copied.dispose()
