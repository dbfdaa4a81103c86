"""The changes that `make change-cost` makes: the edits of a developer, and a test of each."""

from pathlib import Path
from typing import Final

from change_cost.differences import QUIRKS
from change_cost.edits import Change, Line, NewFile, Replaced
from change_cost.operations import FLOW_OF_STEPS, OPTION, WAIT

# Tests that compare tables, migrations, model, versions, policies and the description of the API.
HELD_BY: Final = (
    "ironic/tests/unit/db/test_model.py",
    "ironic/tests/functional/db/test_migrations.py",
    "ironic/tests/unit/api/test_microversions.py",
    "ironic/tests/unit/api/test_policies.py",
    "ironic/tests/unit/api/resources/test_layout.py",
    "ironic/tests/functional/wire/test_route_guards.py",
    "ironic/tests/functional/wire/test_openapi.py",
)

_VERSION: Final = 116
# The last migration of the tree, and the one that the changes add.
_HEAD: Final = max(path.name[:5] for path in Path("ironic/db/migrations/versions").glob("r[0-9]*.py"))
_MIGRATION: Final = f"r{int(_HEAD[1:]) + 1:04}"
_MICROVERSIONS: Final = "ironic/core/microversions.py"


def _version(sentence: str, *touched: str) -> list[Line | Replaced]:
    """Add a microversion and name it on the pages for new users."""
    names = ", ".join(f'"{name}"' for name in touched)
    row = f'    Microversion({_VERSION}, "{sentence}", ({names},)),\n'
    pages = ("README.md", "api-ref/README.md")
    return [
        Line(_MICROVERSIONS, ")\n\nMINIMUM: Final", row, before=True),
        *(Replaced(page, f"to 1.{_VERSION - 1}", f"to 1.{_VERSION}") for page in pages),
    ]


def _field(kind: str, collection: str, line: Line, column: Line, body: str) -> Change:
    """Add a text field ``bay`` to a resource, with a filter, in notifications and writable by rules."""
    migration = f'''"""The bay of a {kind}."""

import sqlalchemy as sa
from alembic import op

revision = "{_MIGRATION}"
down_revision = "{_HEAD}"


def upgrade() -> None:
    """Add the column."""
    op.add_column("{collection}", sa.Column("bay", sa.String(32)))
'''
    test = f'''"""The field works."""

from ironic.api.crud_notifications import CREATE
from ironic.core.rules import documents
from ironic.tests.functional.wire import service as wire
from ironic.tests.listening import listening


def test_it(tmp_path):
    service = wire.start(tmp_path)
    node = service.call("POST", "/v1/nodes", body={{"driver": "fake-hardware"}}).json["uuid"]
    with listening() as listener:
        made = service.call("POST", "/v1/{collection}", body={body} | {{"bay": "b1"}})
    assert made.status == 201 and made.json["bay"] == "b1", made.body
    assert listener.data(f"{kind}.{{CREATE}}.end")["bay"] == "b1"
    path = f"/v1/{collection}/{{made.json['uuid']}}"
    for bay, number in (("b1", 1), ("b2", 0)):
        assert len(service.call("GET", f"/v1/{collection}?bay={{bay}}").json["{collection}"]) == number
    patch = [{{"op": "replace", "path": "/bay", "value": "b2"}}]
    assert service.call("PATCH", path, body=patch).status == 200
    if service.conductor.asked:  # a port's network has a say in its changes
        assert service.conductor.asked == [["update_port", made.json["uuid"], {{"bay": "b2"}}, {{}}]]
    else:
        assert service.call("GET", path).json["bay"] == "b2"
    assert service.call("GET", path, version="1.{_VERSION - 1}").json.keys() == made.json.keys() - {{"bay"}}
    assert service.call("PATCH", path, body=patch, version="1.{_VERSION - 1}").status in (400, 406)
    assert service.call("PATCH", path, body=[patch[0] | {{"value": "b" * 33}}]).status == 400
    if "{kind}" != "runbook":
        assert documents.{kind.upper() if kind != "runbook" else "NODE"}["bay"].type.longest == 32
    service.close()
'''
    own = f"ironic/tests/functional/wire/test_bay_of_{kind}.py"
    steps: list[Line | NewFile | Replaced] = [
        line,
        *([] if kind == "node" else [Replaced(line.file, "Belongs, Field", "Belongs, Exact, Field")]),
        column,
        NewFile(f"ironic/db/migrations/versions/{_MIGRATION}_bay_of_{kind}.py", migration),
        *_version(f"A {kind} reports its bay.", f"{kind}.bay", f"GET /v1/{collection}?bay"),
        NewFile(
            f"releasenotes/notes/bay-of-{kind}-0123456789abcdef.yaml", f"features:\n  - A {kind} reports its bay.\n"
        ),
        NewFile(own, test),
    ]
    return Change(f"a text field of a {kind}", 4, steps, [own])


