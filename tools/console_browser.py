"""Show a graphical console in a real browser: `make console-browser`, or `make console-podman` with real containers.

The all-in-one service opens a console of provider `container`, whose screens are those of `tools/screens.py` or of
podman. Chromium loads Debian's noVNC from the proxy and shows the screen, on which a terminal has a colour of its own.
What is typed into the page arrives at the program in this terminal. The session is lost when the token expires.
"""

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import novnc
import requests
import run
from playwright.sync_api import Page, sync_playwright
from podman_screens import PodmanScreens

from ironic.tests.live_service import free_port

ROOT = Path(__file__).resolve().parent.parent
CHROMIUM = "/usr/bin/chromium"
PATIENCE = 90.0
TOKEN_SECONDS = 40
COLOUR = "#2a6f97"
# Letters of both cases, digits, and keys that need Shift or have a name of their own.
TYPED = 'Hello, World! #23 (a+b)=c; ~/x_y "quoted" <tag> $HOME \\ | & end'
HEADERS = {"X-OpenStack-Ironic-API-Version": "1.96"}

_CONSOLES = """\
[DEFAULT]
my_ip = 127.0.0.1
enabled_console_interfaces = fake-graphical, no-console
[vnc]
enabled = true
host_ip = 127.0.0.1
port = {port}
novnc_web = {pages}
container_provider = container
wait_for_ready_timeout = 30
{screens}
token_timeout = {token_seconds}
expire_console_session_interval = 5
"""


