"""What packages declare of the keys of driver_info counts; names of keys are judged where nothing is declared."""

import copy
import logging
import pickle
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from importlib.metadata import EntryPoint
from typing import Any

import pytest
import stevedore

from ironic.core.addresses import bmc_hosts, own_host
from ironic.core.keys import info_keys
from ironic.core.keys.info_keys import Holds, Property
from ironic.core.secrets import masking, secret_updates

ACME = {
    "acme_where": Property(Holds.ADDRESS, "Where it is."),
    "acme_way": Property(Holds.PLACE, "How it is reached."),
    "acme_hop": Property(Holds.BRIDGE, "no, or the hop."),
    "acme_knock": Property(Holds.SECRET, "What it wants to hear."),
    "acme_server_url": Property(Holds.SETTING, "What its sticker shows."),
    "acme_ca_label": Property(Holds.SETTING, "A label."),
    "acme_anchor": Property(Holds.TRUST, "Whom it trusts."),
    "acme_socket": Property(Holds.OWN_PORT, "A port here."),
    "acme_room_address": Property(Holds.SETTING, "Where its rack stands."),
}


class Declared:
    """An entry point that is loaded."""

    def __init__(self, name: str, plugin: object, module_name: str = "acme.keys") -> None:
        self.name, self.plugin, self.module_name = name, plugin, module_name


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Declared]]:
    """Return the entry points to be loaded, ours among them, before they are."""
    ours: Iterable[Any] = stevedore.ExtensionManager(info_keys.GROUP)
    found = [Declared(one.name, one.plugin, one.module_name) for one in ours]
    monkeypatch.setattr(info_keys, "ExtensionManager", lambda *_, **__: found)
    forget()
    yield found
    forget()


def forget() -> None:
    info_keys.declared.cache_clear()
    info_keys._hidden.clear()


@pytest.fixture
def acme(tables: list[Declared]) -> None:
    tables.append(Declared("acme", ACME))
    info_keys.declared()


@pytest.mark.usefixtures("acme")
def test_a_secret_is_hidden_by_its_declaration_whatever_its_name() -> None:
    assert masking.masked({"acme_knock": "three times"}) == {"acme_knock": masking.REPLACEMENT}


def test_without_a_declaration_its_name_counts() -> None:
    assert masking.masked({"acme_knock": "three times", "acme_pin": "1"}) == {
        "acme_knock": "three times",
        "acme_pin": masking.REPLACEMENT,
    }


def test_what_looks_like_a_secret_is_hidden_whatever_is_declared(tables: list[Declared]) -> None:
    tables.append(Declared("open", {"acme_token": Property(Holds.SETTING, "A token of esteem.")}))
    assert info_keys.of("acme_token") is not None
    assert masking.is_secret("acme_token")


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize(
    "key, is_sent",
    [("acme_where", True), ("acme_way", True), ("acme_anchor", True), ("acme_hop", True), ("acme_server_url", False)],
)
def test_a_stored_secret_is_kept_from_where_a_declared_key_leads(key: str, is_sent: bool) -> None:
    before = {"acme_where": "192.0.2.1", "acme_knock": "three times", key: "http://192.0.2.1/"}
    after = {**before, key: "http://192.0.2.66/"}
    assert secret_updates.redirected_secrets(before, after, []) == (["acme_knock"] if is_sent else [])
    assert secret_updates.moved_keys(before, after) == ({key} if is_sent else set())


@pytest.mark.usefixtures("acme")
def test_what_is_inside_of_a_declared_key_is_judged_by_its_name() -> None:
    before: dict[str, Any] = {"acme_knock": "three times", "acme_server_url": {"host": "192.0.2.1"}}
    after = {**before, "acme_server_url": {"host": "192.0.2.66"}}
    assert secret_updates.redirected_secrets(before, after, []) == ["acme_knock"]


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("value", [["bmc.example"], {"first": "bmc.example"}])
def test_all_that_is_inside_of_a_key_that_leads_leads(value: Any) -> None:
    before: dict[str, Any] = {"acme_where": {"first": "bmc"}, "acme_knock": "three times"}
    after = {**before, "acme_where": value}
    assert secret_updates.redirected_secrets(before, after, []) == ["acme_knock"]
    assert secret_updates.redirected_secrets(after, {**after, "acme_where": [["other.example"]]}, []) == ["acme_knock"]


@pytest.mark.usefixtures("acme")
def test_a_declared_address_is_kept_out_of_what_others_read() -> None:
    stored = [{"acme_where": "bmc-7"}, {"acme_where": ["bmc-8"]}, {"acme_knock": "three times"}]
    assert sorted(secret_updates.addresses(stored)) == ["bmc-7", "bmc-8"]


def test_a_declared_key_says_nothing_of_an_argument_with_its_name(tables: list[Declared]) -> None:
    tables.append(Declared("acme", {"acme_machine": Property(Holds.SETTING, "What its sticker shows.")}))
    before, after = (
        [{"interface": "deploy", "step": "x", "args": {"password": "p", "acme_machine": name}}] for name in "ab"
    )
    assert secret_updates.redirected_step_secrets(before, after, []) == ["deploy.x"]


