"""A real VNC server with an empty screen."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ironic.tests.functional.consoles.lines import until
from ironic.tests.live_service import free_port


@contextlib.contextmanager
def vnc_server(directory: Path, *options: str, security: str = "None") -> Iterator[int]:
    """Run TigerVNC's server on the loopback; give its port."""
    program = shutil.which("Xtigervnc")
    assert program, "this needs Xtigervnc: install Debian's package tigervnc-standalone-server"
    port, log = free_port(), directory / "vnc.log"
    # The server chooses a display of its own, says which one, and closes the descriptor that it was given for that.
    display, said = os.pipe()
    arguments = ["-displayfd", str(said), "-rfbport", str(port), "-localhost", "-SecurityTypes", security]
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [program, *arguments, "-geometry", "320x240", "-depth", "24", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[said],
        ) as process,
    ):
        os.close(said)
        try:
            until(lambda: b"Listening for VNC connections" in log.read_bytes() or process.poll() is not None, "VNC")
            assert process.poll() is None, log.read_text()
            yield port
        finally:
            process.terminate()
            os.close(display)
