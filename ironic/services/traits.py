"""Changing the traits of nodes, by which schedulers find them, and of runbooks, which say what nodes they are for.

The row is held still meanwhile, so the limit of a node holds whoever else adds traits at the same time.
"""

from collections.abc import Callable, Sequence

from ironic.core.errors import InvalidParameterValue
from ironic.core.traits import MOST_OF_NODE
from ironic.db import Store
from ironic.services.nodes import Patience, change_free


def give_node(store: Store, ident: str, traits: Sequence[str], patience: Patience) -> None:
    """Give a node exactly these traits."""
    _check_number(len(traits))
    change_free(store, ident, lambda node: store.traits.replace(node.id, traits), patience)


def add_to_node(store: Store, ident: str, trait: str, patience: Patience) -> None:
    """Give a node one more trait; one that it has already is no fault."""

    def add(node_id: int) -> None:
        _check_number(len({*store.traits.of([node_id])[node_id], trait}))
        store.traits.add(node_id, trait)

    change_free(store, ident, lambda node: add(node.id), patience)


def take_from_node(store: Store, ident: str, trait: str, patience: Patience) -> None:
    """Take one trait from a node, or raise NodeTraitNotFound."""
    change_free(store, ident, lambda node: store.traits.remove(node.id, trait), patience)


def _check_number(number: int) -> None:
    if number > MOST_OF_NODE:
        raise InvalidParameterValue(err=f"A node can have {MOST_OF_NODE} traits at most.")


def change_of_runbook(store: Store, ident: str, change: Callable[[int], object]) -> None:
    """Change the traits of a runbook; ``change`` gets the id of its row."""
    with store.writing():
        change(store.runbooks.lock_row(ident).id)
