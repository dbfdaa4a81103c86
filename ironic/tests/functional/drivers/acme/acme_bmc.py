"""A vendor's driver, as it would live in a package of its own.

It brings a power interface and a hardware type, and takes everything else from the service.
"""

from ironic.drivers import base, generic
from ironic.drivers.modules import fake, noop_mgmt


class AcmePower(base.PowerInterface):
    """Power of Acme machines, with a clean step of its own."""

    def get_properties(self):
        return {"acme_address": "Address of the machine. Required."}

    def validate(self, task):
        task.node.driver_info["acme_address"]

    def get_power_state(self, task):
        return task.node.power_state

    @base.clean_step(priority=0, argsinfo={"seconds": {"description": "How long to stay off."}})
    def cool_down(self, task, seconds=1):
        """Let the machine cool down."""

    def set_power_state(self, task, power_state, timeout=None):
        task.node.power_state = power_state

    def reboot(self, task, timeout=None):
        task.node.power_state = "power on"


class AcmeHardware(generic.GenericHardware):
    """Acme machines."""

    @property
    def supported_power_interfaces(self):
        return [AcmePower]

    @property
    def supported_management_interfaces(self):
        return [noop_mgmt.NoopManagement]

    @property
    def supported_boot_interfaces(self):
        return super().supported_boot_interfaces + [fake.FakeBoot]

    @property
    def supported_deploy_interfaces(self):
        return super().supported_deploy_interfaces + [fake.FakeDeploy]
