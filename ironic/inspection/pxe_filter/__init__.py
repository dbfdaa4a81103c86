"""Which machines a dnsmasq beside this service serves: those that are being inspected, and unknown ones if wanted."""

from ironic.inspection.pxe_filter.filter import PxeFilter, Sync
from ironic.inspection.pxe_filter.hosts_dir import HostsDir, HostsDirError

__all__ = ["HostsDir", "HostsDirError", "PxeFilter", "Sync"]
