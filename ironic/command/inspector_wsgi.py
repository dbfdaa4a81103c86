"""The API of the standalone inspector as a WSGI callable, `ironic.command.inspector_wsgi:application`.

Options and rules are those of `ironic.wsgi`, which builds the bare metal API as soon as it is imported.
"""

from ironic.command import wiring
from ironic.command.lifecycle import without_garbage_collection
from ironic.conf import CONF, prepare

prepare([])

with without_garbage_collection():
    application = wiring.inspector_application(CONF)
