"""What ipmitool's messages mean; they are those that it writes about real BMCs."""

from collections.abc import Callable
from typing import Any

import pytest

from ironic.drivers.modules.ipmi.tool_errors import Fault, fault_in, is_begun, summary

NO_SESSION = "Error: Unable to establish IPMI v2 / RMCP+ session\n"
NOISE = """Loading IANA PEN Registry...
Get HPM.x Capabilities request failed, compcode = c0
Get Device ID command failed: 0xc0 Node busy
Running Get VSO Capabilities my_addr 0x20, transit 0, target 0x20
Invalid completion code received: Invalid command
"""


@pytest.mark.parametrize(
    ("messages", "fault", "begun"),
    [
        (f"> RAKP 2 HMAC is invalid\n{NO_SESSION}", Fault.REFUSED, False),
        (f"RAKP 2 message indicates an error : unauthorized name\n{NO_SESSION}", Fault.REFUSED, False),
        (
            f"Error: Received an Unexpected Open Session Response\n> RAKP 2 HMAC is invalid\n{NO_SESSION}",
            Fault.NO_SESSION,
            False,
        ),
        (
            f"> Error: no response from RAKP 1 message\n> RAKP 2 HMAC is invalid\n{NO_SESSION}",
            Fault.NO_SESSION,
            False,
        ),
        ("Invalid user name\nError: Unable to establish LAN session\n", Fault.REFUSED, False),
        ("Activate Session command failed\nError: Unable to establish LAN session\n", Fault.REFUSED, False),
        (f"> RAKP 4 message has invalid integrity check value\n{NO_SESSION}", Fault.KEY, False),
        (
            f"Error in open session response message : invalid authentication algorithm\n\n{NO_SESSION}",
            Fault.CIPHER,
            False,
        ),
        (f"Authentication algorithm 0x01 is not what we requested 0x03\n\n{NO_SESSION}", Fault.CIPHER, False),
        (
            f"Error in open session response message : insufficient resources for session\n{NO_SESSION}",
            Fault.BUSY,
            False,
        ),
        (f"{NOISE}Get Chassis Power Status failed: Node busy\n", Fault.BUSY, False),
        (f"{NOISE}Set Chassis Power Control to Up/On failed: Timeout\n", Fault.BUSY, True),
        (f"Get Auth Capabilities error\n{NO_SESSION}", Fault.NO_SESSION, False),
        (f"> Error: no response from RAKP 1 message\n{NO_SESSION}", Fault.NO_SESSION, False),
        (f"{NOISE}Set Chassis Power Control to Diag failed: Invalid data field in request\n", Fault.ANSWERED, True),
        (f"{NOISE}Get Chassis Power Status failed: Insufficient privilege level\n", Fault.ANSWERED, True),
        (f"{NOISE}Unable to get Chassis Power Status\n", Fault.OTHER, True),
        (f"{NOISE}Get Device ID command failed: Invalid data field in request\n", Fault.ANSWERED, True),
        ("", Fault.OTHER, True),
    ],
)
def test_messages_have_a_meaning(messages: str, fault: Fault, begun: bool) -> None:
    assert fault_in(messages) is fault
    assert is_begun(messages) is begun


def test_operators_may_name_further_texts(conf: Callable[..., Any]) -> None:
    assert fault_in("Odd fault of a vendor") is Fault.OTHER
    conf(ipmi__additional_retryable_ipmi_errors=["odd fault"])
    assert fault_in("Odd fault of a vendor") is Fault.BUSY


def test_users_read_the_last_message() -> None:
    assert summary(f"{NOISE}>> sent 01\nClosed\n") == "Closed"
    assert summary(f"> RAKP 2 HMAC is invalid\n{NO_SESSION}") == "RAKP 2 HMAC is invalid"
    assert summary(NO_SESSION) == NO_SESSION.strip()
    assert summary("") == "ipmitool gives no reason"
