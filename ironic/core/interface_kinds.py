"""The kinds of interface a driver is composed of (S2: fixed in code, no plug-in adds one).

Names, order and the two subsets come from doc/contract/drivers.md#kinds-of-interface.
"""

KINDS = (
    "bios",
    "boot",
    "console",
    "deploy",
    "firmware",
    "inspect",
    "management",
    "network",
    "power",
    "raid",
    "rescue",
    "storage",
    "vendor",
)

CORE_KINDS = ("boot", "deploy", "management", "network", "power")
OPTIONAL_KINDS = ("bios", "console", "firmware", "inspect", "raid", "rescue", "storage")


def interface_field(kind: str) -> str:
    """Name of the node field, of the column and of the options' middle part for one kind."""
    return f"{kind}_interface"
