"""Whether conductors are alive, for programs of operators that ask the database of this service."""

from ironic.conf import CONF, database
from ironic.core.errors import ConductorNotFound
from ironic.db.conductors import ConductorRecord
from ironic.db.store import Store


class Backend:
    """The conductors of the database that the options of [database] name."""

    def __init__(self) -> None:
        self._conductors = Store.from_conf().conductors

    def get_online_conductors(self) -> list[str]:
        """Return the host names of conductors with a heartbeat within [conductor]heartbeat_timeout seconds."""
        return [one.hostname for one in self._conductors.alive(CONF.conductor.heartbeat_timeout)]

    def get_conductor(self, host: str, online: bool | None = True) -> ConductorRecord:
        """Return the record of a conductor that has not left in order, however old its heartbeat; None: of any.

        The record has hostname, conductor_group, drivers, online, and updated_at, the time of its last heartbeat in
        UTC. Raises ConductorNotFound for an unknown host, or one whose ``online`` is another.
        """
        found = self._conductors.get(host)
        if online is not None and bool(found.online) is not online:
            raise ConductorNotFound(conductor=host)
        return found


def get_backend() -> Backend:
    """Return what answers; the options have to be read before.

    Raises ValueError for root, if the database is a file of another user, who could not use what root makes there.
    """
    database.check_user(CONF)
    return Backend()
