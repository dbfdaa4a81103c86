"""Machines that restart, and those that boot from a conductor's images: no conductor has to live on for them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ironic import db
from ironic.core.flows import states
from ironic.tests.functional.drivers.scripted_bmc import RESET, SYSTEM, ScriptedBmc, scripted_bmc
from ironic.tests.site import Site, eventually, site

PATIENCE = 60
# Fewer than machines that restart.
WORKERS, MACHINES = 4, 6
DRIVES = f"{SYSTEM}/VirtualMedia"
INSERT = f"{DRIVES}/1/Actions/VirtualMedia.InsertMedia"
AWAITED = "awaited_setting"
SECURE_BOOT = f"{SYSTEM}/SecureBoot"


def options(directory: Path) -> dict[str, dict[str, object]]:
    """Return the options of a conductor that manages Redfish machines and looks at them every second.

    It publishes images below the directory.
    """
    kinds = ("boot", "management", "power")
    redfish: dict[str, object] = {f"enabled_{kind}_interfaces": "redfish" for kind in kinds}
    return {
        "DEFAULT": {
            **redfish,
            "enabled_hardware_types": "redfish",
            "enabled_boot_interfaces": "redfish-virtual-media",
            "enabled_deploy_interfaces": "custom-agent",
            "enabled_inspect_interfaces": "no-inspect",
            "enabled_rescue_interfaces": "agent",
        },
        "conductor": {
            "sync_power_state_interval": 0,
            "workers_pool_size": WORKERS,
            "file_url_allowed_paths": directory.parent / "images",
        },
        "deploy": {
            "http_root": directory / "http",
            "iso_master_path": directory / "isos",
            "http_url": f"http://127.0.0.1:9/{directory.name}",
        },
        "redfish": {"boot_mode_status_interval": 1, "connection_attempts": 1},
        "service_catalog": {"endpoint_override": "http://127.0.0.1:9"},
    }


@pytest.fixture
def bmc() -> Iterator[ScriptedBmc]:
    """Run the BMC of machines that boot by BIOS, until the test changes that."""
    with bmc_of("Legacy") as running:
        yield running


@contextmanager
def bmc_of(mode: str) -> Iterator[ScriptedBmc]:
    """Run the BMC of a machine with a boot mode and a virtual drive."""
    boot = {
        "BootSourceOverrideMode": mode,
        "BootSourceOverrideTarget": "None",
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["Pxe", "Hdd", "Cd"],
    }
    with scripted_bmc("Off", Boot=boot, VirtualMedia={"@odata.id": DRIVES}) as script:
        script.documents |= {
            DRIVES: {"Name": "Drives", "Members": [{"@odata.id": f"{DRIVES}/1"}]},
            f"{DRIVES}/1": {
                "Id": "1",
                "Name": "CD",
                "MediaTypes": ["CD"],
                "Inserted": False,
                "Actions": {"#VirtualMedia.InsertMedia": {"target": INSERT}},
            },
        }
        yield script


def offer_image(directory: Path) -> None:
    """Have the ramdisk that conductors read."""
    (directory / "images").mkdir()
    (directory / "images" / "ready.iso").write_bytes(b"the image")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, db.Store]]:
    """Run an API and two conductors."""
    directory = tmp_path_factory.mktemp("site")
    offer_image(directory)
    with site(directory, conductors=(), options=options(directory / "api")) as found:
        # Each publishes on a host of its own.
        for name in ("one", "two"):
            found.start_conductor(name, options(directory / name)).await_ready()
        eventually(found.alive, {"one", "two"}, PATIENCE)
        store = db.connect(found.database)
        yield found, store
        store.close()


def enrol(running: tuple[Site, db.Store], bmc: ScriptedBmc, state: str, count: int = 1) -> list[str]:
    """Create nodes of the second conductor in a state."""
    found, store = running
    info = {
        "redfish_address": bmc.address,
        "redfish_system_id": SYSTEM,
        **dict.fromkeys(("deploy_iso", "rescue_iso"), f"file://{found.directory}/images/ready.iso"),
    }
    wanted = {"capabilities": "boot_mode:uefi"}
    nodes = found.nodes_of("two", count, driver="redfish", driver_info=info, properties=wanted)
    for node in nodes:
        store.nodes.update(node["uuid"], {"provision_state": state, "power_state": states.POWER_OFF})
    return [node["uuid"] for node in nodes]


def rescued(running: tuple[Site, db.Store], bmc: ScriptedBmc) -> list[str]:
    """Create a rescued node whose instance needs secure boot, which is off."""
    bmc.documents[SYSTEM] |= {"SecureBoot": {"@odata.id": SECURE_BOOT}, "PowerState": "On"}
    uuids = enrol(running, bmc, states.RESCUE)
    for uuid in uuids:
        wanted = {"instance_info": {"capabilities": {"secure_boot": "true"}}, "power_state": states.POWER_ON}
        running[1].nodes.update(uuid, wanted)
    return uuids


def unrescue(running: tuple[Site, db.Store], uuids: list[str]) -> None:
    """Have nodes leave rescue, until their machine restarts."""
    for uuid in uuids:
        path, body = f"/v1/nodes/{uuid}/states/provision", {"target": "unrescue"}
        eventually(lambda path=path, body=body: running[0].ask("PUT", path, body).status_code, 202, PATIENCE)  # type: ignore[misc]  # mypy infers no type of a default
    for uuid in uuids:
        eventually(partial(seen, running, uuid), (states.UNRESCUING, False, True), PATIENCE)


def seen(running: tuple[Site, db.Store], uuid: str) -> tuple[Any, ...]:
    """Return the state of a node, whether it is locked, and whether a setting is awaited."""
    columns = ("provision_state", "reservation", "driver_internal_info")
    state, holder, memory = running[1].nodes.row(columns, uuid)
    return state, holder is not None, f'["{AWAITED}",' in (memory or "")


def restart_is_over(bmc: ScriptedBmc) -> None:
    """Let the mode take effect."""
    bmc.documents[SYSTEM]["Boot"]["BootSourceOverrideMode"] = "UEFI"


def test_no_worker_waits(running: tuple[Site, db.Store], bmc: ScriptedBmc) -> None:
    found, store = running
    uuids = enrol(running, bmc, states.AVAILABLE, MACHINES)
    for uuid in uuids:
        eventually(
            lambda uuid=uuid: (
                found.ask(  # type: ignore[misc]  # mypy infers no type of a default
                    "PUT", f"/v1/nodes/{uuid}/states/boot_mode", {"target": "uefi"}
                ).status_code
            ),
            202,
            PATIENCE,
        )
    for uuid in uuids:
        eventually(partial(seen, running, uuid), (states.AVAILABLE, False, True), PATIENCE)
    restart_is_over(bmc)
    for uuid in uuids:
        eventually(partial(seen, running, uuid), (states.AVAILABLE, False, False), PATIENCE)
        assert store.nodes.row(("boot_mode", "last_error"), uuid) == ("uefi", None)
    # They are one machine, which the first has found off.
    assert store.nodes.row(("power_state",), uuids[0]) == (states.POWER_OFF,)


def test_no_worker_waits_for_the_secure_boot_of_rescued_instances(running: tuple[Site, db.Store]) -> None:
    found, store = running
    with ExitStack() as machines:
        bmcs = [machines.enter_context(bmc_of("UEFI")) for _ in range(MACHINES)]
        uuids = [uuid for bmc in bmcs for uuid in rescued(running, bmc)]
        unrescue(running, uuids)
        (other,) = enrol(running, bmcs[0], states.AVAILABLE)
        found.put(f"/v1/nodes/{other}/states/provision", {"target": "manage"})
        eventually(lambda: seen(running, other)[0], states.MANAGEABLE, PATIENCE)
        for bmc, uuid in zip(bmcs, uuids, strict=True):
            bmc.documents[SECURE_BOOT]["SecureBootEnable"] = True
            eventually(partial(seen, running, uuid), (states.ACTIVE, False, False), PATIENCE)
            columns = ("secure_boot", "power_state", "last_error")
            assert store.nodes.row(columns, uuid) == (True, states.POWER_ON, None)
            assert [body for path, body in bmc.orders if path == SECURE_BOOT] == [{"SecureBootEnable": True}]


def shut_down(running: tuple[Site, db.Store], bmc: ScriptedBmc, uuids: list[str]) -> None:
    """Order soft shutdowns of one machine, which takes its time, until nobody waits for it with a worker."""
    bmc.documents[SYSTEM]["PowerState"] = "On"
    bmc.on_reset = lambda _kind: bmc.documents[SYSTEM].update(PowerState="On")
    found, store = running
    for uuid in uuids:
        store.nodes.update(uuid, {"power_state": states.POWER_ON})
        path, body = f"/v1/nodes/{uuid}/states/power", {"target": "soft power off"}
        eventually(lambda path=path, body=body: found.ask("PUT", path, body).status_code, 202, PATIENCE)  # type: ignore[misc]  # mypy infers no type of a default
    for uuid in uuids:
        eventually(partial(power_of, store, uuid), (states.POWER_ON, states.POWER_OFF, None), PATIENCE)


def power_of(store: db.Store, uuid: str) -> tuple[Any, ...]:
    """Return the power state of a node, where it is going, and who works on it."""
    return store.nodes.row(("power_state", "target_power_state", "reservation"), uuid)


def test_no_worker_waits_for_systems_that_shut_down(running: tuple[Site, db.Store], bmc: ScriptedBmc) -> None:
    found, store = running
    uuids = enrol(running, bmc, states.ACTIVE, MACHINES)
    shut_down(running, bmc, uuids)
    device = f"/v1/nodes/{uuids[0]}/management/boot_device"
    assert found.ask("PUT", device, {"boot_device": "pxe"}).status_code == 204
    bmc.documents[SYSTEM]["PowerState"] = "Off"
    for uuid in uuids:
        eventually(partial(power_of, store, uuid), (states.POWER_OFF, None, None), PATIENCE)
        assert store.nodes.row(("last_error",), uuid) == (None,)


@pytest.mark.demand("S60")
def test_another_conductor_prepares_the_ramdisk_again(running: tuple[Site, db.Store], bmc: ScriptedBmc) -> None:
    (uuid,) = enrol(running, bmc, states.MANAGEABLE)
    found, store = running
    found.put(f"/v1/nodes/{uuid}/states/provision", {"target": "provide"})
    eventually(lambda: seen(running, uuid), (states.CLEANWAIT, False, True), PATIENCE)
    assert [path for path, _ in bmc.orders].count(RESET) == 1, "it was off, and restarts"
    with bmc_of("UEFI") as other:
        (booting,) = enrol(running, other, states.MANAGEABLE)
        found.put(f"/v1/nodes/{booting}/states/provision", {"target": "provide"})
        eventually(lambda: seen(running, booting), (states.CLEANWAIT, False, False), PATIENCE)
        assert [host for host, _ in images(other)] == ["two"]
        with bmc_of("UEFI") as secure, bmc_of("UEFI") as closing:
            (leaving,) = rescued(running, secure)
            unrescue(running, [leaving])
            ending = enrol(running, closing, states.ACTIVE)
            shut_down(running, closing, ending)
            found.kill("two")
            closing.documents[SYSTEM]["PowerState"] = "Off"
            eventually(lambda: power_of(store, ending[0]), (states.POWER_OFF, None, None), PATIENCE)
            secure.documents[SECURE_BOOT]["SecureBootEnable"] = True
            eventually(lambda: seen(running, leaving), (states.ACTIVE, False, False), PATIENCE)
            assert secure.sent()[-1] == {"ResetType": "On"}
        check_goes_on(running, uuid, bmc)
        # The other machine was booting from an image of the conductor that is gone.
        eventually(lambda: [host for host, _ in images(other)], ["two", "one"], PATIENCE)
        eventually(lambda: other.sent()[-1], {"ResetType": "On"}, PATIENCE)
        assert (found.directory / "one" / "http" / "vmedia" / images(other)[-1][1]).read_bytes() == b"the image"


def images(bmc: ScriptedBmc) -> list[tuple[str, str]]:
    """Return the images that were inserted, each with the host that publishes it and its name."""
    parts = [body["Image"].split("/") for path, body in bmc.orders if path == INSERT]
    return [(part[-3], part[-1]) for part in parts]


def check_goes_on(running: tuple[Site, db.Store], uuid: str, bmc: ScriptedBmc) -> None:
    """End the restart, and see a ramdisk prepared."""
    _, store = running
    before = len(bmc.orders)
    restart_is_over(bmc)
    eventually(lambda: seen(running, uuid), (states.CLEANWAIT, False, False), PATIENCE)
    after = bmc.orders[before:]
    assert [path for path, _ in after] == [RESET, INSERT, SYSTEM, RESET], after
    assert [body["ResetType"] for path, body in after if path == RESET] == ["ForceOff", "On"]
    assert store.nodes.row(("boot_mode", "last_error"), uuid) == ("uefi", None)


def test_a_setting_without_effect_fails_the_work_that_needs_it(tmp_path: Path, bmc: ScriptedBmc) -> None:
    given = options(tmp_path / "one")
    given["redfish"]["boot_mode_config_timeout"] = 2
    offer_image(tmp_path)
    with site(tmp_path, conductors=("two",), options=given) as found:
        store = db.connect(found.database)
        (cleaned, asked) = enrol((found, store), bmc, states.MANAGEABLE, 2)
        found.put(f"/v1/nodes/{cleaned}/states/provision", {"target": "provide"})
        eventually(lambda: seen((found, store), cleaned)[0], states.CLEANFAIL, PATIENCE)
        found.put(f"/v1/nodes/{asked}/states/boot_mode", {"target": "uefi"})
        for uuid in (cleaned, asked):
            eventually(lambda uuid=uuid: seen((found, store), uuid)[1:], (False, False), PATIENCE)  # type: ignore[misc]  # mypy infers no type of a default
            error = store.nodes.row(("last_error",), uuid)[0]
            assert "boot_mode uefi, but does not report it after a restart" in (error or ""), error
        store.close()
