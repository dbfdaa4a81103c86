"""Sphinx: how the pages become a site. `make docs` runs it; the source directory is the top of the tree.

The source directory is not doc/ because pages of doc/, api-ref/ and ironic/api/ link to each other by relative paths,
which have to work in the repository and on the site alike.
"""

import configparser
import logging
import os
import sys
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from pygments.lexers.special import TextLexer
from reno.config import Config
from reno.formatter import format_report
from reno.loader import Loader
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles

from ironic.conf.release import without_epoch

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "tools"))

project = "Ironic"
html_title = "Ironic"
html_show_copyright = False

extensions = ["diagrams.diagram_directive", "myst_parser"]
source_suffix = {".md": "markdown"}
include_patterns = ["doc/**.md", "api-ref/**.md", "ironic/api/README.md", "devstack/*.md", "*.md"]
# Sphinx walks everything else to find these.
exclude_patterns = [".*", "build", "dist", "ironic/tests"]
root_doc = "doc/index"

# Every reference has to lead somewhere; `make docs` makes warnings errors.
nitpicky = True
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
myst_fence_as_directive = ["mermaid"]
# An indented block may be a command or a file.
highlight_language = "text"

# openstackdocstheme installs and works, but brings the header, footer, licence, search and visitor counting of
# docs.openstack.org, where this site is not. Furo fetches nothing from elsewhere and searches the site's own index.
html_theme = "furo"
# `make docs EDIT=https://forge.example/ironic/edit/main` adds a link to each page, by which a reader changes it.
# Without that address a page only shows its source.
EDIT = os.environ.get("SITE_EDIT", "").rstrip("/")
html_theme_options = {
    "navigation_with_keys": True,
    "top_of_page_buttons": ["view", *(["edit"] if EDIT else [])],
    **({"source_edit_link": f"{EDIT}/{{filename}}"} if EDIT else {}),
}
# The first page is below doc/; the site opens at its top.
html_additional_pages = {"index": "to_first_page.html"}
templates_path = ["_templates"]
html_css_files = ["site.css"]
html_js_files = ["sidebar.js"]
html_search_scorer = str(HERE / "_static" / "search_ranking.js")

html_static_path = ["_static"]


RELEASE_NOTES = "doc/release-notes"
# What reno calls a history without a tag.
UNTAGGED = "0.0.0"


class ReleaseNotes(SphinxDirective):
    """The notes of all releases, newest first, as reno finds them in the history of the repository."""

    def run(self) -> list[nodes.Node]:
        logging.getLogger("reno").setLevel(logging.WARNING)
        settings = Config(str(HERE.parent))
        settings.override(unreleased_version_title="Not released yet")
        with Loader(settings) as loader:
            text: str = format_report(loader, settings, loader.versions, show_source=False)
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(HERE.parent / "setup.cfg")
        title = f"{without_epoch(parser['metadata']['version'])}, what led to it, and what follows it"
        text = text.replace(f"\n{UNTAGGED}\n{'=' * len(UNTAGGED)}\n", f"\n{title}\n{'=' * len(title)}\n")
        holder = nodes.section()
        holder.document = self.state.document
        nested_parse_with_titles(self.state, StringList(text.splitlines(), RELEASE_NOTES), holder)
        return holder.children


def changed_by_notes(*_: object) -> list[str]:
    """Return the page that is to be read again although its own file is the same."""
    return [RELEASE_NOTES]


def setup(app: Sphinx) -> None:
    """Add what Sphinx does not know: diagrams, and fences of `dnsmasq.conf`, by which a test finds them, as text."""
    app.add_lexer("dnsmasq.conf", TextLexer)
    app.add_directive("release-notes", ReleaseNotes)
    app.connect("env-get-outdated", changed_by_notes)
