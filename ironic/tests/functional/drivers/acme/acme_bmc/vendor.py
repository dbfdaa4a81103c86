"""What Acme offers beyond the API."""

from acme_bmc import client
from ironic.common import exception
from ironic.drivers import base

HOT_LINE = "+1 555 0100"


class AcmeVendor(base.VendorInterface):
    """Vendor methods of nodes, and one of the driver itself."""

    def get_properties(self):
        """Return what is read from driver_info."""
        return client.PROPERTIES

    def validate(self, task, method=None, **kwargs):
        """Check driver_info, and the arguments of a method if one is called."""
        client.check(task.node)
        if method == "light" and not isinstance(kwargs.get("on"), bool):
            raise exception.InvalidParameterValue("The method light needs the argument on, true or false.")

    @base.passthru(["PUT"], async_call=False, description="Turns the light on the front on or off.")
    def light(self, task, http_method, on):
        """Send the request to the BMC and return its answer."""
        return client.ask(task.node, "PUT", "light", {"on": on})

    @base.passthru(["GET"], async_call=False, require_exclusive_lock=False, description="The temperature of the board.")
    def temperature(self, task, http_method):
        """Ask the BMC; others may hold the node meanwhile."""
        return client.ask(task.node, "GET", "temperature")

    @base.passthru(["POST"], description="Blinks in the background.")
    def blink(self, task, http_method, times=3):
        """Blink; the caller does not wait."""
        for _ in range(times):
            client.ask(task.node, "PUT", "light", {"on": True})
            client.ask(task.node, "PUT", "light", {"on": False})

    @base.passthru(["GET"], async_call=False, attach=True, description="Hands out the log of the BMC as a file.")
    def log(self, task, http_method):
        """Return the log as text."""
        return "\n".join(client.ask(task.node, "GET", "log")["lines"])

    @base.driver_passthru(["GET"], async_call=False, description="The phone number of the support.")
    def hot_line(self, context, http_method):
        """Return the telephone number of Acme; no node is needed."""
        return {"number": HOT_LINE}
