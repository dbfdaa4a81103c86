"""oslo.messaging, imported the way it has to be: after native threads were chosen, and without its warnings.

It takes a quarter of a second, so only what really uses a bus imports this.
"""

import warnings

import ironic.conf  # noqa: F401  (chooses native threads for all oslo libraries)

with warnings.catch_warnings():
    # It still imports an oslo.utils module that is on its way out; nothing we could do about that here.
    warnings.simplefilter("ignore", DeprecationWarning)
    import oslo_messaging
    from oslo_messaging import exceptions

__all__ = ["exceptions", "oslo_messaging"]
