"""No line of a log holds a secret or steers a terminal, whichever module writes it."""

import json
import logging
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from oslo_log import formatters, handlers
from oslo_log.formatters import FluentFormatter

from ironic.conf import CONF, logging_setup

_PROGRAM = """
import logging, sys
from ironic.conf import prepare
prepare(["--log-file", sys.argv[1], "--config-file", sys.argv[2]])
LOG = logging.getLogger("ironic.somewhere")
LOG.warning("no answer from %s", "https://user:hunter2@192.0.2.1/x?temp_url_sig=hunter2")
LOG.warning("step failed: %s", {"args": {"community": "hunter2"}})
LOG.info("the BMC says %s", "off\\x1b[2J\\x9b2J\\r\\x07\\tand on")
LOG.info("half %s of a character", "\\ud800")
try:
    raise ValueError("https://user:hunter2@192.0.2.2/")
except ValueError:
    logging.getLogger("library").exception("went wrong")
"""


def test_every_line_goes_through_the_mask(tmp_path: Path) -> None:
    log, conf = tmp_path / "log", tmp_path / "ironic.conf"
    conf.write_text("[DEFAULT]\n")
    subprocess.run([sys.executable, "-c", _PROGRAM, str(log), str(conf)], check=True, timeout=120)
    text = log.read_text()
    assert "192.0.2.1/x" in text and "192.0.2.2" in text and "Traceback" in text
    assert "hunter2" not in text
    assert "half \N{REPLACEMENT CHARACTER} of a character" in text
    assert r"off\x1b[2J\x9b2J\r\x07" "\tand on" in text


_HOSTILE = """
import logging, sys
from ironic.conf import prepare
prepare(["--log-file", sys.argv[1], "--config-file", sys.argv[2]])
texts = [
    "one\\ntwo\\r\\nthree\\x0bfour\\x0cfive\\x85six\\u2028seven\\u2029eight",
    "nul\\0nul", "\\x1b[31mred", "\\u202eturned",
    "half \\ud800", "x" * 1_000_000, "\\u20ac" * 9999, "\\n" * 9999, "\\x1b" * 9999, "end\\n",
]
for name in ("ironic.x", "oslo.service", "sqlalchemy.pool", "urllib3", "sushy", "uvicorn.error", "py.warnings"):
    for text in texts:
        logging.getLogger(name).warning("the BMC says %s", text)
        try:
            raise ValueError(text)
        except ValueError:
            logging.getLogger(name).exception("failed")

def deeper(left):
    try:
        deeper(left - 1) if left else {}["the cause"]
    except Exception as error:
        raise RuntimeError("deep") from error

try:
    deeper(20)
except RuntimeError:
    logging.getLogger("ironic.y").exception("many causes", stack_info=True)
"""
_EVENTS = 7 * 10 * 2 + 1


def written(tmp_path: Path, options: str) -> list[bytes]:
    log, conf = tmp_path / "log", tmp_path / "ironic.conf"
    conf.write_text(f"[DEFAULT]\n{options}\n")
    subprocess.run([sys.executable, "-c", _HOSTILE, str(log), str(conf)], check=True, timeout=120)
    lines = log.read_bytes().split(b"\n")
    assert lines.pop() == b""
    return lines


def test_an_event_is_one_short_line(tmp_path: Path) -> None:
    lines = written(tmp_path, "")
    assert len(lines) == _EVENTS
    assert max(map(len, lines)) < 2048
    assert all(text.isprintable() or text.replace("\t", "").isprintable() for text in map(bytes.decode, lines))
    assert rb"one\ntwo\r\nthree\x0bfour\x0cfive\x85six\u2028seven\u2029eight" in lines[0]
    assert b"Traceback" in lines[1] and rb"\nValueError: one\ntwo" in lines[1]
    assert b"bytes in all ...]" in lines[10] and b"the BMC says" in lines[10]
    assert b"many causes" in lines[-1] and b"bytes in all ...]" in lines[-1]


def test_an_event_in_json_is_one_short_document(tmp_path: Path) -> None:
    lines = written(tmp_path, "use_json = true")
    assert len(lines) == _EVENTS
    assert max(map(len, lines)) < 2048
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    assert first["message"].startswith("the BMC says one\ntwo\r\nthree")
    assert last["message"] == "many causes" and last["levelname"] == "ERROR"


