"""What the checks before a change say of access rules, hardware types, interfaces and room, on databases of both."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from oslo_upgradecheck.upgradecheck import Code, Result

from ironic.command import checks_of_site, room_for_tables
from ironic.conf import CONF
from ironic.db import InterfaceRow, Store, connect, schema
from ironic.tests.databases import empty_database
from ironic.tests.functional.db.test_takeover import change, one
from ironic.tests.reference_databases import restore

RULE = '"baremetal:node:delete": "role:admin"'


def configure(directory: Path, text: str) -> None:
    path = directory / "ironic.conf"
    path.write_text(text)
    CONF(["--config-file", str(path)], project="ironic")


@pytest.fixture(autouse=True)
def as_before() -> object:
    yield
    CONF.reset()
    CONF.clear()


@pytest.fixture
def own(tmp_path: Path) -> object:
    """Give a store on a database of this service without rows."""
    url = f"sqlite:///{tmp_path}/ironic.sqlite"
    schema.create(url)
    store = connect(url)
    yield store
    store.close()


@pytest.fixture
def theirs(tmp_path: Path) -> object:
    """Give a store on a database of the reference."""
    url = f"sqlite:///{tmp_path}/theirs.sqlite"
    restore(url, "39.0.0")
    store = connect(url)
    yield store
    store.close()


def fakes(types: str = "fake-hardware", **more: str) -> str:
    kinds = {**dict.fromkeys(("boot", "deploy", "management", "power"), "fake"), **more}
    lines = (f"enabled_{kind}_interfaces = {names}\n" for kind, names in kinds.items())
    return f"[DEFAULT]\nenabled_hardware_types = {types}\n{''.join(lines)}"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("", Code.SUCCESS, "the defaults, no file"),
        (RULE, Code.SUCCESS, "policy.yaml"),
        ('"baremetal:node:erase": "!"', Code.WARNING, "nothing asks for: baremetal:node:erase"),
        ('"baremetal:node:set_power_state": "!"', Code.WARNING, "counts also as baremetal:node:set_boot_mode, "),
        ('"baremetal:node:delete": "role:admin or (("', Code.FAILURE, "can't be parsed"),
        ('"baremetal:node:delete": [', Code.FAILURE, "is neither YAML nor JSON"),
    ],
)
def test_files_with_access_rules(
    tmp_path: Path, theirs: Store, capsys: pytest.CaptureFixture[str], text: str, code: Code, said: str
) -> None:
    configure(tmp_path, "[DEFAULT]\nauth_strategy = keystone\n")
    if text:
        (tmp_path / "policy.yaml").write_text(text)
    result = checks_of_site.policy_files(theirs)
    assert (result.code, said in words(result)) == (code, True), words(result)
    # The report has it; the log would say it a second time.
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("option", "code"), [("", Code.SUCCESS), ("policy_file = policy.yaml", Code.WARNING)])
def test_rules_that_hold_for_none_are_no_protection(tmp_path: Path, own: Store, option: str, code: Code) -> None:
    configure(tmp_path, f"[DEFAULT]\nauth_strategy = http_basic\n[oslo_policy]\n{option}\n")
    result = checks_of_site.policy_files(own)
    assert result.code == code
    assert ("every caller may do everything" in words(result)) == bool(option)


def words(result: Result) -> str:
    assert result.details is not None
    return result.details


def drivers(directory: Path, store: Store, text: str) -> Result:
    configure(directory, text)
    return checks_of_site.drivers(store)


def test_what_is_enabled_and_can_be_loaded_is_well(tmp_path: Path, own: Store, theirs: Store) -> None:
    kinds = dict.fromkeys(("bios", "console", "firmware", "raid", "rescue", "vendor"), "fake")
    for store in (own, theirs):
        result = drivers(tmp_path, store, fakes(deploy="fake,direct", inspect="no-inspect,agent", **kinds))
        assert (result.code, words(result)) == (
            Code.SUCCESS,
            "What is enabled can be loaded, and serves all nodes. The hardware types are: fake-hardware.",
        )


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (fakes("fake-hardware,idrac"), Code.WARNING, "hardware type idrac (option enabled_hardware_types)"),
        (fakes("fake-hardware,acme"), Code.FAILURE, "there is no hardware type acme"),
        (fakes(boot="fake,acme"), Code.FAILURE, "there is no boot interface acme"),
        (fakes(network="noop,neutron"), Code.FAILURE, "network interface neutron is asked for"),
    ],
)
def test_what_is_enabled_and_is_not_here(tmp_path: Path, own: Store, text: str, code: Code, said: str) -> None:
    result = drivers(tmp_path, own, text)
    assert (result.code, said in words(result)) == (code, True), words(result)
    assert ("would not start" in words(result)) == (code is Code.FAILURE)


def test_nodes_of_the_reference_that_would_not_be_served(tmp_path: Path, theirs: Store) -> None:
    url = theirs.engine.url.render_as_string()
    change(url, "UPDATE nodes SET driver = 'ilo', boot_interface = 'ilo-pxe' WHERE name = 'manageable'")
    result = drivers(tmp_path, theirs, fakes(console="no-console"))
    assert result.code == Code.WARNING
    lines = words(result).splitlines()
    assert any("1 nodes have hardware type 'ilo', which is not here" in line for line in lines)
    assert any("1 nodes have boot interface 'ilo-pxe'" in line and "redfish" in line for line in lines)
    result = drivers(tmp_path, theirs, "[DEFAULT]\nenabled_hardware_types = redfish\n")
    assert "does not serve hardware type fake-hardware (18 nodes), bios interface fake (19 nodes), " in words(result)
    assert "add them to [DEFAULT]enabled_hardware_types and enabled_*_interfaces" in words(result)


def test_what_another_conductor_serves_is_served(tmp_path: Path, own: Store) -> None:
    own.nodes.create({"driver": "fake-hardware", "boot_interface": "fake"})
    text = "[DEFAULT]\nenabled_hardware_types = redfish\n"
    assert "boot interface fake (1 nodes)" in words(drivers(tmp_path, own, text))
    own.conductors.register("elsewhere", "", ["fake-hardware"], [InterfaceRow("fake-hardware", "boot", "fake", True)])
    assert drivers(tmp_path, own, text).code == Code.SUCCESS


@pytest.mark.parametrize("kind", ["sqlite", "mariadb", "postgresql"])
def test_children_of_other_owners_are_named(tmp_path: Path, kind: str) -> None:
    with empty_database(kind, tmp_path) as url:
        restore(url, "39.0.0")
        store = connect(url)
        try:
            assert checks_of_site.owners_of_children(store).code == Code.SUCCESS
            parent = "(SELECT uuid FROM (SELECT uuid FROM nodes WHERE name = 'full') found)"
            change(
                url,
                f"UPDATE nodes SET parent_node = {parent}, owner = 'other' WHERE name IN ('manageable', 'available')",
                "UPDATE nodes SET owner = NULL WHERE name IN ('full', 'slow')",
                f"UPDATE nodes SET parent_node = {parent} WHERE name = 'slow'",
            )
            children = [
                one(url, f"SELECT uuid FROM nodes WHERE name = '{name}'") for name in ("manageable", "available")
            ]
            result = checks_of_site.owners_of_children(store)
        finally:
            store.close()
    assert result.code == Code.WARNING
    assert words(result).startswith("2 nodes have a parent_node of another owner.")
    assert all(uuid in words(result) for uuid in children)


@pytest.mark.parametrize("kind", ["sqlite", "mariadb", "postgresql"])
def test_the_room_for_a_second_set_of_tables_is_known_or_asked_for(tmp_path: Path, kind: str) -> None:
    with empty_database(kind, tmp_path) as url:
        restore(url, "39.0.0")
        store = connect(url)
        try:
            result = room_for_tables.room(store)
        finally:
            store.close()
    assert result.code == Code.SUCCESS
    assert "MiB are free." in words(result) or "can't be seen from here" in words(result)
    size, needed = (int(words.rsplit(" ", 1)[1]) for words in words(result).split(" MiB")[:2])
    assert 0 < size <= needed


def test_a_server_that_does_not_show_its_directory_is_to_be_looked_at(tmp_path: Path) -> None:
    with empty_database("postgresql", tmp_path) as url:
        restore(url, "39.0.0")
        owner, role = sa.create_engine(url), f"role_{sa.make_url(url).database}"
        with owner.begin() as connection:
            connection.exec_driver_sql(f"CREATE ROLE {role} LOGIN")
            connection.exec_driver_sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
        store = connect(sa.make_url(url).set(username=role).render_as_string(hide_password=False))
        try:
            result = room_for_tables.room(store)
        finally:
            store.close()
            with owner.begin() as connection:
                connection.exec_driver_sql(f"DROP OWNED BY {role}")
                connection.exec_driver_sql(f"DROP ROLE {role}")
            owner.dispose()
    assert result.code == Code.SUCCESS
    assert "MiB of free space in the data directory of postgresql://127.0.0.1:" in words(result)
    assert "can't be seen from here: look on that host." in words(result)


def test_a_file_that_leaves_no_room_is_a_failure(tmp_path: Path, theirs: Store) -> None:
    path = Path(theirs.engine.url.database or "")
    theirs.close()
    connection = sqlite3.connect(path)
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    # The header counts the pages of a file with a hole.
    pages = shutil.disk_usage(tmp_path).free // page + 1
    with path.open("r+b") as file:
        file.seek(28)
        file.write(pages.to_bytes(4))
    os.truncate(path, pages * page)
    store = connect(f"sqlite:///{path}")
    try:
        result = room_for_tables.room(store)
    finally:
        store.close()
    assert result.code == Code.FAILURE
    assert "MiB are free: make room first." in words(result)


def test_a_database_of_this_service_needs_no_room(own: Store) -> None:
    assert room_for_tables.room(own).code == Code.SUCCESS
