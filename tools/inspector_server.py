"""The real standalone ironic-inspector on the loopback: `make inspector` makes its environment, `.venv-inspector`.

Tests start servers through `serving`, each with an SQLite database of its own. The project ironic-inspector has ended,
so its version is the last one; the libraries that it needs are those that pip finds.
"""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import environments
import requests

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".venv-inspector"
PACKAGES = ("ironic-inspector==12.5.0", "setuptools<81")
HOST = "127.0.0.1"
START_TIMEOUT = 90.0  # seconds
# Seconds that a request of this program may take.
PATIENCE = 60

# A machine may be inspected again at once: the delay is for BMCs that are overtaxed.
_CONFIGURATION = """\
[DEFAULT]
auth_strategy = noauth
transport_url = fake://
listen_address = {host}
listen_port = {port}
log_file = {directory}/inspector.log
introspection_delay = 0
[database]
connection = sqlite:///{directory}/inspector.sqlite
[ironic]
auth_type = none
endpoint_override = {baremetal}
retry_interval = 1
[pxe_filter]
driver = noop
[processing]
store_data = database
add_ports = all
"""


class StandaloneInspector:
    """A running server; `stop` ends it, and `start` starts it again on the same data."""

    def __init__(self, directory: Path, port: int, baremetal: str) -> None:
        """Write its configuration and make its database; ``baremetal`` is the URL of the bare metal API."""
        self.directory, self.url = directory, f"http://{HOST}:{port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._file = directory / "inspector.conf"
        self._file.write_text(_CONFIGURATION.format(directory=directory, host=HOST, port=port, baremetal=baremetal))
        environments.run(*self._program("ironic-inspector-dbsync"), "upgrade")

    def _program(self, name: str) -> list[str | Path]:
        return [HOME / "bin" / "python", "-W", "ignore", HOME / "bin" / name, "--config-file", self._file]

    def start(self) -> None:
        """Start it and wait until it answers."""
        with (self.directory / "output").open("ab") as output:
            self._process = subprocess.Popen(
                self._program("ironic-inspector"),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
            )
        deadline = time.monotonic() + START_TIMEOUT
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"ironic-inspector did not start. The end of its log:\n{self.log[-3000:]}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            return requests.get(f"{self.url}/v1", timeout=PATIENCE).ok
        except requests.ConnectionError:
            return False

    @property
    def log(self) -> str:
        """What it has logged and printed."""
        files = (self.directory / name for name in ("output", "inspector.log"))
        return "\n".join(file.read_text(errors="replace") for file in files if file.exists())

    def stop(self) -> None:
        """End the server; safe for one that has ended."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def install() -> None:
    """Make the environment, if need be."""
    HOME.mkdir(exist_ok=True)
    environments.ensure(
        HOME, [text.encode() for text in (*PACKAGES, sys.version)], lambda home: environments.install(home, PACKAGES)
    )


@contextlib.contextmanager
def serving(directory: Path, port: int, baremetal: str) -> Iterator[StandaloneInspector]:
    """Run a server for a bare metal API until the block ends."""
    install()
    server = StandaloneInspector(directory, port, baremetal)
    server.start()
    try:
        yield server
    finally:
        server.stop()


if __name__ == "__main__":
    install()
