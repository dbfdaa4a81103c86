"""Texts describe software, not people: subject, verb, object and the technical noun."""

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from ironic.tests.repository import ROOT

WORDS = re.compile(
    r"\b(nobody|somebody|anybody|everybody|whoever|tells?|told|telling|heed(?:s|ed)?|knocks?|looks? after)\b",
    re.IGNORECASE,
)
NOTES = sorted((ROOT / "releasenotes" / "notes").glob("*.yaml"))
# Layers and other packages of the product; the texts of tests are read by contributors only.
PACKAGES = sorted(path.parent for path in (ROOT / "ironic").glob("*/__init__.py") if path.parent.name != "tests")


def prose(page: Path) -> str:
    """Return the text of a page without its code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`]*`", "", text)


def texts(source: str) -> Iterator[str]:
    """Return the comments and strings of a module: docstrings, log lines, errors and help texts among them."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.string


def test_pages_use_plain_words() -> None:
    pages = {
        *(ROOT / "doc").glob("*.md"),
        *ROOT.glob("api-ref/*.md"),
        ROOT / "ironic/api/README.md",
        ROOT / "README.md",
    }
    assert len(pages) > 40
    assert {page.name: found for page in pages if (found := WORDS.findall(prose(page)))} == {}


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.stem.rpartition("-")[0])
def test_release_notes_use_plain_words(note: Path) -> None:
    assert WORDS.findall(prose(note)) == []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_the_product_uses_plain_words(package: Path) -> None:
    modules = list(package.rglob("*.py"))
    assert modules
    found = {
        f"{path.relative_to(ROOT)}: {WORDS.findall(text)} in {text[:80]!r}"
        for path in modules
        for text in texts(path.read_text())
        if WORDS.search(text)
    }
    assert found == set()


def test_names_of_code_are_not_texts() -> None:
    assert list(texts('told = "a text"  # a comment\n')) == ['"a text"', "# a comment"]
