"""Changes of what the service does: an operation of its own, an option of the API, a wait for a hardware event."""

from typing import Final

from change_cost.edits import Change, Line, NewFile, Replaced

_RECORD: Final = """VARNISH: Final = Flow(
    name="varnish",
    verbs=(Verb(word="varnish", event="varnish", since=116, needs={"varnish_steps": 116}),),
    working=states.VARNISHING,
    waiting=states.VARNISHWAIT,
    failed=states.VARNISHFAIL,
    done=states.MANAGEABLE,
    interfaces=_STEPPING,
    keeps_place=True,
    gerund="varnishing",
    topic="varnishing",
    failure="Varnishing node {node} failed: {reason}",
    fault="varnish failure",
    wait=Wait(option="varnish_callback_timeout"),
)

"""
_STATES: Final = """VARNISHING: Final = "varnishing"
VARNISHWAIT: Final = "varnish wait"
VARNISHFAIL: Final = "varnish failed"
"""
_MOVES: Final = """    (MANAGEABLE,     "varnish",    VARNISHING),
    (VARNISHING,      "done",      MANAGEABLE),
    (VARNISHING,      "fail",      VARNISHFAIL),
    (VARNISHING,      "wait",      VARNISHWAIT),
    (VARNISHWAIT,     "resume",    VARNISHING),
    (VARNISHWAIT,     "fail",      VARNISHFAIL),
    (VARNISHWAIT,     "abort",     VARNISHFAIL),
    (VARNISHFAIL,     "varnish",    VARNISHING),
    (VARNISHFAIL,     "manage",    MANAGEABLE),
"""
_NAMES: Final = """    VARNISHFAIL as VARNISHFAIL,
    VARNISHING as VARNISHING,
    VARNISHWAIT as VARNISHWAIT,
"""
_VARNISHING: Final = '''"""Varnishing: a user's list of steps on a machine that is not in use."""

from collections.abc import Mapping, Sequence
from typing import Final

from ironic.conductor.flows import engine, step_list
from ironic.conductor.flows.engine import Operation, bind
from ironic.conductor.tasks import TaskManager
from ironic.core.flows import flow


def start(task: TaskManager, varnish_steps: Sequence[Mapping[str, object]]) -> None:
    """Accept a user's list of varnish steps."""
    task.power.validate(task)
    step_list.accept_steps(task, flow.VARNISH, varnish_steps, disable_ramdisk=True)
    task.process_event("varnish", callback=engine.begin, call_args=(task, VARNISH))


VARNISH: Final = bind(
    Operation(flow=flow.VARNISH, plan=lambda task, complete: step_list.plan_accepted(task, flow.VARNISH, complete))
)
'''
_TEST_OF_VARNISHING: Final = '''"""The operation waits, is continued, fails and is aborted."""

import pytest

from ironic.api.app import build_app
from ironic.api.settings import ApiSettings
from ironic.conductor import utils
from ironic.conf import CONF
from ironic.core.flows import states
from ironic.core.errors import IronicError
from ironic.drivers import base
from ironic.drivers.composition import extensions
from ironic.drivers.composition.composed_drivers import Composition
from ironic.drivers.contract.step_declarations import flow_step
from ironic.rpc.client import ConductorClients
from ironic.rpc.hash_ring import HashRingManager
from ironic.rpc.in_process import InProcess
from ironic.tests.databases import sqlite_store
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.conductor.flows import bench as benches

WAX, SHINE = ({"interface": "vendor", "step": name} for name in ("wax", "shine"))
SCRIPT = benches.Script()


class Varnisher(base.VendorInterface):
    def get_properties(self):
        return {}

    def validate(self, task, method=None, **kwargs):
        pass

    @flow_step("varnish", priority=0, abortable=True, requires_ramdisk=False)
    def wax(self, task):
        return SCRIPT.play("wax", task)

    @flow_step("varnish", priority=0, requires_ramdisk=False)
    def shine(self, task):
        return SCRIPT.play("shine", task)


@pytest.fixture
def bench(tmp_path, conf):
    benches.enable_fakes(conf)
    conf(auth_strategy="noauth", conductor__node_locked_retry_attempts=1)
    found = {group: dict(points) for group, points in extensions.installed().items()}
    for kind in ("deploy", "inspect", "management", "power", "rescue"):
        conf(**{f"enabled_{kind}_interfaces": ["fake"]})
    found[extensions.interfaces_group("vendor")]["scripted"] = benches.Loaded(Varnisher)
    SCRIPT.reset()
    store = sqlite_store(tmp_path)
    made = benches.Bench(store, Composition.load(CONF, found), SCRIPT)
    store.conductors.register(benches.HOST, "", ["fake-hardware"], made.composition.interface_rows())
    ring, transport = HashRingManager(store, heartbeat_timeout=3600), InProcess()
    transport.register(benches.HOST, made.endpoint)
    settings = ApiSettings.from_conf(CONF)
    app = build_app(store, ConductorClients(transport, ring), ring, settings)
    made.api = Service(store, made.endpoint, ring, app, settings)
    yield made
    store.close()


def ask(bench, uuid, target, version="1.116", **body):
    path = f"/v1/nodes/{uuid}/states/provision"
    return bench.api.call("PUT", path, version=version, body={"target": target, **body}).status


def test_it_waits_and_goes_on(bench):
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    SCRIPT.answers["wax"] = states.VARNISHWAIT
    assert ask(bench, uuid, "varnish", version="1.115", varnish_steps=[WAX]) == 406
    assert ask(bench, uuid, "clean", varnish_steps=[WAX]) == 400
    assert ask(bench, uuid, "varnish", varnish_steps=[WAX, SHINE]) == 202
    assert bench.state(uuid) == (states.VARNISHWAIT, states.MANAGEABLE)
    with bench.tasks.acquire(bench.context, uuid, purpose="poll") as task:
        utils.notify_conductor_resume_clean(task)
    assert (SCRIPT.calls, bench.state(uuid)) == (["wax", "shine"], (states.MANAGEABLE, None))


def test_it_is_aborted_and_fails(bench):
    uuid = bench.node("vendor", provision_state=states.MANAGEABLE)
    SCRIPT.answers["wax"] = states.VARNISHWAIT
    assert (ask(bench, uuid, "varnish", varnish_steps=[WAX]), ask(bench, uuid, "abort")) == (202, 202)
    assert bench.state(uuid) == (states.VARNISHFAIL, states.MANAGEABLE)
    SCRIPT.answers["wax"] = IronicError("no wax is left")
    assert ask(bench, uuid, "varnish", varnish_steps=[WAX]) == 202
    assert bench.row(uuid).last_error == f"no wax is left. Varnishing node {uuid} failed in step vendor.wax."
    assert ask(bench, uuid, "manage") == 202
    assert bench.state(uuid) == (states.MANAGEABLE, None)
'''
_VARNISHES: Final = "ironic/tests/functional/test_varnishing.py"
_SENTENCE: Final = "The verb varnish runs a list of steps."

