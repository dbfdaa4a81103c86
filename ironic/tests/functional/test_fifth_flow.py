"""An operation that the service does not know runs as its own ones do, without a line of the product changed."""

import subprocess
import sys

from ironic.tests.repository import ROOT


def test_a_flow_of_others_runs_through_all_that_ours_run_through():
    """It has to be there before the tables of states are made, so it has a process of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "ironic.tests.fifth_flow", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "ironic/tests/fifth_flow/lives.py"], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "14 passed" in run.stdout
