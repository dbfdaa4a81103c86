"""What the programs have in common: read the options, then live.

The function that builds the parts imports the rooms it needs, and is called only once the options were read: a
mistyped command line or file is told at once, and no program loads what only others use.
"""

import sys
import time
from collections.abc import Callable, Sequence

from oslo_config import cfg

from ironic.command import lifecycle
from ironic.conf import CONF, prepare

BEGAN = time.monotonic()


def run(name: str, build: Callable[[], Sequence[lifecycle.Part]], argv: Sequence[str]) -> int:
    """Run the program that consists of these parts; return its exit status."""
    try:
        prepare(argv)
    except (cfg.Error, OSError, ValueError) as fault:
        print(f"{name} can't start: {fault}", file=sys.stderr)
        return 1

    return lifecycle.run(CONF, name, build, began=BEGAN)
