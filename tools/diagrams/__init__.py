"""Diagrams of the documentation as SVG: the sources are the part of Mermaid's language that the pages use.

Sites that show Markdown draw the sources themselves; the documentation site is built without a browser and a network.
A line that is not understood is an error, so that no diagram loses a part.
"""

from diagrams.graphs import draw_graph
from diagrams.sequences import draw_sequence

KINDS = {"flowchart": draw_graph, "stateDiagram-v2": draw_graph, "sequenceDiagram": draw_sequence}


def draw(source: str) -> str:
    """Return a diagram as a document of SVG.

    Raises ValueError for a source that is not understood, with the line, and where Graphviz is missing.
    """
    kind = source.split(maxsplit=1)[0] if source.strip() else ""
    if kind not in KINDS:
        raise ValueError(f"a diagram is one of {', '.join(KINDS)}, not {kind!r}")
    return KINDS[kind](source)
