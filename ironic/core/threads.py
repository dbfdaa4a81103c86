"""Threads: who starts a thread or a pool of them gets this from the composition root; tests hand in their own."""

import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Final


class Threads:
    """The threads of this process."""

    def make(self, name: str, act: Callable[..., object], *args: object) -> threading.Thread:
        """Return a thread that calls ``act`` once it is started; the process may end without it."""
        return threading.Thread(target=act, args=args, name=name, daemon=True)

    def pool(self, size: int, name: str) -> Executor:
        """Return a pool of so many threads, for work that queues."""
        return ThreadPoolExecutor(size, thread_name_prefix=name)


# That of the process, as `ironic.core.clock.CLOCK`.
THREADS: Final = Threads()
