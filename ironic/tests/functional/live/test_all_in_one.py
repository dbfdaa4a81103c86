"""The all-in-one program starts from what operators have, logs what it leaves out, and stops on a signal."""

import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests

from ironic.api import version_negotiation
from ironic.tests.live_service import Service, all_in_one, create_database, free_port, listens

DATA = Path(__file__).parents[2] / "data"


def operators_file(directory: Path, port: int, change: Callable[[str], str] = str) -> Path:
    """Write the operator's file for a directory and a port."""
    text = (DATA / "operator.conf").read_text().replace("@STATE_DIR@", str(directory)).replace("@PORT@", str(port))
    path = directory / "ironic.conf"
    path.write_text(change(text))
    return path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Run the service from the operator's file."""
    directory, port = tmp_path_factory.mktemp("service"), free_port()
    with all_in_one([operators_file(directory, port)], directory / "service.log", port) as running:
        yield running


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a database whose copies save the others from waiting for theirs."""
    directory = tmp_path_factory.mktemp("database")
    create_database(operators_file(directory, free_port()))
    return directory / "service.sqlite"


@pytest.fixture
def start(tmp_path: Path, database: Path) -> Iterator[Callable[..., Service]]:
    """Return a function that starts a service from a changed file; it need not become ready.

    Those that are left as operators have them are started with their interpreter.
    """
    services = []

    def begin(change: Callable[[str], str], *, with_database: bool = True) -> Service:
        port = free_port()
        configuration = operators_file(tmp_path, port, change)
        if with_database:
            shutil.copyfile(database, tmp_path / database.name)
        log = tmp_path / "service.log"
        services.append(Service("ironic", [configuration], log, port, from_scratch=change is str))
        return services[-1]

    yield begin
    for each in services:
        each.stop()


def warnings(service: Service) -> list[str]:
    """Return the warnings that a service has logged."""
    return [line for line in service.log.splitlines() if f" {service.process_id} WARNING " in line]


def test_it_serves(service: Service) -> None:
    assert (
        service.get("/").json()["default_version"]["version"] == version_negotiation.TEXTS[version_negotiation.MAXIMUM]
    )
    names = {driver["name"] for driver in service.get("/v1/drivers").json()["drivers"]}
    assert names == {"fake-hardware", "ipmi", "manual-management"}
    (conductor,) = service.get("/v1/conductors").json()["conductors"]
    assert (conductor["hostname"], conductor["alive"]) == ("conductor-1", True)


@pytest.mark.demand("S16")
def test_what_is_not_built_yet_is_left_out_with_one_warning(service: Service) -> None:
    (logged,) = [line for line in warnings(service) if "are skipped" in line]
    assert "deploy interface ansible (option enabled_deploy_interfaces): use direct" in logged
    assert "console interface ipmitool-shellinabox (option enabled_console_interfaces): use ipmitool-socat" in logged


def test_an_option_that_means_nothing_is_in_a_warning_with_what_to_do(service: Service) -> None:
    found = [line for line in warnings(service) if "Without effect: " in line]
    (neutron,) = [line for line in found if "[neutron]" in line]
    assert "this release has no networks of Neutron: give nodes network interface noop" in neutron
    assert not any(name in line for line in found for name in ("isolinux_bin", "oslo_messaging_rabbit"))
    assert not [line for line in warnings(service) if "does not know" in line]


def test_it_believes_the_proxy_in_front_when_told_so(service: Service) -> None:
    seen = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "metal.example"}
    answer = requests.get(f"{service.url}/v1", headers=seen, timeout=30).json()
    assert answer["links"][0]["href"].startswith("https://metal.example/")


def test_it_lets_the_dashboard_of_another_site_in(service: Service) -> None:
    answers = {
        origin: requests.get(f"{service.url}/v1", headers={"Origin": origin}, timeout=30).headers
        for origin in ("http://dashboard.example", "http://elsewhere.example")
    }
    assert answers["http://dashboard.example"]["Access-Control-Allow-Origin"] == "http://dashboard.example"
    assert "Access-Control-Allow-Origin" not in answers["http://elsewhere.example"]


def test_the_database_is_readable_for_its_owner_only(service: Service) -> None:
    assert (service.log_file.parent / "service.sqlite").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(start: Callable[..., Service], number: int) -> None:
    service = start(str)
    service.await_ready()
    service.signal(number)
    assert service.ended_well()
    assert not listens(service.port or 0)
    assert "has ended" in service.log


def test_it_reads_options_again_when_told(start: Callable[..., Service]) -> None:
    service = start(str)
    service.await_ready()
    assert service.get("/v1/nodes?limit=0").status_code == 400
    path = service.log_file.parent / "ironic.conf"
    path.write_text(path.read_text().replace("[DEFAULT]", "[DEFAULT]\ndebug = true", 1))
    service.signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while "Option DEFAULT.debug changed" not in service.log:
        assert time.monotonic() < deadline, service.log
        time.sleep(0.05)
    assert service.get("/v1").status_code == 200
    assert service.stop() == 0


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("debug = ture", "[DEFAULT]debug in {path}, line {line}: Unexpected boolean value 'ture'"),
        ("[deploy]\nfast_track_timeout = soon", "[deploy]fast_track_timeout in {path}, line {line}: "),
        ("[vnc", "{path}:{line}, Invalid section"),
    ],
)
def test_a_mistake_in_a_file_that_is_read_again_changes_and_ends_nothing(
    start: Callable[..., Service], wrong: str, said: str
) -> None:
    service = start(str)
    service.await_ready()
    path = service.log_file.parent / "ironic.conf"
    text = path.read_text().replace("[DEFAULT]", f"[api]\nmax_limit = 9\n[DEFAULT]\n{wrong}\n[DEFAULT]", 1)
    path.write_text(text)
    service.signal(signal.SIGHUP)
    deadline = time.monotonic() + 60
    while "so nothing changes: " not in service.log:
        assert time.monotonic() < deadline, service.log
        time.sleep(0.05)
    assert said.format(path=path, line=text[: text.index(wrong) + len(wrong)].count("\n") + 1) in service.log
    assert "changed from" not in service.log
    assert service.get("/v1").status_code == 200
    assert service.stop() == 0


def test_a_file_of_loggers_that_can_not_be_used_ends_no_log(start: Callable[..., Service]) -> None:
    service = start(str)
    service.await_ready()
    path, loggers = service.log_file.parent / "ironic.conf", service.log_file.parent / "loggers.ini"
    loggers.write_text("[loggers")
    text = path.read_text()
    for number in (1, 2):
        path.write_text(text.replace("[DEFAULT]", f"[DEFAULT]\nlog_config_append = {loggers}", 1))
        service.signal(signal.SIGHUP)
        deadline = time.monotonic() + 60
        while service.log.count("so nothing changes: ") < number:
            assert time.monotonic() < deadline, service.log
            time.sleep(0.05)
    assert str(loggers) in service.log
    assert service.stop() == 0
    assert "has ended" in service.log


@pytest.mark.demand("S16")
def test_names_that_nobody_knows_refuse_the_start_with_all_of_them_in_one_message(
    start: Callable[..., Service],
) -> None:
    service = start(
        lambda text: text.replace("types = fake-hardware", "types = fake-hardwear,fake-hardware").replace(
            "enabled_power_interfaces = fake", "enabled_power_interfaces = steam,fake"
        )
    )
    status, printed = service.end()
    assert status == 1
    assert printed.count("can't start") == 1
    assert "fake-hardwear" in printed and "steam" in printed
    assert not listens(service.port or 0)


@pytest.mark.demand("S11")
def test_a_default_that_is_not_enabled_refuses_the_start(start: Callable[..., Service]) -> None:
    service = start(lambda text: text.replace("default_network_interface = noop", "default_raid_interface = agent2"))
    status, printed = service.end()
    assert status == 1
    assert "default_raid_interface" in printed and "agent2" in printed and "no-raid" in printed


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ("api_workers = 1", "api_workers = many", "api_workers"),
        ("hooks = ramdisk-error", "hooks = crystal-ball,ramdisk-error", "crystal-ball"),
        ("auth_strategy = noauth", "auth_strategy = http_basic", "/etc/ironic/htpasswd does not exist"),
        ("rpc_transport = none", "rpc_transport = json-rpc\nauth_strategy = keystone\n# = ", "[json_rpc]auth_type"),
        ("host_ip = 127.0.0.1", "host_ip = 192.0.2.77", "192.0.2.77"),
        ("api_workers = 1", "enable_ssl_api = true", "cert_file"),
    ],
)
def test_what_can_not_work_refuses_the_start(start: Callable[..., Service], old: str, new: str, expected: str) -> None:
    status, printed = start(lambda text: text.replace(old, new)).end()
    assert status == 1
    assert expected in printed


def test_without_a_schema_it_says_what_to_do(start: Callable[..., Service]) -> None:
    status, printed = start(str, with_database=False).end()
    assert status == 1
    assert "ironic-dbsync upgrade" in printed


def test_a_taken_port_leaves_no_conductor_behind(start: Callable[..., Service], service: Service) -> None:
    late = start(lambda text: text.replace("\nport = ", f"\nport = {service.port}\n# port = "))
    status, printed = late.end()
    assert status == 1
    assert str(service.port) in printed and "is taken" in printed
    assert "Conductor conductor-1" not in late.log
