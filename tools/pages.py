"""Write the pages that are generated from the code: `python tools/pages.py`.

doc/states.md comes from the table of moves, doc/options.md from the declared options, doc/interface-steps.md from the
steps that interfaces declare, doc/microversions.md from the history of the API, doc/inspection-hooks.md from the hooks,
doc/inspection-rules-reference.md from the signatures of operators and actions, doc/metric-names.md from routes, calls
and interfaces, doc/coming-from-openstack.md from what the start skips, doc/internal-info.md from the keys of
driver_internal_info, doc/driver-info.md from those of driver_info, the differences between BMCs in
doc/contract/drivers.md from their table, doc/proved-bmcs.md from what becomes of all operations on recorded machines,
which are played before, api-ref/ from the OpenAPI documents. A test compares the files with the code.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import coming_page
import differences_page
import hardware_page
import hooks_page
import info_keys_page
import internal_keys_page
import metrics_page
import microversions_page
import openapi_page
import proved_page
import reference_pages
import rules_page
import steps_page
from oslo_config import cfg

from ironic.conf import BORROWED, OPTIONS
from ironic.core.flows import states

ROOT = Path(__file__).resolve().parent.parent

# A chapter draws every move between two of its states; a move may be in two chapters.
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

Arrows carry the event. Boxes with a thick frame are stable states, in which no operation runs. [The table at the
end](#what-users-may-send) lists the verbs of each state.
"""

OPTIONS_HEAD = """\
# Options

[Configuration](configuration.md) explains files, and how a running service takes new values. A dagger (†) marks options
that take a new value on SIGHUP; others need a restart. The address of this page with `#group-option`, as in
`#deploy-http-root`, leads to an option.

The options of logging, the message bus, tokens, CORS and policy files are documented by their libraries (oslo.log,
oslo.messaging, keystonemiddleware, oslo.middleware, oslo.policy). Of `[database]` and `[swift]` those are listed, last,
that this service reads of oslo.db's and keystoneauth's.
"""

# Of use to those who change the page, so it stands last.
MADE = "*Generated from {} by `make pages`.*\n"


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
    """Return one definition list per group."""
    groups = list(dict.fromkeys((*OPTIONS, *BORROWED)))
    links = ", ".join(f"[{group}](#{group.lower()})" for group in groups)
    lines = [OPTIONS_HEAD, f"Groups: {links}.\n"]
    for group in groups:
        if options := [*OPTIONS.get(group, ()), *BORROWED.get(group, ())]:
            lines.append(f"## [{group}]\n")
            lines += [line for option in options for line in _option_entry(group, option)]
    return "\n".join(lines)


def _option_entry(group: str, option: cfg.Opt) -> Iterator[str]:
    mark = " †" if option.mutable else ""
    choices = [text for text in getattr(option.type, "choices", None) or () if text is not None]
    words = f" One of: {', '.join(choices)}." if choices else ""
    meaning = " ".join(str(option.help).split()).rstrip(".")
    older = "".join(
        f" Older name: `{f'[{name.group}]' if name.group else ''}{name.name or option.dest}`."
        for name in option.deprecated_opts
    )
    default = _default(option)
    place = f"{group}-{option.dest}".lower().replace("_", "-")
    yield f'<a id="{place}" href="#{place}">`{option.dest}`</a>{mark}'
    yield f": {meaning}.{words}{f' Default: {default}.' if default else ''}{older}\n"


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
    made = {
        "doc/states.md": (states_page(), "`ironic/core/flows/states.py`"),
        "doc/options.md": (options_page(), "`ironic/conf`"),
        "doc/inspection-hooks.md": (hooks_page.page(), "`ironic/inspection/hooks`"),
        "doc/inspection-rules-reference.md": (rules_page.page(), "the signatures in `ironic/core/rules`"),
        "doc/metric-names.md": (metrics_page.page(), "the table of metrics, routes, RPC calls and interfaces"),
        "doc/coming-from-openstack.md": (coming_page.page(), "`tools/coming_page.py` and the options"),
        "doc/hardware.md": (hardware_page.page(), "the entry points"),
        "doc/interface-steps.md": (steps_page.page(), "the interfaces"),
        "doc/internal-info.md": (internal_keys_page.page(), "the declared keys"),
        "doc/driver-info.md": (info_keys_page.page(), "the declared keys"),
        "doc/proved-bmcs.md": (proved_page.page(), "the machines that are played"),
        "doc/microversions.md": (microversions_page.page(), "`ironic/core/microversions.py`"),
        **{f"api-ref/{name}": (text, "the OpenAPI document") for name, text in reference_pages.pages().items()},
    }
    pages = {ROOT / name: f"{text.rstrip()}\n\n{MADE.format(source)}" for name, (text, source) in made.items()}
    pages[differences_page.PAGE] = differences_page.page()
    return {**pages, ROOT / "api-ref" / "openapi.json": openapi_page.page()}


def main() -> None:
    """Write the table of outcomes and the pages."""
    proved_page.write_table()
    for path, text in pages().items():
        path.write_text(text)
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
