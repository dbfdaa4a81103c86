"""A conductor for tests: real store, real composition, real tasks; work runs in the caller's thread.

Beside the fake family there are two scripted interfaces. They note what is called, and a test says how each call ends:
``answers["second"] = states.CLEANWAIT`` (returned), ``= SomeError()`` (raised) or a function of the task.
"""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from ironic.conductor.rpc_endpoint import Endpoint
from ironic.conductor.tasks import TaskFactory
from ironic.conductor.wait_looks import WaitLooks
from ironic.core.context import RequestContext
from ironic.core.errors import NoFreeConductorWorker
from ironic.core.hardware_interfaces import KINDS, interface_field
from ironic.db import NodeRecord, Store
from ironic.db.tables import node_waits
from ironic.drivers import base
from ironic.drivers.composition import extensions
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.contract.task import SHUTS_DOWN
from ironic.drivers.contract.wait_declarations import looks
from ironic.drivers.modules.fake import FakeDeploy, FakeManagement, FakePower
from ironic.rpc.hash_ring import HashRingManager

HOST = "here"


class Inline:
    """A pool of workers that does everything at once; ``full`` makes it refuse, ``lost`` a bit too late."""

    def __init__(self) -> None:
        self.full = False
        self.lost = False
        self.refuses_work = False  # but the rounds of periodic tasks go on
        self.taken, self.size = 0, 30

    def take(self, purpose: str, party: object = None, *, background: bool = False) -> "Inline":
        if self.full or (self.refuses_work and purpose.endswith(tuple("0123456789abcdef"))):
            raise NoFreeConductorWorker(host=HOST)
        self.taken += 1
        return self

    def start(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> "Future[Any]":
        self.taken -= 1
        if self.lost:
            raise NoFreeConductorWorker(host=HOST)
        done: Future[Any] = Future()
        done.set_result(function(*args, **kwargs))
        return done

    def release(self) -> None:
        self.taken -= 1


class Script:
    """What the scripted interfaces noted, and how they answer."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.calls: list[str] = []
        self.arguments: dict[str, Any] = {}
        self.answers: dict[str, Any] = {}

    def play(self, name: str, task: Any, **arguments: Any) -> Any:
        self.calls.append(name)
        self.arguments[name] = arguments
        answer = self.answers.get(name)
        if isinstance(answer, BaseException):
            raise answer
        return answer(task) if callable(answer) else answer


class Loaded:
    """An entry point whose class is there already."""

    def __init__(self, cls: type) -> None:
        self.value, self._cls = f"{cls.__module__}:{cls.__name__}", cls

    def load(self) -> type:
        return self._cls


def scripted_vendor(script: Script) -> type:
    """Return a vendor interface with steps for every flow."""

    class ScriptedVendor(base.VendorInterface):
        def get_properties(self) -> dict[str, str]:
            return {}

        def validate(self, task: Any, method: str | None = None, **kwargs: Any) -> None:
            pass

        @base.verify_step(priority=30)
        @base.service_step(priority=30, requires_ramdisk=False)
        @base.deploy_step(priority=300)
        @base.clean_step(priority=30, requires_ramdisk=False)
        def first(self, task: Any) -> Any:
            return script.play("first", task)

        @base.verify_step(priority=20)
        @base.service_step(priority=20, abortable=True)
        @base.deploy_step(priority=200)
        @base.clean_step(priority=20, abortable=True)
        def second(self, task: Any) -> Any:
            return script.play("second", task)

        @base.verify_step(priority=10)
        @base.service_step(priority=10)
        @base.deploy_step(priority=150, abortable=False)
        @base.clean_step(priority=10)
        def third(self, task: Any) -> Any:
            return script.play("third", task)

        @looks("scripted", interval=lambda: 60)
        def look_at_it(self, task: Any, wait: Any) -> Any:
            return script.play("look", task, wait=wait)

        @base.service_step(argsinfo={"speed": {"description": "how fast", "required": True}})
        @base.deploy_step(priority=0, argsinfo={"speed": {"description": "how fast", "required": True}})
        @base.clean_step(priority=0, argsinfo={"speed": {"description": "how fast", "required": True}})
        def on_demand(self, task: Any, speed: int) -> Any:
            return script.play("on_demand", task, speed=speed)

    return ScriptedVendor


def scripted_deploy(script: Script) -> type:
    """Return a deploy interface that notes what is asked of it besides steps."""

    class ScriptedDeploy(FakeDeploy):
        def prepare(self, task: Any) -> Any:
            return script.play("prepare", task)

        def clean_up(self, task: Any) -> Any:
            return script.play("clean_up", task)

        def tear_down(self, task: Any) -> Any:
            return script.play("tear_down", task)

        def take_over(self, task: Any) -> Any:
            return script.play("take_over", task)

        def prepare_cleaning(self, task: Any) -> Any:
            return script.play("prepare_cleaning", task)

        def tear_down_cleaning(self, task: Any) -> Any:
            return script.play("tear_down_cleaning", task)

        def prepare_service(self, task: Any) -> Any:
            return script.play("prepare_service", task)

        def tear_down_service(self, task: Any) -> Any:
            return script.play("tear_down_service", task)

        def heartbeat(self, task: Any, callback_url: str, agent_version: str, *rest: Any, **more: Any) -> None:
            script.play("heartbeat", task, callback_url=callback_url, agent_version=agent_version)

    return ScriptedDeploy


def scripted_power(script: Script) -> type:
    """Return a power interface that fails on request."""

    class ScriptedPower(FakePower):
        def validate(self, task: Any) -> None:
            script.play("power.validate", task)

        def get_power_state(self, task: Any) -> Any:
            said = script.play("get_power_state", task)
            return super().get_power_state(task) if said is None else said

        def set_power_state(self, task: Any, power_state: str, timeout: int | None = None) -> None:
            script.play(f"set {power_state}", task, timeout=timeout)
            if task.notes.get(SHUTS_DOWN) is None:
                super().set_power_state(task, power_state, timeout)

    return ScriptedPower


def scripted_management(script: Script) -> type:
    """Return a management interface whose sensors the script has."""

    class ScriptedManagement(FakeManagement):
        def get_sensors_data(self, task: Any) -> Any:
            return script.play("get_sensors_data", task)

    return ScriptedManagement


def scripted_inspect(script: Script) -> type:
    """Return an inspect interface that waits for data, or does what the script says."""

    class ScriptedInspect(base.InspectInterface):
        def get_properties(self) -> dict[str, str]:
            return {}

        def validate(self, task: Any) -> None:
            script.play("inspect.validate", task)

        def inspect_hardware(self, task: Any) -> Any:
            return script.play("inspect_hardware", task)

        def continue_inspection(self, task: Any, inventory: Any, plugin_data: Any = None) -> Any:
            return script.play("continue_inspection", task, inventory=inventory, plugin_data=plugin_data)

        def abort(self, task: Any) -> None:
            script.play("inspect.abort", task)

    return ScriptedInspect


def scripted_rescue(script: Script) -> type:
    """Return a rescue interface that ends as the script says."""

    class ScriptedRescue(base.RescueInterface):
        def get_properties(self) -> dict[str, str]:
            return {}

        def validate(self, task: Any) -> None:
            script.play("rescue.validate", task)

        def rescue(self, task: Any) -> Any:
            return script.play("rescue", task)

        def unrescue(self, task: Any) -> Any:
            return script.play("unrescue", task)

        def clean_up(self, task: Any) -> None:
            script.play("rescue.clean_up", task)

    return ScriptedRescue


_SCRIPTED = {
    "vendor": scripted_vendor,
    "deploy": scripted_deploy,
    "power": scripted_power,
    "management": scripted_management,
    "inspect": scripted_inspect,
    "rescue": scripted_rescue,
}

_OPTIONAL = ("bios", "console", "firmware", "inspect", "raid", "rescue", "vendor")


def enable_fakes(conf: Callable[..., None]) -> None:
    """Enable fake-hardware with everything it has, and the scripted interfaces."""
    conf(enabled_hardware_types=["fake-hardware"])
    for kind in KINDS:
        names = {"network": ["noop"], "storage": ["fake", "noop"], "management": ["fake", "noop"]}.get(kind, ["fake"])
        names = [*names, *(["scripted"] if kind in _SCRIPTED else []), *([f"no-{kind}"] if kind in _OPTIONAL else [])]
        conf(**{f"enabled_{kind}_interfaces": names})
    conf(default_network_interface="noop", default_storage_interface="noop")


def compose(conf: Any, script: Script) -> Composition:
    """Load the composition with the scripted interfaces among what is installed."""
    found = {group: dict(points) for group, points in extensions.installed().items()}
    for kind, make in _SCRIPTED.items():
        found[extensions.interfaces_group(kind)]["scripted"] = Loaded(make(script))
    return Composition.load(conf, found)


class Bench:
    """One conductor with its store."""

    def __init__(self, store: Store, composition: Composition, script: Script) -> None:
        self.store, self.script, self.pool = store, script, Inline()
        self.tasks = TaskFactory(store, composition, self.pool, HOST)  # type: ignore[arg-type]
        self.endpoint = Endpoint(self.tasks)
        self.context = RequestContext(user_id="kim", project_id="lab")
        self.composition = composition

    def node(self, *scripted: str, **values: Any) -> str:
        """Store a node of fake-hardware, enrolled unless said otherwise; return its UUID."""
        interfaces = {interface_field(kind): self.composition.default("fake-hardware", kind) for kind in KINDS}
        interfaces |= {interface_field(kind): "scripted" for kind in scripted}
        return self.store.nodes.create(
            {"driver": "fake-hardware", "provision_state": "enroll", **interfaces, **values}
        ).uuid

    def row(self, uuid: str) -> NodeRecord:
        """Return the node as stored."""
        return self.store.nodes.get(uuid)

    def state(self, uuid: str) -> tuple[str, str | None]:
        """Return provision state and target as stored."""
        state, target = self.store.nodes.row(("provision_state", "target_provision_state"), uuid)
        return state, target

    def verb(self, uuid: str, verb: str, **arguments: Any) -> tuple[str, str | None]:
        """Send a provision verb; return state and target as stored when everything has settled."""
        self.endpoint.change_provision_state(self.context, uuid, verb, arguments)
        return self.state(uuid)

    def beat(self, uuid: str, **more: Any) -> None:
        """Send a heartbeat."""
        said = {"callback_url": "http://192.0.2.7:9999", "agent_version": "11.0", **more}
        self.endpoint.heartbeat(self.context, uuid, said)

    def look(self, seconds: float = 0) -> None:
        """Let time pass for what nodes wait for, then look at what is due, as the only conductor there is."""
        self.store.conductors.register(HOST, "", ["fake-hardware"], [])
        columns, passed = ("since", "until", "next_look", "changed"), timedelta(seconds=seconds)
        with self.store.writing() as connection:
            for row in connection.execute(sa.select(node_waits)).all():
                earlier = {name: moment and moment - passed for name in columns if (moment := getattr(row, name))}
                connection.execute(sa.update(node_waits).where(node_waits.c.id == row.id).values(earlier))
        for of_conductor in (True, False):
            WaitLooks(self.tasks, HashRingManager(self.store, heartbeat_timeout=60), of_conductor=of_conductor)()

    def history(self, uuid: str) -> list[tuple[Any, ...]]:
        """Return severity, type and text of the node's history, oldest first."""
        node_id = self.store.nodes.row(("id",), uuid)[0]
        columns = ("severity", "event_type", "event")
        return self.store.history.rows(columns, filters={"node_id": node_id})
