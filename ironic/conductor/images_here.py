"""The images of instances and ramdisks on this conductor's host: those that nobody needs go.

Kept ones go by age and by room. One that is still offered to an agent goes when its node is not being deployed: the
conductor that offered it was killed before it could withdraw it.
"""

import logging
from typing import TYPE_CHECKING

from ironic.conf import CONF
from ironic.core.flow import DEPLOY

if TYPE_CHECKING:
    from ironic.db import Store

LOG = logging.getLogger(__name__)


class ImagesHere:
    """Looks through them when called."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def __call__(self) -> None:
        """Remove what nobody needs."""
        # Loaded when it is time to look: a conductor that has just started has other things to do.
        from ironic.integrations.image_cache import ImageCache

        self._withdraw_forgotten()
        for directory in (CONF.pxe.tftp_master_path, CONF.pxe.instance_master_path):
            ImageCache.from_conf(directory).trim()

    def _withdraw_forgotten(self) -> None:
        from ironic.drivers.modules.agent import published

        # Looked at before the nodes are: an image is offered only after its node's deployment has begun.
        offered = published.offered()
        if not offered:
            return
        deploying = {row[0] for row in self._store.nodes.rows(("uuid",), filters={"provision_state_in": DEPLOY.states})}
        for path in offered:
            if published.node_of(path) not in deploying:
                path.unlink(missing_ok=True)
                LOG.info(
                    "Node %s: its image is offered no longer, for it is not being deployed", published.node_of(path)
                )
