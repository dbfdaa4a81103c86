"""The take-over of a database of the reference: its tables are moved aside and read into those of this service.

`recognise` only reads. `plan` says what would change and what can't be kept. `TakeOver` does it in steps: each is
committed with a note of how far it is, so that a process that was killed is followed by one that goes on. The moved
tables stay until `drop` is asked for; `go_back` puts them in their place again.
"""

from ironic.db.database_work import DONE
from ironic.db.takeover.aside import Bound, bound, occupied
from ironic.db.takeover.findings import Findings, Loss
from ironic.db.takeover.rehearsal import NotEmpty, copy_tables
from ironic.db.takeover.revisions import REVISIONS, NotKnown, Recognised, recognise
from ironic.db.takeover.source import THEIRS
from ironic.db.takeover.steps import (
    WAY_BACK,
    Differs,
    InTheWay,
    LossNotAccepted,
    LostMeanwhile,
    NeedsRepair,
    NothingAside,
    Settings,
    TakeOver,
    WrittenSince,
    plan,
    require_accepted,
)

__all__ = [
    "Bound",
    "DONE",
    "Differs",
    "Findings",
    "InTheWay",
    "Loss",
    "LossNotAccepted",
    "LostMeanwhile",
    "NeedsRepair",
    "NotEmpty",
    "NotKnown",
    "NothingAside",
    "REVISIONS",
    "Recognised",
    "Settings",
    "THEIRS",
    "TakeOver",
    "WAY_BACK",
    "WrittenSince",
    "bound",
    "copy_tables",
    "occupied",
    "plan",
    "recognise",
    "require_accepted",
]
