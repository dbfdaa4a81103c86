"""No BMC, conductor or URL is called while a transaction is open: on in every test, and in the programs they start.

The interpreter reports to audit hooks what leaves the process: connections, requests (on kept connections too), child
processes; our RPC client reports calls to conductors in the same way. A thread that does such a thing while it has a
transaction open gets an error, and the test fails even when the error was caught. Production has no hook.
"""

import inspect
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

_EVENTS: Final = frozenset(
    {"http.client.connect", "http.client.send", "ironic.conductor.call", "socket.connect", "subprocess.Popen"}
)
# Who connects to databases: another one may be used while a transaction of the first is open.
_DATABASE: Final = f"{os.sep}sqlalchemy{os.sep}"
_FOLDER: Final = Path(__file__).parent / "guarded_programs"

# What was done in the open, by all threads of this process.
seen: list[str] = []


class CallInTransaction(RuntimeError):
    """Something outside of the process is asked while others wait for the end of a transaction."""


class _OfThread(threading.local):
    is_lifted = False


_thread = _OfThread()


def install() -> None:
    """Watch this process; a hook stays as long as the process."""
    sys.addaudithook(_judge)


def install_in_programs() -> None:
    """Have the programs that this process starts watched as well."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_FOLDER), os.environ.get("PYTHONPATH")]))


@contextmanager
def lifted() -> Iterator[None]:
    """Let this thread do what it likes: a test opens a transaction around a whole request, to undo it."""
    _thread.is_lifted = True
    try:
        yield
    finally:
        _thread.is_lifted = False


def _judge(event: str, args: tuple[Any, ...]) -> None:
    if event not in _EVENTS or _thread.is_lifted:
        return
    is_any_open = getattr(sys.modules.get("ironic.db.transactions"), "is_any_open", None)
    if is_any_open is None or not is_any_open() or _is_by_database():
        return
    what = f"{event} {args[1:] if event.startswith(('http', 'socket')) else args}"[:200]
    seen.append(what)
    raise CallInTransaction(f"A transaction is open during {what}: end it first.")


def _is_by_database() -> bool:
    frame = inspect.currentframe()
    while frame is not None:
        if _DATABASE in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False
