"""Vendor methods: how they are offered and what their errors become."""

from typing import Any

import pytest

from ironic.core.errors import InvalidParameterValue, NodeLocked
from ironic.core.errors.hardware_errors import VendorPassthruException
from ironic.drivers import base
from ironic.tests.unit.drivers.machine import work_on


class Vendor(base.VendorInterface):
    """Doors of every sort."""

    def get_properties(self) -> dict[str, str]:
        return {}

    def validate(self, task: Any, method: str | None = None, **kwargs: Any) -> None:
        pass

    @base.passthru(["get", "POST"], method="beep", async_call=False, description="Beeps.", attach=True)
    def make_a_noise(self, task: Any, how_often: int) -> str:
        return "beep " * how_often

    @base.passthru(["DELETE"], require_exclusive_lock=False)
    def hush(self, task: Any) -> None:
        raise KeyError("hunter2")

    @base.driver_passthru(["GET"], description="Counts machines.")
    def count(self, context: Any) -> int:
        return 3

    @base.driver_passthru(["POST"])
    def locked(self, context: Any) -> None:
        raise NodeLocked(node="n", host="h")

    def plain(self, task: Any) -> None:
        pass


def test_the_terms_are_collected_with_the_method() -> None:
    vendor = Vendor()
    assert set(vendor.vendor_routes) == {"beep", "hush"}
    assert vendor.vendor_routes["beep"] == {
        "http_methods": ["GET", "POST"],
        "async": False,
        "description": "Beeps.",
        "attach": True,
        "require_exclusive_lock": True,
        "func": vendor.make_a_noise,
    }
    assert vendor.vendor_routes["hush"]["async"] is True
    assert vendor.vendor_routes["hush"]["require_exclusive_lock"] is False
    assert vendor.vendor_routes["beep"]["func"](work_on(), how_often=2) == "beep beep "


def test_methods_of_the_driver_stand_apart() -> None:
    routes = Vendor().driver_routes
    assert set(routes) == {"count", "locked"}
    assert "require_exclusive_lock" not in routes["count"]
    assert routes["count"]["func"](object()) == 3


def test_two_objects_have_their_own_methods() -> None:
    for one in (Vendor(), Vendor()):
        method: Any = one.vendor_routes["beep"]["func"]
        assert method.__self__ is one


def test_a_subclass_inherits_doors() -> None:
    class More(Vendor):
        @base.passthru(["POST"])
        def more(self, task: Any) -> None:
            pass

    assert set(More().vendor_routes) == {"beep", "hush", "more"}


def test_a_stray_error_becomes_ours_without_its_text() -> None:
    with pytest.raises(VendorPassthruException) as failure:
        Vendor().hush(work_on())
    assert failure.value.facts == {"method": "hush", "error": "KeyError"}
    assert "hunter2" not in str(failure.value)


def test_our_errors_come_through() -> None:
    with pytest.raises(NodeLocked):
        Vendor().locked(object())


@pytest.mark.parametrize("verbs", [[], "POST", ["LOOK"], ["POST", "HEAD"]])
def test_only_known_http_methods_can_be_declared(verbs: Any) -> None:
    with pytest.raises(InvalidParameterValue):
        base.passthru(verbs)
