"""Network interfaces of both kinds: by `connect` and `disconnect`, and by the older names of published classes."""

from functools import partial
from typing import Any

import pytest

from ironic.core.errors import UnsupportedDriverExtension
from ironic.core.flows.flow import FLOWS
from ironic.drivers import base
from ironic.drivers.composition.measured_calls import measure
from ironic.drivers.contract.interfaces.networks import TENANT
from ironic.drivers.modules.network.noop import NoopNetwork
from ironic.integrations.metrics import METRICS, Collector
from ironic.tests.unit.drivers.machine import work_on

NETWORKS = sorted({flow.network for flow in FLOWS if flow.network} | {TENANT})
OLDER = {
    "tenant": ("configure_tenant_networks", "unconfigure_tenant_networks"),
    "provisioning": ("add_provisioning_network", "remove_provisioning_network"),
    "cleaning": ("add_cleaning_network", "remove_cleaning_network"),
    "rescuing": ("add_rescuing_network", "remove_rescuing_network"),
    "inspection": ("add_inspection_network", "remove_inspection_network"),
    "servicing": ("add_servicing_network", "remove_servicing_network"),
}
NOTED: list[str] = []


class Rest(base.NetworkInterface):
    """What every network interface needs beside its networks."""

    def port_changed(self, task: Any, port_obj: Any) -> None: ...
    def portgroup_changed(self, task: Any, portgroup_obj: Any) -> None: ...
    def vif_attach(self, task: Any, vif_info: Any) -> None: ...
    def vif_detach(self, task: Any, vif_id: str) -> None: ...
    def vif_list(self, task: Any) -> list[dict[str, object]]:
        return []

    def get_current_vif(self, task: Any, p_obj: Any) -> str | None:
        return None


class OwnNetwork(Rest):
    def connect(self, task: Any, network: str) -> dict[str, str]:
        NOTED.append(f"connect {network}")
        return {"port": network}

    def disconnect(self, task: Any, network: str) -> None:
        NOTED.append(f"disconnect {network}")


def noting(name: str) -> Any:
    def method(self: object, task: object) -> dict[str, str]:
        NOTED.append(name)
        return {"port": name}

    return method


NEEDED = [name for network in ("tenant", "provisioning", "cleaning") for name in OLDER[network]]
Published: Any = type("Published", (Rest,), {name: noting(name) for name in NEEDED})
Mixin: Any = type("Mixin", (), {name: noting(f"mixed {name}") for name in NEEDED})


@pytest.fixture(autouse=True)
def noted() -> list[str]:
    NOTED.clear()
    return NOTED


def test_the_networks_of_flows_have_older_names() -> None:
    assert sorted(OLDER) == NETWORKS


@pytest.mark.parametrize("network", NETWORKS)
def test_a_class_with_connect_has_the_older_names(network: str, noted: list[str]) -> None:
    interface: Any = OwnNetwork()
    on, off = OLDER[network]
    assert getattr(interface, on)(work_on()) == {"port": network}
    assert getattr(interface, off)(work_on()) is None
    assert noted == [f"connect {network}", f"disconnect {network}"]


@pytest.mark.parametrize("network", ["tenant", "provisioning", "cleaning"])
def test_a_class_with_the_older_names_has_connect(network: str, noted: list[str]) -> None:
    interface = Published()
    assert interface.connect(work_on(), network) == {"port": OLDER[network][0]}
    interface.disconnect(work_on(), network)
    assert noted == list(OLDER[network])


@pytest.mark.parametrize("network", ["rescuing", "inspection", "servicing"])
def test_some_networks_may_be_left_out(network: str, noted: list[str]) -> None:
    assert Published().connect(work_on(), network) == {}
    on = OLDER[network][0]

    def calls_its_base(self: Any, task: Any) -> Any:
        NOTED.append("own")
        return getattr(super(has_one, self), on)(task)

    has_one: Any = type("HasOne", (Published,), {on: calls_its_base})
    assert has_one().connect(work_on(), network) == {}
    assert noted == ["own"]


