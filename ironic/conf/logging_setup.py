"""Logging: oslo.log with levels that keep verbose libraries quiet.

Options are registered before the command line is read, handlers are built afterwards. Secrets are masked in every line
before any handler writes it, because errors of drivers and libraries quote URLs and arguments. They quote texts of
machines too, which must not write into the terminal of who reads a log, fill its disk or forge a line of it: an event
is one line of at most `LONGEST_LINE` bytes. The ends of lines and other controls become escapes (`\\n`), and the middle
of a longer event, such as one with a traceback, is left out.
"""

import json
import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from logging.handlers import MemoryHandler
from typing import Any, Final

from oslo_config import cfg
from oslo_log import formatters, log

from ironic.core.context import log_values
from ironic.core.secrets.masking import masked_text

LOG = logging.getLogger(__name__)

# Bytes of an event in a log, without the end of the line.
LONGEST_LINE: Final = 2047

_LINE_ENDS: Final = {ord(end): repr(end)[1:-1] for end in "\n\r\v\f\x85\u2028\u2029"}
# Directions of writing could make a line look like another one.
_CONTROLS: Final = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(9), *range(10, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}
# Halves of characters, which no file takes: the line would be lost.
_HALVES: Final = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")

# Characters of a text that are searched for secrets, many times those that are written; nothing behind them is.
_MOST_SEARCHED: Final = 128 * 1024
# What no login has in it.
_ENDS_OF_LOGINS: Final = (" ", "\n", '"', "'")

# Bytes to which texts in a JSON document are shortened at least.
_SHORTEST_TEXT: Final = 64
_NEEDED: Final = ("asctime", "levelname", "time", "level", "name")
_OMITTED: Final = "This event is too long for a log."

# The umask for new log files: no write access for the group, no access for others.
PRIVATE: Final = 0o027