_LIBRARIES = """
import logging, sys, threading, warnings
from ironic.conf import prepare
prepare(["--config-file", sys.argv[1]])
long = "https://user:hunter2@192.0.2.1/\\n" + "x" * 5000
warnings.warn(long)
logging.getLogger("library").warning("wrong arguments %d", long)
logging.getLogger("alone").error(long)

def fail():
    raise ValueError(long)

thread = threading.Thread(target=fail)
thread.start()
thread.join()

class Odd:
    def __del__(self):
        raise ValueError(long)

odd = Odd()
del odd
"""
_FILE = """
[loggers]
keys = root, alone
[handlers]
keys = file, buffer, own
[formatters]
keys =
[logger_root]
level = DEBUG
handlers = buffer
[logger_alone]
level = DEBUG
handlers = own
qualname = alone
propagate = 0
[handler_file]
class = FileHandler
args = ("{log}",)
[handler_buffer]
class = logging.handlers.MemoryHandler
args = (0, 10)
target = file
[handler_own]
class = FileHandler
args = ("{own}",)
"""


@pytest.mark.parametrize("in_file", [False, True])
def test_what_libraries_say_is_short_lines_wherever_it_goes(tmp_path: Path, in_file: bool) -> None:
    conf, terms, log, own = (tmp_path / name for name in ("ironic.conf", "logging.conf", "log", "own"))
    terms.write_text(_FILE.format(log=log, own=own))
    conf.write_text(f"[DEFAULT]\nlog_config_append = {terms}\n" if in_file else "[DEFAULT]\nuse_stderr = true\n")
    ended = subprocess.run(
        [sys.executable, "-c", _LIBRARIES, str(conf)], check=True, timeout=120, capture_output=True, text=True
    )
    text = log.read_text() + own.read_text() if in_file else ended.stderr
    lines = text.splitlines()
    assert len(lines) == 5, text
    assert max(map(len, lines)) < 2048
    assert "hunter2" not in text and "192.0.2.1" in text
    assert not in_file or ended.stderr == ""
    for said in ("UserWarning", "wrong arguments", "Thread-1", "__del__"):
        assert said in text


def test_fluentd_gets_a_short_masked_document() -> None:
    """The handler of fluentd hands the dictionary of this formatter to its client."""
    handler = logging.Handler()
    handler.setFormatter(FluentFormatter())
    logger = logging.getLogger("of fluentd")
    logger.addHandler(handler)
    logging_setup.make_harmless(CONF)
    try:
        raise ValueError("https://user:hunter2@192.0.2.1/")
    except ValueError:
        record = logger.makeRecord("x", logging.ERROR, "f", 1, "the BMC says %s", ("y" * 99999,), sys.exc_info())
    found: Any = handler.format(record)
    assert found["message"].startswith("the BMC says yyy") and found["level"] == "ERROR"
    assert "192.0.2.1" in found["traceback"] and "hunter2" not in str(found)
    assert len(json.dumps(found)) < 2048


def test_the_journal_gets_a_masked_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is sent beside the line, in a field of its own."""
    sent: list[dict[str, Any]] = []
    journal = SimpleNamespace(send=lambda message, **fields: sent.append({"message": message, **fields}))
    # The bindings of systemd are no requirement of this project.
    monkeypatch.setattr(handlers, "journal", journal)
    handler = handlers.OSJournalHandler()
    logger = logging.getLogger("of the journal")
    logger.addHandler(handler)
    logging_setup.make_harmless(CONF)
    try:
        raise ValueError("https://user:hunter2@192.0.2.1/\n" + "x" * 5000)
    except ValueError:
        logger.exception("failed")
    assert "hunter2" not in str(sent[0]) and "192.0.2.1" in sent[0]["EXCEPTION_INFO"]
    assert all(len(str(value)) < 2048 and "\n" not in str(value) for value in sent[0].values())


@pytest.mark.parametrize("secret", ["://user:SECRET-OF-IT@host/", "'password': 'SECRET-OF-IT'", "token=SECRET-OF-IT;"])
def test_of_a_secret_where_a_long_event_is_cut_nothing_is_shown(secret: str) -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "", None, None)
    for hidden in range(40):
        # What is masked before it leaves little of the text, so that the cut is not in the middle, which is left out.
        long = "password='" + "x" * (logging_setup._MOST_SEARCHED - 20 - hidden) + "' "
        record.msg = long + secret + "y" * 100_000
        for inner in (logging.Formatter(), formatters.JSONFormatter()):
            made = logging_setup._Harmless(inner, {}).format(record)
            assert "SECRET" not in made, made
            assert len(made) <= logging_setup.LONGEST_LINE


def test_a_very_long_event_is_not_searched_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []

    def noted(text: str) -> str:
        searched.append(len(text))
        return text

    monkeypatch.setattr(logging_setup, "masked_text", noted)
    for inner in (logging.Formatter(), formatters.JSONFormatter(), FluentFormatter()):
        record = logging.LogRecord("x", logging.INFO, "", 0, "a b" * 1_000_000, None, None)
        logging_setup._Harmless(inner, {}).format(record)
    assert searched and max(searched) < 10 * logging_setup._MOST_SEARCHED
