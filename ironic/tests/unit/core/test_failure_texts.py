"""The texts of failures: first what helps, then what failed; the node's UUID once."""

import pytest

from ironic.core.failure_texts import failure_text, without_node
from ironic.core.hardware_errors import RedfishError

NODE = "1be26c0b-03f2-4d2e-ae87-c02d7f33c781"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("no disk", "no disk. It failed."),
        ("no disk. Add one.", "no disk. Add one. It failed."),
        ("", "No reason was given. It failed."),
    ],
)
def test_the_reason_comes_first(reason: str, expected: str) -> None:
    assert failure_text("It failed", reason) == expected


def test_the_node_is_named_once() -> None:
    error = RedfishError(node=NODE, operation="reading the power state", error="BMC a: it has several systems")
    assert failure_text(f"Verifying node {NODE} failed", str(error), NODE) == (
        f"BMC a: it has several systems (Redfish reading the power state failed). Verifying node {NODE} failed."
    )
    # A headline without the node leaves it where it is.
    assert failure_text("Inspection failed", f"rule r failed on node {NODE}", NODE).count(NODE) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Node {NODE} has no port", "The node has no port"),
        (f"Node {NODE}: it is off", "it is off"),
        (f"the agent of node {NODE} is gone", "the agent of the node is gone"),
        (f"node {NODE}-b is another", f"node {NODE}-b is another"),
        ("nothing of a node", "nothing of a node"),
    ],
)
def test_a_text_without_the_node_still_reads_well(text: str, expected: str) -> None:
    assert without_node(text, NODE) == expected
