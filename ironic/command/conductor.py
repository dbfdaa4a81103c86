"""`ironic-conductor`: one conductor alone; its RPC server listens on the message bus."""

import sys
from collections.abc import Sequence

from ironic.command import lifecycle
from ironic.command.lifecycle import Component, Pause
from ironic.conf import CONF


def main() -> int:
    """Run until a signal ends it."""

    def components(pause: Pause) -> Sequence[Component]:
        from ironic.command import wiring

        return wiring.conductor_alone(CONF, pause)

    return lifecycle.run_program("The conductor", components, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
