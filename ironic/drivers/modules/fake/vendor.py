"""Vendor methods of a fake machine: examples of every sort there is."""

import logging
from typing import Any, ClassVar

from ironic.core import states
from ironic.core.errors import MissingParameterValue
from ironic.drivers.interfaces import VendorInterface
from ironic.drivers.modules.fake.delay import delay
from ironic.drivers.passthru import passthru
from ironic.drivers.steps import clean_step, service_step
from ironic.drivers.task import Task

LOG = logging.getLogger(__name__)


class _Meow(VendorInterface):
    """Methods that want a ``bar`` and check whether it says "meow"."""

    wants_bar: ClassVar[frozenset[str]] = frozenset()

    def validate(self, task: Task, method: str | None = None, **kwargs: Any) -> None:
        if method in self.wants_bar and not kwargs.get("bar"):
            raise MissingParameterValue(err=f"Vendor method {method} of node {task.node.uuid} needs the parameter bar.")

    def _check(self, bar: str) -> bool:
        delay("vendor")
        return bar == "meow"


class FakeVendorA(_Meow):
    """The smaller example; published under no name, for drivers that combine several."""

    wants_bar: ClassVar[frozenset[str]] = frozenset({"first_method"})

    def get_properties(self) -> dict[str, str]:
        return {"A1": "First example of a property. Required.", "A2": "Second example of a property. Required."}

    @passthru(["POST"], description="Checks in the background whether bar is 'meow'.")
    def first_method(self, task: Task, http_method: str, bar: str) -> bool:
        return self._check(bar)


class FakeVendorB(_Meow):
    """The larger example: synchronous and asynchronous methods, a shared lock, steps."""

    wants_bar: ClassVar[frozenset[str]] = frozenset({"second_method", "third_method_sync", "fourth_method_shared_lock"})

    def get_properties(self) -> dict[str, str]:
        return {"B1": "First example of a property. Required.", "B2": "Second example of a property. Required."}

    @passthru(["POST"], description="Checks in the background whether bar is 'meow'.")
    def second_method(self, task: Task, http_method: str, bar: str) -> bool:
        return self._check(bar)

    @passthru(["POST"], async_call=False, description="Tells whether bar is 'meow'.")
    def third_method_sync(self, task: Task, http_method: str, bar: str) -> bool:
        return self._check(bar)

    @passthru(
        ["POST"], require_exclusive_lock=False, description="Checks whether bar is 'meow' while others use the node."
    )
    def fourth_method_shared_lock(self, task: Task, http_method: str, bar: str) -> bool:
        return self._check(bar)

    @clean_step(priority=1)
    @service_step(priority=0, requires_ramdisk=False)
    @passthru(["POST"], description="Writes a line with the names of its arguments to the log.")
    def log_passthrough(self, task: Task, **kwargs: Any) -> None:
        delay("vendor")
        LOG.info("Vendor method log_passthrough of node %s, with arguments %s.", task.node.uuid, sorted(kwargs))

    @service_step(priority=0)
    def trigger_servicewait(self, task: Task) -> str:
        """Leave the node waiting for an agent that will never call."""
        delay("vendor")
        return states.SERVICEWAIT
