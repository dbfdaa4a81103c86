"""The take-over of a database of the reference: its tables are moved aside and read into those of this service.

`recognise` only reads. `plan` says what would change and what can't be kept. `TakeOver` does it in steps: each is
committed with a note of how far it is, so that a process that was killed is followed by one that goes on. The moved
tables stay until `drop` is asked for; `go_back` puts them in their place again.
"""

from ironic.db.takeover.findings import Findings, Loss
from ironic.db.takeover.revisions import NotKnown, Recognised, recognise
from ironic.db.takeover.steps import LossNotAccepted, Settings, TakeOver, plan

__all__ = [
    "Findings",
    "Loss",
    "LossNotAccepted",
    "NotKnown",
    "Recognised",
    "Settings",
    "TakeOver",
    "plan",
    "recognise",
]
