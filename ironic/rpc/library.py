"""Imports oslo.messaging after the choice of native threads, and without its warnings.

That takes a quarter of a second, so only modules that use a bus import this one.
"""

import warnings

import ironic.conf  # noqa: F401  (chooses native threads for all oslo libraries)

with warnings.catch_warnings():
    # It imports a deprecated module of oslo.utils.
    warnings.simplefilter("ignore", DeprecationWarning)
    import oslo_messaging
    from oslo_messaging import exceptions

__all__ = ["exceptions", "oslo_messaging"]
