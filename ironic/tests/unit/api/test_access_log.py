"""A line of the access log begins with its time, as lines of Python's logging do, and can't be forged."""

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ironic.api import access_log
from ironic.conf import CONF
from ironic.core.context import RequestContext

REQUEST = {"REQUEST_METHOD": "GET", "PATH_INFO": "/v1/nodes", "QUERY_STRING": "", "REMOTE_ADDR": "192.0.2.7"}


@pytest.fixture
def file(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Path]:
    path = tmp_path / "access.log"
    conf(api__access_log_file=str(path))
    access_log.open_file(CONF)
    yield path
    conf(api__access_log_file=None)
    access_log.open_file(CONF)


def write(**changes: str) -> None:
    access_log.write(REQUEST | changes, RequestContext(), "200 OK", 0.0042, trusts_proxy=False)


def test_a_line_has_its_request(file: Path) -> None:
    write(QUERY_STRING="limit=2")
    line = file.read_text()
    written = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (.+) req-[0-9a-f-]+\n"
    assert (found := re.fullmatch(written, line)), line
    assert found[1] == '192.0.2.7 - - "GET /v1/nodes?limit=2" 200 0.004'


@pytest.mark.parametrize("created", [1_790_000_000.0, 1_790_000_000.25, 1_790_000_001.9994, 1_790_000_000.5])
def test_its_time_is_written_as_logging_writes_it(created: float) -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "what", None, None)
    record.created, record.msecs = created, float(int((created - int(created)) * 1000))
    line = access_log._Line()
    # Also right after the line of another second.
    line.format(logging.LogRecord("x", logging.INFO, "", 0, "what", None, None))
    assert line.format(record) == logging.Formatter("%(asctime)s %(message)s").format(record)


def test_a_path_begins_no_line_of_its_own(file: Path) -> None:
    write(PATH_INFO='/v1/nodes\n2026-11-26 10:00:00,000 192.0.2.9 - - "DELETE')
    assert len(file.read_text().splitlines()) == 1
    assert '"DELETE' not in file.read_text()


def test_a_file_that_was_moved_away_is_made_again(file: Path) -> None:
    write()
    moved = file.rename(file.with_name("access.log.1"))
    write()
    assert len(moved.read_text().splitlines()) == len(file.read_text().splitlines()) == 1
