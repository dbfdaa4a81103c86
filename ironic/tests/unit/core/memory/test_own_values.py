"""Values that the service writes into records of users and takes back."""

from types import SimpleNamespace
from typing import Any

import pytest

from ironic.core.memory import own_values


def node(**records: Any) -> Any:
    made = SimpleNamespace(**{"instance_info": {}, "properties": {}, "driver_internal_info": {}, **records})
    made.set_driver_internal_info = made.driver_internal_info.__setitem__
    made.del_driver_internal_info = lambda key: made.driver_internal_info.pop(key, None)
    return made


@pytest.mark.parametrize("before", [{}, {"root_device": {"serial": "a"}, "local_gb": 7}, {"root_device": None}])
def test_what_stood_there_comes_back(before):
    one = node(properties=dict(before))
    for hint in ("b", "c"):
        own_values.write(one, "properties", "root_device", {"serial": hint})
    own_values.write(one, "properties", "local_gb", 100)
    own_values.take_back(one, "instance_info")
    assert one.properties == {"root_device": {"serial": "c"}, "local_gb": 100}
    own_values.take_back(one, "properties")
    assert (one.properties, one.driver_internal_info) == (before, {})
    own_values.take_back(one, "properties")
    assert one.properties == before


def test_what_a_user_has_changed_since_stays():
    one = node()
    own_values.write(one, "properties", "root_device", {"serial": "b"})
    one.properties["root_device"] = {"serial": "mine"}
    own_values.write(one, "properties", "local_gb", 100)
    del one.properties["local_gb"]
    own_values.take_back(one, "properties")
    assert one.properties == {"root_device": {"serial": "mine"}}


def test_a_users_value_that_is_replaced_later_comes_back():
    one = node()
    own_values.write(one, "properties", "local_gb", 100)
    one.properties["local_gb"] = 5
    own_values.write(one, "properties", "local_gb", 200)
    own_values.take_back(one, "properties")
    assert one.properties == {"local_gb": 5}


@pytest.mark.parametrize(
    ("record", "before", "written", "after"),
    [
        ("instance_info", None, {"boot_option": "ramdisk"}, None),
        ("instance_info", {"a": "b"}, {"a": "b", "boot_option": "ramdisk"}, {"a": "b"}),
        ("instance_info", "a:b", "a:b,boot_option:ramdisk", "a:b"),
        ("instance_info", {"boot_option": "local"}, {"boot_option": "ramdisk"}, {"boot_option": "local"}),
        ("instance_info", {"boot_option": "ramdisk"}, {"boot_option": "ramdisk"}, {"boot_option": "ramdisk"}),
        ("properties", None, "boot_option:ramdisk", None),
        ("properties", "a:b", "a:b,boot_option:ramdisk", "a:b"),
    ],
)
def test_one_capability_comes_and_goes(record, before, written, after):
    one = node(**{record: {} if before is None else {"capabilities": before}})
    own_values.write_capability(one, record, "boot_option", "ramdisk")
    assert getattr(one, record) == {"capabilities": written}
    own_values.take_back(one, record)
    assert getattr(one, record) == ({} if after is None else {"capabilities": after})


def test_capabilities_that_a_user_has_written_since_stay():
    one = node()
    own_values.write_capability(one, "instance_info", "boot_option", "ramdisk")
    one.instance_info["capabilities"] = {"boot_option": "ramdisk", "boot_mode": "uefi"}
    own_values.take_back(one, "instance_info")
    assert one.instance_info == {"capabilities": {"boot_mode": "uefi"}}
    own_values.write_capability(one, "instance_info", "boot_option", "ramdisk")
    one.instance_info["capabilities"] = "nonsense"
    own_values.take_back(one, "instance_info")
    assert one.instance_info == {"capabilities": "nonsense"}