LEVELS = [
    "amqp=WARNING",
    "amqplib=WARNING",
    "qpid.messaging=INFO",
    "oslo.messaging=INFO",
    "oslo_messaging=INFO",
    "stevedore=INFO",
    "iso8601=WARNING",
    "requests=WARNING",
    "urllib3.connectionpool=WARNING",
    "keystonemiddleware.auth_token=INFO",
    "keystoneauth.session=INFO",
    "openstack=WARNING",
    "oslo_policy=WARNING",
    "oslo_concurrency.lockutils=WARNING",
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options of oslo.log with our levels."""
    log.register_options(conf)
    log.set_defaults(default_log_levels=LEVELS)
    # The one line of an event needs no second prefix before its traceback.
    conf.set_default("logging_exception_prefix", "")


def set_up(conf: cfg.ConfigOpts) -> None:
    """Build the handlers according to the options; a new log file is not readable by others.

    Raises ValueError for a journal without the Python module that it needs.
    """
    if conf.use_journal and find_spec("systemd") is None:
        raise ValueError(
            "[DEFAULT]use_journal needs Python module systemd: pip install systemd-python, or set it to false; what a "
            "unit prints to standard error is in the journal as well"
        )
    before = os.umask(PRIVATE)
    try:
        log.setup(conf, "ironic")
    finally:
        os.umask(before)
    # Warnings of libraries, and errors that nothing catches, are events as well.
    logging.captureWarnings(True)
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _log_end_of_thread
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _log_unraisable
    make_harmless(conf)


def make_harmless(conf: cfg.ConfigOpts) -> None:
    """Have all handlers write short, masked lines; called again when the files of options have been read again."""
    # Colours are controls.
    replaced = (({} if conf.log_color else _CONTROLS) | _LINE_ENDS) | _HALVES
    for handler in _handlers():
        # Where no option names a place oslo.log takes standard output, where scripts read the answers of commands.
        if isinstance(handler, logging.StreamHandler) and handler.stream is sys.stdout:
            handler.setStream(sys.stderr)
        if not isinstance(handler.formatter, _Harmless):
            handler.setFormatter(_Harmless(handler.formatter or logging.Formatter(), replaced))


def _log_end_of_thread(ended: threading.ExceptHookArgs) -> None:
    name = ended.thread.name if ended.thread else "unknown"
    if ended.exc_type is not SystemExit:
        LOG.critical("Thread %s has ended with an error", name, exc_info=ended.exc_value)


def _log_unraisable(error: "sys.UnraisableHookArgs") -> None:
    LOG.error("%s: %r", error.err_msg or "An error that can't be raised", error.object, exc_info=error.exc_value)


def _handlers() -> Iterator[logging.Handler]:
    """Yield the handlers of all loggers: a file of [DEFAULT]log_config_append gives them to any."""
    named = [each for each in logging.Logger.manager.loggerDict.values() if isinstance(each, logging.Logger)]
    for logger in (logging.getLogger(), *named):
        for handler in logger.handlers:
            yield handler
            if isinstance(handler, MemoryHandler) and handler.target is not None:
                yield handler.target


class _Harmless(logging.Formatter):
    """Mask secrets in the output of another formatter, and replace characters; tracebacks included."""

    def __init__(self, inner: logging.Formatter, replaced: Mapping[int, str]) -> None:
        super().__init__()
        self._inner, self._replaced = inner, replaced

    def format(self, record: logging.LogRecord) -> Any:
        """Return the masked text of a record, in one line; for fluentd it is a dictionary."""
        if "context" not in record.__dict__:
            # None as well: a library may have left a request of its own in this thread, which oslo.log would name.
            record.context = log_values()
        try:
            made: Any = self._inner.format(record)
        except Exception as error:
            # A library gave the wrong arguments; logging would write them and a traceback to standard error.
            made = f"{record.levelname} {record.name} [{type(error).__name__} while this was formatted] {record.msg}"
        if record.exc_text:
            # Handlers share it, and the one of the journal sends it beside the line.
            record.exc_text = self._line(record.exc_text)
        if isinstance(made, dict):
            found: object = json.loads(_shortened_document(_masked_document(json.dumps(made, default=str))))
            return found
        if isinstance(self._inner, formatters.JSONFormatter):
            return _shortened_document(_masked_document(made).translate(_HALVES))
        return self._line(made)

    def formatException(self, ei: Any) -> str:
        """Return a masked traceback, in one line."""
        made: str | list[str] = self._inner.formatException(ei)
        return self._line(made if isinstance(made, str) else "\n".join(made))

    def _line(self, text: str) -> str:
        return shortened(_masked(text).rstrip("\n").translate(self._replaced), LONGEST_LINE)


def _masked(text: str) -> str:
    """Return a text with its secrets masked, without the end of a very long one.

    Of a secret at the cut nothing is shown: a value is masked up to the end, and a login needs its end to be found.
    """
    if len(text) <= _MOST_SEARCHED:
        return masked_text(text)
    begin = masked_text(text[:_MOST_SEARCHED])
    login = begin.find("://", max(map(begin.rfind, _ENDS_OF_LOGINS)) + 1)
    return f"{begin if login < 0 else begin[:login]}[... {len(text)} characters in all ...]"


def _masked_document(text: str) -> str:
    """Return a JSON document with its secrets masked; its very long texts lose their ends."""
    if len(text) <= _MOST_SEARCHED:
        return masked_text(text)
    document = json.loads(text)
    texts = {name: each if isinstance(each, str) else json.dumps(each) for name, each in document.items()}
    cut = {name: _masked(each) if len(each) > LONGEST_LINE else document[name] for name, each in texts.items()}
    return masked_text(json.dumps(cut))


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many bytes in UTF-8, without the middle of a longer one."""
    data = text.encode()
    if len(data) <= most:
        return text
    mark = f" [... {len(data)} bytes in all ...] "
    part = (most - len(mark)) // 2
    begin, end = data[:part], data[-part:]
    return f"{begin.decode(errors='ignore')}{mark}{end.decode(errors='ignore')}"


def _shortened_document(text: str) -> str:
    """Return a JSON document that fits into a line: its long texts are shortened, and lists are joined to texts."""
    most = LONGEST_LINE
    try:
        document = json.loads(text)
    except ValueError:
        document = {"message": text}
    while len(text.encode()) > LONGEST_LINE and most > _SHORTEST_TEXT:
        most //= 2
        text = json.dumps({name: _shortened_value(value, most) for name, value in document.items()})
    # With too many members, it says the most important.
    kept = {name: document[name] for name in _NEEDED if name in document}
    return text if len(text.encode()) <= LONGEST_LINE else json.dumps(kept | {"message": _OMITTED})


def _shortened_value(value: object, most: int) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list):
        value = "\n".join(map(str, value))
    elif not isinstance(value, str):
        value = json.dumps(value)
    return value if len(json.dumps(value)) <= most else shortened(value, most)
