"""Traits as plug-ins replace them: all of a node at once, in any collection."""

import pytest

from ironic.context import get_admin_context
from ironic.core.errors import InvalidParameterValue, NodeNotFound
from ironic.core.errors.resource_errors import NodeTraitNotFound
from ironic.db import Store
from ironic.objects import Trait, TraitList
from ironic.tests.unit.inspection import lab

CONTEXT = get_admin_context()


def test_a_set_replaces_all_and_a_later_save_brings_none_back(store: Store) -> None:
    node = lab.new_node(store)
    store.traits.replace(node.id, ["CUSTOM_OLD"])
    assert node.traits.get_trait_names() == ["CUSTOM_OLD"]
    made = TraitList.create(CONTEXT, node.id, {"CUSTOM_B", "HW_CPU_X86_VMX", "CUSTOM_A"})
    node.extra = {"a": 1}
    node.save()
    names = ["CUSTOM_A", "CUSTOM_B", "HW_CPU_X86_VMX"]
    assert made.get_trait_names() == names == node.traits.get_trait_names()
    assert TraitList.get_by_node_id(CONTEXT, node.id).objects[0] == (node.id, "CUSTOM_A")
    TraitList.destroy(CONTEXT, node.id)
    assert node.traits.get_trait_names() == []


@pytest.mark.parametrize("names", [{"lower case"}, {f"CUSTOM_{number}" for number in range(51)}, [7]])
def test_what_is_refused_leaves_the_traits(store: Store, names: set[str]) -> None:
    node = lab.new_node(store)
    store.traits.replace(node.id, ["CUSTOM_OLD"])
    with pytest.raises(InvalidParameterValue):
        TraitList.create(CONTEXT, node.id, names)
    assert node.traits.get_trait_names() == ["CUSTOM_OLD"]


def test_a_node_that_is_gone(store: Store) -> None:
    with pytest.raises(NodeNotFound):
        TraitList.create(CONTEXT, 77, {"CUSTOM_A"})


def test_single_traits(store: Store) -> None:
    node = lab.new_node(store)
    Trait(CONTEXT, node_id=node.id, trait="CUSTOM_A").create()
    assert Trait.exists(CONTEXT, node.id, "CUSTOM_A")
    Trait.destroy(CONTEXT, node.id, "CUSTOM_A")
    with pytest.raises(NodeTraitNotFound):
        Trait.destroy(CONTEXT, node.id, "CUSTOM_A")