@contextlib.contextmanager
def serving(directory: Path, screens: "Screens") -> Iterator[str]:
    """Run the service; give the URL of its API."""
    port = free_port()
    own = directory / "consoles.conf"
    own.write_text(
        _CONSOLES.format(
            port=free_port(),
            pages=novnc.fetch(),
            screens="\n".join(f"{name} = {value}" for name, value in screens.options.items()),
            token_seconds=TOKEN_SECONDS,
        )
    )
    files = [f"--config-file={file}" for file in (run.configure(directory / "ironic", port), own)]
    subprocess.run([run.PROGRAMS / "ironic-dbsync", *files, "upgrade"], check=True, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([run.PROGRAMS / "ironic", *files], stdin=subprocess.DEVNULL) as service:
        try:
            if not run.await_answer(url, service, directory / "ironic"):
                raise SystemExit(f"The service did not start; see {directory}/ironic/ironic.log")
            yield url
        finally:
            service.terminate()


def call(url: str, method: str, path: str, body: object = None) -> Any:
    """Send a request to the API."""
    answer = requests.request(method, f"{url}/v1/{path}", json=body, headers=HEADERS, timeout=PATIENCE)
    answer.raise_for_status()
    return answer.json() if answer.content else None


def until(holds: Callable[[], Any], what: str) -> Any:
    """Wait until a condition holds; return what it gave."""
    deadline = time.monotonic() + PATIENCE
    while not (found := holds()):
        if time.monotonic() > deadline:
            raise SystemExit(f"waited too long until {what}")
        time.sleep(0.2)
    return found


def opened(url: str) -> tuple[str, str]:
    """Open the console of a new node; return the node and the URL for browsers."""
    node = call(url, "POST", "nodes", {"driver": "fake-hardware", "console_interface": "fake-graphical"})["uuid"]
    call(url, "PUT", f"nodes/{node}/states/console", {"enabled": True})
    found = until(lambda: call(url, "GET", f"nodes/{node}/states/console")["console_info"], "the console is open")
    return node, found["url"]


def shown(page: Page) -> str:
    """Return the most frequent colour of noVNC's canvas; "" before there is a picture."""
    script = """() => {
        const canvas = document.querySelector('canvas');
        if (!canvas || canvas.width !== 320) return '';
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const counts = {};
        for (const pixel of new Uint32Array(data.buffer)) counts[pixel] = (counts[pixel] || 0) + 1;
        const most = Object.keys(counts).sort((one, other) => counts[other] - counts[one])[0];
        const hex = number => number.toString(16).padStart(2, '0');
        return '#' + hex(most & 255) + hex(most >> 8 & 255) + hex(most >> 16 & 255);
    }"""
    return str(page.evaluate(script))


class Screens(Protocol):
    """Where screens come from: options of [vnc], the containers that are there, and what was typed on the only one."""

    options: dict[str, object]

    def running(self) -> list[str]: ...

    def typed(self) -> str: ...

    def close(self) -> None: ...


class ScreensOfThisHost:
    """Screens without containers, with a terminal on each."""

    def __init__(self, directory: Path, colour: str) -> None:
        self._directory, self._colour = directory, colour
        self._terminal: subprocess.Popen[bytes] | None = None
        executable = ROOT / "tools" / "screens.py"
        host = f"unix://{directory}"
        self.options = {"container_executable": executable, "container_host": host, "console_image": "none"}

    def running(self) -> list[str]:
        return [path.stem for path in self._directory.glob("*.json")]

    def typed(self) -> str:
        typed = self._directory / "typed"
        if self._terminal is None:
            (screen,) = self._directory.glob("*.json")
            display = json.loads(screen.read_text())["display"]
            look = ["-geometry", "80x24+0+0", "-bg", self._colour, "-fg", "black", "+sb", "-b", "0", "-bw", "0"]
            command = ["xterm", "-display", display, *look, "-e", "sh", "-c", 'exec cat > "$0"', str(typed)]
            self._terminal = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return typed.read_text() if typed.exists() else ""

    def close(self) -> None:
        if self._terminal is not None:
            self._terminal.terminate()
            self._terminal.wait()


def check(directory: Path, screens: Screens) -> Iterator[str]:
    """Yield what holds."""
    with serving(directory, screens) as api, sync_playwright() as playwright:
        node, url = opened(api)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            page = browser.new_page()
            if screens.typed():
                raise SystemExit("something was typed before anyone has come")
            (container,) = screens.running()
            yield f"Container {container} runs"
            faults: list[str] = []
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.goto(url)
            until(lambda: shown(page) == COLOUR, "the screen is shown")
            yield f"Chromium {browser.version} shows the screen of 320x240, which is {COLOUR}"
            status = page.locator("#status").inner_text()
            if not re.match("Connected", status):
                raise SystemExit(f"noVNC says {status!r}")
            yield f"noVNC says {status!r}"
            page.locator("canvas").click()
            page.keyboard.type(TYPED)
            page.keyboard.press("Enter")
            if (arrived := until(screens.typed, "a line arrives")) != f"{TYPED}\n":
                raise SystemExit(f"typed was {TYPED!r}, and {arrived!r} has arrived")
            yield f"{len(TYPED)} characters were typed, and these very ones have arrived on the screen"
            stranger = browser.new_page()
            stranger.goto(url.partition("%26token%3D")[0] + "%26token%3Dwrong")
            until(
                lambda: not stranger.locator("#status").inner_text().startswith("Connect"), "a wrong token is refused"
            )
            yield f"With a wrong token noVNC says {stranger.locator('#status').inner_text()!r}"
            until(lambda: not page.locator("#status").inner_text().startswith("Connected"), "the session expires")
            yield f"After {TOKEN_SECONDS} seconds it says {page.locator('#status').inner_text()!r}"
            until(lambda: not call(api, "GET", f"nodes/{node}/states/console")["console_enabled"], "it is closed")
            until(lambda: not screens.running(), "the container is removed")
            yield "The console is closed, and its container is removed"
            if faults:
                raise SystemExit(f"the page has errors: {faults}")
        finally:
            browser.close()


def main() -> int:
    """Print what holds, and how long it took."""
    parser = argparse.ArgumentParser(description="Show a graphical console in Chromium.")
    parser.add_argument("--podman", action="store_true", help="let podman run the screens in containers")
    asked = parser.parse_args()
    if not os.path.exists(CHROMIUM):
        raise SystemExit("Chromium is missing: tools/packages.sh tools/console-browser-packages.txt")
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ironic-console-") as directory:
        place = Path(directory) / "screens"
        place.mkdir()
        screens: Screens = (PodmanScreens if asked.podman else ScreensOfThisHost)(place, COLOUR)
        with contextlib.closing(screens):
            for line in check(Path(directory), screens):
                print(f"{time.monotonic() - began:5.1f} s  {line}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
