"""The operation at a BMC that a thread runs now: the library stands between it and the requests that belong to it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from ironic.drivers.modules.bmc.bmc_gateway import CallClass, Gateway, Operation

# Answers without which an operation goes on; each may take as long as a BMC has for an answer.
_MOST_LOST: Final = 2

_OPERATION: ContextVar[Operation] = ContextVar("redfish_operation")


def running_operation() -> Operation:
    """Return the operation that the present request belongs to."""
    return _OPERATION.get()


@contextmanager
def operation(gateway: Gateway, kind: CallClass, *, anew: bool = False, seconds: float | None = None) -> Iterator[None]:
    """Have the requests of the block belong to one operation at the BMC."""
    with gateway.operation(kind, anew=anew, seconds=seconds) as running:
        token = _OPERATION.set(running)
        try:
            yield
        finally:
            _OPERATION.reset(token)


def may_lose_another() -> bool:
    """Count an answer that did not come; return whether the operation may go on without it."""
    running = _OPERATION.get()
    running.lost += 1
    return running.lost <= _MOST_LOST


@contextmanager
def held(lock: "threading.Lock | threading.RLock", gateway: Gateway) -> Iterator[float]:
    """Hold a lock that others hold during requests, waiting no longer than the operation has; return what is left.

    The requests in the block go first: orders may wait for the lock.
    """
    running = _OPERATION.get()
    if not lock.acquire(timeout=max(0.0, running.until - gateway.clock())):
        raise running.too_late()
    before, running.is_awaited = running.is_awaited, True
    try:
        yield max(0.0, running.until - gateway.clock())
    finally:
        running.is_awaited = before
        lock.release()