_BAY: Final = f"    bay = Field(Text(32), since={_VERSION}, filter=Exact(), notified=EVERY)\n"
_BAY_COLUMN: Final = "    bay: str | None = text(32)\n"

NODE_FIELD: Final = _field(
    "node",
    "nodes",
    Line("ironic/core/model/node.py", "    auto_discovered = Field(Bool(), since=84, write=NEVER)\n", _BAY),
    Line("ironic/db/tables/nodes.py", "    description: str | None = text()\n", _BAY_COLUMN),
    '{"driver": "fake-hardware"}',
)
PORT_FIELD: Final = _field(
    "port",
    "ports",
    Line(
        "ironic/core/model/port.py",
        "    description = Field(Text(), since=97, ungated=PATCH, notified=EVERY)\n",
        _BAY,
    ),
    Line("ironic/db/tables/node_parts.py", "    description: str | None = text(255)\n", _BAY_COLUMN),
    '{"node_uuid": node, "address": "52:54:00:00:00:01"}',
)
RUNBOOK_FIELD: Final = _field(
    "runbook",
    "runbooks",
    Line("ironic/core/model/step_lists.py", "    description = Field(Text(), since=112, notified=EVERY)\n", _BAY),
    Line("ironic/db/tables/step_lists.py", "    description: str | None = text(255)\n", _BAY_COLUMN),
    '{"name": "CUSTOM_A", "steps": [{"interface": "bios", "step": "a", "args": {}, "order": 1}]}',
)

_CALL: Final = '''
    @call(lock=EXCLUSIVE, purpose="blinking {times} times")
    def blink(self, context: RequestContext, node_id: str, times: int) -> None:
        """Have the machine blink."""
'''
_ANSWER: Final = '''@rpc_method
def blink(task: TaskManager, times: int) -> None:
    """Have the machine blink."""
    for _ in range(times):
        task.validated(task.management).set_boot_device(task, device="pxe", persistent=True)


'''
_HANDLER: Final = '''def blink(request: Request, node: str, times: int) -> Answer:
    """Have the machine blink."""
    conductor, uuid = named_nodes.conductor(request, node)
    conductor.blink(request.context, uuid, times)
    return NO_CONTENT


'''
_ROUTE: Final = """    Route(
        "PUT",
        f"{_MANAGEMENT}/blink",
        blink,
        rule="baremetal:node:blink",
        body=BodyOrQuery(Argument("times", Integer(1, 3), required=True)),
        ok=204,
    ),
"""
_POLICY: Final = """    ("baremetal:node:blink", _CONFIGURES, BOTH, "PUT /nodes/{node_ident}/management/blink"),
"""
_TEST_OF_BLINK: Final = '''"""The action works, from the request to the driver."""

from ironic.tests.functional.wire import service as wire
from ironic.tests.unit.conductor.flows.conftest import bench, composed, store  # noqa: F401 - fixtures


def test_the_api_asks_the_conductor(tmp_path):
    service = wire.start(tmp_path)
    node = service.call("POST", "/v1/nodes", body={"driver": "fake-hardware"}).json["uuid"]
    path = f"/v1/nodes/{node}/management/blink"
    assert [service.call("PUT", path, body={"times": times}).status for times in (0, 4, "x", 2)] == [400, 400, 400, 204]
    assert service.conductor.asked == [["blink", node, 2]]
    service.close()


def test_the_conductor_asks_the_driver(bench):  # noqa: F811
    node = bench.node(provision_state="available")
    bench.endpoint.blink(bench.context, node, 2)
    assert bench.endpoint.get_boot_device(bench.context, node)["persistent"] is True
    assert bench.store.nodes.get(node).reservation is None
'''
_BLINKS: Final = "ironic/tests/functional/wire/test_blink.py"

