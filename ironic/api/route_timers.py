"""Names of the timers of the API: one for each route, derived from its method and path.

A name is that of a controller and what is done, as in dashboards that operators have: ``NodesController.get_one``,
``NodeStatesController.power``. The controller is named after the collection, or after the item and what is below it in
the path. What follows in the path is the action, of a POST, PATCH or DELETE with the method before it; where nothing
follows, the HTTP method is the action, with ``get_all`` and ``get_one`` for a GET without and with an identifier at the
end.
"""

import functools
from typing import Final

# Controllers that are known under another name than the rule gives, by the words of their path. Source:
# doc/contract/drivers.md#metrics
_KNOWN_AS: Final = {
    "drivers/vendor_passthru": "DriverPassthru",
    "inspection_rules": "InspectionRule",
    "nodes/management/boot_device": "BootDevice",
    "nodes/management/indicators": "Indicator",
    "nodes/management/inject_nmi": "InjectNmi",
    "nodes/states/console": "NodeConsole",
    "nodes/vifs": "NodeVIF",
    "shards": "Shard",
    "volume/connectors": "VolumeConnectors",
    "volume/targets": "VolumeTargets",
}


@functools.cache
def timer_name(method: str, path: str) -> str:
    """Return the name of the timer of a route without its prefix."""
    segments = [segment for segment in path.split("/") if segment not in ("", "v1", "*")]
    words = [segment.partition(".")[0] for segment in segments if not _is_identifier(segment)] or ["root"]
    for length in range(len(words), 0, -1):
        if controller := _KNOWN_AS.get("/".join(words[:length]), ""):
            action = words[length:]
            break
    else:
        is_below_item = len(words) > 1 and _is_identifier(segments[1])
        controller = _camel(_singular(words[0])) + _camel(words[1]) if is_below_item else _camel(words[0])
        action = words[2:] if is_below_item else words[1:]
    verb = "get" if method in ("*", "HEAD") else method.lower()
    if verb == "get":
        verb = "get_one" if segments and _is_identifier(segments[-1]) else "get_all"
    # A PUT is the only change of what it names; other changes stand beside a GET.
    known_verb = [verb] if not action or method in ("POST", "PATCH", "DELETE") else []
    return f"{controller}Controller.{'_'.join([*known_verb, *action])}"


def _is_identifier(segment: str) -> bool:
    return segment.startswith("{")


def _camel(word: str) -> str:
    return "".join(part.capitalize() for part in word.split("_"))


def _singular(word: str) -> str:
    return word if word == "chassis" else word.removesuffix("s")
