"""A third party's classic drivers: classes with fixed interfaces, as packages had them before hardware types.

The machine is a directory, named in driver_info: ``power`` holds its power state, ``journal`` a line for each action.
``old-acme`` has all that a vendor used to bring; ``old-acme-small`` has power and deploy only.
"""

from pathlib import Path

from ironic.common import boot_devices, exception, states
from ironic.conductor import periodics
from ironic.drivers import base

PROPERTIES = {"old_acme_directory": "Directory of the machine. Required."}


def _directory(node):
    value = node.driver_info.get("old_acme_directory")
    if not value:
        raise exception.MissingParameterValue(f"Node {node.uuid} has no old_acme_directory in driver_info.")
    return Path(value)


def _note(task, line):
    with (_directory(task.node) / "journal").open("a") as journal:
        journal.write(f"{line}\n")


class OldAcmePower(base.PowerInterface):
    def get_properties(self):
        return PROPERTIES

    def validate(self, task):
        _directory(task.node)

    def get_power_state(self, task):
        return (_directory(task.node) / "power").read_text().strip()

    def set_power_state(self, task, power_state, timeout=None):
        (_directory(task.node) / "power").write_text(power_state)
        _note(task, power_state)

    def reboot(self, task, timeout=None):
        self.set_power_state(task, states.POWER_ON)


class OldAcmeDeploy(base.DeployInterface):
    def get_properties(self):
        return {}

    def validate(self, task):
        pass

    @base.deploy_step(priority=100)
    def deploy(self, task):
        _note(task, "deploy")
        return states.DEPLOYDONE

    def tear_down(self, task):
        _note(task, "tear down")
        return states.DELETED

    def prepare(self, task):
        _note(task, "prepare")

    def clean_up(self, task):
        pass

    def take_over(self, task):
        _note(task, "take over")

    @base.clean_step(priority=20)
    def erase(self, task):
        _note(task, "erase")

    @base.clean_step(priority=0, argsinfo={"times": {"description": "How often.", "required": False}})
    def polish(self, task, times=1):
        _note(task, f"polish {times}")

    @base.service_step(priority=0)
    def dust(self, task):
        _note(task, "dust")


class OldAcmeManagement(base.ManagementInterface):
    def get_properties(self):
        return {"old_acme_tag": "Tag of the machine. Optional."}

    def validate(self, task):
        pass

    def get_supported_boot_devices(self, task):
        return [boot_devices.PXE, boot_devices.DISK]

    def set_boot_device(self, task, device, persistent=False):
        _note(task, f"boot from {device}")

    def get_boot_device(self, task):
        return {"boot_device": boot_devices.DISK, "persistent": True}

    def get_sensors_data(self, task):
        return {}

    @periodics.node_periodic(purpose="counting visits", spacing=1, shared_task=False)
    def count(self, task, manager, context):
        visits = task.node.driver_internal_info.get("old_acme_visits", 0)
        task.node.set_driver_internal_info("old_acme_visits", visits + 1)
        task.node.save()


class OldAcmeVendor(base.VendorInterface):
    def get_properties(self):
        return {}

    def validate(self, task, method=None, **kwargs):
        if method == "light" and "on" not in kwargs:
            raise exception.MissingParameterValue("light needs the parameter on.")

    @base.passthru(["POST"], async_call=False, description="Switches the light.")
    def light(self, task, http_method, on):
        _note(task, f"light {on}")
        return {"on": on}

    @base.driver_passthru(["GET"], async_call=False, description="Number to call.")
    def hot_line(self, context, http_method):
        return {"number": "+1 555 0100"}


class OldAcmeDriver(base.BaseDriver):
    """Everything that a vendor brings."""

    def __init__(self):
        self.power = OldAcmePower()
        self.deploy = OldAcmeDeploy()
        self.management = OldAcmeManagement()
        self.vendor = OldAcmeVendor()


class SmallOldAcmeDriver(base.BaseDriver):
    """The least that a classic driver has."""

    def __init__(self):
        self.power = OldAcmePower()
        self.deploy = OldAcmeDeploy()
