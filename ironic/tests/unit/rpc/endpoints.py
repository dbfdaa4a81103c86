"""An endpoint for tests of the conversation: it does what the name of the node says."""

from typing import Any

from ironic.core.errors import NodeLocked
from ironic.rpc.rpc_api import CALLS, ConductorAPI


def _unexpected(self, context, *args):
    raise AssertionError("this call is not part of the test")


Rest: Any = type("Rest", (ConductorAPI,), dict.fromkeys(CALLS, _unexpected))


class Endpoint(Rest):
    """Answers some calls; remembers what it was asked."""

    def __init__(self):
        self.seen = []

    def validate_interfaces(self, context, node_id):
        self.seen.append((context, node_id))
        return {"power": {"result": True}}

    def change_provision_state(self, context, node_id, verb, arguments):
        self.seen.append((context, node_id, verb, arguments))
        arguments["touched"] = True

    def get_boot_device(self, context, node_id):
        if node_id == "locked":
            raise NodeLocked(node=node_id, host="other")
        raise RuntimeError(f"password=canary of {node_id}")

    def supported_boot_devices(self, context, node_id):
        return {"a set is no JSON"}


# For conductors that are asked by name only.
NO_HASH_RING: Any = None
