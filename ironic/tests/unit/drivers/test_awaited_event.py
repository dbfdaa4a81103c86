"""What a node waits for, in words."""

from ironic.drivers import awaited_event
from ironic.tests.unit.drivers.machine import work_on


def test_it_is_on_the_node_with_its_end_until_it_is_forgotten() -> None:
    node = work_on().node
    awaited_event.announce(node, "the BMC to report Turbo=Off", 60)
    text = awaited_event.text_of(node) or ""
    assert text.startswith("the BMC to report Turbo=Off, until 2") and text.endswith(" UTC")
    awaited_event.forget(node)
    assert awaited_event.text_of(node) is None
    assert node.driver_internal_info == {}
    awaited_event.forget(node)


def test_a_wait_without_an_end_names_none() -> None:
    node = work_on().node
    for none in (None, 0):
        awaited_event.announce(node, "x" * 10_000, none)
        text = awaited_event.text_of(node) or ""
        assert "until" not in text and len(text) < 400
