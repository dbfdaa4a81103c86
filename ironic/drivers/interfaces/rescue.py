"""Booting a deployed machine into a rescue system and back."""

from abc import abstractmethod
from typing import ClassVar

from ironic.drivers.interfaces.base import BaseInterface
from ironic.drivers.task import Task


class RescueInterface(BaseInterface):
    """Rescue mode. Every method may be repeated."""

    interface_type: ClassVar[str] = "rescue"

    # Both the password and its hash are put into instance_info; False: the hash is enough.
    wants_password: ClassVar[bool] = True

    @abstractmethod
    def rescue(self, task: Task) -> str:
        """Boot the rescue system; RESCUEWAIT or RESCUE. Raises InstanceRescueFailure."""

    @abstractmethod
    def unrescue(self, task: Task) -> str:
        """Boot the deployed system again; ACTIVE. Raises InstanceUnrescueFailure."""

    def finish_rescue(self, task: Task) -> None:
        """Do what is left to do once the rescue system's agent has called. Raises InstanceRescueFailure."""

    def clean_up(self, task: Task) -> None:
        """Undo what a rescue has set up that failed or was given up."""
