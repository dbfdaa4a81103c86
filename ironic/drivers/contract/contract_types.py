"""Types of the plug-in contract: the task that its methods take, and the records that they get with it.

The classes of the contract are generic in the task, because the task of drivers has the interfaces, whose methods take
it again. `ironic.drivers.contract.interfaces` has them for that task.
"""

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ironic.inspection import task

Task = TypeVar("Task", bound=task.Task)

if TYPE_CHECKING:
    from ironic.db import NodeRecord, PortgroupRecord, PortRecord

    Node: TypeAlias = NodeRecord
    Port: TypeAlias = PortRecord
    Portgroup: TypeAlias = PortgroupRecord
else:
    # Listing the installed drivers must not import the database libraries (S17).
    Node = Port = Portgroup = Any
