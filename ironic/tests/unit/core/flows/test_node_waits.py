"""What a node waits for, as data: words, nesting, and the codec of what is remembered."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ironic.core.flows import node_waits
from ironic.core.flows.node_waits import Follows, NodeWait
from ironic.tests.unit.drivers.machine import Machine

NOW = datetime(2026, 1, 1)


def wait(kind: str, words: str = "the BMC", **more: Any) -> NodeWait:
    values: dict[str, Any] = {"interface": None, "since": NOW, "until": None, "next_look": NOW, "run": None}
    return NodeWait(kind=kind, words=words, follows=Follows.FLOW, changed=NOW, **{**values, **more})


def test_the_words_are_those_of_the_innermost_wait() -> None:
    node = Machine()
    node_waits.put(node, wait("step", "the BMC to update", until=NOW + timedelta(hours=1)))
    node_waits.put(node, wait("setting", "the BMC to report it"))
    assert node_waits.text_of(node) == "the BMC to report it"
    # The outer one changes meanwhile.
    node_waits.put(node, wait("step", "the BMC to update more", until=NOW))
    assert node_waits.text_of(node) == "the BMC to report it"
    assert node_waits.end(node, "setting")
    assert node_waits.text_of(node) == "the BMC to update more, until 2026-01-01 00:00:00 UTC"
    node_waits.end_all(node)
    assert (node_waits.text_of(node), node.driver_internal_info) == (None, {})
    assert node.pending_waits == {"step": None, "setting": None}
    assert not node_waits.end(node, "setting")


def test_what_is_no_row_is_shown_only_without_rows() -> None:
    node = Machine()
    node_waits.say(node, "the ramdisk")
    node_waits.put(node, wait("step"))
    node_waits.say(node, "the ramdisk")
    assert node_waits.text_of(node) == "the BMC"
    node_waits.end(node, "step")
    node_waits.say(node, "the ramdisk")
    node_waits.say(node, None)
    assert node.driver_internal_info == {}


def test_long_words_are_cut_and_secrets_masked() -> None:
    assert len(wait("step", "x" * 10_000).text) < 400
    assert "secret" not in wait("step", "https://a:secret@b/c").text


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    name: str
    count: int = 0
    at: datetime | None = None
    paths: Any = ()


@given(st.builds(Remembered, name=st.text(), at=st.none() | st.datetimes(), paths=st.lists(st.text())))
def test_what_is_remembered_comes_back(memory: Remembered) -> None:
    there = node_waits.decoded(Remembered, node_waits.encoded(memory))
    assert (there.name, there.count, there.at) == (memory.name, memory.count, memory.at)
    assert list(there.paths) == list(memory.paths)


def test_what_a_later_release_remembers_is_left_out() -> None:
    assert node_waits.decoded(Remembered, {"name": "a", "new": 1}) == Remembered(name="a")