@pytest.mark.usefixtures("acme")
def test_hosts_of_a_bmc_are_declared_and_nothing_is_behind_a_bridge() -> None:
    info = {"acme_where": "192.0.2.1", "acme_room_address": "second floor", "other_address": "192.0.2.9"}
    assert bmc_hosts.hosts(info) == ["192.0.2.1", "192.0.2.9"]
    assert bmc_hosts.hosts({**info, "acme_hop": "two"}) == ["192.0.2.9"]
    assert bmc_hosts.hosts({**info, "acme_hop": "no"}) == ["192.0.2.1", "192.0.2.9"]
    # Requests go to the bridge itself.
    assert bmc_hosts.may_reach_loopback({"acme_where": "127.0.0.1", "acme_hop": "two"})


@pytest.mark.usefixtures("acme")
def test_files_and_ports_of_the_conductor_are_declared() -> None:
    now = {"acme_anchor": "/etc/passwd", "acme_ca_label": "/etc/passwd", "other_ca": "/etc/passwd"}
    assert own_host.trust_path_keys({}, now) == ["acme_anchor", "other_ca"]
    assert own_host.own_port_keys({}, {"acme_socket": 5, "other_console_port": 6}) == [
        "acme_socket",
        "other_console_port",
    ]


def test_two_packages_that_differ_declare_nothing_but_that_it_is_a_secret(
    tables: list[Declared], caplog: pytest.LogCaptureFixture
) -> None:
    tables += [
        Declared("acme", ACME),
        Declared("other", {"acme_where": Property(Holds.SETTING, "x"), "acme_knock": Property(Holds.SETTING, "x")}),
        Declared("same", {"acme_way": Property(Holds.PLACE, "in other words")}),
    ]
    assert (info_keys.of("acme_where"), info_keys.of("acme_knock")) == (None, None)
    assert info_keys.of("acme_way") == "How it is reached."
    assert info_keys.is_secret("acme_knock")
    assert "differ about key acme_where of driver_info: the words of its name count" in caplog.text
    # Its name says that it leads there no more than before there were declarations.
    assert secret_updates.moved_keys({}, {"acme_where": "192.0.2.1"}) == {"acme_where"}


def test_others_can_not_say_otherwise_of_our_keys(tables: list[Declared], caplog: pytest.LogCaptureFixture) -> None:
    tables.insert(
        0, Declared("acme", {"ipmi_bridging": Property(Holds.SETTING, "nothing"), "acme_way": ACME["acme_way"]})
    )
    known = info_keys.of("ipmi_bridging")
    assert known is not None
    assert (known.holds, info_keys.of("acme_way")) == (Holds.BRIDGE, "How it is reached.")
    assert "differ about key ipmi_bridging of driver_info: this project's word counts" in caplog.text


@pytest.mark.parametrize("table", [None, [], {"acme_where": "a text"}, {5: Property(Holds.PLACE, "x")}])
def test_what_is_no_property_is_left_out(
    tables: list[Declared], table: object, caplog: pytest.LogCaptureFixture
) -> None:
    tables.append(Declared("acme", table))
    with caplog.at_level(logging.WARNING):
        assert info_keys.of("acme_where") is None
    assert info_keys.of("redfish_address") is not None
    assert "acme of group ironic.driver_info has what is no property" in caplog.text


def test_a_fault_in_a_table_takes_nothing_else_away(tables: list[Declared]) -> None:
    tables.append(Declared("acme", {**ACME, "acme_other": "a text"}))
    assert (info_keys.of("acme_where"), info_keys.of("acme_other")) == (ACME["acme_where"], None)
    assert info_keys.is_secret("acme_knock")


def test_without_our_own_tables_nothing_is_declared(tables: list[Declared]) -> None:
    tables[:] = [Declared("acme", ACME)]
    with pytest.raises(ValueError, match="install it again"):
        info_keys.declared()


@pytest.mark.parametrize("module, is_ours", [("acme.keys", False), ("ironic.drivers.info_keys", True)])
def test_a_table_that_can_not_be_loaded_is_left_out_unless_it_is_ours(
    module: str, is_ours: bool, caplog: pytest.LogCaptureFixture
) -> None:
    point, error = EntryPoint("some", f"{module}:TABLE", info_keys.GROUP), ImportError("no module")
    with pytest.raises(ImportError) if is_ours else nullcontext():
        info_keys._log_failure(None, point, error)
    assert ("some of group ironic.driver_info can't be loaded" in caplog.text) is not is_ours


def test_a_property_can_be_copied() -> None:
    one = Property(Holds.TRUST_OF_OTHERS, "Whom it trusts.")
    for made in (copy.copy(one), copy.deepcopy({"key": one})["key"], pickle.loads(pickle.dumps(one))):
        assert (made, made.holds) == (one, Holds.TRUST_OF_OTHERS)


def test_a_property_is_its_text() -> None:
    one = Property(Holds.TRUST_OF_OTHERS, "Whom it trusts.")
    assert (one, one.holds, one.leads) == ("Whom it trusts.", Holds.TRUST_OF_OTHERS, False)
    assert info_keys.of(5) is None