_ADDED: Final = 'f"{_PROVISION} target=varnish", f"{_PROVISION} varnish_steps"'

FLOW_OF_STEPS: Final = Change(
    "an operation with states and steps of its own",
    6,  # names of states, moves, record, start and end, verb; and the row of the version it comes with
    [
        Line("ironic/core/flows/state_names.py", 'SERVICEHOLD: Final = "service hold"\n', _STATES),
        Line("ironic/core/flows/states.py", "    POWER_OFF as POWER_OFF,\n", _NAMES, before=True),
        Line(
            "ironic/core/flows/states.py",
            "    *(move for flow in FLOWS for move in flow.moves),\n",
            _MOVES,
            before=True,
        ),
        Line("ironic/core/flows/flow.py", "FLOWS: Final[list[Flow]] = [", _RECORD, before=True),
        Replaced("ironic/core/flows/flow.py", "TEAR_DOWN, VERIFY]", "TEAR_DOWN, VERIFY, VARNISH]"),
        NewFile("ironic/conductor/flows/varnishing.py", _VARNISHING),
        Line(
            "ironic/conductor/provisioning.py",
            '    "service": servicing.start,\n',
            '    "varnish": varnishing.start,\n',
        ),
        Line("ironic/conductor/provisioning.py", "    inspecting,\n", "    varnishing,\n"),
        Line(
            "ironic/core/microversions.py",
            ")\n\nMINIMUM: Final",
            f'    Microversion(116, "{_SENTENCE}", ({_ADDED})),\n',
            before=True,
        ),
        *(Replaced(page, "to 1.115", "to 1.116") for page in ("README.md", "api-ref/README.md")),
        NewFile("releasenotes/notes/varnish-0123456789abcdef.yaml", f"features:\n  - {_SENTENCE}\n"),
        NewFile(_VARNISHES, _TEST_OF_VARNISHING),
    ],
    [_VARNISHES, "ironic/tests/unit/core/flows/test_flow.py"],
)

_OPTION: Final = """    cfg.BoolOpt(
        "maintenance_needs_reason",
        default=False,
        mutable=True,
        help="Refuse to set the maintenance of a node without a reason.",
    ),
"""
_SETTING: Final = "    maintenance_needs_reason: bool = _set_by(lambda conf: conf.api.maintenance_needs_reason)\n"
_CHECK: Final = """    if reason is None and request.settings.maintenance_needs_reason:
        raise InvalidParameterValue(err="Give a reason for the maintenance.")
"""
_TEST_OF_OPTION: Final = '''"""The option reaches the handler, with the default that it declares."""

from ironic.api.settings import ApiSettings
from ironic.conf import CONF
from ironic.tests.functional.wire import service as wire


def test_it(tmp_path, conf):
    conf(api__maintenance_needs_reason=True, auth_strategy="noauth")
    for settings, status in ((ApiSettings(), 202), (ApiSettings.from_conf(CONF), 400)):
        (tmp_path / str(status)).mkdir()
        service = wire.start(tmp_path / str(status), settings)
        node = service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"}).json["uuid"]
        assert service.call("PUT", f"/v1/nodes/{node}/maintenance").status == status
        assert service.call("PUT", f"/v1/nodes/{node}/maintenance", body={"reason": "dust"}).status == 202
        service.close()
'''
_TRIES_OPTION: Final = "ironic/tests/functional/wire/test_needed_reason.py"
_USER: Final = "ironic/api/resources/nodes/maintenance.py"

