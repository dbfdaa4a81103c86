"""The pages build into a site without a dead link, and each one has its place in the guide of one reader."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ironic.core.flows import states
from ironic.tests.repository import ROOT

FIRST = ROOT / "doc" / "index.md"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What a browser asks for by itself; links are for those who follow them.
FETCHED = re.compile(r"""(?:<(?:script|img|iframe|source)[^>]*?\ssrc|<link[^>]*?\shref)=["']([^"']+)["']""")
FENCE = re.compile(r"^```mermaid\n(.*?)^```", re.MULTILINE | re.DOTALL)
SVG = "{http://www.w3.org/2000/svg}"
LINK = re.compile(r"\]\(([^)#\s:]+\.md)\)")


def build(source: Path, site: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Build a site as `make docs` does."""
    arguments: list[str | Path] = [
        "-q",
        "-W",
        "--keep-going",
        "-c",
        ROOT / "doc",
        "-d",
        site / "doctrees",
        source,
        site / "html",
    ]
    command = [sys.executable, "-m", "sphinx", *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300)


def contents(page: Path) -> list[Path]:
    """Return the pages that stand in a page's table of contents."""
    entries = [line for block in TOCTREE.findall(page.read_text()) for line in block.splitlines() if line[0] != ":"]
    names = [re.sub(r".*<(.*)>", r"\1", entry) for entry in entries]
    return [(page.parent / f"{name}.md").resolve() for name in names]


