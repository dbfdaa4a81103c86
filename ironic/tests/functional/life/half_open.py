"""A client of one address that connects and sends nothing, again and again; a process of its own.

`python -m ironic.tests.functional.life.half_open PORT ADDRESS PER_SECOND` begins with a line, and ends when its input
does. It keeps the connections of the last seconds.
"""

import contextlib
import select
import socket
import sys
import time
from collections import deque

# Fewer than the descriptors that a process has.
_KEPT = 800


def main(port: str, address: str, per_second: str) -> None:
    kept: deque[socket.socket] = deque(maxlen=_KEPT)
    began, count = time.monotonic(), 0
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    while not select.select([sys.stdin], [], [], 0.005)[0]:
        while count < (time.monotonic() - began) * int(per_second):
            count += 1
            client = socket.socket()
            client.bind((address, 0))
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                client.connect(("127.0.0.1", int(port)))
            if len(kept) == _KEPT:
                kept.popleft().close()
            kept.append(client)


if __name__ == "__main__":
    main(*sys.argv[1:])
