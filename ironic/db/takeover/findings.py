"""What reading a database of the reference finds: what is changed, what can't be kept, what stops."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

# So many rows are named in a message; all are counted.
NAMED: Final = 8


class Loss(StrEnum):
    """What can't be kept; its value is the word by which an operator accepts it."""

    TAGS = "tags"
    ORPHANS = "orphans"
    NUMBERS = "numbers"
    TEXT = "text"
    INVENTORIES = "inventories"
    INCOMPLETE = "incomplete"
    WORK = "work"
    RUNNING = "running"


SAYS: Final = {
    Loss.TAGS: "tags of nodes are left out, as this service has none",
    Loss.ORPHANS: "rows whose node or other owner is not there any more are left out, or lose the reference to it",
    Loss.NUMBERS: "NaN and infinite numbers become null, integers beyond 64 bits become text",
    Loss.TEXT: "characters that can't be stored are replaced, and text is cut to the length of its column",
    Loss.INVENTORIES: "inventories of a node are left out, except for its newest",
    Loss.INCOMPLETE: "rows without a value that this service needs are left out",
    Loss.RUNNING: "conductors of the reference, alive within the last minute, lose their tables: stop them first",
    Loss.WORK: "work that was under way on nodes has ended: the first conductor that starts fails it, with the reason",
}


@dataclass
class Findings:
    """All that one reading has found."""

    rows: Counter[str] = field(default_factory=Counter)
    """Rows of the reference, by table."""
    changed: Counter[str] = field(default_factory=Counter)
    """Values that have another form afterwards but mean the same, by what happens to them."""
    lost: dict[Loss, Counter[str]] = field(default_factory=dict)
    """What can't be kept: by kind, then by place, such as a row and its column."""
    refused: list[str] = field(default_factory=list)
    """What has to be repaired first."""
    used: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Nodes by hardware type and by interface, such as ("driver", "ilo") and ("boot", "ilo-ipxe")."""
    states: Counter[str] = field(default_factory=Counter)
    """Nodes by state."""

    def lose(self, kind: Loss, where: str) -> None:
        """Note something that can't be kept."""
        self.lost.setdefault(kind, Counter())[where] += 1

    def report(self) -> list[str]:
        """Return what was found, a line each."""
        lines = [f"{table}: {count} rows" for table, count in self.rows.items() if count]
        lines += [f"changed, {count} times: {what}" for what, count in self.changed.items()]
        for kind, places in self.lost.items():
            named = ", ".join(list(places)[:NAMED]) + (", ..." if len(places) > NAMED else "")
            lines.append(f"not kept, {places.total()} times: {SAYS[kind]} (--accept {kind}): {named}")
        lines += [f"must be repaired: {text}" for text in self.refused[:NAMED]]
        if len(self.refused) > NAMED:
            lines.append(f"must be repaired: {len(self.refused) - NAMED} more")
        return lines
