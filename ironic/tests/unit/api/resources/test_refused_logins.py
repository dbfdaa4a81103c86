"""A password that is written again, the same one too, is a new login for a BMC that has refused it too often."""

from typing import Any

import pytest

from ironic.conf import CONF
from ironic.drivers.modules.bmc.login_guard import LoginBarred, LoginGuard, LoginRefused
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.api.resources.rows import add_node

REDFISH = {"redfish_address": "https://BMC.example", "redfish_username": "op", "redfish_password": "secret"}
IPMI = {"ipmi_address": "192.0.2.7", "ipmi_username": "op", "ipmi_password": "secret"}


def refused(service: Service, address: str, user: str = "op", password: str = "secret") -> LoginGuard:
    """Return the guard of a login that was refused too often."""
    guard = LoginGuard(service.store.bmc_logins, address, user, password)
    for _ in range(CONF.bmc.refused_logins):
        with pytest.raises(LoginRefused), guard.attempt(0):
            raise LoginRefused
    return guard


def is_barred(guard: LoginGuard) -> bool:
    try:
        guard.check()
    except LoginBarred:
        return True
    return False


@pytest.mark.parametrize(
    ("info", "address", "path", "value", "anew"),
    [
        (REDFISH, "https://bmc.example", "/driver_info/redfish_password", "secret", True),
        (REDFISH, "https://bmc.example:8443", "/driver_info/redfish_password", "secret", True),
        (REDFISH, "https://bmc.example", "/driver_info", REDFISH, True),
        (IPMI, "ipmi://192.0.2.7:623", "/driver_info/ipmi_password", "secret", True),
        # The mask stands for what is stored, and nothing is written.
        (REDFISH, "https://bmc.example", "/driver_info", {**REDFISH, "redfish_password": "******"}, False),
        (REDFISH, "https://bmc.example", "/driver_info/redfish_username", "op", False),
        (REDFISH, "https://bmc.example", "/driver_info/extra_note", "secret", False),
        (REDFISH, "https://bmc.example", "/description", "secret", False),
        (REDFISH, "https://other.example", "/driver_info/redfish_password", "secret", False),
    ],
)
def test_the_same_password_again(
    service: Service, info: dict[str, Any], address: str, path: str, value: Any, anew: bool
) -> None:
    node = add_node(service, driver_info=info)
    guard, other = refused(service, address), refused(service, address, user="somebody")
    body = [{"op": "add", "path": path, "value": value}]
    assert service.call("PATCH", f"/v1/nodes/{node.uuid}", body=body).status == 200
    assert is_barred(guard) != anew
    assert is_barred(other)
