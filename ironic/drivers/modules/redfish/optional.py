"""Parts of a BMC that may be missing or broken without spoiling the rest.

Many BMCs lack a branch of the Redfish tree, and some answer with a server error where they should say so.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from sushy import exceptions as sushy_errors

LOG = logging.getLogger(__name__)

T = TypeVar("T")


def optional(branch: Callable[[], T], otherwise: T) -> T:
    """Read a branch, or return something else when the BMC hasn't got it; a refused login is no such case."""
    try:
        return branch()
    except sushy_errors.AccessError:
        raise
    except (sushy_errors.MissingAttributeError, sushy_errors.HTTPError) as error:
        LOG.debug("A Redfish BMC has not got a part that is looked for: %s", error)
        return otherwise
