"""Waits of the clock of the process, for what does not have a task's clock yet."""

from ironic.core.clock import CLOCK

pause, until = CLOCK.sleep, CLOCK.until
