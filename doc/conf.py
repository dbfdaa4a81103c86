"""Sphinx: how the pages become a site. `make docs` runs it; the source directory is the top of the tree.

The source directory is not doc/ because pages of doc/, api-ref/ and ironic/api/ link to each other by relative paths,
which have to work in the repository and on the site alike.
"""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

project = "Ironic"
html_title = "Ironic"
html_show_copyright = False

extensions = ["myst_parser", "sphinxcontrib.mermaid"]
source_suffix = {".md": "markdown"}
include_patterns = ["doc/**.md", "api-ref/**.md", "ironic/api/README.md", "README.md"]
# Sphinx walks everything else to find these.
exclude_patterns = [".*", "build", "dist", "ironic/tests"]
root_doc = "doc/index"

# Every reference has to lead somewhere; `make docs` makes warnings errors.
nitpicky = True
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]
# An indented block may be a command or a file.
highlight_language = "text"

# openstackdocstheme installs and works, but brings the header, footer, licence, search and visitor counting of
# docs.openstack.org, where this site is not. Furo fetches nothing from elsewhere and searches the site's own index.
# Only pictures need the network: the browser draws them with mermaid from a CDN, and shows their source without it.
html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
# The first page is below doc/; the site opens at its top.
html_additional_pages = {"index": "to_first_page.html"}
templates_path = ["_templates"]


def setup(app: Sphinx) -> None:
    """Show fences of `dnsmasq.conf`, by which a test finds the configuration in them, as plain text."""
    app.add_lexer("dnsmasq.conf", TextLexer)