OPTION: Final = Change(
    "an option of the API",
    3,  # the option, the setting that it makes, and what asks for it
    [
        Line("ironic/conf/api.py", '    cfg.BoolOpt(\n        "trust_public_runbooks",\n', _OPTION, before=True),
        Line("ironic/api/settings.py", "    trust_public_runbooks: bool = ", _SETTING, before=True),
        Line(
            _USER,
            "    ident, retries = named_nodes.check_ident(request, node), named_nodes.lock_retries(request)\n"
            "    node_changes.set_maintenance(request.store, request.context, ident, retries, on=True",
            _CHECK,
            before=True,
        ),
        Line(
            _USER,
            "from ironic.core.model.node import Node\n",
            "from ironic.core.errors import InvalidParameterValue\n",
            before=True,
        ),
        NewFile("releasenotes/notes/reason-0123456789abcdef.yaml", "features:\n  - Maintenance may need a reason.\n"),
        NewFile(_TRIES_OPTION, _TEST_OF_OPTION),
    ],
    [_TRIES_OPTION, "ironic/tests/unit/conf/test_options.py"],
)

_INTERFACE: Final = "ironic/drivers/modules/fake.py"
_WAITS: Final = '''
    @clean_step(priority=0)
    def self_test(self, task: Task) -> str:
        """Begin a self test; the node waits for its end."""
        waits.begin(
            task,
            "fake_self_test",
            "the machine to end its self test",
            _SelfTest("17"),
            interface="management",
            seconds=3600,
            follows=Follows.FLOW,
        )
        task.node.save()
        return states.CLEANWAIT

    @looks("fake_self_test", interval=lambda: 60)
    def look_at_self_test(self, task: Task, wait: NodeWait) -> StepDone | None:
        """Return that the self test has ended, None while it runs."""
        if task.node.extra.get("tested") != node_waits.decoded(_SelfTest, wait.memory).job:
            return None
        task.upgrade_lock("ending a self test", retry=False)
        return StepDone() if wait.is_same(waits.of(task, "fake_self_test")) else None
'''
_MEMORY: Final = '''@dataclass(frozen=True)
class _SelfTest:
    """What is remembered of a self test."""

    job: str


'''
_TEST_OF_WAIT: Final = '''"""The wait begins with its step, which a look ends."""

from ironic.core.flows import node_waits, states


def test_it(bench):
    uuid = bench.node(provision_state=states.MANAGEABLE, management_interface="fake")
    step = {"interface": "management", "step": "self_test", "args": {}}
    assert bench.verb(uuid, "clean", clean_steps=[step])[0] == states.CLEANWAIT
    assert bench.row(uuid).driver_internal_info["waiting_for"].startswith("the machine to end its self test, until ")
    bench.look()
    assert bench.state(uuid)[0] == states.CLEANWAIT
    bench.store.nodes.update(uuid, {"extra": {"tested": "17"}})
    bench.look(5)
    assert bench.state(uuid)[0] == states.MANAGEABLE
    assert node_waits.open_kinds(bench.row(uuid)) == []
'''
_TRIES_WAIT: Final = "ironic/tests/unit/conductor/flows/test_self_test.py"

WAIT: Final = Change(
    "a wait for a hardware event",
    1,
    [
        Line(_INTERFACE, "\n    def get_sensors_data(", _WAITS, before=True),
        Line(_INTERFACE, "class FakeManagement(", _MEMORY, before=True),
        Line(_INTERFACE, "from collections.abc import Mapping, Sequence\n", "from dataclasses import dataclass\n"),
        Line(
            _INTERFACE,
            "from ironic.core.flows import states\n",
            "from ironic.core.flows import node_waits\nfrom ironic.core.flows.node_waits import Follows, NodeWait\n",
        ),
        Replaced(
            _INTERFACE,
            "from ironic.drivers.contract import boot_devices, indicators\n",
            "from ironic.drivers.contract import boot_devices, indicators, waits\n",
        ),
        Replaced(
            _INTERFACE,
            "from ironic.drivers.contract.step_declarations import clean_step,",
            "from ironic.drivers.contract.wait_declarations import looks\n"
            "from ironic.drivers.contract.step_declarations import StepDone, clean_step,",
        ),
        NewFile("releasenotes/notes/self-test-0123456789abcdef.yaml", "features:\n  - There is a self test.\n"),
        NewFile(_TRIES_WAIT, _TEST_OF_WAIT),
    ],
    [_TRIES_WAIT, "ironic/tests/unit/conductor/flows/test_wait_looks.py"],
)
