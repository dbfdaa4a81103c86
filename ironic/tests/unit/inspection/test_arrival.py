"""Inspection data on arrival: malformed ones get an error of their own, all other refusals the same answer."""

import logging
from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, NotFound
from ironic.core.flows import states
from ironic.db import Store
from ironic.inspection import arrival
from ironic.inspection.node_lookup import nothing_found
from ironic.inspection.rules import RuleBook
from ironic.tests.unit.inspection.lab import MAC, OTHER_MAC, new_node, new_port, post


def body(mac: str = MAC, **data: Any) -> dict[str, Any]:
    return {"inventory": {"interfaces": [{"mac_address": mac}]}, **data}


@pytest.mark.demand("S115")
def test_it_matches_data_with_their_node_after_the_early_rules(store: Store) -> None:
    post(store, phase="early", actions=[{"op": "set-plugin-data", "args": ["early", True]}])
    node = new_node(store, provision_state=states.INSPECTWAIT)
    new_port(store, node)
    arrived = arrival.accept(store, RuleBook().early(store), body(error=None), node.uuid)
    assert (arrived.node.uuid, arrived.plugin_data) == (node.uuid, {"error": None, "early": True})
    assert arrived.inventory == body()["inventory"]


def test_it_says_what_is_malformed(store: Store) -> None:
    with pytest.raises(InvalidParameterValue):
        arrival.accept(store, RuleBook().early(store), {})


@pytest.mark.demand("S76", "S115")
def test_it_answers_everything_else_alike(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    node = new_node(store, provision_state=states.INSPECTWAIT)
    new_port(store, node)
    new_port(store, new_node(store, provision_state=states.ACTIVE), OTHER_MAC)
    refused = [{"op": "is-true", "args": ["{plugin_data[unwanted]}"]}]
    post(store, phase="early", conditions=refused, actions=[{"op": "fail", "args": ["unwanted"]}])
    answers = []
    for sent in (body(unwanted=True), body(OTHER_MAC), body("52:54:00:00:00:99")):
        with caplog.at_level(logging.WARNING, "ironic"), pytest.raises(NotFound) as error:
            arrival.accept(store, RuleBook().early(store), sent)
        answers.append((type(error.value), str(error.value)))
    assert answers == [(NotFound, str(nothing_found()))] * 3
    assert "actions[0]: unwanted" in caplog.messages[0]


@pytest.mark.demand("S76")
def test_it_keeps_what_was_refused_and_why(store: Store) -> None:
    waiting = new_node(store, provision_state=states.ACTIVE)
    new_port(store, waiting, OTHER_MAC)
    refused = arrival.Rejections(store, kept=2, source="192.0.2.9")
    for sent in (body(OTHER_MAC), {}, body(bmc_address=5)["inventory"], body()):
        with pytest.raises((NotFound, InvalidParameterValue)):
            arrival.accept(store, RuleBook().early(store), sent, rejections=refused)
    newest, older = store.rejected_callbacks.newest(10)
    assert (newest.source, newest.macs, newest.bmc_addresses, newest.node_uuid) == ("192.0.2.9", [MAC], [], None)
    assert newest.reason == "no node has any of its addresses"
    assert "inventory is missing" in older.reason


def test_it_refuses_all_the_same_when_nothing_can_be_kept(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    refused = arrival.Rejections(store, kept=2, source="192.0.2.9")
    with store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE rejected_callbacks")
    with caplog.at_level(logging.WARNING, "ironic"), pytest.raises(NotFound):
        arrival.accept(store, RuleBook().early(store), body(), rejections=refused)
    assert "could not be stored" in caplog.text
