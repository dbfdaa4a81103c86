"""The hardware type: which interfaces an Acme machine can be combined from."""

from acme_bmc.management import AcmeManagement
from acme_bmc.power import AcmePower
from acme_bmc.vendor import AcmeVendor
from ironic.drivers import generic
from ironic.drivers.modules import fake, noop, noop_mgmt


class AcmeHardware(generic.GenericHardware):
    """Acme machines."""

    @property
    def supported_power_interfaces(self):
        """Ours."""
        return [AcmePower]

    @property
    def supported_management_interfaces(self):
        """Ours, or none for machines that others set up."""
        return [AcmeManagement, noop_mgmt.NoopManagement]

    @property
    def supported_vendor_interfaces(self):
        """Ours, or none."""
        return [AcmeVendor, noop.NoVendor]

    @property
    def supported_boot_interfaces(self):
        """What fits any machine, and the fake for trying things out."""
        return [*super().supported_boot_interfaces, fake.FakeBoot]

    @property
    def supported_deploy_interfaces(self):
        """What fits any machine, and the fake for trying things out."""
        return [*super().supported_deploy_interfaces, fake.FakeDeploy]
