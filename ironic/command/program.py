"""What the programs have in common: read the options, then live.

The function that builds the parts imports the rooms it needs, and is called only once the options were read: a
mistyped command line or file is told at once, and no program loads what only others use.
"""

import logging
import os
import sys
import time
from collections.abc import Sequence

from oslo_config import cfg

from ironic.command import lifecycle
from ironic.conf import CONF, prepare

BEGAN = time.monotonic()


def run(name: str, build: lifecycle.Build, argv: Sequence[str]) -> int:
    """Run the program that consists of these parts; return its exit status."""
    try:
        prepare(argv)
    except (cfg.Error, OSError, ValueError) as fault:
        print(f"{name} can't start: {fault}", file=sys.stderr)
        return lifecycle.FAILED

    status = lifecycle.run(CONF, name, build, began=BEGAN)
    if status == lifecycle.UNFINISHED:
        _leave(status)
    return status


def _leave(status: int) -> None:
    """End the process although threads are still at work: the interpreter would wait for them for ever."""
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
