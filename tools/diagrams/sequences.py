"""Diagrams of sequences: who sends what to whom, from top to bottom."""

import re
import textwrap
from dataclasses import dataclass, field
from xml.etree import ElementTree

PARTICIPANT = re.compile(r"participant (\w+)(?: as (.+))?")
MESSAGE = re.compile(r"(\w+)(--?)>>(\w+): (.+)")
NOTE = re.compile(r"Note over (\w+)(?:, ?(\w+))?: (.+)")
# Of letters of 13 pixels.
LETTER = 6.6
LINE = 17
HEAD = 34
PADDING = 14
WRAP = 34
SELF = 36
# A line of a participant that is behind the words is covered.
LETTERS = {"fill": "#222222", "stroke": "white", "stroke-width": "4", "paint-order": "stroke"}


@dataclass
class Row:
    """A message or a note; `target` is the other end of a message, and the last participant that a note covers."""

    start: str
    target: str
    words: list[str]
    kind: str


@dataclass
class Sequence:
    """Participants with the words in their heads, and rows in their order."""

    heads: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)


def draw_sequence(source: str) -> str:
    """Return a diagram of a sequence as SVG; ValueError says which line is not understood."""
    sequence = _read(source.strip().splitlines()[1:])
    places, width = _places(sequence)
    height = 2 * PADDING + HEAD + sum(_height(row) for row in sequence.rows)
    svg = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": f"{width:.0f}",
            "height": f"{height:.0f}",
            "viewBox": f"0 0 {width:.0f} {height:.0f}",
            "font-family": "Helvetica,Arial,sans-serif",
            "font-size": "13",
        },
    )
    _add(svg, "rect", width=width, height=height, fill="white")
    for name, words in sequence.heads.items():
        _add(svg, "line", x1=places[name], x2=places[name], y1=PADDING + HEAD, y2=height - PADDING, stroke="#aaaaaa")
        room = len(words) * LETTER + 2 * PADDING
        _add(
            svg,
            "rect",
            x=places[name] - room / 2,
            y=PADDING,
            width=room,
            height=HEAD,
            rx=4,
            fill="#f4f4f4",
            stroke="#666666",
        )
        _write(svg, places[name], PADDING + HEAD / 2 + 5, [words])
    top = PADDING + HEAD
    for row in sequence.rows:
        _draw_row(svg, places, row, top)
        top += _height(row)
    return ElementTree.tostring(svg, encoding="unicode", xml_declaration=True)


def _read(lines: list[str]) -> Sequence:
    sequence = Sequence()
    for line in (line.strip() for line in lines):
        if match := PARTICIPANT.fullmatch(line):
            sequence.heads[match[1]] = match[2] or match[1]
            continue
        if match := MESSAGE.fullmatch(line):
            row = Row(match[1], match[3], textwrap.wrap(match[4], WRAP), match[2])
        elif match := NOTE.fullmatch(line):
            row = Row(match[1], match[2] or match[1], textwrap.wrap(match[3], WRAP), "note")
        else:
            raise ValueError(f"a diagram of a sequence has the line {line!r}, which is not understood")
        for name in {row.start, row.target} - {*sequence.heads}:
            raise ValueError(f"{line!r} names {name}, which is no participant of the sequence")
        sequence.rows.append(row)
    return sequence


def _places(sequence: Sequence) -> tuple[dict[str, float], float]:
    """Return where the line of each participant stands, and the width of the whole."""
    names = list(sequence.heads)
    heads = [len(words) * LETTER + 2 * PADDING for words in sequence.heads.values()]
    gaps = [(left + right) / 2 + PADDING for left, right in zip(heads, heads[1:], strict=False)]
    first, last = heads[0] / 2, heads[-1] / 2
    for row in sequence.rows:
        room = max(len(line) for line in row.words) * LETTER + 2 * PADDING
        start, end = sorted((names.index(row.start), names.index(row.target)))
        if start != end:
            gaps[start:end] = [max(gap, room / (end - start)) for gap in gaps[start:end]]
        elif row.kind == "note":
            first, last = max(first, room / 2 * (start == 0)), max(last, room / 2 * (start == len(gaps)))
            for near in {start - 1, start} & {*range(len(gaps))}:
                gaps[near] = max(gaps[near], room / 2 + PADDING)
        elif start == len(gaps):
            last = max(last, SELF + room)
        else:
            gaps[start] = max(gaps[start], SELF + room)
    places = [PADDING + first]
    for gap in gaps:
        places.append(places[-1] + gap)
    return dict(zip(names, places, strict=True)), places[-1] + last + PADDING


def _height(row: Row) -> int:
    return LINE * len(row.words) + (26 if row.kind == "note" else 30 if row.start == row.target else 18)


def _draw_row(svg: ElementTree.Element, places: dict[str, float], row: Row, top: float) -> None:
    start, end = places[row.start], places[row.target]
    below = top + LINE * len(row.words) + 10
    if row.kind == "note":
        room = max(len(line) for line in row.words) * LETTER + PADDING
        width = max(room, abs(end - start) + 2 * PADDING)
        _add(
            svg,
            "rect",
            x=(start + end - width) / 2,
            y=top + 8,
            width=width,
            height=below - top,
            fill="#fff8dc",
            stroke="#bbaa77",
        )
        _write(svg, (start + end) / 2, top + 24, row.words)
    elif row.start == row.target:
        _write(svg, start + SELF + 6, top + 20, row.words, anchor="start")
        path = f"M{start:.1f},{top + 14:.1f} h{SELF} v{below - top + 2:.1f} h{7 - SELF}"
        _add(svg, "path", d=path, fill="none", stroke="#555555")
        _tip(svg, start, top + 14 + below - top + 2, -1)
    else:
        way = 1 if end > start else -1
        _write(svg, (start + end) / 2, top + 20, row.words)
        dashes = {"stroke-dasharray": "4 3"} if row.kind == "--" else {}
        _add(svg, "line", x1=start, x2=end - 7 * way, y1=below, y2=below, stroke="#555555", **dashes)
        _tip(svg, end, below, way)


def _tip(svg: ElementTree.Element, x: float, y: float, way: int) -> None:
    back = x - 8 * way
    _add(svg, "path", d=f"M{x:.1f},{y:.1f} L{back:.1f},{y - 4:.1f} L{back:.1f},{y + 4:.1f} z", fill="#555555")


def _write(svg: ElementTree.Element, x: float, y: float, words: list[str], anchor: str = "middle") -> None:
    for number, line in enumerate(words):
        text = _add(svg, "text", x=x, y=y + LINE * number, **LETTERS, **{"text-anchor": anchor})
        text.text = line


def _add(svg: ElementTree.Element, tag: str, **values: float | str) -> ElementTree.Element:
    written = {name: value if isinstance(value, str) else f"{value:.1f}" for name, value in values.items()}
    return ElementTree.SubElement(svg, tag, written)
