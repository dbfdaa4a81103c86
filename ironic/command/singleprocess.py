"""`ironic`: the API and one conductor in one process, the embedded default."""

import sys
from collections.abc import Sequence

from ironic.command import lifecycle
from ironic.command.lifecycle import Component, Pause
from ironic.conf import CONF


def main() -> int:
    """Run until a signal ends it."""

    def components(pause: Pause) -> Sequence[Component]:
        from ironic.command import wiring

        return wiring.all_in_one(CONF, pause)

    return lifecycle.run_program("The all-in-one service", components, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
