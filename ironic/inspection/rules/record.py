"""What is kept of a real run of rules: counters per rule, and the explanation per node.

Kept in the transaction that stores what the inspection found. When the inspection fails, that one is never committed;
then the record alone is stored, so that people can see which rule did what. A record that can't be stored is no reason
to fail an inspection that has ended.
"""

import logging
from collections.abc import Callable

from ironic.core.errors import IronicError
from ironic.db import Store, Tally
from ironic.inspection.rules.telling import Explanation, text_to_keep

LOG = logging.getLogger(__name__)


def tally_of(explanation: Explanation) -> Tally:
    """Return which rules were evaluated, which applied and which failed."""
    return Tally(
        evaluated=[one["uuid"] for one in explanation],
        matched=[one["uuid"] for one in explanation if one["applies"]],
        failed=[one["uuid"] for one in explanation if "error" in one],
    )


def keeper(store: Store, node_id: int, explanation: Explanation) -> Callable[[], None]:
    """Return what keeps what rules did from when the node was known, within an open transaction."""
    tally, text = tally_of(explanation), text_to_keep(explanation)

    def keep() -> None:
        store.rule_hits.count(tally)
        store.rule_runs.put_later(node_id, text)

    return keep


def keep_alone(store: Store, node_id: int, explanation: Explanation) -> None:
    """Keep what rules did in an inspection of which nothing else is stored."""
    _quietly(store, keeper(store, node_id, explanation))


def keep_early(store: Store, node_id: int | None, explanation: Explanation) -> None:
    """Keep what rules did before the node was known; where none was found, only the counters."""
    if not explanation:
        return
    tally, text = tally_of(explanation), text_to_keep(explanation)

    def keep() -> None:
        store.rule_hits.count(tally)
        if node_id is not None:
            store.rule_runs.put_early(node_id, text)

    _quietly(store, keep)


def _quietly(store: Store, work: Callable[[], None]) -> None:
    try:
        store.run(lambda _connection: work())
    except IronicError as error:
        LOG.warning("What inspection rules did could not be recorded: %s", error)
