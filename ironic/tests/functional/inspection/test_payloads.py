"""What machines of many kinds have posted, and malformed and hostile data, through API, look-up, hooks and rules.

Held against what the older implementation made of the same bodies, as it was recorded; where ours differs, it says so.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ironic.core.flows import states
from ironic.inspection.hooks import base
from ironic.tests.databases import counting_statements
from ironic.tests.effort import examples
from ironic.tests.functional.inspection.whole import Whole, whole
from ironic.tests.functional.wire.service import Response, environ_of
from ironic.tests.unit.inspection.lab import DATA, post, stored_found

OUTCOMES = {one["body"]: one for one in json.loads((DATA / "inventory-outcomes.json").read_bytes())}
MACHINES = [name for name in OUTCOMES if ":" not in name]
FALLBACK = "02:00:5e:50:00:01"
DEFAULTS = ["ramdisk-error", "architecture", "validate-interfaces", "ports"]
ALL = ",".join([*DEFAULTS, *sorted(base.installed_hooks().keys() - {*DEFAULTS})])

# What the older implementation answered with an error of its own.
OURS = {500: 400, 202: 200}
# An interface without a usable MAC address costs only itself, and the machine may have others.
TOLERATED = dict.fromkeys(("malformed: interface without MAC", "malformed: MAC null"), 404)


def bodies() -> dict[str, bytes]:
    found = {}
    for name in OUTCOMES:
        kind, _, case = name.partition(": ")
        document = json.loads((DATA / "inventories" / f"{kind}.json").read_bytes())
        if not case:
            found[name] = json.dumps(document).encode()
            continue
        (one,) = (one for one in document if one["name"] == case)
        found[name] = one["raw"].encode() if "raw" in one else json.dumps(one["body"]).encode()
    return found


BODIES = bodies()


def first_mac(name: str) -> str:
    return str(json.loads(BODIES[name])["inventory"]["interfaces"][0]["mac_address"]) if name in MACHINES else FALLBACK


def send(running: Whole, body: bytes) -> Response:
    """Post as an agent does."""
    return running.api.send(environ_of("POST", "/v1/continue_inspection", body))


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    with whole(tmp_path_factory.mktemp("payloads"), inspector__add_ports="pxe") as running:
        yield running


def test_every_payload_is_recorded() -> None:
    known = {path.stem for path in (DATA / "inventories").glob("*.json")}
    assert known == {name.partition(": ")[0] for name in OUTCOMES}
    assert len(OUTCOMES) == 38


@pytest.mark.parametrize("name", OUTCOMES)
def test_it_makes_of_every_payload_what_it_should(machines: Whole, name: str) -> None:
    outcome = OUTCOMES[name]
    uuid = machines.node(first_mac(name))
    node = machines.store.nodes.get(uuid)
    try:
        answer = send(machines, BODIES[name])
        status = TOLERATED.get(name, OURS.get(outcome["status"], outcome["status"]))
        assert answer.status == status, answer.body
        assert machines.state(uuid) == outcome["provision_state"], machines.error(uuid)
        assert (machines.error(uuid) is not None) is outcome["last_error_set"]
        assert [port.address for port in machines.store.ports.find(node_id=node.id)] == outcome["ports"]
        assert machines.bench.row(uuid).properties == outcome["properties"]
        found = stored_found(machines.store, node)
        if outcome["stored"] == 404:
            assert found is None
            return
        assert found is not None
        assert found[0] == json.loads(BODIES[name])["inventory"]
        assert sorted(found[0]) == outcome["stored"]["inventory"]
        assert set(found[1]) - {"bmc_address"} == set(outcome["stored"]["plugin_data"])
    finally:
        machines.store.nodes.delete(uuid)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    """All hooks, and rules of every phase that look at everything."""
    with whole(tmp_path_factory.mktemp("mutated"), inspector__hooks=ALL) as running:
        for phase in ("early", "preprocess", "main"):
            seen = [{"op": "set-plugin-data", "args": [f"seen_{phase}", "{item}"], "loop": "{inventory[interfaces]}"}]
            looking = [{"op": "!is-none", "args": ["{inventory[cpu][count]}"]}]
            post(running.store, conditions=looking, actions=seen, phase=phase)
        yield running


JUNK = st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=12)
WEIRD = JUNK | st.lists(JUNK, max_size=3) | st.dictionaries(st.text(max_size=5), JUNK, max_size=3)
# Whatever is posted, this much is asked of the database and no more.
MOST_STATEMENTS = 60


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of everything in a document."""
    inner: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [(*path, key) for key, _ in inner] + [one for key, part in inner for one in places(part, (*path, key))]


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    """Replace a part of a document, unless an earlier change has taken it away."""
    for key in path[:-1]:
        try:
            document = document[key]
        except (KeyError, IndexError, TypeError):
            return
    last: Any = path[-1]
    if isinstance(document, dict) and isinstance(last, str):
        document[last] = value
    if isinstance(document, list) and isinstance(last, int) and last < len(document):
        document[last] = value


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(name=st.sampled_from(MACHINES), data=st.data())
def test_whatever_is_posted_ends_in_a_clear_way(
    everything: Whole, caplog: pytest.LogCaptureFixture, name: str, data: st.DataObject
) -> None:
    document = json.loads(BODIES[name])
    known = places(document)
    for path in data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=5)):
        put(document, path, copy.deepcopy(data.draw(WEIRD)))
    caplog.clear()
    uuid = everything.node(first_mac(name))
    node = everything.store.nodes.get(uuid)
    try:
        with counting_statements(everything.store) as seen:
            answer = send(everything, json.dumps(document).encode())
        assert answer.status in (200, 400, 404), answer.body
        state, error = everything.state(uuid), everything.error(uuid)
        found = stored_found(everything.store, node)
        ports = everything.store.ports.find(node_id=node.id)
        if answer.status == 200 and state == states.MANAGEABLE:
            assert found is not None
        else:
            assert state == (states.INSPECTFAIL if answer.status == 200 else states.INSPECTWAIT)
            assert (error is not None) is (answer.status == 200)
            assert "unexpected" not in (error or "")
            assert (found, len(ports), everything.bench.row(uuid).properties) == (None, 1, {})
        assert len(seen.texts) < MOST_STATEMENTS, seen.texts
        assert not [record for record in caplog.records if record.exc_info]
    finally:
        everything.store.nodes.delete(uuid)
