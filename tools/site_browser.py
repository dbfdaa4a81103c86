"""Read the documentation site in a real browser without a network: `make docs-browser`.

Every page is opened from the disk, in the width of a desk and of a phone. Nothing may be asked of another machine,
every diagram of a page's source must be drawn, and no page, code block or entry may be wider than the window; tables
may on a phone, which scrolls them. Then the search is asked what readers ask, and an option is opened by its address.
`--pictures DIRECTORY` keeps what was seen.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, Route, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / ".site"
CHROMIUM = "/usr/bin/chromium"
WIDTHS = {"desk": 1280, "phone": 390}

# What is searched for, and the page that answers it: it has to be among the first two.
SEARCHES = {
    "redfish password": "doc/redfish",
    "stuck": "doc/troubleshooting",
    "hangs": "doc/troubleshooting",
    "timeout": "doc/troubleshooting",
    "https": "doc/install",
    "neutron": "doc/coming-from-openstack",
}

_DRAWN = "[...document.querySelectorAll('figure.diagram img')].filter(one => one.naturalWidth > 0).length"

_TOO_WIDE = """more => {
    const wide = [...document.querySelectorAll('.highlight pre, article dd, article p' + more)]
        .filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
        .map(one => one.innerText.slice(0, 60));
    const root = document.documentElement;
    return root.scrollWidth > root.clientWidth ? ['the page', ...wide] : wide;
}"""


def main() -> None:
    """Look at every page; say what is wrong with it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pictures", type=Path, help="where to keep a picture of each page")
    pictures: Path | None = parser.parse_args().pictures
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM) as browser:
        page = browser.new_page()
        faults = [*_read_all(page, pictures), *_search(page), *_open_option(page)]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


def _read_all(page: Page, pictures: Path | None) -> Iterator[str]:
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    page.route(re.compile("^(?!file:|data:|blob:)"), refuse)
    page.on("pageerror", lambda error: refused.append(str(error)))
    drawn = 0
    for source in _sources():
        name = source.relative_to(ROOT).with_suffix("")
        diagrams = len(re.findall(r"^```mermaid$", source.read_text(), re.MULTILINE))
        for about, width in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(f"file://{SITE / name}.html")
            if diagrams:
                page.wait_for_function(f"{_DRAWN} === {diagrams}")
            if wide := page.evaluate(_TOO_WIDE, ", .table-wrapper" if about == "desk" else ""):
                yield f"{name}: too wide for a {about}: {wide}"
            if pictures:
                page.screenshot(path=pictures / f"{str(name).replace('/', '-')}-{about}.png", full_page=True)
        yield from (f"{name}: asked for or failed with {what}" for what in refused)
        refused.clear()
        drawn += diagrams
    print(f"{drawn} diagrams are drawn.")


def _sources() -> list[Path]:
    pages = [SITE / ".." / path.relative_to(SITE) for path in SITE.rglob("*.html")]
    return sorted(source.resolve() for page in pages if (source := page.with_suffix(".md")).exists())


def _search(page: Page) -> Iterator[str]:
    page.set_viewport_size({"width": WIDTHS["desk"], "height": 900})
    for words, wanted in SEARCHES.items():
        page.goto(f"file://{SITE}/search.html?q={words}")
        page.locator("#search-results .search-summary").get_by_text("finished").wait_for()
        found = [str(link.get_attribute("href")) for link in page.locator("#search-results li > a").all()[:2]]
        if not any(one.startswith(f"{wanted}.html") for one in found):
            yield f"the search for {words!r} finds {found} first, not {wanted}"


def _open_option(page: Page) -> Iterator[str]:
    page.goto(f"file://{SITE}/doc/options.html#deploy-http-root")
    # A browser scrolls once the page is laid out.
    page.wait_for_function("document.querySelector('#deploy-http-root').getBoundingClientRect().top < 900")
    meaning = page.locator("dt:has(#deploy-http-root) + dd").bounding_box()
    if not meaning or meaning["width"] < 300:
        yield "the meaning of an option has no room"


if __name__ == "__main__":
    main()
