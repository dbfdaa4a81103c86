"""`ironic-status`: check whether the service is ready for an upgrade, by oslo.upgradecheck.

    ironic-status [--config-file FILE] upgrade check [--json]

The exit status is 0 when all is well, 1 for a warning, 2 for a failure, 255 when the checks could not begin.
"""

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Final

from oslo_upgradecheck import upgradecheck
from oslo_upgradecheck.upgradecheck import Code, Result

from ironic.command import change_over, checks_of_site
from ironic.command.dbsync import EXPLAINED, used
from ironic.command.room_for_tables import room
from ironic.conductor.interface_mismatch import differences
from ironic.conf import CONF, config_files, database, prepare_command
from ironic.conf.default import OWN_RELEASES
from ironic.conf.release import release
from ironic.core.errors import IronicError
from ironic.db import Store, online_migrations
from ironic.db.schema import refuse_unversioned
from ironic.db.schema_version import SCHEMA_VERSION, SchemaOutdated, require_current, stored_version

_NOT_BEGUN = 255
_MOST_LISTED = 8


def _check(check: Callable[[Store], Result]) -> Callable[["Checks"], Result]:
    """Turn an exception of a check into a failure, so that the other checks run all the same.

    Those that need the tables of this service have nothing to look at in a database of the reference.
    """

    @functools.wraps(check)
    def answer(checks: "Checks") -> Result:
        try:
            if check in _NEED_OWN_TABLES and change_over.revision(checks.store.engine):
                return Result(Code.SUCCESS, "This is checked once the database is taken over.")
            if check in _NEED_CURRENT_TABLES and outdated(checks.store):
                return Result(Code.SUCCESS, "This is checked once the tables are those of this release.")
            return check(checks.store)
        except Exception as error:
            # Of a library's error the first line is enough: the rest is SQL.
            text = str(error) if isinstance(error, IronicError) else str(error).partition("\n")[0]
            return Result(Code.FAILURE, f"The check failed: {type(error).__name__}: {text}")

    return answer


def reference(store: Store) -> Result:
    """Check whether a database of the reference can be taken over, and what of it can't be kept; only reads."""
    if not change_over.revision(store.engine):
        with store.engine.connect() as connection:
            refuse_unversioned(connection)
        return Result(Code.SUCCESS, "The database is none of the reference, or is taken over.")
    faults, remarks = change_over.check(store.engine)
    if faults:
        return Result(Code.FAILURE, checks_of_site.sentences(*faults))
    text = "The database is one of the reference: `ironic-dbsync upgrade` takes it over, and can keep all of it"
    return Result(Code.WARNING if remarks else Code.SUCCESS, checks_of_site.sentences(text, *remarks))


def outdated(store: Store) -> str | None:
    """Return what to do before this release can use the tables; None if it can use them as they are."""
    try:
        require_current(store)
    except SchemaOutdated as error:
        return str(error)
    return None


def schema(store: Store) -> Result:
    """Check that the database schema is the one this release needs.

    One that is older is no failure: jobs of deployment tools upgrade only after a check that ends with 0 or 1.
    """
    if older := outdated(store):
        return Result(Code.WARNING, older)
    found = stored_version(store)
    if found != SCHEMA_VERSION:
        return Result(
            Code.WARNING, f"The database {used()} is at schema version {found}, this release at {SCHEMA_VERSION}."
        )
    return Result(Code.SUCCESS, f"The database {used()} is at schema version {found}.")


def interfaces(store: Store) -> Result:
    """Check that all live conductors serve a hardware type with the same interfaces (S34)."""
    served = store.conductors.served_interfaces(CONF.conductor.heartbeat_timeout)
    if not served:
        return Result(Code.SUCCESS, "No conductor is alive, so there is nothing to compare.")
    if found := differences(served):
        return Result(Code.WARNING, "\n".join(map(str, found)))
    return Result(Code.SUCCESS, f"{len({row.hostname for row in served})} live conductors agree.")


def bmc_addresses(store: Store) -> Result:
    """Check that it is known of each BMC's address whether a project has chosen it."""
    found = [uuid for _, uuid in online_migrations.unknown_choosers(store)]
    if not found:
        return Result(Code.SUCCESS, "It is known of all addresses of BMCs whether a project has chosen them.")
    return Result(
        Code.WARNING,
        f"{len(found)} nodes with an owner have a BMC at a name or on the loopback, and it is not known whether the "
        "owner or an operator has chosen it. `ironic-dbsync online_data_migrations` has them count as chosen by the "
        "owner: they reach the loopback with [outgoing]allow_loopback only, and their errors say less. An operator who "
        f"writes the address again takes it over. The first are: {', '.join(found[:_MOST_LISTED])}.",
    )


def pin(_store: Store) -> Result:
    """Show what pins a rolling upgrade from this release, and what the configuration pins now."""
    own = f"[DEFAULT]pin_release_version = {OWN_RELEASES[-1]}"
    if not CONF.pin_release_version:
        return Result(Code.SUCCESS, f"This is release {release()}. To upgrade from it step by step, set {own}.")
    return Result(
        Code.SUCCESS,
        f"Calls are pinned to those of release {CONF.pin_release_version}. Remove [DEFAULT]pin_release_version when "
        f"all services are of one release; that of this release is {own}.",
    )


_NEED_CURRENT_TABLES: Final = (interfaces, bmc_addresses)
_NEED_OWN_TABLES: Final = (schema, *_NEED_CURRENT_TABLES)


class Checks(upgradecheck.UpgradeCommands):
    """The checks to run before and after an upgrade."""

    # The name is the documented interface of the library.
    _upgrade_checks = (
        ("Database of the reference", _check(reference)),
        ("Database schema", _check(schema)),
        ("Interfaces of conductors", _check(interfaces)),
        ("BMC addresses", _check(bmc_addresses)),
        ("Room for the tables", _check(room)),
        ("Hardware types and interfaces", _check(checks_of_site.drivers)),
        ("Owners of parents and children", _check(checks_of_site.owners_of_children)),
        ("Access rules", _check(checks_of_site.policy_files)),
        ("Release for a pin", _check(pin)),
    )
    store: Store


def main(argv: Sequence[str] | None = None) -> int:
    """Run the checks and return the exit status."""
    checks = Checks()
    upgradecheck.register_cli_options(CONF, checks)
    # The library's own main() would read the options without the environment's directory, and answer with tracebacks.
    upgradecheck.CONF = CONF
    try:
        prepare_command(sys.argv[1:] if argv is None else argv)
        database.check_is_there(CONF)
        checks.store = Store.from_conf()
    except EXPLAINED as fault:
        print(f"ironic-status: {config_files.in_words(fault)}", file=sys.stderr)
        return _NOT_BEGUN
    try:
        return upgradecheck.run(CONF)
    finally:
        checks.store.close()


if __name__ == "__main__":
    sys.exit(main())
