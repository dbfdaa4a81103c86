"""The page on hardware types, word by word: its files are written and installed, its commands typed."""

import os
import subprocess
import sys
import time

import pytest
import requests

from ironic.tests import tutorial
from ironic.tests.live_service import PROGRAMS, create_database, free_port, listens
from ironic.tests.out_of_tree import install
from ironic.tests.scenario.clients.shell import Shell
from ironic.tests.scenario.clients.test_pages import run

PATIENCE = 90


@pytest.mark.demand("S41")
def test_what_the_page_says_works_as_it_is_typed(tmp_path_factory: pytest.TempPathFactory) -> None:
    # What is saved as the page says, in the directory that it says.
    place = tmp_path_factory.mktemp("acme")
    api, bmc = free_port(), free_port()
    for name, text in {**tutorial.files(), "acme.conf": tutorial.configuration()}.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text.replace("[api]\n", f"[api]\nport = {api}\n"))
    (installing,), (creating, serving), (login, *commands) = tutorial.commands()

    # pip would fetch what it builds with, and dbsync is started often enough.
    assert (installing, creating) == ("pip install .", "ironic-dbsync --config-file acme.conf upgrade")
    package = install(tmp_path_factory.mktemp("installed"), place)
    environment = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "PYTHONPATH": str(package)}
    (place / "where.conf").write_text(f"[database]\nconnection = sqlite:///{place}/ironic.sqlite\n")
    create_database(place / "acme.conf", place / "where.conf")
    assert login == "export OS_AUTH_TYPE=none OS_ENDPOINT=http://127.0.0.1:6385"
    baremetal = Shell(f"http://127.0.0.1:{api}")
    with (
        subprocess.Popen(serving.split(), cwd=place, env=environment, stderr=subprocess.PIPE, text=True) as service,
        subprocess.Popen(
            [sys.executable, "acme_simulator.py", str(bmc)], cwd=place, stderr=subprocess.DEVNULL
        ) as machine,
    ):
        try:
            deadline = time.monotonic() + PATIENCE
            while not (listens(api) and listens(bmc)):
                assert service.poll() is None and machine.poll() is None and time.monotonic() < deadline
                time.sleep(0.05)
            said = [run(baremetal, command.replace(":8000", f":{bmc}")) for command in commands]
            node = baremetal.json("node", "show", "a1")
            asked = requests.get(f"http://127.0.0.1:{bmc}/log", timeout=PATIENCE).json()["lines"]
        finally:
            service.terminate()
            machine.terminate()
        assert service.stderr and "Traceback" not in service.stderr.read()
    assert service.returncode == 0
    assert "acme" in said[0]
    assert asked == ['selftest {"fail": false}', 'light {"on": true}']
    assert (node["provision_state"], node["last_error"]) == ("manageable", None)
