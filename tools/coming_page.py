"""The page for operators of OpenStack Ironic: what is here, under which name, and what is missing.

Names that are missing come from the tables that the start of the service reads.
"""

from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from typing import Final

from ironic.conf import OPTIONS, without_effect
from ironic.core.hardware_interfaces import KINDS
from ironic.drivers.composition import absent_names
from ironic.drivers.composition.extensions import TYPES_GROUP, installed, interfaces_group

HEAD = """\
# Coming from OpenStack Ironic

This service has the API, the options, the programs and the plug-in paths of OpenStack Ironic 39.0, and is written from
scratch. It has **no Neutron, no Glance and no Cinder** yet: the only network interface is `noop`, images come from URLs
and files, and there are no volumes. A site that needs one of these cannot move yet.

| what | here |
| --- | --- |
| REST API, versions 1.1 to 1.115 | [the same](microversions.md), documented deviations [apart](contract/defects.md) |
| `baremetal`, the SDK, Nova, Metal3 | [work unchanged](clients.md) |
| configuration files of deployment tools | [start, with exceptions](change-over.md#deployment-tools) |
| ironic-python-agent and its ramdisks | [work unchanged](agent.md) |
| Keystone, policy files, `http_basic` | [the same](access.md), with the reference's names of rules |
| third parties' drivers, hooks, rules | [the same import paths](write-a-hardware-type.md#what-a-package-may-import) |
| notifications and sensor readings | [the same payloads](many-machines.md#notifications) |
| standalone ironic-inspector | [its API and rules, or itself beside this service](standalone-inspector.md) |
| Swift, memcached, statsd, Prometheus's exporter | used as there |
| message bus | RabbitMQ by oslo.messaging, or none in the all-in-one program |
| database | SQLite, MariaDB, MySQL, PostgreSQL; [the data are not taken over](#database) |

A third party's package is installed by pip beside this one, also with a requirement such as `ironic>=20`; one that
excludes new releases needs `--no-deps` ([Beside packages of the index](package-index.md)). A conductor's start names,
in one line, packages with such a requirement, and another package `ironic` that lies beside this one.

## Features that are missing

The start of the service has a line for each whose options a configuration sets.

| group of options | feature | instead |
| --- | --- | --- |"""

TYPES = """
## Hardware types

| name | here | instead |
| --- | --- | --- |"""

INTERFACES = """
## Interfaces

A name that is missing is skipped at the start, and one line of the log says so with what to use. **A network or storage
interface that is missing stops the start**, because a machine would be on another network, or without its volumes.
"Once there" are names that OpenStack Ironic has removed itself.

| kind | here | missing | once there |
| --- | --- | --- | --- |"""

INSTEAD = """
Vendors' interfaces are replaced by hardware type `redfish` and its interfaces. For the others:

| name | instead |
| --- | --- |"""

OPTION_GROUPS = """
## Options

An option that is here has the group, name, type and default of OpenStack Ironic;
[the exceptions](contract/options.md#names-and-defaults) are few, and [Options](options.md) lists all. An option that is
missing does not stop the start: a line of the log says what to do instead, and one warning lists what no release knows,
such as misspelt names. A **value** that is not known here stops it, with file and line: of the reference's values that
is only `[deploy]ramdisk_image_download_source = swift`. Start once with your file and read the first lines of the log,
or compare the file beforehand ([Configuration](configuration.md)).

These options are missing in groups that are here, or were in former releases:

| options | instead |
| --- | --- |"""

OLDER = """
Of a value one is missing: `swift` of `[deploy]ramdisk_image_download_source`, which stops the start. Use `http` or
`local`. `[audit]ignore_req_list` is a list here, separated by commas as there.

Older names that are read as well, with a warning:

| older name | name |
| --- | --- |"""

PROGRAMS = """
## Programs

| program | here |
| --- | --- |"""

