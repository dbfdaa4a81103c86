"""A conversation that grows: what earlier versions knew stays, and a pin keeps to it."""

import configparser
import inspect
import logging

import pytest

from ironic.conf.default import OWN_RELEASES
from ironic.conf.release import without_epoch
from ironic.core.errors.call_errors import CallHeldBack
from ironic.rpc import rpc_versions
from ironic.rpc.rpc_api import CALLS, call, calls_of
from ironic.rpc.rpc_versions import FIRST, HISTORY, PRESENT, RELEASES, Version, pinned_version, restricted_to
from ironic.tests.repository import ROOT


class Grown:
    """A later form of three calls of the first version, and a new one."""

    @call()
    def get_boot_device(self, context, node_id, slowly=False): ...

    @call(advisory=["seen"])
    def update_port(self, context, port_id, changes, seen=None): ...

    @call()
    def destroy_node(self, context, node_id): ...

    @call()
    def polish(self, context, node_id): ...


GROWN = calls_of(Grown)


@pytest.mark.parametrize("version", HISTORY)
def test_nothing_of_an_earlier_version_is_lost(version):
    for name, arguments in HISTORY[version].items():
        assert tuple(CALLS[name].signature.parameters)[2 : 2 + len(arguments)] == arguments


@pytest.mark.parametrize("version", HISTORY)
def test_what_was_added_may_be_left_out(version):
    for name, arguments in HISTORY[version].items():
        added = list(CALLS[name].signature.parameters.values())[2 + len(arguments) :]
        assert [one.name for one in added if one.default is inspect.Parameter.empty] == []


def test_every_version_but_the_present_one_is_history():
    assert {*HISTORY, PRESENT} == set(RELEASES.values())
    assert max(RELEASES.values()) == PRESENT


def test_the_release_in_the_making_speaks_the_present_version():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    release = ".".join(without_epoch(setup["metadata"]["version"]).split(".")[:2])
    assert RELEASES[release] == PRESENT


def test_what_can_be_pinned_to_is_a_release():
    assert tuple(RELEASES) == OWN_RELEASES


@pytest.mark.parametrize("pin, version", [(None, PRESENT), ("1.0", FIRST), ("1.1", PRESENT), ("39.0", PRESENT)])
def test_a_pin_says_what_is_spoken(pin, version):
    assert pinned_version(pin) == version


@pytest.mark.parametrize(
    "pin, level, said", [("1.0", logging.INFO, "version 1.0"), ("38.0", logging.WARNING, "no release of this service")]
)
def test_a_pin_is_told(caplog, pin, level, said):
    caplog.set_level(logging.INFO)
    rpc_versions.log_pin(pin)
    (record,) = caplog.records
    assert record.levelno == level
    assert said in record.getMessage()


def test_without_a_pin_nothing_is_told(caplog):
    rpc_versions.log_pin(None)
    assert caplog.records == []


def test_an_argument_that_says_nothing_is_left_out_for_an_older_release():
    assert restricted_to(FIRST, GROWN["get_boot_device"], {"node_id": "n1", "slowly": False}) == {"node_id": "n1"}
    assert restricted_to(PRESENT, GROWN["get_boot_device"], {"node_id": "n1", "slowly": True})["slowly"] is True


def test_an_advisory_argument_is_left_out_for_an_older_release():
    arguments = {"port_id": "p1", "changes": {"extra": {}}}
    assert restricted_to(FIRST, GROWN["update_port"], arguments | {"seen": {"extra": {"a": 1}}}) == arguments


@pytest.mark.parametrize(
    "name, arguments, what",
    [
        ("get_boot_device", {"node_id": "n1", "slowly": True}, "slowly of get_boot_device"),
        ("polish", {"node_id": "n1"}, "polish"),
    ],
)
def test_what_an_older_release_can_not_do_is_held_back(name, arguments, what):
    with pytest.raises(CallHeldBack) as raised:
        restricted_to(FIRST, GROWN[name], arguments)
    assert raised.value.status == 503
    assert raised.value.facts == {"what": what}


def test_versions_are_numbers_not_text():
    assert Version.parse("1.10") > Version.parse("1.9")
    assert str(Version(2, 3)) == "2.3"
