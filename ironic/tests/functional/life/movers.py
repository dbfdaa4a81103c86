"""Users who take many nodes through their whole life at once, come what may, and mend what has failed on the way."""

import threading
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import requests

from ironic.core.flows import states
from ironic.db import Store
from ironic.tests.site import Site

# Where a node is -> what is asked of it next, until it has been used and is available again.
_WAY: Mapping[str, str] = {
    states.ENROLL: "manage",
    states.MANAGEABLE: "provide",
    states.AVAILABLE: "active",
    states.ACTIVE: "deleted",
    # What died with a conductor is begun again.
    states.CLEANFAIL: "manage",
    states.DEPLOYFAIL: "deleted",
    states.ERROR: "deleted",
}

_RETRIED = frozenset({404, 409, 503})


class Movers:
    """Several users with one list of nodes, which they use once, or again and again while ``repeats`` is set."""

    def __init__(self, site: Site, store: Store, nodes: list[str], users: int, *, repeats: bool = False) -> None:
        self.repeats = repeats
        self.answers: Counter[int] = Counter()
        self.done: set[str] = set()
        self.accepted: Counter[str] = Counter()
        self._site, self._store, self._used = site, store, set[str]()
        self._nodes = deque(nodes)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work) for _ in range(users)]

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Have them work until the block ends."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                uuid = self._nodes.popleft()
            except IndexError:
                self._stop.wait(0.1)
                continue
            self._move(uuid)
            if uuid not in self.done:
                self._nodes.append(uuid)

    def _move(self, uuid: str) -> None:
        state, holder, maintenance = self._store.nodes.row(("provision_state", "reservation", "maintenance"), uuid)
        if holder is not None or state not in _WAY:
            self._stop.wait(0.01)
            return
        if state == states.ACTIVE:
            self._used.add(uuid)
        if state == states.AVAILABLE and uuid in self._used and not self.repeats:
            self.done.add(uuid)
            return
        if maintenance:
            self._ask("DELETE", f"/v1/nodes/{uuid}/maintenance", None)
        if self._ask("PUT", f"/v1/nodes/{uuid}/states/provision", {"target": _WAY[state]}) == 202:
            self.accepted[uuid] += 1

    def _ask(self, method: str, path: str, body: Mapping[str, str] | None) -> int:
        try:
            status: int = self._site.ask(method, path, body).status_code
        except requests.RequestException:
            status = 0
        self.answers[status] += 1
        if status in _RETRIED:
            self._stop.wait(0.1)
        return status
