"""What the installed packages say about this service: another one under its name, and demands that it can't meet.

OpenStack's package has the same name as this one and higher versions. A package that asks for one of these makes pip
put it in the place of this code, or beside it.
"""

import logging
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions, version
from pathlib import Path
from typing import Final

import ironic

LOG = logging.getLogger(__name__)

OWN: Final = "ironic"

# Groups of entry points by which a package extends the service begin so; clients of the API have groups of their own.
_EXTENDING: Final = ("[ironic.", "[ironic_inspector.")


def warn_of_strangers(installed: Iterable[Distribution] | None = None) -> None:
    """Log one line if a package has this one's name and other modules, or demands another version of it."""
    if found := list(dict.fromkeys(_faults(distributions() if installed is None else installed))):
        LOG.warning("The installed packages do not fit each other: %s", "; ".join(found))


def _faults(installed: Iterable[Distribution]) -> Iterator[str]:
    for each in installed:
        # Reading what the others say of themselves would take half a second.
        try:
            points = each.read_text("entry_points.txt") or ""
        except (OSError, UnicodeDecodeError):
            continue
        if not any(group in points for group in _EXTENDING):
            continue
        if (each.name or "").lower() == OWN:
            if missing := _missing_modules(each):
                yield (
                    f"{each.name} {each.version} in {each.locate_file('')} is not this service, whose code has no "
                    f"{missing[0]}; run `pip uninstall {OWN}` until none is left, and install this service again"
                )
            continue
        for demand in each.requires or ():
            if demand.lower().startswith(OWN) and not _is_met(demand):
                yield (
                    f"{each.name} {each.version} asks for {demand}, and this is {OWN} {version(OWN)}; it is used all "
                    "the same. Install and upgrade it by `pip install --no-deps`, or pip puts OpenStack's package in "
                    "the place of this one"
                )


def _missing_modules(package: Distribution) -> list[str]:
    """Return the modules of this service that a package names and that are not part of its code."""
    top = Path(ironic.__file__).parents[1]
    named = [point.value.partition(":")[0].strip() for point in package.entry_points]
    own = {name: top.joinpath(*name.split(".")) for name in named if name.startswith(f"{OWN}.")}
    return [name for name, path in own.items() if not (path.is_dir() or path.with_name(f"{path.name}.py").is_file())]


def _is_met(demand: str) -> bool:
    """Return whether this version meets a demand; true for one of other packages and for one that can't be read."""
    # A tenth of a second, and most installations have no such package.
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        read = Requirement(demand)
    except InvalidRequirement:
        return True
    if read.name.lower() != OWN or (read.marker is not None and not read.marker.evaluate({"extra": ""})):
        return True
    return read.specifier.contains(version(OWN), prereleases=True)
