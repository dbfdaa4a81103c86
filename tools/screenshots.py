"""Make the pictures of doc/_static/screenshots anew: `make screenshots`. All of them show what really ran.

console.png    a graphical console, in Chromium: noVNC's page with the terminal that runs on the screen
terminal.png   the commands of the quick start, and what they print
search.png     the search of the documentation site, which `make docs` has built
"""

import contextlib
import html
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import console_browser
import run
from console_browser import ROOT, ScreensOfThisHost, opened, serving, shown, until
from playwright.sync_api import Browser, Page, sync_playwright

from ironic.tests.live_service import free_port

PLACE = ROOT / "doc" / "_static" / "screenshots"
# Pages load them with their text.
MOST_BYTES = 100_000
SESSION = (
    "baremetal node create --driver fake-hardware --name first -c name -c provision_state",
    "baremetal node manage first --wait",
    "baremetal node provide first --wait",
    "baremetal node deploy first --wait",
    "baremetal node show first --fields provision_state power_state driver",
    "baremetal node history list first -c event",
)
TERMINAL = """\
<body style="margin: 0; background: #1d232b"><pre style="margin: 0; padding: 16px 20px; color: #dfe5ec;
font: 14px/1.35 'DejaVu Sans Mono', monospace; display: inline-block">{}</pre></body>"""


def take(page: Page, name: str, part: str) -> None:
    """Store the picture of a part of a page; end with its size if a page can't carry it."""
    path = PLACE / f"{name}.png"
    page.locator(part).first.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size / 1000:.0f} kB")
    if size > MOST_BYTES:
        raise SystemExit(f"{path.name} has {size} bytes, {MOST_BYTES} are allowed; show less of it")


def of_a_console(browser: Browser, directory: Path) -> None:
    """Open a console, type into its terminal, and take the page."""
    place = directory / "screens"
    place.mkdir()
    screens = ScreensOfThisHost(place, console_browser.COLOUR)
    with contextlib.closing(screens), serving(directory, screens) as api:
        _, url = opened(api)
        screens.typed()
        page = browser.new_page(viewport={"width": 640, "height": 420})
        page.goto(url)
        until(lambda: shown(page) == console_browser.COLOUR, "the screen is shown")
        page.locator("canvas").click()
        page.keyboard.type("this is typed into the console")
        page.keyboard.press("Enter")
        until(screens.typed, "a line arrives")
        take(page, "console", "body")


def of_a_terminal(browser: Browser, directory: Path) -> None:
    """Type the commands of the quick start for a service of its own, and take what they print."""
    port = free_port()
    configuration = run.configure(directory / "service", port)
    option = [f"--config-file={configuration}"]
    subprocess.run([run.PROGRAMS / "ironic-dbsync", *option, "upgrade"], check=True, stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    with subprocess.Popen([run.PROGRAMS / "ironic", *option], stdin=subprocess.DEVNULL) as service:
        try:
            if not run.await_answer(url, service, directory / "service"):
                raise SystemExit("the service did not start")
            session = typed(SESSION, {"OS_AUTH_TYPE": "none", "OS_ENDPOINT": url})
        finally:
            service.terminate()
    page = browser.new_page(viewport={"width": 900, "height": 900})
    page.set_content(TERMINAL.format(html.escape(session)))
    take(page, "terminal", "pre")


def typed(commands: Sequence[str], environment: dict[str, str]) -> str:
    """Return commands with what they print."""
    path = f"{run.PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    lines: list[str] = []
    for command in commands:
        done = subprocess.run(
            command.split(),
            env={**os.environ, **environment, "PATH": path},
            capture_output=True,
            text=True,
            check=True,
        )
        lines += [f"$ {command}", done.stdout.rstrip("\n")]
    return "\n".join(lines)


def of_the_search(browser: Browser) -> None:
    """Search the built site for what a reader in need types."""
    page = browser.new_page(viewport={"width": 1280, "height": 560})
    page.goto(f"file://{ROOT}/.site/search.html?q=stuck")
    page.locator("#search-results .search-summary").get_by_text("finished").wait_for()
    page.evaluate(
        "[...document.querySelectorAll('#search-results ul.search > li')].slice(4).forEach(one => one.remove())"
    )
    take(page, "search", "body")


def main() -> int:
    """Make the pictures."""
    PLACE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ironic-pictures-") as text, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=console_browser.CHROMIUM, args=["--no-sandbox"])
        try:
            of_a_console(browser, Path(text))
            of_a_terminal(browser, Path(text))
            of_the_search(browser)
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
