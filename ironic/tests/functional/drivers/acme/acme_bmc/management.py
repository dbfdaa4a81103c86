"""Management of Acme machines: a self test that takes its time, and a look at all machines from time to time."""

from acme_bmc import client
from ironic.common import boot_devices, exception, states
from ironic.conductor import periodics
from ironic.conductor import utils as conductor_utils
from ironic.drivers import base
from ironic.drivers.modules import noop_mgmt

KEY = "acme_self_test"
TEMPERATURE = "acme_celsius"


class AcmeManagement(noop_mgmt.NoopManagement):
    """Boots from the network or its disk like any machine without settings, and can test itself."""

    def get_properties(self):
        """Return what is read from driver_info."""
        return client.PROPERTIES

    def validate(self, task):
        """Check driver_info."""
        client.check(task.node)

    def get_supported_boot_devices(self, task):
        """Add the service medium to what every machine has."""
        return [*super().get_supported_boot_devices(task), boot_devices.SAFE]

    def get_sensors_data(self, task):
        """Ask the BMC."""
        celsius = client.ask(task.node, "GET", "temperature")["celsius"]
        return {"Temperature": {"Board": {"Sensor ID": "Board", "Sensor Reading": f"{celsius} C"}}}

    @base.service_step(abortable=True)
    @base.clean_step(priority=10, abortable=True, argsinfo={"fail": {"description": "Have the test fail."}})
    def self_test(self, task, fail=False):
        """Begin a test that goes on in the BMC; `watch_self_test` sees its end."""
        job = client.ask(task.node, "POST", "selftest", {"fail": fail})["job"]
        task.node.set_driver_internal_info(KEY, job)
        task.node.save()
        in_service = task.node.provision_state == states.SERVICING
        return states.SERVICEWAIT if in_service else states.CLEANWAIT

    @periodics.node_periodic(
        purpose="watching an Acme self test",
        spacing=1,
        filters={"reserved": False, "provision_state_in": [states.CLEANWAIT, states.SERVICEWAIT]},
        predicate=lambda node: KEY in node.driver_internal_info,
        shared_task=False,
    )
    def watch_self_test(self, task, manager, context):
        """Bring the node back when its test has ended."""
        job = task.node.driver_internal_info[KEY]
        found = client.ask(task.node, "GET", f"selftest/{job}")
        if found["state"] == "running":
            return
        task.node.del_driver_internal_info(KEY)
        task.node.save()
        if found["state"] == "passed":
            conductor_utils.notify_conductor_resume_clean(task)
        else:
            conductor_utils.cleaning_error_handler(task, f"the self test failed: {found['reason']}")

    @periodics.node_periodic(purpose="reading Acme temperatures", spacing=2, filters={"reserved": False})
    def note_temperature(self, task, manager, context):
        """Keep the temperature of every machine with its node."""
        try:
            celsius = client.ask(task.node, "GET", "temperature")["celsius"]
        except client.AcmeError:
            return
        if task.node.driver_internal_info.get(TEMPERATURE) == celsius:
            return
        try:
            task.upgrade_lock(retry=False)
        except exception.NodeLocked:
            return
        task.node.set_driver_internal_info(TEMPERATURE, celsius)
        task.node.save()
