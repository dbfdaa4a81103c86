"""Write the pages that are read off the code: `python tools/docs.py`.

doc/states.md comes from the table of moves, doc/options.md from the declared options, doc/interface-steps.md from the
steps that interfaces declare, doc/microversions.md from the history of the API, doc/inspection-hooks.md from the hooks,
doc/inspection-rules-reference.md from the signatures of operators and actions, api-ref/ from the tables of routes and
fields. A test compares the files with what this would write, so a page can't fall behind.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import hardware_page
import hooks_page
import microversions_page
import openapi_page
import reference_pages
import rules_page
import steps_page
from oslo_config import cfg

from ironic.conf import GROUPS
from ironic.core import states

ROOT = Path(__file__).resolve().parent.parent

# Every move between two states of a chapter is drawn in it; a move may stand in two.
CHAPTERS = {
    "First contact": {states.ENROLL, states.VERIFYING, states.MANAGEABLE},
    "Inspecting": {states.MANAGEABLE, states.INSPECTING, states.INSPECTWAIT, states.INSPECTFAIL},
    "Adopting": {states.MANAGEABLE, states.ADOPTING, states.ADOPTFAIL, states.ACTIVE},
    "Cleaning": {
        states.MANAGEABLE,
        states.AVAILABLE,
        states.DELETING,
        states.CLEANING,
        states.CLEANWAIT,
        states.CLEANHOLD,
        states.CLEANFAIL,
    },
    "Deploying and giving back": {
        states.AVAILABLE,
        states.DEPLOYING,
        states.DEPLOYWAIT,
        states.DEPLOYHOLD,
        states.DEPLOYFAIL,
        states.ACTIVE,
        states.DELETING,
        states.ERROR,
    },
    "Rescuing": {
        states.ACTIVE,
        states.RESCUING,
        states.RESCUEWAIT,
        states.RESCUEFAIL,
        states.RESCUE,
        states.UNRESCUING,
        states.UNRESCUEFAIL,
        states.DELETING,
    },
    "Servicing": {
        states.ACTIVE,
        states.SERVICING,
        states.SERVICEWAIT,
        states.SERVICEHOLD,
        states.SERVICEFAIL,
        states.DELETING,
        states.RESCUING,
    },
}

STATES_HEAD = """\
# The life of a node

Read off `ironic/core/states.py` by `make docs`: one picture of everything, one per flow. Arrows carry the event; boxes
with a thick frame are states a node may rest in. What users send is in the table at the end.
"""

OPTIONS_HEAD = """\
# Options

Read off `ironic/conf` by `make docs`. Options of logging, the message bus and the database engine are described by
their libraries (oslo.log, oslo.messaging, oslo.db). A dagger marks what SIGHUP makes the service read again.
"""


def states_page() -> str:
    """Return the pictures and the table of verbs."""
    parts = [STATES_HEAD, "## All of it\n", "\n".join(_picture(states.MOVES)), ""]
    for title, chapter in CHAPTERS.items():
        moves = [move for move in states.MOVES if move[0] in chapter and move[2] in chapter]
        parts += [f"## {title}\n", "\n".join(_picture(moves)), ""]
    parts += ["## What users may send\n", "\n".join(_verbs()), ""]
    return "\n".join(parts)


def _picture(moves: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    yield "```mermaid"
    yield "stateDiagram-v2"
    drawn = list(moves)
    for state in dict.fromkeys(end for start, _, target in drawn for end in (start, target)):
        yield f'    state "{state}" as {_name(state)}'
        if state in states.STABLE:
            yield f"    class {_name(state)} stable"
    yield "    classDef stable stroke-width:3px"
    for start, event, target in drawn:
        yield f"    {_name(start)} --> {_name(target)} : {event}"
    yield "```"


def _name(state: str) -> str:
    return state.replace(" ", "_").replace("-", "")


def _verbs() -> Iterator[str]:
    yield "| state | verbs |"
    yield "| --- | --- |"
    for state in sorted(states.ALL):
        if verbs := states.verbs_of(state):
            yield f"| {state} | {', '.join(sorted(verbs))} |"


def options_page() -> str:
    """Return one table per group."""
    tables: dict[str, list[cfg.Opt]] = {}
    for module in GROUPS:
        name = module.__name__.rpartition(".")[2]
        group = "DEFAULT" if name in ("default", "interfaces") else name
        tables.setdefault(group, []).extend(getattr(module, "OPTIONS", ()))
    return "\n".join([OPTIONS_HEAD, *(line for group, options in tables.items() for line in _table(group, options))])


def _table(group: str, options: list[cfg.Opt]) -> Iterator[str]:
    if options:
        yield f"## [{group}]\n"
        yield "| option | default | meaning |"
        yield "| --- | --- | --- |"
        yield from (_row(option) for option in options)
        yield ""


def _row(option: cfg.Opt) -> str:
    mark = " †" if option.mutable else ""
    choices = getattr(option.type, "choices", None)
    words = f" One of: {', '.join(choices)}." if choices else ""
    older = "".join(f" Older name: {_older(name)}." for name in option.deprecated_opts)
    return f"| `{option.dest}`{mark} | {_default(option)} | {option.help}{words}{older} |"


def _older(name: cfg.DeprecatedOpt) -> str:
    return f"`{f'[{name.group}]' if name.group else ''}{name.name}`"


def _default(option: cfg.Opt) -> str:
    described = str(option.sample_default).startswith("<")
    value = option.sample_default if described else option.default
    if value is None or value == "":
        return ""
    if isinstance(value, list):
        return ", ".join(f"`{item}`" for item in value)
    return f"`{value}`"


def pages() -> dict[Path, str]:
    """Return every generated page."""
    doc = ROOT / "doc"
    return {
        doc / "states.md": states_page(),
        doc / "options.md": options_page(),
        doc / "inspection-hooks.md": hooks_page.page(),
        doc / "inspection-rules-reference.md": rules_page.page(),
        doc / "hardware.md": hardware_page.page(),
        doc / "interface-steps.md": steps_page.page(),
        doc / "microversions.md": microversions_page.page(),
        ROOT / "api-ref" / "openapi.json": openapi_page.page(),
        **{ROOT / "api-ref" / name: text for name, text in reference_pages.pages().items()},
    }


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
