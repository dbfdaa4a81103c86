"""The traits of nodes as third-party plug-ins read and replace them."""

from collections.abc import Collection

from ironic.core.errors import InvalidParameterValue
from ironic.core.values import traits
from ironic.db import Store
from ironic.db.traits import NodeTraits
from ironic.inspection.staged_task import flush_running
from ironic.services import process_store
from ironic.services.node_changes import check_number


def _store() -> Store:
    flush_running()
    return process_store.database().store


class TraitList(NodeTraits):
    """The traits of a node, read or replaced in one transaction."""

    @classmethod
    def get_by_node_id(cls, _context: object, node_id: int) -> "TraitList":
        """Return the traits of a node."""
        return cls(node_id, _store().traits.of([node_id])[node_id])

    @classmethod
    def create(cls, _context: object, node_id: int, names: Collection[str]) -> "TraitList":
        """Replace all traits of a node by these, in any collection, and return them; raises errors of refusals."""
        _check(names)
        store = _store()

        def replace(_connection: object) -> None:
            store.nodes.row(("id",), node_id)
            store.traits.replace(node_id, names)

        store.run(replace)
        return cls(node_id, sorted(set(names)))

    @classmethod
    def destroy(cls, context: object, node_id: int) -> None:
        """Remove all traits of a node."""
        cls.create(context, node_id, ())


class Trait:
    """One trait of a node: `Trait(context, node_id=, trait=)`, stored by `create`."""

    def __init__(self, _context: object = None, *, node_id: int, trait: str) -> None:
        self.node_id, self.trait = node_id, trait

    def create(self, _context: object = None) -> None:
        """Add the trait to the node unless it has it."""
        store = _store()

        def add(_connection: object) -> None:
            store.nodes.row(("id",), self.node_id)
            _check({*store.traits.of([self.node_id])[self.node_id], self.trait})
            store.traits.add(self.node_id, self.trait)

        store.run(add)

    @classmethod
    def destroy(cls, _context: object, node_id: int, trait: str) -> None:
        """Remove a trait from a node; raises NodeTraitNotFound."""
        _store().traits.remove(node_id, trait)

    @classmethod
    def exists(cls, _context: object, node_id: int, trait: str) -> bool:
        """Return whether a node has a trait."""
        return trait in _store().traits.of([node_id])[node_id]


def _check(names: Collection[str]) -> None:
    if wrong := sorted(str(name) for name in names if not traits.is_trait(name)):
        raise InvalidParameterValue(err=f"Not the names of traits: {', '.join(wrong)}.")
    check_number(len(set(names)))
