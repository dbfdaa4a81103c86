"""What a runbook has in other tables: its steps and its traits."""

from collections.abc import Sequence
from typing import Any

from ironic.api import computed, step_lists
from ironic.api.request import Request
from ironic.core.model.runbook import Runbook


def shown_traits(request: Request, rows: Sequence[tuple[Any, ...]]) -> Sequence[list[str]]:
    """Return the traits of each runbook, in one statement for all."""
    found = request.store.runbooks.traits.of([row[0] for row in rows])
    return [found[row[0]] for row in rows]


computed.bind(Runbook, steps=step_lists.shown(lambda store: store.runbooks), traits=shown_traits)
