"""`ironic-conductor`: a conductor by itself; it is asked over the message bus."""

import sys
from collections.abc import Sequence

from ironic.command import program
from ironic.command.lifecycle import Part
from ironic.command.signals import Pause
from ironic.conf import CONF


def main() -> int:
    """Run until a signal ends it."""
    return program.run("The conductor", _parts, sys.argv[1:])


def _parts(pause: Pause) -> Sequence[Part]:
    from ironic.command import wiring

    return wiring.conductor_alone(CONF, pause)


if __name__ == "__main__":
    sys.exit(main())
