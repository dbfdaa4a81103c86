"""`ironic-inspector-api`: the API of the standalone inspector alone; it calls conductors over the message bus."""

import sys
from collections.abc import Sequence

from ironic.command import lifecycle
from ironic.command.lifecycle import Component, Pause
from ironic.conf import CONF


def main() -> int:
    """Run until a signal ends it."""

    def components(pause: Pause) -> Sequence[Component]:
        from ironic.command import wiring

        return wiring.inspector_api_alone(CONF, pause)

    return lifecycle.run_program("The inspector's API", components, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
