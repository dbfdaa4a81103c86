"""A small raw image on a web server."""

import functools
import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_BYTES = 1 << 20
# One partition in the table of a master boot record, and its signature: without them it is no disk for the agent.
_PARTITION = bytes.fromhex("80000200 83000a00 08000000 00040000")
_SIGNATURE = b"\x55\xaa"


@dataclass(frozen=True)
class Image:
    """What it holds and where it is."""

    content: bytes
    url: str

    @property
    def instance_info(self) -> dict[str, str]:
        """What a node needs to get it."""
        digest = hashlib.sha256(self.content).hexdigest()
        hashed = {"image_os_hash_algo": "sha256", "image_os_hash_value": digest}
        return {"image_source": self.url, "image_disk_format": "raw", **hashed}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served_image(directory: Path) -> Iterator[Image]:
    """Make an image and serve it until the block ends."""
    content = bytes(446) + _PARTITION + bytes(48) + _SIGNATURE + os.urandom(_BYTES - 512)
    (directory / "tiny.raw").write_bytes(content)
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=directory))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield Image(content, f"http://127.0.0.1:{server.server_port}/tiny.raw")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
