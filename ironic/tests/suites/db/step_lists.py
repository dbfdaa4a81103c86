"""Deploy templates and runbooks with their steps."""

from typing import Any

import pytest

from ironic.core import errors
from ironic.core.errors import resource_errors
from ironic.db import Store
from ironic.tests.databases import counting_statements

UUID = "8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b10"
FIRST = {"interface": "bios", "step": "apply", "args": {"settings": [{"name": "ä"}]}, "priority": 10, "order": 2}
SECOND = {"interface": "raid", "step": "create", "priority": "20", "order": 1}


def shown(step: dict[str, Any], place: str) -> dict[str, Any]:
    return {key: step[key] for key in ("interface", "step")} | {
        "args": step.get("args", {}),
        place: int(step[place]),
    }


class StepListSuite:
    @pytest.mark.parametrize(("kind", "place"), [("deploy_templates", "priority"), ("runbooks", "order")])
    def test_steps_are_kept_in_the_order_they_were_given_in(self, store: Store, kind: str, place: str) -> None:
        lists = getattr(store, kind)
        one = lists.create_with({"name": "CUSTOM_A"}, [SECOND, FIRST])
        two = lists.create_with({"name": "CUSTOM_B", "extra": {"a": 1}}, [FIRST])
        with counting_statements(store) as seen:
            found = lists.steps.of([one.id, two.id, 4711])
        assert seen.selects == 1
        assert found == {one.id: [shown(SECOND, place), shown(FIRST, place)], two.id: [shown(FIRST, place)], 4711: []}
        lists.steps.replace(one.id, [FIRST])
        assert lists.steps.of([one.id]) == {one.id: [shown(FIRST, place)]}
        lists.delete("CUSTOM_B")
        assert lists.steps.of([two.id]) == {two.id: []}
        assert lists.steps.of([]) == {}

    @pytest.mark.parametrize("kind", ["deploy_templates", "runbooks"])
    def test_a_list_whose_steps_can_not_be_stored_is_not_stored(self, store: Store, kind: str) -> None:
        lists = getattr(store, kind)
        for bad in ({"step": "\0"}, {"priority": 2**31, "order": 2**31}, {"args": {"large": 2**64}}):
            with pytest.raises(errors.InvalidParameterValue):
                lists.create_with({"name": "CUSTOM_A"}, [FIRST, SECOND | bad])
        assert lists.count() == 0

    def test_names_are_unique(self, store: Store) -> None:
        store.deploy_templates.create_with({"name": "CUSTOM_A", "uuid": UUID}, [FIRST])
        store.runbooks.create_with({"name": "CUSTOM_A", "uuid": UUID}, [FIRST])
        for kind in (store.deploy_templates, store.runbooks):
            with pytest.raises(errors.DuplicateName):
                kind.create_with({"name": "CUSTOM_A"}, [FIRST])
        with pytest.raises(resource_errors.DeployTemplateAlreadyExists):
            store.deploy_templates.create_with({"name": "CUSTOM_B", "uuid": UUID}, [FIRST])
        with pytest.raises(resource_errors.RunbookAlreadyExists):
            store.runbooks.create_with({"name": "CUSTOM_B", "uuid": UUID}, [FIRST])
        with pytest.raises(resource_errors.DeployTemplateNotFound):
            store.deploy_templates.get("CUSTOM_B")
        with pytest.raises(resource_errors.RunbookNotFound):
            store.runbooks.delete("CUSTOM_B")
        assert [one.uuid for one in store.deploy_templates.find(name_in=["CUSTOM_A", "CUSTOM_C"])] == [UUID]

    def test_templates_are_found_by_their_names_with_two_statements(self, store: Store) -> None:
        for name, steps in (("CUSTOM_A", [SECOND, FIRST]), ("CUSTOM_B", [FIRST]), ("CUSTOM_C", [SECOND])):
            store.deploy_templates.create_with({"name": name}, steps)
        with counting_statements(store) as seen:
            found = store.deploy_templates.steps_of(["CUSTOM_B", "CUSTOM_A", "CUSTOM_NOBODY", "CUSTOM_A"])
            assert store.deploy_templates.steps_of([]) == {}
        assert seen.selects == 2
        assert found == {
            "CUSTOM_A": [shown(SECOND, "priority"), shown(FIRST, "priority")],
            "CUSTOM_B": [shown(FIRST, "priority")],
        }

    def test_a_runbook_is_seen_by_its_owner_or_by_all(self, store: Store) -> None:
        mine = store.runbooks.create_with({"name": "mine", "owner": "me"}, [FIRST])
        public = store.runbooks.create_with({"name": "public", "public": True}, [FIRST])
        store.runbooks.create_with({"name": "yours", "owner": "you"}, [FIRST])
        assert [one.id for one in store.runbooks.find(visible_to="me")] == [mine.id, public.id]
        assert [one.id for one in store.runbooks.find(owner="me")] == [mine.id]

    def test_traits_of_runbooks_are_sets(self, store: Store) -> None:
        book = store.runbooks.create_with({"name": "a"}, [FIRST])
        traits = store.runbooks.traits
        traits.replace(book.id, ["CUSTOM_B", "CUSTOM_A", "CUSTOM_B"])
        traits.add(book.id, "CUSTOM_C")
        traits.add(book.id, "CUSTOM_C")
        assert (traits.discard(book.id, "CUSTOM_A"), traits.discard(book.id, "CUSTOM_A")) == (True, False)
        assert traits.of([book.id]) == {book.id: ["CUSTOM_B", "CUSTOM_C"]}
        store.runbooks.delete(book.uuid)
        assert traits.of([book.id]) == {book.id: []}