ACTION: Final = Change(
    "an action of the conductor, with its route",
    4,
    [
        Line("ironic/rpc/rpc_api.py", "\n    # Virtual media\n", _CALL, before=True),
        Line("ironic/conductor/management.py", "@rpc_method\ndef supported_indicators(", _ANSWER, before=True),
        Line("ironic/api/resources/nodes/management.py", "_MANAGEMENT: Final = ", _HANDLER, before=True),
        Line(
            "ironic/api/resources/nodes/management.py",
            '    Route("GET", _MANAGEMENT, _NO_SUCH_PATH),\n',
            _ROUTE,
            before=True,
        ),
        Replaced("ironic/api/resources/nodes/management.py", "import Bool, Text", "import Bool, Integer, Text"),
        Line("ironic/api/policies.py", '    ("baremetal:node:inject_nmi", _CONFIGURES', _POLICY, before=True),
        Replaced("ironic/tests/unit/api/test_policies.py", "ADDED = {", 'ADDED = {"baremetal:node:blink", '),
        NewFile("releasenotes/notes/blink-0123456789abcdef.yaml", "features:\n  - A machine can be made to blink.\n"),
        NewFile(_BLINKS, _TEST_OF_BLINK),
    ],
    [_BLINKS],
)

_RACKS: Final = {
    "ironic/db/tables/racks.py": '''"""Racks."""

from ironic.db.tables.columns import Known, text, unique


class RackColumns(Known, name="racks", also=(unique("racks", "uuid"), unique("racks", "name"))):
    """The columns of racks."""

    name: str = text(64)
    place: str | None = text(255)
    owner: str | None = text(255)


racks = RackColumns.table
''',
    f"ironic/db/migrations/versions/{_MIGRATION}_racks.py": f'''"""Racks."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "{_MIGRATION}"
down_revision = "{_HEAD}"

_TIME = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "racks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uuid", sa.String(36), nullable=False),
        sa.Column("created_at", _TIME, nullable=False),
        sa.Column("updated_at", _TIME),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("place", sa.String(255)),
        sa.Column("owner", sa.String(255)),
        sa.UniqueConstraint("uuid", name="uniq_racks0uuid"),
        sa.UniqueConstraint("name", name="uniq_racks0name"),
        mysql_engine="InnoDB",
        mysql_charset="utf8mb4",
        mysql_collate="utf8mb4_bin",
    )
''',
    "ironic/db/racks.py": '''"""Racks."""

from collections.abc import Mapping
from typing import ClassVar

from ironic.core.errors import DuplicateName, IronicError
from ironic.core.errors.resource_errors import RackAlreadyExists, RackNotFound
from ironic.db.row_selection import Filter, any_of
from ironic.db.record import Record
from ironic.db.repository import Errors, Repository
from ironic.db.tables.racks import RackColumns, racks


class RackRecord(Record, RackColumns):
    """One rack."""


class Racks(Repository[RackRecord], record=RackRecord):
    """All racks."""

    filters: ClassVar[Mapping[str, Filter]] = {"uuid_in": any_of(racks.c.uuid)}
    duplicates: ClassVar[Errors] = {
        "uuid": lambda value: RackAlreadyExists(resource="rack", field="uuid", value=value),
        "name": lambda value: DuplicateName(resource="rack", name=value),
    }

    def not_found(self, ident: str | int) -> IronicError:
        """Return the error for a rack that does not exist."""
        return RackNotFound(rack=ident)
''',
    "ironic/core/model/rack.py": '''"""The rack, field by field."""

from typing import ClassVar

from ironic.core.model.fields import CREATE, EVERY, NEVER, REQUIRED, Belongs, Exact, Field, Filter, Resource
from ironic.core.errors.resource_errors import RackNotFound
from ironic.core.values.value_types import Bool, Datetime, Links, LogicalName, Text, Uuid, ValueType


class Rack(Resource):
    """Where machines stand."""

    collection = "racks"
    singular = "rack"
    word = "rack"
    listed_since = 116
    has_name = True
    belongs = Belongs.TO_OWNER
    not_found = RackNotFound
    payload_version = "1.0"
    marker: ClassVar[ValueType] = Uuid()

    uuid = Field(Uuid(), since=116, write=CREATE, plain=True, notified=EVERY)
    created_at = Field(Datetime(), since=116, write=NEVER)
    updated_at = Field(Datetime(), since=116, write=NEVER)
    name = Field(
        LogicalName(), since=116, nullable=False, empty=REQUIRED, plain=True, filter=Exact(), notified=EVERY
    )
    place = Field(Text(), since=116, notified=EVERY)
    owner = Field(Text(), since=116, right="baremetal:rack:update:owner", notified=EVERY)
    links = Field(Links("racks/{}"), since=116, write=NEVER, plain=True)
''',
    "ironic/api/resources/racks.py": '''"""`/v1/racks`: list, show, create, patch and delete racks."""

from collections.abc import Sequence
from typing import Any

from ironic.api import access, answers, json_patch, listing, projection
from ironic.api.answers import NO_CONTENT, Answer
from ironic.api.crud import Create, Delete, List, One, Patch
from ironic.api.json_patch import Change
from ironic.api.listing import Page
from ironic.api.projection import Projection
from ironic.api.request import Request
from ironic.api.routes import Route
from ironic.core.model.rack import Rack
from ironic.db.racks import RackRecord, Racks
from ironic.services import row_changes


def index(request: Request, page: Page) -> Answer:
    """List the racks that the caller may see."""
    project = access.own_project(request, "baremetal:rack:list")
    return listing.answer(request, Rack, request.store.of(Racks), page, {"owner": project} if project else {})


def show(request: Request, rack: str, view: Projection) -> Answer:
    """Show one rack."""
    return answers.document(view.document(request, request.store.of(Racks).row(view.columns, rack)))


def create(request: Request, values: dict[str, Any]) -> Answer:
    """Create a rack."""
    record = request.store.of(Racks).create({"owner": request.context.project_id} | values)
    document = projection.full(Rack, request.minor).of_record(request, record, {})
    return answers.created(document, request.url(f"/v1/racks/{record.uuid}"))


def patch(request: Request, rack: str, changes: Sequence[Change]) -> Answer:
    """Change a rack."""

    def revise(record: RackRecord) -> dict[str, Any]:
        if any(change.root == "owner" for change in changes):
            access.require_own(request, "baremetal:rack:update:owner", Rack, record.uuid, record.owner)
        before = {name: getattr(record, name) for name in Rack.writable("patch")}
        return json_patch.patched(Rack, before, changes, request)

    record = row_changes.change(request.store, request.store.of(Racks), rack, revise)
    return answers.document(projection.full(Rack, request.minor).of_record(request, record, {}))


def delete(request: Request, rack: str) -> Answer:
    """Delete a rack."""
    request.store.of(Racks).delete(rack)
    return NO_CONTENT


ROUTES = (
    Route("GET", "/v1/racks", index, since=116, rule="baremetal:rack:list", of=List(Rack)),
    Route("POST", "/v1/racks", create, since=116, rule="baremetal:rack:create", of=Create(Rack)),
    Route("GET", "/v1/racks/{rack}", show, since=116, rule="baremetal:rack:get", of=One(Rack)),
    Route("PATCH", "/v1/racks/{rack}", patch, since=116, rule="baremetal:rack:update", of=Patch(Rack)),
    Route("DELETE", "/v1/racks/{rack}", delete, since=116, rule="baremetal:rack:delete", of=Delete(Rack)),
)
''',
}
_RACK_POLICIES: Final = """    ("baremetal:rack:list", _LISTS, BOTH, "GET /racks"),
    ("baremetal:rack:list_all", _SYSTEM_READS, BOTH, "GET /racks"),
    ("baremetal:rack:get", f"({_SYSTEM_READS}) or project_id:%(rack.owner)s", BOTH, "GET /racks/{id}"),
    ("baremetal:rack:create", f"({_SYSTEM_WRITES}) or role:manager", BOTH, "POST /racks"),
    ("baremetal:rack:update", f"({_SYSTEM_WRITES}) or project_id:%(rack.owner)s", BOTH, "PATCH /racks/{id}"),
    ("baremetal:rack:update:owner", _SYSTEM_WRITES, BOTH, "PATCH /racks/{id}"),
    ("baremetal:rack:delete", f"({_SYSTEM_WRITES}) or project_id:%(rack.owner)s", BOTH, "DELETE /racks/{id}"),
"""
_RACK_RULES: Final = ("list", "list_all", "get", "create", "update", "update:owner", "delete")
_RACK_ERRORS: Final = '''class RackNotFound(NotFound):
    """The rack does not exist."""

    text = "There is no rack {rack}."


class RackAlreadyExists(AlreadyExists):
    """Another rack has the UUID."""


'''
_TEST_OF_RACKS: Final = '''"""The resource works."""

from ironic.api.crud_notifications import CREATE
from ironic.tests.functional.wire import service as wire
from ironic.tests.listening import listening


def test_it(tmp_path):
    service = wire.start(tmp_path)
    with listening() as listener:
        for name in ("r2", "r1"):
            made = service.call("POST", "/v1/racks", body={"name": name, "place": "cellar", "owner": "p"})
            assert made.status == 201, made.body
    assert listener.data(f"rack.{CREATE}.end")["owner"] == "p"
    assert "racks" in service.call("GET", "/v1").json
    assert service.call("GET", "/v1/racks/r2").json["name"] == "r2"
    assert "There is no rack r3" in str(service.call("GET", "/v1/racks/r3").body)
    path = f"/v1/racks/{made.json['uuid']}"
    assert [one["name"] for one in service.call("GET", "/v1/racks?sort_key=name").json["racks"]] == ["r1", "r2"]
    assert [one["name"] for one in service.call("GET", "/v1/racks?name=r2").json["racks"]] == ["r2"]
    assert service.call("GET", "/v1/racks?limit=1").json["next"].startswith(f"{wire.BASE}/v1/racks?")
    assert service.call("GET", f"{path}?fields=place").json["place"] == "cellar"
    assert service.call("POST", "/v1/racks", body={"name": "r1"}).status == 409
    assert service.call("POST", "/v1/racks", body={"place": "attic"}).status == 400
    patch = [{"op": "replace", "path": "/place", "value": "attic"}]
    assert service.call("PATCH", path, body=patch).json["place"] == "attic"
    assert service.call("PATCH", path, body=[{"op": "remove", "path": "/name"}]).status == 400
    assert service.call("GET", "/v1/racks/no name").status == 400
    assert [service.call("DELETE", path).status for _ in range(2)] == [204, 404]
    service.close()
'''
_RACKS_WORK: Final = "ironic/tests/functional/wire/test_racks.py"

RESOURCE: Final = Change(
    "a resource with owner, notifications and errors",
    8,  # table, migration, repository, model, errors, resource, policies; and the row of the version it comes with
    [
        *_version("There are racks.", "rack", "/v1/racks"),
        *(NewFile(file, text) for file, text in _RACKS.items()),
        Line("ironic/api/policies.py", '    ("baremetal:chassis:get", ', _RACK_POLICIES, before=True),
        Line("ironic/core/errors/resource_errors.py", "class VolumeConnectorAlreadyExists(", _RACK_ERRORS, before=True),
        Replaced(
            "ironic/tests/unit/api/test_policies.py",
            "ADDED = {",
            "ADDED = {" + "".join(f'"baremetal:rack:{word}", ' for word in _RACK_RULES),
        ),
        NewFile("releasenotes/notes/racks-0123456789abcdef.yaml", "features:\n  - There are racks.\n"),
        NewFile(_RACKS_WORK, _TEST_OF_RACKS),
    ],
    [_RACKS_WORK],
)

CHANGES: Final = (NODE_FIELD, PORT_FIELD, RUNBOOK_FIELD, ACTION, RESOURCE, FLOW_OF_STEPS, OPTION, WAIT, *QUIRKS)
