"""Power of Acme machines, with a clean step that is done when it returns."""

import time

from acme_bmc import client
from ironic.common import exception, states
from ironic.conductor import task_manager
from ironic.drivers import base

LONGEST_BREAK = 60


class AcmePower(base.PowerInterface):
    """Switches a machine through its BMC."""

    def get_properties(self):
        """Return what is read from driver_info."""
        return client.PROPERTIES

    def validate(self, task):
        """Check driver_info; the BMC is not asked, for this has to be quick."""
        client.check(task.node)

    def get_power_state(self, task):
        """Ask the BMC."""
        return states.POWER_ON if client.ask(task.node, "GET", "power")["on"] else states.POWER_OFF

    @task_manager.require_exclusive_lock
    def set_power_state(self, task, power_state, timeout=None):
        """Send the request to the BMC, which answers when it is done."""
        if power_state not in (states.POWER_ON, states.POWER_OFF):
            raise exception.InvalidParameterValue(f"An Acme machine knows no power state {power_state}.")
        client.ask(task.node, "PUT", "power", {"on": power_state == states.POWER_ON})

    @task_manager.require_exclusive_lock
    def reboot(self, task, timeout=None):
        """Turn the machine off and on again."""
        self.set_power_state(task, states.POWER_OFF)
        self.set_power_state(task, states.POWER_ON)

    @base.clean_step(priority=0, argsinfo={"seconds": {"description": "How long to stay off.", "required": True}})
    def cool_down(self, task, seconds):
        """Leave the machine off for a moment; done when this returns."""
        if not 0 <= seconds <= LONGEST_BREAK:
            raise exception.InvalidParameterValue(f"An Acme machine cools down for 0 to {LONGEST_BREAK} seconds.")
        task.change_power(states.POWER_OFF)
        time.sleep(seconds)
        task.change_power(states.POWER_ON)