def test_a_network_that_has_no_older_name_is_refused() -> None:
    with pytest.raises(UnsupportedDriverExtension, match="the polishing network"):
        Published().connect(work_on(), "polishing")
    assert OwnNetwork().connect(work_on(), "polishing") == {"port": "polishing"}


def test_the_most_derived_way_is_called(noted: list[str]) -> None:
    class Derived(NoopNetwork):
        def add_inspection_network(self, task: Any) -> dict[str, str]:
            NOTED.append("derived")
            found: dict[str, str] = getattr(super(), "add_inspection_network")(task)  # noqa: B009 - made by the base
            return found

    class More(Derived):
        def connect(self, task: Any, network: str) -> dict[str, str]:
            NOTED.append(f"more {network}")
            return super().connect(task, network) or {}

    assert Derived().connect(work_on(), "inspection") == {} and Derived().connect(work_on(), "cleaning") == {}
    assert noted == ["derived"]
    assert More().connect(work_on(), "cleaning") == {}
    assert noted == ["derived", "more cleaning"]


def test_older_names_may_come_from_a_mixin(noted: list[str]) -> None:
    mixed: Any = type("Mixed", (Mixin, Rest), {})
    mixed().connect(work_on(), "cleaning")
    over_own: Any = type("OverOwn", (Mixin, OwnNetwork), {})
    over_own().disconnect(work_on(), "tenant")
    assert noted == ["mixed add_cleaning_network", "mixed unconfigure_tenant_networks"]


@pytest.mark.parametrize("missing", NEEDED)
def test_a_class_without_a_needed_name_can_not_be_used(missing: str) -> None:
    incomplete: Any = type("Incomplete", (Rest,), {name: noting(name) for name in NEEDED if name != missing})
    with pytest.raises(TypeError, match=f"an abstract Incomplete: it has neither (dis)?connect nor {missing}[.]"):
        incomplete()


@pytest.mark.parametrize("kind", [staticmethod, partial, "later", "instance"])
def test_an_older_name_is_called_as_the_class_has_it(kind: Any, noted: list[str]) -> None:
    def add(task: object) -> None:
        NOTED.append("added")

    own = {"add_cleaning_network": kind(add)} if callable(kind) else {}
    derived: Any = type("Derived", (Published,), own)
    interface = derived()
    if kind == "later":
        derived.add_cleaning_network = staticmethod(add)
    elif not callable(kind):
        interface.add_cleaning_network = add
    interface.connect(work_on(), "cleaning")
    assert noted == ["added"]


def test_a_base_can_be_called_by_super(noted: list[str]) -> None:
    class Calls(Published):
        def connect(self, task: Any, network: str) -> Any:
            NOTED.append("own")
            return self.add_provisioning_network(task)

    class Own(Rest):
        def connect(self, task: Any, network: str) -> Any:
            return super().connect(task, network)

        def disconnect(self, task: Any, network: str) -> None:
            getattr(super(), OLDER[network][1])(task)

    assert Calls().connect(work_on(), "cleaning") == {"port": "add_provisioning_network"}
    assert noted == ["own", "add_provisioning_network"]
    assert Own().connect(work_on(), "cleaning") == {}
    Own().disconnect(work_on(), "tenant")


def test_what_replaces_a_way_is_called_by_the_older_names(monkeypatch: pytest.MonkeyPatch, noted: list[str]) -> None:
    monkeypatch.setattr(NoopNetwork, "connect", lambda self, task, network: NOTED.append(network))
    interface: Any = NoopNetwork()
    interface.add_rescuing_network(work_on())
    assert noted == ["rescuing"]


def test_a_measured_class_measures_its_older_names() -> None:
    METRICS.open(found := Collector())
    try:
        measure(interface := Published())
        interface.connect(work_on(), "cleaning")
    finally:
        METRICS.close()
    front = f"{Published.__module__}.Published"
    assert found.collected().keys() == {f"{front}.connect", f"{front}.add_cleaning_network"}
