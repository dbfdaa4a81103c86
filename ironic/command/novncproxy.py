"""`ironic-novncproxy`: graphical consoles for browsers; it reads tokens from the database."""

import sys
from collections.abc import Sequence

from ironic.command import lifecycle
from ironic.command.lifecycle import Component, Pause
from ironic.conf import CONF


def main() -> int:
    """Run until a signal ends it."""

    def components(pause: Pause) -> Sequence[Component]:
        from ironic.command import wiring

        return wiring.console_proxy_alone(CONF, pause)

    return lifecycle.run_program("The console proxy", components, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
