"""A flood of refused requests costs a line for each address and minute, and bounded memory."""

import logging

import pytest

from ironic.core import refusal_log
from ironic.core.refusal_log import RefusalLog

LOG = logging.getLogger(__name__)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> RefusalLog:
    caplog.set_level(logging.INFO, __name__)
    return RefusalLog(LOG)


def test_an_address_has_one_line_in_a_minute(log: RefusalLog, caplog: pytest.LogCaptureFixture) -> None:
    told = [log.note(address, "No, %s.", address, clock=lambda: 1.0) for address in ("a", "b", "a", "a")]
    assert told == [True, True, False, False]
    assert caplog.messages == ["No, a.", "No, b."]


def test_another_kind_has_a_line_of_its_own(log: RefusalLog, caplog: pytest.LogCaptureFixture) -> None:
    assert all(log.note("a", text, clock=lambda: 1.0) for text in ("Too often.", "Unknown."))


def test_the_next_minute_says_how_many_were_left_out_and_whose(
    log: RefusalLog, caplog: pytest.LogCaptureFixture
) -> None:
    for address in ("a", *"aaaa", "b", "b"):
        log.note(address, "No.", clock=lambda: 1.0)
    log.note("c", "No.", clock=lambda: 61.5)
    assert caplog.messages[2:] == [
        "5 more refusals were left out of this log in a minute before, the most of a (4), b (1).",
        "No.",
    ]


def test_many_addresses_share_a_bound_of_lines_and_of_memory(
    log: RefusalLog, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusal_log, "_MOST_COUNTED", 100)
    for number in range(1000):
        log.note(f"address {number}", "No.", clock=lambda: 1.0)
    assert len(caplog.messages) == refusal_log._MOST_LINES
    assert len(log._left) == 100
    log.note("one", "No.", clock=lambda: 61.5)
    assert caplog.messages[-2].startswith("800 more refusals")