def below(page: Path) -> list[Path]:
    """Return all pages that the tables of contents lead to."""
    return [one for child in contents(page) for one in (child, *below(child))]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once; return the directory of its pages."""
    place = tmp_path_factory.mktemp("site")
    done = build(ROOT, place)
    assert done.returncode == 0, done.stderr
    return place / "html"


def test_the_site_builds(site: Path) -> None:
    for page in [FIRST, *below(FIRST)]:
        assert (site / page.relative_to(ROOT)).with_suffix(".html").exists()
    assert (site / "searchindex.js").exists()
    notes = (site / "doc" / "release-notes.html").read_text()
    assert "Upgrade Notes" in notes and "A second start beside a running service ended that one" in notes
    fetched = [one for page in site.rglob("*.html") for one in FETCHED.findall(page.read_text())]
    assert len(fetched) > 100
    assert [address for address in fetched if "//" in address] == [], "the site has to work without a network"


def pictures_of(page: Path) -> list[set[str]]:
    """Return the words of each diagram of a built page, read from the files that the page refers to."""
    found = []
    for figure in re.findall(r'<figure class="diagram">(.*?)</figure>', page.read_text(), re.DOTALL):
        address = re.findall(r'<img src="([^"]+)" alt="[^"]+"', figure)
        assert len(address) == 1 and f'<a href="{address[0]}">' in figure, figure
        svg = ElementTree.parse(page.parent / address[0]).getroot()
        assert svg.tag == f"{SVG}svg" and svg.get("width") and svg.get("viewBox")
        found.append({"".join(text.itertext()).strip(" ,") for text in svg.iter(f"{SVG}text")})
    return found


PICTURED = [page for page in [FIRST, *below(FIRST)] if FENCE.search(page.read_text())]


@pytest.mark.parametrize("page", PICTURED, ids=lambda page: page.stem)
def test_each_diagram_of_a_page_is_a_picture_with_its_words(site: Path, page: Path) -> None:
    sources = FENCE.findall(page.read_text())
    built = (site / page.relative_to(ROOT)).with_suffix(".html")
    pictures = pictures_of(built)
    assert len(pictures) == len(sources)
    for source, picture in zip(sources, pictures, strict=True):
        assert source.split(maxsplit=1)[0] not in built.read_text(), "the source stands on the page as raw text"
        drawn = set(" ".join(picture).replace(",", " ").split())
        quoted = re.findall(r'"([^"]+)"|: (.+)$', source, re.MULTILINE)
        words = {word for texts in quoted for text in texts for word in text.replace(",", " ").split()}
        assert words and words <= drawn


def test_screenshots_are_small_and_shown_with_words_for_those_who_do_not_see_them(site: Path) -> None:
    shown = {}
    for page in site.rglob("*.html"):
        for words, address in re.findall(r'<img alt="([^"]*)" src="([^"]+\.png)"', page.read_text()):
            shown[address.rpartition("/")[2]] = words
            assert (page.parent / address).stat().st_size < 100_000
    assert set(shown) == {path.name for path in (ROOT / "doc" / "_static" / "screenshots").iterdir()} != set()
    assert all(len(words.split()) > 5 for words in shown.values()), shown


def test_the_diagrams_of_the_states_have_every_state_and_event(site: Path) -> None:
    whole, *chapters = pictures_of(site / "doc" / "states.html")
    assert whole >= states.ALL
    events = {event for text in whole for event in text.split(", ")}
    assert {event for _, event, _ in states.MOVES} <= events
    assert len(chapters) >= 7 and {text for chapter in chapters for text in chapter} & states.ALL == states.ALL


def test_words_of_a_diagram_are_no_markup(tmp_path: Path) -> None:
    pages = tmp_path / "doc"
    pages.mkdir()
    words = "<script> & \\N \\"
    sources = [
        f'flowchart LR\n    a["{words}"] -- "{words}" --> b & c\n    c --- a',
        f"stateDiagram-v2\n    a --> b: {words}\n    a: {words}",
        f"sequenceDiagram\n    participant a as {words}\n    a->>a: {words}\n    Note over a: {words}",
    ]
    fences = "\n\n".join(f"```mermaid\n{source}\n```" for source in sources)
    (pages / "index.md").write_text(f"# First\n\n{fences}\n")
    done = build(tmp_path, tmp_path)
    assert done.returncode == 0, done.stderr
    page = tmp_path / "html" / "doc" / "index.html"
    assert [words in drawn for drawn in pictures_of(page)] == [True, True, True]
    assert "<script> &" not in page.read_text()


def test_a_diagram_that_is_not_understood_fails_the_build(tmp_path: Path) -> None:
    pages = tmp_path / "doc"
    pages.mkdir()
    (pages / "index.md").write_text('# First\n\n```mermaid\nflowchart LR\n    a --> b["<c>"]\n    a ==> c\n```\n')
    done = build(tmp_path, tmp_path)
    assert done.returncode != 0
    assert "'a ==> c', which is not understood from '==> c'" in done.stderr


def test_a_page_shows_its_source_and_may_lead_to_where_it_is_edited(tmp_path: Path) -> None:
    pages = tmp_path / "doc"
    pages.mkdir()
    (pages / "index.md").write_text("# First\n")
    page = tmp_path / "html" / "doc" / "index.html"
    for address, leads in (
        ("", []),
        ("https://forge.example/edit/main/", ["https://forge.example/edit/main/doc/index.md"]),
    ):
        done = build(tmp_path, tmp_path, SITE_EDIT=address)
        assert done.returncode == 0, done.stderr
        assert re.findall(r'href="([^"]+)" rel="edit"', page.read_text()) == leads
        (source,) = re.findall(r'href="([^"]+)" title="View this page"', page.read_text())
        assert (page.parent / source).read_text() == "# First\n"


def test_every_option_has_an_address_of_its_own() -> None:
    addresses = re.findall(
        r'^<a id="(\S+)" href="#\1">`\w+`</a>', (ROOT / "doc" / "options.md").read_text(), re.MULTILINE
    )
    assert len(addresses) == len(set(addresses)) > 400
    assert "deploy-http-root" in addresses


def test_dead_links_fail_the_build(tmp_path: Path) -> None:
    dead = ["no-such-page.md", "#no-such-heading", "other.md#no-such-part"]
    pages = tmp_path / "doc"
    pages.mkdir()
    links = " ".join(f"[a link]({link})" for link in [*dead, "other.md#other"])
    (pages / "index.md").write_text(f"# First\n\n{links}\n\n```{{toctree}}\nother\n```\n")
    (pages / "other.md").write_text("# Other\n")
    done = build(tmp_path, tmp_path)
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == len(dead), done.stderr
    assert all(f"no-such-{what}" in done.stderr for what in ("page", "heading", "part"))


def test_every_page_is_in_one_table_of_contents() -> None:
    pages = {
        *ROOT.glob("doc/**/*.md"),
        *ROOT.glob("api-ref/*.md"),
        ROOT / "ironic/api/README.md",
        *ROOT.glob("*.md"),
        *ROOT.glob("devstack/*.md"),
    }
    assert Counter(below(FIRST)) == Counter(pages - {FIRST})


@pytest.mark.parametrize("page", [FIRST, *contents(FIRST)], ids=lambda page: page.stem)
def test_a_guide_links_to_the_pages_of_its_contents(page: Path) -> None:
    # Sites that render Markdown alone show no table of contents.
    named = {(page.parent / name).resolve() for name in LINK.findall(page.read_text())}
    assert {*contents(page)} <= named
