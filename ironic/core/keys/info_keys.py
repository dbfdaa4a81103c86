"""Keys of driver_info: drivers declare what each of theirs holds.

A package of drivers names its tables, key -> `Property`, under entry points of group `ironic.driver_info`. Masks, the
rules by which a stored secret stays with its BMC, the hosts of BMCs and what a project may write are read off them. The
words of a key's name count only for keys that no table declares, as those of unknown drivers. Two tables of others that
differ about a key declare nothing, except that it is a secret for both if it is one for one of them; about our own keys
others can't say otherwise. Processes of the API read the tables too, so the package has to be installed there.
"""

import functools
import logging
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, Self

from stevedore import ExtensionManager

LOG = logging.getLogger(__name__)

GROUP: Final = "ironic.driver_info"


class Holds(StrEnum):
    """What a key of driver_info holds."""

    ADDRESS = "the address of the BMC"
    PLACE = "how the BMC is reached"
    BRIDGE = "whether requests go on to a machine behind that address"
    MACHINE = "which machine behind that address it is"
    TRUST = "which certificates of the BMC are trusted: true, false, or a path on the conductor"
    TRUST_OF_OTHERS = "which certificates of another server are trusted: true, false, or a path on the conductor"
    LOGIN = "a user name"
    SECRET = "a secret"
    IMAGE = "the URL or path of an image"
    PROXY = "the way to image servers"
    OWN_PORT = "a port on the conductor"
    SETTING = "a setting"


# What may name a file on the conductor.
TRUSTING: Final = frozenset({Holds.TRUST, Holds.TRUST_OF_OTHERS})
# What leads the login of a BMC to another server when it changes.
_LEADS: Final = frozenset({Holds.ADDRESS, Holds.PLACE, Holds.BRIDGE, Holds.MACHINE, Holds.TRUST})


class Property(str):
    """The description of a key of driver_info, and what it holds."""

    __slots__ = ("holds",)
    holds: Holds

    def __new__(cls, holds: Holds, text: str) -> Self:
        """Return the description."""
        made = super().__new__(cls, text)
        made.holds = holds
        return made

    def __getnewargs__(self) -> tuple[Holds, str]:  # type: ignore[override]
        """Return what makes a copy."""
        return self.holds, str(self)

    @property
    def leads(self) -> bool:
        """Return whether the login of a BMC goes elsewhere when the value changes."""
        return self.holds in _LEADS


# The keys that hold secrets by the tables read so far.
_hidden: Final = set[str]()


def is_secret(name: str) -> bool:
    """Return whether a package declares that a key holds a secret.

    Log lines are masked by this, so it reads no tables: programs do it when they start, by `declared`.
    """
    return name in _hidden


def of(name: object) -> Property | None:
    """Return what is declared of a key, None for an unknown one."""
    return declared().get(name) if isinstance(name, str) else None


@functools.cache
def declared() -> Mapping[str, Property]:
    """Return what installed packages declare, by the name of the key; they are read once.

    Raises ValueError if the tables of this project are not among them.
    """
    found: dict[str, Property] = {}
    ours, disputed = set[str](), set[str]()
    extensions: Iterable[Any] = ExtensionManager(GROUP, on_load_failure_callback=_log_failure)
    for extension in sorted(extensions, key=lambda one: _is_of_others(one.module_name)):
        table = _table(extension)
        if not _is_of_others(extension.module_name):
            ours |= table.keys()
        for name, one in table.items():
            if one.holds is Holds.SECRET:
                _hidden.add(name)
            known = found.setdefault(name, one)
            if known.holds is not one.holds:
                what_counts = "this project's word counts" if name in ours else "the words of its name count"
                LOG.warning("Packages differ about key %s of driver_info: %s", name, what_counts)
                disputed.add(name)
    if not ours:
        raise ValueError(
            f"the installed package has no entry points of group {GROUP}, by which it knows addresses and secrets of "
            "BMCs: install it again"
        )
    disputed -= ours
    return {name: one for name, one in found.items() if name not in disputed}


def _is_of_others(module: str) -> bool:
    return not module.startswith("ironic.")


def _table(extension: Any) -> dict[str, Property]:
    table = extension.plugin
    is_table = isinstance(table, Mapping)
    pairs = table.items() if is_table else ()
    good = {name: one for name, one in pairs if isinstance(name, str) and isinstance(one, Property)}
    if not is_table or len(good) < len(table):
        LOG.warning("%s of group %s has what is no property, which is left out", extension.name, GROUP)
    return good


def _log_failure(_manager: object, point: Any, error: BaseException) -> None:
    if not _is_of_others(point.module):
        raise error
    LOG.warning("%s of group %s can't be loaded, and is left out: %s", point.name, GROUP, error)
