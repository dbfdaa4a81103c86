"""The package of the page on inspection plug-ins is built, installed and run as it stands there."""

import json
from pathlib import Path

import yaml

from ironic.tests import tutorial
from ironic.tests.out_of_tree import install, run

PROGRAM = """
import json, sys
from pathlib import Path
from ironic.conf import CONF
from ironic.inspection.hooks.base import hook_names
from ironic.inspection.pipeline import Pipeline
from ironic.inspection.rules import load_built_in
from ironic.tests.databases import sqlite_store
from ironic.tests.unit.inspection.lab import HOST, MAC, inventory, new_node, new_port, post, work_on

CONF([], default_config_files=["plugins.conf"])
load_built_in(None)
store = sqlite_store(Path(sys.argv[1]))
post(store, **json.loads(sys.argv[2]))
pipeline = Pipeline.load(hook_names(CONF.inspector.hooks))
seen = []
for cpus in (8, 7):
    node = new_node(store)
    new_port(store, node, address=MAC[:-1] + str(cpus))
    task = work_on(store, node)
    vendor = {"serial_number": f"S{cpus}"}
    cpu = {"count": cpus, "architecture": "x86_64"}
    pipeline.run(task, inventory(MAC[:-1] + str(cpus), cpu=cpu, system_vendor=vendor))
    store.nodes.release(task.node, HOST)
    seen.append(store.nodes.get(node.uuid).extra)
print(json.dumps(seen))
"""


def test_hook_action_and_operator_of_the_page_work(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    for name, text in tutorial.files(tutorial.PLUGINS).items():
        (package / name).write_text(text)
    (tmp_path / "plugins.conf").write_text(tutorial.only_block("ini", tutorial.PLUGINS))
    rule = json.dumps(yaml.safe_load(tutorial.only_block("yaml", tutorial.PLUGINS)))
    path = str(install(tmp_path / "work", package))
    even, odd = json.loads(run("-c", PROGRAM, str(tmp_path), rule, cwd=tmp_path, path=path))
    assert even == {"serial": "S8", "place": ["7", 8]}
    assert odd == {"serial": "S7"}
