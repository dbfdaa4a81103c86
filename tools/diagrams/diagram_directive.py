"""What Sphinx makes of a fence `mermaid`: a picture in SVG, which is drawn when the page is read.

Sites that show Markdown draw the same fence themselves.
"""

import hashlib
import html
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

import diagrams

# What a line of text has room for on the site; a wider picture is shown smaller, and says where its full size is.
COLUMN = 740
# A picture is scrolled on a phone, not made illegible.
READABLE = 700
NAMES = {"stateDiagram-v2": "Diagram of states", "sequenceDiagram": "Sequence", "flowchart": "Flowchart"}


# docutils writes the names of its nodes small.
class diagram(nodes.General, nodes.Element):
    """A picture on a page: its document of SVG in `svg`, what it shows in `alt`."""


class Diagram(SphinxDirective):
    """A fence `mermaid`."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        source = "\n".join(self.content)
        try:
            svg = diagrams.draw(source)
        except ValueError as error:
            raise self.error(str(error)) from None
        texts = ElementTree.fromstring(svg).iterfind(".//{http://www.w3.org/2000/svg}text")
        words = ", ".join("".join(text.itertext()).strip() for text in texts)
        return [diagram("", svg=svg, alt=f"{NAMES[source.split()[0]]}: {words}")]


def write_diagram(translator: HTML5Translator, node: diagram) -> None:
    """Write the file of a diagram and the figure that shows it; the figure leads to the file, which is in full size."""
    name = f"diagram-{hashlib.sha256(node['svg'].encode()).hexdigest()[:16]}.svg"
    place = Path(translator.builder.outdir, "_images", name)
    place.parent.mkdir(exist_ok=True)
    place.write_text(node["svg"])
    address = f"{translator.builder.imgpath}/{name}"
    # Graphviz counts in points; shown in as many pixels, its letters are as large as those of the page.
    width = round(float(ElementTree.fromstring(node["svg"]).get("width", "").removesuffix("pt")))
    hint = f'<figcaption><a href="{address}">Open in full size</a></figcaption>' if width > COLUMN else ""
    style = f"width: {width}px; min-width: {min(width, READABLE)}px"
    picture = f'<img src="{address}" alt="{html.escape(node["alt"])}" style="{style}">'
    translator.body.append(f'<figure class="diagram"><a href="{address}">{picture}</a>{hint}</figure>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Have Sphinx draw the fences of its pages."""
    app.add_node(diagram, html=(write_diagram, None))
    app.add_directive("mermaid", Diagram)
