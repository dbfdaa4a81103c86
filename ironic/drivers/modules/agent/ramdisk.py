"""What a ramdisk is told on its kernel command line, so that its agent finds this service."""

from ironic.conf import CONF
from ironic.core.errors import InvalidParameterValue


def parameters() -> dict[str, object]:
    """Return the kernel parameters; one without a value is a flag."""
    return {"ipa-api-url": service_url()}


def service_url() -> str:
    """Return where agents find this service, or raise InvalidParameterValue."""
    base = CONF.service_catalog.endpoint_override or CONF.api.public_endpoint
    if not base:
        raise InvalidParameterValue(
            err="An agent can't be told where to find this service: set [service_catalog]endpoint_override to its URL."
        )
    return str(base).rstrip("/")
