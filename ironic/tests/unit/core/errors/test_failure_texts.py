"""The texts of failures: first what helps, then what failed; each thing once."""

import pytest

from ironic.core.errors import CleanStepFailed, InstanceDeployFailure, IronicError, PowerStateFailure
from ironic.core.errors.failure_texts import cause_of, failure_text, headline_of, in_words
from ironic.core.errors.hardware_errors import (
    AgentConnectionFailed,
    NetworkError,
    NoFreePhysicalPorts,
    RedfishError,
    VifInvalidForAttach,
)

NODE = "1be26c0b-03f2-4d2e-ae87-c02d7f33c781"
FAILED = "Verifying node {node} failed: {reason}"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("no disk", "no disk. It failed."),
        ("no disk. Add one.", "no disk. Add one. It failed."),
        ("", "No reason was given. It failed."),
        (IronicError(" "), "No reason was given. It failed."),
        (IronicError("no disk"), "no disk. It failed."),
        (ValueError("odd"), "unexpected ValueError: odd. It failed."),
    ],
)
def test_the_reason_comes_first(reason: BaseException | str, expected: str) -> None:
    assert failure_text("It failed", reason) == expected


def test_the_node_is_named_once() -> None:
    error = RedfishError(node=NODE, operation="reading the power state", error="BMC a: it has several systems")
    assert failure_text(headline_of(FAILED, node=NODE), error, NODE) == (
        f"BMC a: it has several systems (Redfish reading the power state failed). Verifying node {NODE} failed."
    )
    # A reader who does not know the node is shown it.
    assert failure_text("Inspection failed", f"rule r failed on node {NODE}").count(NODE) == 1


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
def test_a_sentence_without_the_node_still_reads_well(text: str, expected: str) -> None:
    assert failure_text("It failed", text, NODE) == f"{expected}. It failed."


def test_an_error_says_what_its_reason_says_once() -> None:
    lost = AgentConnectionFailed(node=NODE, command="clean.run", reason="no route.")
    assert (
        str(lost)
        == f"The agent of node {NODE} can't be reached for clean.run: no route. Check that the ramdisk still runs."
    )
    assert str(InstanceDeployFailure(node=NODE, reason=lost)) == (
        f"Deploying node {NODE} failed: The agent of the node can't be reached for clean.run: no route. Check that the "
        "ramdisk still runs."
    )
    full = NoFreePhysicalPorts(node=NODE, vif="v1")
    assert str(VifInvalidForAttach(node=NODE, vif="v1", reason=full)) == (
        f"Virtual interface v1 can't be attached to node {NODE}: The node has no free port. Detach another virtual "
        "interface or add a port."
    )


def test_an_error_that_says_no_more_gives_its_reason() -> None:
    inner = PowerStateFailure(node=NODE, target="power off", reason="the BMC is gone")
    outer = PowerStateFailure(node=NODE, target="power off", reason=inner)
    assert str(outer) == "the BMC is gone (changing the power state to 'power off' failed)"
    said = [(PowerStateFailure.text, {"target": "power off"})]
    assert failure_text("It stays on", outer, NODE, said) == "the BMC is gone. It stays on."
    between = NetworkError(node=NODE, reason=inner)
    assert in_words(between, said) == f"The networks of node {NODE} could not be changed: the BMC is gone"
    assert cause_of(inner, [(PowerStateFailure.text, {"target": "power on"})]) is inner, "another change has failed"
    sentence = CleanStepFailed("no disk")
    assert cause_of(sentence, [(CleanStepFailed.text, {})]) is sentence


def test_what_failed_is_its_text_without_the_reason() -> None:
    assert headline_of(CleanStepFailed.text, step="a.b", node="n1") == "Clean step a.b failed on node n1"
    assert in_words(KeyError("x")) == "unexpected KeyError: 'x'"
