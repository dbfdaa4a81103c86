"""What handlers of signals keep and a signal mask would not: the second signal, and the signals of child processes."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ironic.command.lifecycle import receive_signals

STUCK = """
import time
from ironic.command import lifecycle
from ironic.conf import CONF

class Stuck(lifecycle.Component):
    def start(self):
        print("starting", flush=True)
        time.sleep(60)

lifecycle.run_components(CONF, "Test", lambda pause: [Stuck()])
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once_even_a_process_that_is_stuck_while_it_starts(number: int) -> None:
    with subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "starting\n"
            process.send_signal(number)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.send_signal(number)
            assert process.wait(10) == -number
        finally:
            process.kill()


def test_a_child_process_that_a_thread_starts_obeys_signals() -> None:
    def started_and_ended() -> int:
        with subprocess.Popen(["sleep", "60"]) as child:
            child.terminate()
            try:
                return child.wait(10)
            finally:
                child.kill()

    with receive_signals(), ThreadPoolExecutor(1) as workers:
        assert workers.submit(started_and_ended).result() == -signal.SIGTERM