TAIL = """
## Database

`ironic-dbsync upgrade` takes over a database of OpenStack Ironic 24.1 to 39.0 in place:
[Change over with the database](change-over.md). The commands are the same: `create_schema`, `upgrade`, `version`,
`stamp`, `online_data_migrations`. A site may also begin with an empty database, and move its nodes one by one:

## Move the nodes

1. [Install](install.md) this service beside the other one, with a database of its own and an address of its own.
2. For each node read what the other service knows; it masks passwords, so take those from where you keep them:

       baremetal node show NODE -f json
       baremetal port list --node NODE --fields address pxe_enabled local_link_connection -f json

3. Put the node into maintenance there, so that only one service acts on the machine, and wait until it is not locked:

       baremetal node maintenance set NODE --reason 'moves'

4. Enrol it here, with its own driver and `--driver-info`. A machine that is in use is adopted, which writes nothing to
   it; a free machine gets `node provide` in place of `node adopt`:

       baremetal node create --driver fake-hardware --name moved --resource-class metal
       baremetal node set moved --instance-info image_source=http://images.example.org/image.raw
       baremetal port create --node $(baremetal node show moved -f value -c uuid) 52:54:00:12:34:99
       baremetal node manage moved --wait
       baremetal node adopt moved --wait

5. When all nodes are here, point the clients and the ramdisks (`ipa-api-url` of boot media of your own) to this
   service, and stop the other one.

Deploy templates, runbooks, inspection rules and allocations have create commands of the same kind. Stored inventories
of ironic-inspector come along with [`ironic-inventory import`](standalone-inspector.md).
"""

# Programs of the reference that are missing, and what is done without them.
MISSING_PROGRAMS: Final = {
    "ironic-manage": "missing",
    "ironic-networking": "missing, as is the network interface of this name",
}
# Programs that the reference does not have.
OWN_PROGRAMS: Final = {
    "ironic-inspector-api": "added: the API of the standalone inspector as a process of its own",
    "ironic-inventory": "added: imports inventories and rules of the standalone inspector",
}


def page() -> str:
    """Return the page."""
    features = [f"| `[{group}]` | {' | '.join(texts)} |" for group, texts in without_effect.GROUPS.items()]
    parts = (
        (HEAD, features),
        (TYPES, _types()),
        (INTERFACES, _interfaces()),
        (INSTEAD, _replacements()),
        (OPTION_GROUPS, _missing_options()),
        (OLDER, _older_names()),
        (PROGRAMS, _programs()),
    )
    return "\n".join([line for head, rows in parts for line in (head, *rows)] + [TAIL])


def _ours(group: str) -> set[str]:
    return {name for name, point in installed()[group].items() if point.value.startswith("ironic.")}


def _types() -> Iterator[str]:
    ours = _ours(TYPES_GROUP)
    coming = absent_names.names(absent_names.TYPE, former=False)
    for name in sorted(ours | absent_names.names(absent_names.TYPE)):
        here = "yes" if name in ours else "missing" if name in coming else "no; once there"
        yield f"| {name} | {here} | {'' if name in ours else absent_names.instead_of(name)} |"


def _interfaces() -> Iterator[str]:
    for kind in KINDS:
        columns = _ours(interfaces_group(kind)), *(absent_names.names(kind, former=one) for one in (False, True))
        yield f"| {kind} | {' | '.join(map(_listed, columns))} |"


def _replacements() -> Iterator[str]:
    by_vendor = absent_names.instead_of("idrac")
    missing = {(kind, name) for kind in KINDS for name in absent_names.names(kind)}
    for name in sorted({name for kind, name in missing if not absent_names.is_never_skipped(kind, name)}):
        if (instead := absent_names.instead_of(name)) != by_vendor:
            yield f"| {name} | {instead} |"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "-"


def _missing_options() -> Iterator[str]:
    by_way: dict[str, list[str]] = {}
    for group, options in without_effect.OPTIONS.items():
        for name, instead in options.items():
            shown = f"all others of `[{group}]`" if name == without_effect.OTHERS else f"`[{group}]{name}`"
            by_way.setdefault(instead, []).append(shown)
    yield from (f"| {', '.join(names)} | {instead} |" for instead, names in by_way.items())


def _older_names() -> Iterator[str]:
    for group, options in OPTIONS.items():
        for option in options:
            for older in option.deprecated_opts:
                yield f"| `[{older.group or group}]{older.name or option.dest}` | `[{group}]{option.dest}` |"


def _programs() -> Iterator[str]:
    ours = {point.name for point in entry_points(group="console_scripts") if point.value.startswith("ironic.command.")}
    for name in sorted(ours | MISSING_PROGRAMS.keys()):
        yield f"| `{name}` | {MISSING_PROGRAMS.get(name) or OWN_PROGRAMS.get(name) or 'the same'} |"
