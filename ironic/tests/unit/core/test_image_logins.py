"""Which changes of instance_info and driver_info would send the login for a server of images elsewhere."""

from typing import Any

import pytest

from ironic.core.secrets.secret_updates import redirected_image_secrets

STORED: dict[str, Any] = {
    "image_source": "https://images.example.com/a.qcow2",
    "image_checksum": "0" * 64,
    "image_server_auth_strategy": "http_basic",
    "image_server_user": "lessee",
    "image_server_password": "old",
    "image_pull_secret": "lessee:old",
    "rescue_password": "other",
    "configdrive": "https://drives.example.com/a",
    "capabilities": {"boot_mode": "uefi"},
}
BOTH = ["instance_info/image_pull_secret", "instance_info/image_server_password"]
EVIL = "https://192.0.2.1/a"


def withheld(instance: dict[str, Any] | None = None, driver: dict[str, Any] | None = None) -> list[str]:
    """Return what is withheld where keys of the first level are set; None takes one away."""
    changes = {"instance_info": instance or {}, "driver_info": driver or {}}
    before = {"instance_info": STORED, "driver_info": {"image_pull_secret": "node:old", "image_no_proxy": "a"}}
    after = {
        name: {key: value for key, value in (before[name] | changes[name]).items() if value is not None}
        for name in before
    }
    written = {name: [((key,), one) for key, one in values.items() if one] for name, values in changes.items()}
    return redirected_image_secrets(before, after, written)


@pytest.mark.parametrize(
    "instance",
    [
        {"image_source": EVIL},
        {"image_source": "0e3c7d3a-0000-4000-8000-000000000001"},
        {"image_source": None},
        {"image_url": EVIL},
        {"image_http_proxy": "192.0.2.1:3128"},
        {"image_registry": "evil"},
        {"image_checksum": EVIL},
        {"image_os_hash_value": EVIL},
        {"kernel": "glance-uuid"},
        {"boot_iso": EVIL},
        {"ks_template": EVIL},
        {"image_tls_verify": False},
        {"mirrors": [{"where": EVIL}]},
        {"acme_token_url": EVIL},
        {"image_source": EVIL, "image_server_user": "me"},
    ],
)
def test_logins_do_not_follow_another_place(instance: dict[str, Any]) -> None:
    assert withheld(instance) == BOTH


def test_the_login_of_the_node_does_not_follow_an_image_of_the_lessee() -> None:
    node = {"image_pull_secret": "node:old", "deploy_kernel": "http://images.example.com/k"}
    for before in ({}, {"image_source": "oci://images.example.com/a"}):
        infos: dict[str, dict[str, Any]] = {"instance_info": before, "driver_info": node}
        after: dict[str, Any] = {"image_source": "oci://192.0.2.1/a", "display_name": "x"}
        assert redirected_image_secrets(infos, infos | {"instance_info": after}, {}) == [
            "driver_info/image_pull_secret"
        ]
        own = after | {"image_pull_secret": "own:secret"}
        written = {"instance_info": [((), own)]}
        assert redirected_image_secrets(infos, infos | {"instance_info": own}, written) == []
        # It may go with the image, and not before.
        theirs = infos | {"instance_info": own}
        assert redirected_image_secrets(theirs, infos | {"instance_info": {}}, {}) == []
        assert redirected_image_secrets(theirs, infos | {"instance_info": after}, {}) == [
            "driver_info/image_pull_secret"
        ]


@pytest.mark.parametrize("key", ["image_http_proxy", "image_https_proxy", "image_no_proxy", "image_proxy_url"])
def test_logins_do_not_pass_another_proxy(key: str) -> None:
    assert withheld(driver={key: "http://192.0.2.1:3128"}) == ["driver_info/image_pull_secret", *BOTH]


def test_a_login_in_a_url_does_not_pass_another_proxy() -> None:
    signed = {"image_source": "https://images.example.com/a?temp_url_sig=aa"}
    infos = {"instance_info": {**signed, "kernel": "http://user:old@images.example.com/k"}, "driver_info": {}}
    after = infos | {"driver_info": {"image_http_proxy": "http://192.0.2.1"}}
    assert redirected_image_secrets(infos, after, {}) == ["instance_info/image_source", "instance_info/kernel"]


@pytest.mark.parametrize(
    "instance",
    [
        {"image_checksum": "1" * 64},
        {"image_server_user": "me"},
        {"image_server_auth_strategy": None},
        {"configdrive": EVIL},
        {"rescue_password": "new"},
        {"capabilities": {"boot_mode": "bios"}},
        {"display_name": "web"},
        {"traits": ["CUSTOM_A"]},
        {"root_gb": 10},
        {"image_source": EVIL, "image_server_password": None, "image_pull_secret": "lessee:old"},
        {"image_source": STORED["image_source"]},
    ],
)
def test_what_goes_nowhere_else_or_brings_its_login_is_fine(instance: dict[str, Any]) -> None:
    assert withheld(instance) == []


@pytest.mark.parametrize("driver", [{"deploy_kernel": EVIL}, {"image_download_source": "local"}, {"note": EVIL}])
def test_what_no_image_passes_is_fine(driver: dict[str, Any]) -> None:
    assert withheld(driver=driver) == []


def test_a_mask_brings_nothing() -> None:
    after = {"instance_info": STORED | {"image_source": EVIL}, "driver_info": {}}
    mask = [((), after["instance_info"] | dict.fromkeys(("image_server_password", "image_pull_secret"), "******"))]
    before = {"instance_info": STORED, "driver_info": {}}
    assert redirected_image_secrets(before, after, {"instance_info": mask}) == BOTH
