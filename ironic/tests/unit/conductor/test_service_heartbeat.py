import threading

from ironic.conductor.service import Heartbeat
from ironic.tests.unit.conductor.conftest import wait_until


def test_it_beats_until_it_is_stopped():
    beats = []
    heartbeat = Heartbeat("c1", lambda: beats.append(1), 0.01)
    heartbeat.start()
    wait_until(lambda: len(beats) >= 3)
    heartbeat.stop()
    after = len(beats)
    assert "conductor-heartbeat" not in {thread.name for thread in threading.enumerate()}
    assert len(beats) == after


def test_it_survives_a_database_that_is_away(caplog):
    def beat():
        beats.append(1)
        if len(beats) <= 2:
            raise ConnectionError("the database is away")

    beats = []
    caplog.set_level("INFO")
    heartbeat = Heartbeat("c1", beat, 0.01)
    heartbeat.start()
    wait_until(lambda: "renews its heartbeat again after 2 failures" in caplog.text)
    heartbeat.stop()
    assert "could not renew its heartbeat (2 in a row)" in caplog.text
    assert "the database is away" in caplog.text


def test_stopping_what_never_started_is_no_error():
    Heartbeat("c1", lambda: None, 1).stop()
