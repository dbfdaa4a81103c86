"""The pages build into a site without a dead link, and each one has its place in the guide of one reader."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from ironic.tests.repository import ROOT

FIRST = ROOT / "doc" / "index.md"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
# What a browser asks for by itself; links are for those who follow them.
FETCHED = re.compile(r"""(?:<(?:script|img|iframe|source)[^>]*?\ssrc|<link[^>]*?\shref)=["']([^"']+)["']""")
LINK = re.compile(r"\]\(([^)#\s:]+\.md)\)")


def build(source: Path, site: Path) -> "subprocess.CompletedProcess[str]":
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
    return subprocess.run([sys.executable, "-m", "sphinx", *arguments], capture_output=True, text=True, timeout=300)


def contents(page: Path) -> list[Path]:
    """Return the pages that stand in a page's table of contents."""
    entries = [line for block in TOCTREE.findall(page.read_text()) for line in block.splitlines() if line[0] != ":"]
    names = [re.sub(r".*<(.*)>", r"\1", entry) for entry in entries]
    return [(page.parent / f"{name}.md").resolve() for name in names]


def below(page: Path) -> list[Path]:
    """Return all pages that the tables of contents lead to."""
    return [one for child in contents(page) for one in (child, *below(child))]


def test_the_site_builds(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    for page in [FIRST, *below(FIRST)]:
        assert (tmp_path / "html" / page.relative_to(ROOT)).with_suffix(".html").exists()
    assert (tmp_path / "html" / "searchindex.js").exists()
    notes = (tmp_path / "html" / "doc" / "release-notes.html").read_text()
    assert "Upgrade Notes" in notes and "A second start beside a running service ended that one" in notes
    fetched = [one for page in (tmp_path / "html").rglob("*.html") for one in FETCHED.findall(page.read_text())]
    assert len(fetched) > 100
    assert [address for address in fetched if "//" in address] == [], "the site has to work without a network"


def test_a_diagram_is_drawn_by_the_browser_from_its_source(tmp_path: Path) -> None:
    pages = tmp_path / "doc"
    pages.mkdir()
    (pages / "index.md").write_text('# First\n\n```mermaid\nflowchart LR\n    a --> b["<c>"]\n```\n')
    done = build(tmp_path, tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "html" / "doc" / "index.html").read_text()
    assert '<pre class="mermaid">flowchart LR\n    a --&gt; b[&quot;&lt;c&gt;&quot;]</pre>' in page
    assert [name.partition("?")[0] for name in re.findall(r'src="[./]*_static/(\S+)"', page)][-2:] == [
        "mermaid.min.js",
        "diagrams.js",
    ]


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
    pages = {*ROOT.glob("doc/**/*.md"), *ROOT.glob("api-ref/*.md"), ROOT / "ironic/api/README.md", ROOT / "README.md"}
    assert Counter(below(FIRST)) == Counter(pages - {FIRST})


@pytest.mark.parametrize("page", [FIRST, *contents(FIRST)], ids=lambda page: page.stem)
def test_a_guide_links_to_the_pages_of_its_contents(page: Path) -> None:
    # Sites that render Markdown alone show no table of contents.
    named = {(page.parent / name).resolve() for name in LINK.findall(page.read_text())}
    assert {*contents(page)} <= named
