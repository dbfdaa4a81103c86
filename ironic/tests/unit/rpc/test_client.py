"""A call follows the node: when its conductor is gone, the one that has the node now is asked."""

from types import SimpleNamespace
from typing import Any

import pytest

from ironic.core.context import RequestContext
from ironic.core.errors import DriverNotFound, NoValidHost
from ironic.core.errors.call_errors import ConductorAbsent, ConductorSilent
from ironic.rpc.client import ConductorClients

CONTEXT = RequestContext()
NODE: Any = SimpleNamespace(uuid="n1", driver="fake", conductor_group="")


class Transport:
    """Reaches the conductors it knows; calls of others end as configured."""

    def __init__(self, reachable, error=ConductorAbsent):
        self.reachable, self.error, self.asked = reachable, error, []

    def send(self, host, context, call, arguments):
        self.asked.append(host)
        if host not in self.reachable:
            raise self.error(host=host, call=call.name, reason="gone", seconds=4)
        return {"by": host}


class Ring:
    """Knows one owner, and another one once it has looked again."""

    def __init__(self, owner, later):
        self._owner, self._later = owner, later

    def reset(self):
        self._owner = self._later

    def host_for(self, uuid, driver, group, *, reread):
        if self._owner is None:
            raise NoValidHost(driver=driver, group=group)
        return self._owner

    def hosts_of(self, driver):
        return [self._owner] if self._owner else []


def conductors(transport, owner="c1", later="c2"):
    hash_ring: Any = Ring(owner, later)
    return ConductorClients(transport, hash_ring)


def test_the_owner_is_asked():
    transport = Transport({"c1"})
    assert conductors(transport).serving(NODE).get_boot_device(CONTEXT, "n1") == {"by": "c1"}
    assert transport.asked == ["c1"]


def test_when_it_is_gone_the_new_owner_is_asked():
    transport = Transport({"c2"})
    assert conductors(transport).serving(NODE).get_boot_device(CONTEXT, "n1") == {"by": "c2"}
    assert transport.asked == ["c1", "c2"]


def test_when_it_is_gone_and_nobody_has_the_node_yet_that_is_said():
    transport = Transport(set())
    with pytest.raises(ConductorAbsent):
        conductors(transport, later="c1").serving(NODE).get_boot_device(CONTEXT, "n1")
    assert transport.asked == ["c1"]


def test_when_nobody_serves_the_driver_any_more_that_is_said():
    with pytest.raises(NoValidHost):
        conductors(Transport(set()), later=None).serving(NODE).get_boot_device(CONTEXT, "n1")
    with pytest.raises(DriverNotFound):
        conductors(Transport(set()), later=None).for_driver("fake").driver_properties(CONTEXT, "fake")


def test_what_may_have_begun_is_not_asked_of_another_one():
    transport = Transport({"c2"}, error=ConductorSilent)
    with pytest.raises(ConductorSilent):
        conductors(transport).serving(NODE).destroy_node(CONTEXT, "n1")
    assert transport.asked == ["c1"]


def test_one_asked_by_its_name_is_that_one_or_none():
    transport = Transport({"c2"})
    with pytest.raises(ConductorAbsent):
        conductors(transport).at("c1").destroy_node(CONTEXT, "n1")
    assert transport.asked == ["c1"]


@pytest.mark.parametrize("error", [ConductorAbsent, ConductorSilent])
def test_it_remembers_who_did_not_take_a_call_until_one_is_taken(error):
    transport = Transport(set(), error)
    clients = conductors(transport, later="c1")
    assert clients.seconds_since_missed("c1") is None
    with pytest.raises(error):
        clients.serving(NODE).get_boot_device(CONTEXT, "n1")
    assert 0 <= clients.seconds_since_missed("c1") < 60
    assert clients.seconds_since_missed("c2") is None
    transport.reachable.add("c1")
    clients.serving(NODE).get_boot_device(CONTEXT, "n1")
    assert clients.seconds_since_missed("c1") is None
