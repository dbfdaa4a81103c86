"""The terms of TLS with a Redfish BMC, by the driver_info of its node."""

import os
import ssl

from ironic.drivers.modules.redfish.wire.bmc_access import Access
from ironic.drivers.modules.redfish.wire.bmc_failures import UnusableAnswer


def tls_context(access: Access) -> ssl.SSLContext:
    """Return the context for connections; raise UnusableAnswer when no cipher of the node is known."""
    path = access.verify if isinstance(access.verify, str) else None
    is_folder = path is not None and os.path.isdir(path)
    context = ssl.create_default_context(cafile=None if is_folder else path, capath=path if is_folder else None)
    if access.verify is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if access.tls_minimum_version:
        context.minimum_version = ssl.TLSVersion[f"TLSv{access.tls_minimum_version.replace('.', '_')}"]
    if access.tls_ciphers:
        try:
            context.set_ciphers(access.tls_ciphers)
        except ssl.SSLError:
            raise UnusableAnswer("no cipher of redfish_tls_ciphers is known") from None
    return context
