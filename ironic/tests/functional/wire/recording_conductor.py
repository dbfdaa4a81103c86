"""A conductor that records its calls and gives configured answers."""

from typing import Any

from ironic.core.context import RequestContext
from ironic.core.errors import IronicError
from ironic.db import InterfaceRow
from ironic.rpc.rpc_api import CALLS, ConductorAPI

HOST = "wire-conductor"

# hardware type -> kind -> implementations, the default first; the composition the recorded transcripts assume.
SERVED = {
    "fake-hardware": {
        "bios": ("fake", "no-bios"),
        "boot": ("fake", "pxe"),
        "console": ("fake", "no-console"),
        "deploy": ("fake", "direct"),
        "firmware": ("fake", "no-firmware"),
        "inspect": ("fake", "agent", "no-inspect"),
        "management": ("fake", "noop"),
        "network": ("noop",),
        "power": ("fake", "agent"),
        "raid": ("fake", "no-raid"),
        "rescue": ("fake", "no-rescue"),
        "storage": ("noop", "fake"),
        "vendor": ("fake", "no-vendor"),
    },
    "manual-management": {
        "bios": ("no-bios",),
        "boot": ("pxe",),
        "console": ("no-console",),
        "deploy": ("direct",),
        "firmware": ("no-firmware",),
        "inspect": ("agent", "no-inspect"),
        "management": ("noop",),
        "network": ("noop",),
        "power": ("agent",),
        "raid": ("no-raid",),
        "rescue": ("no-rescue",),
        "storage": ("noop", "fake"),
        "vendor": ("no-vendor",),
    },
}


# What one of them says of itself.
FACTS = {("management", "noop"): "knows_bmc_address"}


def interface_rows() -> list[InterfaceRow]:
    """Return what the conductor's table says."""
    return [
        InterfaceRow(driver, kind, name, name == names[0], facts=FACTS.get((kind, name), ""))
        for driver, kinds in SERVED.items()
        for kind, names in kinds.items()
        for name in names
    ]


class _Notes:
    """Where calls are noted and answers come from."""

    def __init__(self) -> None:
        self.asked: list[list[Any]] = []
        self.answers: dict[str, Any] = {}

    def note(self, name: str, arguments: dict[str, Any]) -> Any:
        self.asked.append([name, *arguments.values()])
        answer = self.answers.get(name)
        if isinstance(answer, IronicError):
            raise answer
        return answer


def _noting(name: str) -> Any:
    def method(self: _Notes, context: RequestContext, *args: Any, **kwargs: Any) -> Any:
        return self.note(name, CALLS[name].arguments(*args, **kwargs))

    return method


RecordingConductor: Any = type("RecordingConductor", (_Notes, ConductorAPI), {name: _noting(name) for name in CALLS})
