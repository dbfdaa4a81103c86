"""The system of a machine at its BMC, and what the library does not lead to from there.

Many BMCs lack a branch of the Redfish tree, and some answer with a server error there: `optional` reads such branches.
"""

import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Protocol, TypeVar

from sushy import exceptions as sushy_errors

from ironic.drivers.modules.bmc.bmc_gateway import RUNNING, Gateway
from ironic.drivers.modules.redfish.wire.bmc_answer import BmcAnswer
from ironic.drivers.modules.redfish.wire.bmc_failures import NOT_REDFISH, LostConnection

LOG = logging.getLogger(__name__)

T = TypeVar("T")
System = Any


class Connector(Protocol):
    """Sends requests for paths of a BMC (`bmc_connector`); each raises what the library raises for a refusal."""

    gateway: Gateway

    def get(self, path: str) -> BmcAnswer: ...
    def post(self, path: str, data: object) -> BmcAnswer: ...
    def delete(self, path: str) -> BmcAnswer: ...
    def patch(self, path: str, data: object, headers: dict[str, str] | None = None) -> BmcAnswer: ...


def connector_of(system: System) -> Connector:
    """Return the connector of a system, for resources that the library does not lead to."""
    connector: Connector = system.root.bmc_connector
    return connector


def optional(branch: Callable[[], T], otherwise: T) -> T:
    """Return what ``branch`` reads, or ``otherwise`` when the BMC lacks it or shows nothing of use there.

    Some BMCs show a branch to administrators only, or with a licence; some answer there with an error, with another
    document, or not at all. A refused login and a BMC that can't be reached are still raised, and so are many answers
    that do not come: the BMC may be dead, and each takes a long time.
    """
    try:
        try:
            return branch()
        except LostConnection as error:
            # Answers that break off may come when they are asked for again; late ones take too long for that.
            if not (error.has_begun and error.is_passing):
                raise
            return branch()
    except LostConnection as error:
        if not error.has_begun or not RUNNING.get().may_lose_another():
            raise
        LOG.info("A Redfish BMC does not answer for a resource, which is left out: %s", error.text)
    except sushy_errors.ConnectionError:
        raise
    except sushy_errors.AccessError as error:
        if error.status_code != HTTPStatus.FORBIDDEN:
            raise
        LOG.debug("A Redfish BMC does not show a resource: %s", error)
    except (sushy_errors.MissingAttributeError, sushy_errors.HTTPError) as error:
        LOG.debug("A Redfish BMC lacks a resource: %s", error)
    except (sushy_errors.SushyError, *NOT_REDFISH) as error:
        LOG.info("A resource of a Redfish BMC can't be read and is left out: %s: %s", type(error).__name__, error)
        LOG.debug("It could not be read here.", exc_info=True)
    return otherwise
