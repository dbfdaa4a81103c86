"""Rules that an operator makes for single steps: they guard what a caller asks for, and only where there are any."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import ACTIVE, OWNED, ask
from ironic.tests.functional.wire.service import Service

RULES = """\
"baremetal:step:execute:bios.factory_reset": "role:admin"
"baremetal:step:execute:vendor.of_the_owner": "project_id:%(node.owner)s"
"""


@pytest.fixture
def service(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Service]:
    (tmp_path / "policy.yaml").write_text(RULES)
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
        yield running
        running.close()


def asking(verb: str, *names: str) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [dict(zip(("interface", "step"), name.split("."), strict=True)) for name in names]
    if verb == "active":
        steps = [{**step, "args": {}, "priority": 50} for step in steps]
    return {"target": verb, f"{'deploy' if verb == 'active' else verb}_steps": steps}


@pytest.mark.parametrize(
    ("token", "names", "status"),
    [
        ("owner-member", ["bios.factory_reset"], 403),
        ("owner-member", ["bios.apply_configuration", "bios.factory_reset"], 403),
        ("owner-member", ["bios.apply_configuration"], 202),
        ("owner-admin", ["bios.factory_reset"], 202),
        ("system-admin", ["bios.factory_reset"], 202),
        ("owner-member", ["vendor.of_the_owner"], 202),
        ("system-admin", ["vendor.of_the_owner"], 403),
        ("stranger", ["bios.factory_reset"], 404),
    ],
)
def test_a_step_with_a_rule_is_for_whom_the_rule_lets_through(
    service: Service, token: str, names: list[str], status: int
) -> None:
    answer = ask(service, token, "PUT", f"/v1/nodes/{OWNED}/states/provision", asking("clean", *names))
    assert answer.status == status


@pytest.mark.parametrize(("verb", "node"), [("service", ACTIVE), ("active", OWNED)])
def test_every_list_of_steps_is_judged(service: Service, verb: str, node: str) -> None:
    service.store.nodes.update(ACTIVE, {"owner": "owners"})
    if verb == "active":
        service.store.nodes.update(OWNED, {"provision_state": "available"})
    path = f"/v1/nodes/{node}/states/provision"
    assert ask(service, "owner-member", "PUT", path, asking(verb, "bios.factory_reset")).status == 403
    assert ask(service, "owner-admin", "PUT", path, asking(verb, "bios.factory_reset")).status == 202
