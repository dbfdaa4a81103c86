"""Imports oslo.messaging after the choice of native threads, and without its warnings.

That takes a quarter of a second, so only modules that use a bus import this one.
"""

import warnings
from typing import Final

import ironic.conf  # noqa: F401  (chooses native threads for all oslo libraries)

with warnings.catch_warnings():
    # It imports a deprecated module of oslo.utils.
    warnings.simplefilter("ignore", DeprecationWarning)
    import oslo_messaging
    from kombu.exceptions import KombuError
    from oslo_messaging import exceptions

# What calls raise where the message bus is to blame. The library lets some errors of those below it through.
BUS_ERRORS: Final[tuple[type[Exception], ...]] = (exceptions.MessagingException, KombuError, OSError)

__all__ = ["BUS_ERRORS", "exceptions", "oslo_messaging"]
