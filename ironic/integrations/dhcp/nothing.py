"""Provider `none`: a DHCP server that the operator has set up answers all machines alike."""

from collections.abc import Sequence

from ironic.integrations.dhcp.base import Host, Option


class OperatorsServer:
    """Needs to be told nothing."""

    def serve(self, hosts: Sequence[Host], options: Sequence[Option]) -> None:
        """Do nothing."""

    def withdraw(self, hosts: Sequence[Host]) -> None:
        """Do nothing."""
