"""Conductors and what they serve."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from ironic.core import errors
from ironic.core.errors import call_errors
from ironic.core.hardware_interfaces import KINDS
from ironic.db import InterfaceRow, ServedInterface, Store, tables
from ironic.tests.suites.db.samples import node

FAKE = InterfaceRow("fake-hardware", "power", "fake", True)
REDFISH = InterfaceRow("fake-hardware", "power", "redfish", False)


def grow_old(store: Store, hostname: str, seconds: float) -> None:
    heard = store.clock.now() - timedelta(seconds=seconds)
    with store.writing() as connection:
        one = sa.update(tables.conductors).where(tables.conductors.c.hostname == hostname)
        connection.execute(one.values(updated_at=heard))


class ConductorSuite:
    def test_it_says_what_it_serves(self, store: Store) -> None:
        store.conductors.register("h1", "g1", ["fake-hardware"], [FAKE, REDFISH])
        (one,) = store.conductors.alive(60)
        assert (one.hostname, one.conductor_group, one.drivers, one.online) == ("h1", "g1", ["fake-hardware"], True)
        assert store.conductors.served_interfaces(60) == [
            ServedInterface("h1", "g1", *FAKE),
            ServedInterface("h1", "g1", *REDFISH),
        ]

    def test_registering_again_replaces_what_was_said(self, store: Store) -> None:
        first = store.conductors.register("h1", "g1", ["fake-hardware"], [FAKE, REDFISH])
        store.conductors.unregister("h1")
        assert store.conductors.register("h1", "", ["fake-hardware"], [FAKE]) == first
        (one,) = store.conductors.alive(60)
        assert (one.id, one.conductor_group, one.drivers) == (first, "", ["fake-hardware"])
        assert store.conductors.served_interfaces(60) == [ServedInterface("h1", "", *FAKE)]
        assert store.conductors.register("h1", "", [], []) == first
        assert store.conductors.served_interfaces(60) == []

    @pytest.mark.demand("S19", "S33")
    def test_a_driver_without_interfaces_is_a_classic_one(self, store: Store) -> None:
        store.conductors.register("h1", "g1", ["fake-hardware", "old"], [FAKE])
        store.conductors.register("h2", "", ["old"], [])
        store.conductors.register("h3", "", [], [])
        served = store.conductors.served_interfaces(60)
        fixed = [InterfaceRow("old", kind, None, True) for kind in KINDS]
        assert served == [
            ServedInterface("h1", "g1", *FAKE),
            *(ServedInterface("h1", "g1", *row) for row in fixed),
            *(ServedInterface("h2", "", *row) for row in fixed),
        ]
        store.conductors.unregister("h2")
        assert {row.hostname for row in store.conductors.served_interfaces(60)} == {"h1"}

    @pytest.mark.demand("S33")
    def test_what_a_conductor_serves_goes_with_it(self, store: Store) -> None:
        for host in ("leaves", "stays"):
            store.conductors.register(host, "", ["fake-hardware"], [FAKE, REDFISH])
        store.conductors.delete("leaves")
        with store.reading() as connection:
            left = connection.execute(sa.select(tables.conductor_hardware_interfaces.c.conductor_id)).scalars().all()
        assert left == [store.conductors.get("stays").id] * 2
        assert {served.hostname for served in store.conductors.served_interfaces(60)} == {"stays"}

    def test_what_a_type_takes_unlisted_is_told_apart(self, store: Store) -> None:
        unlisted = InterfaceRow("fake-hardware", "power", "ipmitool", False, False)
        store.conductors.register("h1", "", ["fake-hardware"], [FAKE, unlisted])
        assert [served.listed for served in store.conductors.served_interfaces(60)] == [True, False]

    def test_who_is_silent_or_gone_is_not_alive(self, store: Store) -> None:
        for host in ("silent", "gone", "here"):
            store.conductors.register(host, "", ["fake-hardware"], [FAKE])
        grow_old(store, "silent", 61)
        store.conductors.unregister("gone")
        assert [one.hostname for one in store.conductors.alive(60)] == ["here"]
        assert [served.hostname for served in store.conductors.served_interfaces(60)] == ["here"]
        store.conductors.touch("silent")
        assert [one.hostname for one in store.conductors.alive(60)] == ["silent", "here"]
        assert store.conductors.rows(["hostname"], filters={"online": False}) == [("gone",)]

    def test_only_known_conductors_can_be_touched(self, store: Store) -> None:
        for act in (store.conductors.touch, store.conductors.unregister, store.conductors.get):
            with pytest.raises(errors.ConductorNotFound):
                act("nobody")

    def test_an_older_life_of_a_name_is_refused(self, store: Store) -> None:
        older = store.conductors.begin("h1")
        assert store.conductors.rows(["hostname", "online"]) == [("h1", False)]
        store.conductors.register("h1", "", ["fake-hardware"], [FAKE], older)
        newer = store.conductors.begin("h1")
        assert [store.conductors.is_newest("h1", life) for life in (older, newer)] == [False, True]
        for act in (store.conductors.touch, store.conductors.unregister):
            with pytest.raises(call_errors.ConductorSuperseded):
                act("h1", older)
        with pytest.raises(call_errors.ConductorSuperseded):
            store.conductors.register("h1", "", [], [], older)
        assert [one.drivers for one in store.conductors.alive(60)] == [["fake-hardware"]]
        store.conductors.register("h1", "new", ["other"], [], newer)
        store.conductors.touch("h1", newer)
        assert [one.conductor_group for one in store.conductors.alive(60)] == ["new"]

    def test_a_row_that_was_removed_comes_back_with_its_life(self, store: Store) -> None:
        life = store.conductors.begin("h1")
        store.conductors.delete("h1")
        with pytest.raises(errors.ConductorNotFound):
            store.conductors.touch("h1", life)
        store.conductors.register("h1", "", [], [], life)
        assert store.conductors.is_newest("h1", life)
        assert not store.conductors.is_newest("h1", "other")

    def test_who_left_for_good_is_removed(self, store: Store) -> None:
        for host, age in (("ancient", 900), ("old", 700), ("holds", 800), ("recent", 500)):
            store.conductors.register(host, "", ["fake-hardware"], [FAKE])
            grow_old(store, host, age)
        store.nodes.reserve(node(store).id, "holds")
        assert store.conductors.remove_stale(600, 1) == ["ancient"]
        assert store.conductors.remove_stale(600, 5) == ["old"]
        assert store.conductors.rows(["hostname"]) == [("holds",), ("recent",)]
        assert store.conductors.remove_stale(600, 5) == []
