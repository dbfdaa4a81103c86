"""Who serves a node, and with which interfaces, judged from the conductors' table (S25).

That nobody serves a node is a 400 here: callers have named a driver, a conductor group or an interface.
"""

from collections.abc import Collection, Mapping

from ironic.core import interface_choice
from ironic.core.errors import DriverNotFound, InvalidParameterValue, NoValidHost
from ironic.core.interface_kinds import KINDS, interface_field
from ironic.rpc.placement import Placement


def check_served(placement: Placement, uuid: str, driver: str, group: str) -> None:
    """Refuse a node that no live conductor would take."""
    try:
        placement.host_for(uuid, driver, group)
    except NoValidHost as error:
        raise InvalidParameterValue(err=str(error)) from None


def interfaces(
    placement: Placement, driver: str, group: str, asked: Mapping[str, str | None], kinds: Collection[str] = KINDS
) -> dict[str, str]:
    """Return the interface fields of these kinds; one that is not asked for, or asked for as null, gets its default."""
    rows = [row for row in placement.served() if row.conductor_group.lower() == group.lower()]
    wanted = {kind: asked.get(interface_field(kind)) for kind in kinds}
    try:
        chosen = interface_choice.resolve(rows, driver, wanted, kinds)
    except DriverNotFound as error:
        raise InvalidParameterValue(err=str(error)) from None
    return {interface_field(kind): name for kind, name in chosen.items()}
