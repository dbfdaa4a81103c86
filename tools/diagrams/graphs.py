"""Flowcharts and diagrams of states, laid out by Graphviz."""

import re
import shutil
import subprocess
import textwrap
from dataclasses import dataclass, field

# The frames of a flowchart's nodes, by the brackets around the words.
FRAMES = {
    '(["': ('"])', 'shape=box style="rounded,filled" fillcolor="#dce6f2"'),
    '[("': ('")]', "shape=cylinder"),
    '[/"': ('"/]', 'shape=box style="dashed,filled"'),
    '["': ('"]', "shape=box"),
    '{"': ('"}', "shape=diamond margin=0.02"),
}
STATE = 'shape=box style="rounded,filled"'
STABLE = f"{STATE} penwidth=3"
NAME = re.compile(r"\w+")
LINK = re.compile(r'--(?P<kind>[->])|-- (?P<words>"[^"]*"|[\w ]*\w) -->')
GROUP = re.compile(r'subgraph (?P<name>\w+) \["(?P<words>[^"]*)"\]')
DIRECTIONS = {"LR", "TD", "TB"}
WIDTH = 24
LOOK = """\
bgcolor=white; fontname="Helvetica,Arial,sans-serif"; fontsize=13; nodesep=0.3; ranksep=0.45; pad=0.15;
node [fontname="Helvetica,Arial,sans-serif" fontsize=13 style=filled fillcolor="#f4f4f4" color="#666666" height=0.4];
edge [fontname="Helvetica,Arial,sans-serif" fontsize=11 color="#555555" fontcolor="#222222" arrowsize=0.7];
"""


@dataclass
class Graph:
    """What a source says: frames and words of nodes, links with the words of each, and groups of nodes."""

    direction: str = "TB"
    ordered: bool = False
    words: dict[str, str] = field(default_factory=dict)
    frames: dict[str, str] = field(default_factory=dict)
    # Links of the same two nodes are one line with the words of all.
    links: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)

    def link(self, start: str, target: str, kind: str, words: str) -> None:
        """Note a link; `kind` is the last character of its line in the source: `>` has an arrow, `-` has none."""
        held = self.links.setdefault((start, target, kind), [])
        if words:
            held.append(words)


def draw_graph(source: str) -> str:
    """Return a flowchart or a diagram of states as SVG; ValueError says which line is not understood."""
    if not shutil.which("dot"):
        raise ValueError("the diagrams need Graphviz: run `make packages`, or apt-get install graphviz")
    head, *lines = [line.strip() for line in source.strip().splitlines()]
    graph = _read_states(lines) if head == "stateDiagram-v2" else _read_flowchart(head, lines)
    done = subprocess.run(["dot", "-Tsvg"], input=_dot(graph), capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise ValueError(f"Graphviz does not draw a diagram: {done.stderr.strip()}")
    return done.stdout


def _read_states(lines: list[str]) -> Graph:
    graph = Graph()
    patterns = (
        (re.compile(r'state "([^"]*)" as (\w+)$'), lambda words, name: graph.words.update({name: words})),
        (re.compile(r"class (\w+) stable$"), lambda name: graph.frames.update({name: STABLE})),
        (re.compile(r"classDef stable .*$"), lambda: None),
        (re.compile(r"(\w+) --> (\w+) ?: ?(.+)$"), lambda start, end, words: graph.link(start, end, ">", words)),
        (re.compile(r"(\w+): (.+)$"), lambda name, words: graph.words.update({name: words})),
    )
    for line in lines:
        for pattern, note in patterns:
            if match := pattern.match(line):
                note(*match.groups())
                break
        else:
            raise ValueError(f"a diagram of states has the line {line!r}, which is not understood")
    for name in (end for start, target, _ in graph.links for end in (start, target)):
        graph.words.setdefault(name, name)
        graph.frames.setdefault(name, STATE)
    return graph


def _read_flowchart(head: str, lines: list[str]) -> Graph:
    direction = head.removeprefix("flowchart ")
    if direction not in DIRECTIONS:
        raise ValueError(f"a flowchart runs in one of {sorted(DIRECTIONS)}, not {direction!r}")
    graph = Graph(direction="TB" if direction == "TD" else direction, ordered=True)
    group = ""
    for line in lines:
        if match := GROUP.fullmatch(line):
            group = match["name"]
            graph.groups[group] = match["words"]
        elif line == "end" and group:
            group = ""
        else:
            _read_chain(graph, line, group)
    return graph


def _read_chain(graph: Graph, line: str, group: str) -> None:
    """Read nodes and the links between them: `a["words"] & b -- "words" --> c`."""
    starts, rest = _read_nodes(graph, line, group)
    while rest:
        link = LINK.match(rest)
        if not link:
            raise ValueError(f"a flowchart has the line {line!r}, which is not understood from {rest!r}")
        targets, rest = _read_nodes(graph, rest[link.end() :].strip(), group)
        for start in starts:
            for target in targets:
                graph.link(start, target, link["kind"] or ">", (link["words"] or "").strip('"'))
        starts = targets


def _read_nodes(graph: Graph, text: str, group: str) -> tuple[list[str], str]:
    names: list[str] = []
    while True:
        match = NAME.match(text)
        if not match:
            raise ValueError(f"a flowchart has {text!r} where a node's name is expected")
        name, text = match[0], text[match.end() :]
        names.append(name)
        for opening, (closing, frame) in FRAMES.items():
            if text.startswith(opening):
                words, found, text = text.removeprefix(opening).partition(closing)
                if not found:
                    raise ValueError(f"the node {name} of a flowchart has no end: {words!r}")
                graph.words[name], graph.frames[name] = words, frame
                break
        graph.words.setdefault(name, name)
        if group:
            graph.members.setdefault(name, group)
        text = text.strip()
        if not text.startswith("& "):
            return names, text
        text = text[2:]


def _dot(graph: Graph) -> str:
    lines = ["digraph {", f"rankdir={graph.direction};", LOOK]
    for group in ["", *graph.groups]:
        if group:
            lines += [
                f"subgraph cluster_{group} {{",
                f"label={_quoted([graph.groups[group]])}; labeljust=l; color=gray60;",
            ]
        for name, words in graph.words.items():
            if graph.members.get(name, "") == group:
                lines.append(
                    f"{name} [label={_quoted(textwrap.wrap(words, WIDTH))} {graph.frames.get(name, 'shape=box')}];"
                )
        if group:
            lines.append("}")
    order = {name: number for number, name in enumerate(graph.words)}
    for (start, target, kind), labels in graph.links.items():
        arrow = {"-": "none", ">": "forward"}[kind]
        # In a flowchart the node that is named first stands first, whichever way an arrow points.
        if graph.ordered and order[start] > order[target]:
            start, target, arrow = target, start, {"forward": "back"}.get(arrow, arrow)
        # A space keeps the words off the line.
        label = [f" {line}" for line in textwrap.wrap(", ".join(labels), WIDTH)]
        # Parts of a group that are only connected stand side by side, so that lines from outside reach each of them.
        beside = not labels and start in graph.members and graph.members[start] == graph.members.get(target)
        place = "constraint=false" if beside else ""
        lines.append(f"{start} -> {target} [label={_quoted(label)} dir={arrow} {place}];")
    return "\n".join([*lines, "}"])


def _quoted(lines: list[str]) -> str:
    return '"{}"'.format("\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines))
