"""A client that never stops sending requests: shows whether clients of the API notice a change behind it."""

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ironic.tests.site import Site


@contextmanager
def asking(site: Site, nodes: Sequence[dict[str, Any]]) -> Iterator[Counter[int]]:
    """Ask conductors about all nodes again and again while the block runs; count the answers by their status."""
    statuses: Counter[int] = Counter()
    enough = threading.Event()

    def ask() -> None:
        while not enough.is_set():
            for node in nodes:
                statuses[site.ask("GET", f"/v1/nodes/{node['uuid']}/management/boot_device").status_code] += 1

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield statuses
    finally:
        enough.set()
        thread.join()
