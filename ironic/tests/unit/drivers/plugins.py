"""Hardware types and interfaces as a third party would write them, and a way to publish them inside a test."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ironic.core.hardware_interfaces import KINDS
from ironic.drivers import base
from ironic.drivers.composition.clean_priorities import CleanPriorities
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.composition.composer import Composer
from ironic.drivers.composition.driver_options import DriverOptions
from ironic.drivers.composition.extensions import TYPES_GROUP, interfaces_group
from ironic.drivers.hardware_type import AbstractHardwareType, Supported
from ironic.drivers.modules import fake, noop
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.drivers.modules.storage.noop import NoopStorage


@dataclass
class Published:
    """An entry point for something that exists, or for something that can't be imported."""

    what: Any
    value: str = ""
    loads: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.value:
            self.value = f"{self.what.__module__}:{self.what.__qualname__}"

    def load(self) -> Any:
        self.loads.append(self.what)
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


def broken(reason: str = "No module named 'vendorlib'") -> Published:
    """Publish something whose library is missing."""
    return Published(ImportError(reason), value="vendor.module:Thing")


class AcmePower(fake.FakePower):
    """A vendor's power interface."""


class AcmePowerPlus(AcmePower):
    """The same for newer machines."""


class AcmeDeploy(fake.FakeDeploy):
    """A vendor's deploy interface."""


class AcmeHardware(AbstractHardwareType):
    """A vendor's hardware type; it lists classes, as the contract says."""

    @property
    def supported_power_interfaces(self) -> Supported:
        return [AcmePowerPlus, AcmePower]

    @property
    def supported_deploy_interfaces(self) -> Supported:
        return [AcmeDeploy]

    @property
    def supported_boot_interfaces(self) -> Supported:
        return [fake.FakeBoot]

    @property
    def supported_management_interfaces(self) -> Supported:
        return [fake.FakeManagement]


class NewAcmeHardware(AcmeHardware):
    """Takes the parent's list and puts something of the service's own before it."""

    @property
    def supported_power_interfaces(self) -> Supported:
        return [fake.FakePower, *super().supported_power_interfaces]


INTERFACES: dict[str, dict[str, Any]] = {
    "bios": {"no-bios": noop.NoBIOS, "fake": fake.FakeBIOS},
    "boot": {"fake": fake.FakeBoot},
    "console": {"no-console": noop.NoConsole},
    "deploy": {"acme": AcmeDeploy, "fake": fake.FakeDeploy},
    "firmware": {"no-firmware": noop.NoFirmware},
    "inspect": {"no-inspect": noop.NoInspect},
    "management": {"fake": fake.FakeManagement},
    "network": {"noop": NoopNetwork},
    "power": {"acme": AcmePower, "acme-plus": AcmePowerPlus, "fake": fake.FakePower},
    "raid": {"no-raid": noop.NoRAID},
    "rescue": {"no-rescue": noop.NoRescue},
    "storage": {"noop": NoopStorage},
    "vendor": {"no-vendor": noop.NoVendor, "fake": fake.FakeVendorB},
}

# What is enough for the hardware types above.
ENABLED: dict[str, tuple[str, ...] | None] = {
    "bios": ("no-bios",),
    "boot": ("fake",),
    "console": ("no-console",),
    "deploy": ("acme",),
    "firmware": ("no-firmware",),
    "inspect": ("no-inspect",),
    "management": ("fake",),
    "network": ("noop",),
    "power": ("acme", "acme-plus"),
    "raid": ("no-raid",),
    "rescue": ("no-rescue",),
    "storage": ("noop",),
    "vendor": ("no-vendor",),
}

Registry = dict[str, dict[str, Published]]


def registry(types: Mapping[str, Any] | None = None, **more: Mapping[str, Any]) -> Registry:
    """Publish the interfaces above, these hardware types, and more interfaces by kind."""
    types = {"acme": AcmeHardware} if types is None else types
    found: Registry = {TYPES_GROUP: {name: _publish(cls) for name, cls in types.items()}}
    for kind in KINDS:
        known = {**INTERFACES[kind], **more.get(kind, {})}
        found[interfaces_group(kind)] = {name: _publish(cls) for name, cls in known.items()}
    return found


def _publish(what: Any) -> Published:
    return what if isinstance(what, Published) else Published(what)


def wanted(
    *types: str,
    defaults: Mapping[str, str | None] | None = None,
    clean_priorities: Mapping[str, Any] | None = None,
    **enabled: tuple[str, ...] | None,
) -> DriverOptions:
    """Enable these hardware types (or else acme), and what is enough for them, changed by kind."""
    return DriverOptions(
        types or ("acme",), {**ENABLED, **enabled}, defaults or {}, CleanPriorities(clean_priorities or {})
    )


def compose(wish: DriverOptions | None = None, published: Registry | None = None) -> Composition:
    """Compose."""
    return Composition(*Composer(wish or wanted(), published or registry()).compose())


class ManySteps(base.VendorInterface):
    """Clean steps of every sort."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Any, method: str | None = None, **kwargs: Any) -> None:
        pass

    @base.clean_step(priority=10)
    def wipe(self, task: Any) -> None:
        pass

    @base.clean_step(priority=10.0)
    def scrub(self, task: Any) -> None:
        pass

    @base.clean_step(priority=0)
    def polish(self, task: Any) -> None:
        pass

    @base.clean_step(priority=0)
    def dry(self, task: Any) -> None:
        pass
