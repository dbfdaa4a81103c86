"""The last inspections of nodes: their progress, order and pages."""

from datetime import datetime, timedelta

import pytest

from ironic.core.errors import MarkerNotFound
from ironic.core.flows import states
from ironic.db import Store
from ironic.db.introspections import FAILED, FINISHED, WAITING, WORKING
from ironic.tests.databases import counting_statements
from ironic.tests.suites.db.samples import node as new_node

NOON = datetime(2026, 11, 22, 12, 0, 0)


def minute(number: int) -> datetime:
    return NOON + timedelta(minutes=number)


class IntrospectionSuite:
    def inspected(self, store: Store) -> dict[str, str]:
        """Store nodes in every state of an inspection and two that were never inspected; return UUIDs by progress."""
        rows = {
            WAITING: {"provision_state": states.INSPECTWAIT, "inspection_started_at": minute(4)},
            WORKING: {"provision_state": states.INSPECTING, "inspection_started_at": minute(3)},
            FAILED: {"provision_state": states.INSPECTFAIL, "provision_updated_at": minute(2)},
            FINISHED: {"provision_state": states.ACTIVE, "inspection_finished_at": minute(1), "owner": "p"},
        }
        found = {name: new_node(store, **values).uuid for name, values in rows.items()}
        new_node(store, provision_state=states.ENROLL, last_error="x")
        new_node(store, provision_state=states.ACTIVE, auto_discovered=True)
        return found

    def test_inspections_are_listed_the_newest_first(self, store: Store) -> None:
        known = self.inspected(store)
        with counting_statements(store) as seen:
            rows = store.introspections.page(limit=10)
        assert seen.selects == 1
        assert [(row.progress, row.uuid) for row in rows] == list(known.items())
        assert rows[0].inspection_started_at == minute(4)
        assert rows[0].driver_internal_info == {}

    def test_each_page_follows_its_marker(self, store: Store) -> None:
        uuids = [
            new_node(store, provision_state="active", inspection_finished_at=minute(min(number, 3))).uuid
            for number in range(6)
        ]
        seen: list[str] = []
        while page := store.introspections.page(limit=2, marker=seen[-1] if seen else None):
            seen += [row.uuid for row in page]
        assert seen == uuids[::-1]

    def test_a_list_is_narrowed(self, store: Store) -> None:
        known = self.inspected(store)
        both = store.introspections.page(limit=10, progress=[FAILED, FINISHED])
        assert [row.uuid for row in both] == [known[FAILED], known[FINISHED]]
        assert [row.uuid for row in store.introspections.page(limit=10, project="p")] == [known[FINISHED]]
        assert store.introspections.page(limit=10, project="other") == []

    def test_a_marker_has_to_be_visible(self, store: Store) -> None:
        known = self.inspected(store)
        never = new_node(store).uuid
        for marker, project in ((never, None), (known[WAITING], "p"), ("8a2cd4a3-7f25-4a37-8d6e-2a0a6c5a8b99", None)):
            with pytest.raises(MarkerNotFound):
                store.introspections.page(limit=1, marker=marker, project=project)

    def test_one_inspection_is_found_by_its_node(self, store: Store) -> None:
        known = self.inspected(store)
        for progress, uuid in known.items():
            found = store.introspections.of(store.nodes.get(uuid).id)
            assert found is not None
            assert found.progress == progress
        assert store.introspections.of(new_node(store).id) is None

    @pytest.mark.parametrize(
        ("error", "ended", "progress"), [(None, None, WORKING), ("x", None, FAILED), (None, NOON, FINISHED)]
    )
    def test_a_discovered_node_is_inspected_in_its_state(
        self, store: Store, error: str | None, ended: datetime | None, progress: str
    ) -> None:
        node = new_node(
            store, provision_state=states.ENROLL, auto_discovered=True, last_error=error, inspection_finished_at=ended
        )
        row = store.introspections.of(node.id)
        assert row is not None
        assert row.progress == progress
