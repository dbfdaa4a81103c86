"""The API as a WSGI callable, `ironic.wsgi:application`, for servers that bring their own processes and threads.

Options come from the usual files; IRONIC_CONFIG_FILE and IRONIC_CONFIG_DIR name others. Conductors are asked over the
message bus. Every worker process must import this by itself (no preloading): connections don't survive a fork.
"""

from ironic.command import wiring
from ironic.command.lifecycle import without_garbage_collection
from ironic.conf import CONF, prepare

prepare([])

with without_garbage_collection():
    application = wiring.application(CONF)
