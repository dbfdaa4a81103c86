"""A driver whose management does everything, which records its calls, and a composition that gives it to every node."""

from typing import Any

from ironic.core.bmc_readings import Console
from ironic.core.errors import DriverNotFound, InterfaceNotFoundInEntrypoint
from ironic.core.hardware_interfaces import KINDS
from ironic.drivers import base
from ironic.drivers.contract.task import BareDriver
from ironic.drivers.modules import fake, noop
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.drivers.modules.storage.noop import NoopStorage


class Notes:
    """The recorded calls; a call named in ``errors`` fails."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.errors: dict[str, Exception] = {}

    def note(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, *arguments))
        if name in self.errors:
            raise self.errors[name]


class NotedManagement(fake.FakeManagement):
    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    def set_boot_mode(self, task: Any, mode: str) -> None:
        self.notes.note("set_boot_mode", mode)

    def set_secure_boot_state(self, task: Any, state: bool) -> None:
        self.notes.note("set_secure_boot_state", state)

    def inject_nmi(self, task: Any) -> None:
        self.notes.note("inject_nmi")

    def set_indicator_state(self, task: Any, component: str, indicator: str, state: str) -> None:
        self.notes.note("set_indicator_state", component, indicator, state)

    def get_virtual_media(self, task: Any) -> list[dict[str, Any]]:
        return [{"media_types": ["CD"]}]

    def attach_virtual_media(self, task: Any, device_type: str, image_url: str) -> None:
        self.notes.note("attach_virtual_media", device_type, image_url)

    def detach_virtual_media(self, task: Any, device_types: Any = None) -> None:
        self.notes.note("detach_virtual_media", device_types)


class NotedConsole(fake.FakeConsole):
    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    def start_console(self, task: Any) -> None:
        self.notes.note("start_console")

    def stop_console(self, task: Any) -> None:
        self.notes.note("stop_console")

    def get_console(self, task: Any) -> Console:
        return {"type": "socat", "url": "tcp://192.0.2.1:9000"}


class NotedNetwork(NoopNetwork):
    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    def vif_list(self, task: Any) -> list[dict[str, Any]]:
        return [{"id": "v1"}]

    def vif_attach(self, task: Any, vif_info: Any) -> None:
        self.notes.note("vif_attach", vif_info)

    def vif_detach(self, task: Any, vif_id: str) -> None:
        self.notes.note("vif_detach", vif_id)


class Doors(base.VendorInterface):
    """Vendor methods of every sort."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Any, method: str | None = None, **kwargs: Any) -> None:
        self.notes.note("validate", method, kwargs)

    def driver_validate(self, method: str, **kwargs: Any) -> None:
        self.notes.note("driver_validate", method, kwargs)

    @base.passthru(["POST", "PUT"], async_call=False)
    def ask(self, task: Any, http_method: str, what: str = "") -> dict[str, Any]:
        self.notes.note("ask", http_method, what, task.shared)
        return {"said": what}

    @base.passthru(["POST"])
    def begin(self, task: Any, http_method: str) -> None:
        self.notes.note("begin", task.shared, task.node.reservation)

    @base.passthru(["GET"], async_call=False, require_exclusive_lock=False)
    def look(self, task: Any, http_method: str) -> bool:
        return bool(task.shared)

    @base.passthru(["POST"], require_exclusive_lock=False)
    def begin_shared(self, task: Any, http_method: str) -> None:
        self.notes.note("begin_shared", task.shared)

    @base.passthru(["GET"], async_call=False, attach=True)
    def dump(self, task: Any, http_method: str, kind: str) -> Any:
        return {"text": "grün", "bytes": b"\x00\xff", "json": {"a": [1]}}[kind]

    @base.driver_passthru(["POST"], async_call=False)
    def ask_all(self, context: Any, http_method: str, what: str) -> list[Any]:
        return [context.user_id, http_method, what]

    @base.driver_passthru(["POST"])
    def begin_all(self, context: Any, http_method: str) -> None:
        self.notes.note("begin_all", context.user_id)


class Managed:
    """A composition with one hardware type; nodes may miss interfaces or have dummies."""

    drivers = {"managed": object()}

    def __init__(self, notes: Notes) -> None:
        self._links: dict[str, Any] = {
            "bios": fake.FakeBIOS(),
            "boot": fake.FakeBoot(),
            "console": NotedConsole(notes),
            "deploy": fake.FakeDeploy(),
            "firmware": fake.FakeFirmware(),
            "inspect": fake.FakeInspect(),
            "management": NotedManagement(notes),
            "network": NotedNetwork(notes),
            "power": fake.FakePower(),
            "raid": fake.FakeRAID(),
            "rescue": fake.FakeRescue(),
            "storage": NoopStorage(),
            "vendor": Doors(notes),
        }
        self._dummies: dict[str, Any] = {
            "console": noop.NoConsole(), "raid": noop.NoRAID(), "vendor": noop.NoVendor()
        }  # fmt: skip

    def driver_for(self, node: Any) -> BareDriver:
        """Give a node what it chose: "gone" is missing, "no" a dummy."""
        links, missing = {}, {}
        for kind in KINDS:
            chosen = getattr(node, f"{kind}_interface")
            if chosen == "gone":
                missing[kind] = InterfaceNotFoundInEntrypoint(kind=kind, name="gone", enabled="others")
            else:
                links[kind] = self._dummies[kind] if chosen == "no" else self._links[kind]
        return BareDriver(links, missing)

    def choices(self, driver: str, kind: str) -> tuple[str, ...]:
        return ("own", "no")

    def default_driver(self, hardware_type: str) -> BareDriver:
        if hardware_type != "managed":
            raise DriverNotFound(driver=hardware_type)
        return BareDriver(self._links)
