"""Rules that an operator makes for single steps: they guard what a caller has run, wherever the steps come from."""

import re
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
"baremetal:step:execute:power.power_off": "role:admin"
"""
TRAIT = "CUSTOM_A"
RESET = {"interface": "bios", "step": "factory_reset"}
APPLY = {"interface": "bios", "step": "apply_configuration"}


@pytest.fixture
def service(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Service]:
    (tmp_path / "policy.yaml").write_text(RULES)
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
        running.store.traits.add(running.store.nodes.get(OWNED).id, TRAIT)
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


@pytest.mark.parametrize("interface", ["power", "bios", "raid"])
def test_a_step_that_runs_under_every_interface_has_the_rules_of_all_of_them(service: Service, interface: str) -> None:
    path, body = f"/v1/nodes/{OWNED}/states/provision", asking("clean", f"{interface}.power_off")
    assert ask(service, "owner-member", "PUT", path, body).status == 403
    assert ask(service, "owner-admin", "PUT", path, body).status == 202


def add_runbook(service: Service, *steps: dict[str, Any], **values: Any) -> str:
    """Store a runbook as an operator would, past all rules."""
    listed = [{**step, "order": number} for number, step in enumerate(steps)]
    book = service.store.runbooks.create_with({"name": TRAIT, **values}, listed)
    service.store.runbooks.traits.replace(book.id, [TRAIT])
    return book.uuid


def use(service: Service, token: str, verb: str = "clean") -> int:
    body = {"target": verb, "runbook": TRAIT}
    return ask(service, token, "PUT", f"/v1/nodes/{OWNED}/states/provision", body).status


@pytest.mark.parametrize("values", [{"owner": "owners"}, {"public": True}])
@pytest.mark.parametrize("verb", ["clean", "service"])
def test_a_runbook_does_not_pass_over_the_rules(service: Service, verb: str, values: dict[str, Any]) -> None:
    token = "owner-manager" if "owner" in values else "owner-member"
    if verb == "service":
        service.store.nodes.update(OWNED, {"provision_state": "active"})
    add_runbook(service, APPLY, RESET, **values)
    assert use(service, token, verb) == 403
    assert service.conductor.asked == []
    assert use(service, "owner-admin", verb) == 202


def test_public_runbooks_can_be_trusted(service: Service) -> None:
    add_runbook(service, RESET, public=True)
    # Settings are read once, at start.
    object.__setattr__(service.settings, "trust_public_runbooks", True)
    assert use(service, "owner-member") == 202


def test_a_runbook_is_written_by_who_may_have_its_steps_run(service: Service) -> None:
    def created(token: str, *steps: dict[str, Any]) -> int:
        body = {"name": TRAIT, "steps": [{**step, "order": 1} for step in steps]}
        return ask(service, token, "POST", "/v1/runbooks", body).status

    of_owner = {"interface": "vendor", "step": "of_the_owner"}
    assert created("owner-manager", APPLY, RESET) == 403
    assert created("owner-manager", APPLY, of_owner) == 201
    path = f"/v1/runbooks/{TRAIT}"
    for change in (
        {"path": "/steps/0/step", "value": "factory_reset"},
        {"path": "/steps", "value": [{**RESET, "order": 1}]},
        {"path": "/steps/-", "value": {"interface": "bios", "step": "power_off", "order": 9}},
    ):
        assert ask(service, "owner-manager", "PATCH", path, [{"op": "add", **change}]).status == 403, change
    renamed = [{"op": "add", "path": "/description", "value": "x"}]
    assert ask(service, "owner-manager", "PATCH", path, renamed).status == 200
    assert (
        ask(service, "owner-admin", "PATCH", path, [{"op": "add", "path": "/steps/0/step", "value": "x"}]).status == 200
    )


def deploy(service: Service, token: str, verb: str = "active") -> int:
    return ask(service, token, "PUT", f"/v1/nodes/{OWNED}/states/provision", {"target": verb}).status


@pytest.mark.parametrize(("verb", "state"), [("active", "available"), ("rebuild", "active"), ("deploy", "available")])
def test_a_deploy_template_does_not_pass_over_the_rules(service: Service, verb: str, state: str) -> None:
    values = {"provision_state": state, "instance_info": {"traits": [TRAIT]}}
    service.store.nodes.update(OWNED, values)
    steps = [{**RESET, "args": {}, "priority": 1}]
    service.store.deploy_templates.create_with({"name": TRAIT}, steps)
    assert deploy(service, "owner-member", verb) == 403
    assert service.conductor.asked == []
    assert deploy(service, "owner-admin", verb) == 202
    assert service.conductor.asked[-1][-1] == {"judged_instance": {"traits": [TRAIT]}}
    service.conductor.asked.clear()
    assert deploy(service, "lessee-admin", verb) == 202
    assert deploy(service, "system-admin", verb) == 202
    assert service.conductor.asked[-1][-1] == {}


@pytest.mark.parametrize("traits", [None, [], "CUSTOM_A", [1], ["CUSTOM_A"] * 51])
def test_what_was_judged_travels_whatever_it_was(service: Service, traits: Any) -> None:
    info = {} if traits is None else {"traits": traits}
    service.store.nodes.update(OWNED, {"provision_state": "available", "instance_info": info})
    assert deploy(service, "owner-member") == 202
    assert service.conductor.asked[-1][-1] == {"judged_instance": {"traits": traits}}


def name_runbook(service: Service, token: str, ident: Any) -> int:
    change = {"op": "add", "path": "/driver_info/cleaning_runbook", "value": ident}
    return ask(service, token, "PATCH", f"/v1/nodes/{OWNED}", [change]).status


def test_a_node_names_no_runbook_for_its_cleaning_that_its_project_may_not_use(service: Service) -> None:
    assert name_runbook(service, "owner-admin", TRAIT) == 400
    uuid = add_runbook(service, RESET, owner="strangers")
    for ident in (TRAIT, uuid):
        assert name_runbook(service, "owner-admin", ident) == 400
        assert name_runbook(service, "system-admin", ident) == 200
        assert name_runbook(service, "owner-admin", ident) == 200  # as it was
        service.store.nodes.update(OWNED, {"driver_info": {}})
    body = {"driver": "fake-hardware", "driver_info": {"cleaning_runbook": uuid}}
    assert ask(service, "owner-admin", "POST", "/v1/nodes", body).status == 400
    service.store.runbooks.update(uuid, {"owner": None, "public": True})
    assert name_runbook(service, "owner-member", TRAIT) == 403
    assert name_runbook(service, "owner-admin", TRAIT) == 200


@pytest.mark.parametrize(
    ("token", "args"),
    [
        ("owner-member", {"speed": 1, "password": "******"}),
        ("system-admin", {"speed": 1, "password": "******"}),
        ("lessee-member", {"redacted_contents": "******"}),
    ],
)
def test_the_plan_of_a_cleaning_tells_no_secret_of_a_runbook(service: Service, token: str, args: Any) -> None:
    step = {**RESET, "priority": 1, "args": {"speed": 1, "password": "secret-1"}}
    service.conductor.answers["cleaning_steps"] = {"steps": [step], "source": {}}
    answer = ask(service, token, "GET", f"/v1/nodes/{OWNED}/cleaning/steps")
    assert answer.json == {"steps": [{**step, "args": args}], "source": {}}


@pytest.mark.parametrize(
    ("token", "status"), [("lessee-admin", 403), ("owner-member", 202), ("system-admin", 202), ("owner-service", 202)]
)
def test_the_rules_of_the_documentation_keep_lessees_from_the_bmc(
    tmp_path: Path, conf: Callable[..., None], token: str, status: int
) -> None:
    page = (Path(__file__).parents[4] / "doc/security.md").read_text()
    rules = next(block for block in page.split("```") if block.startswith("yaml") and "step:execute" in block)
    names = re.findall(r"step:execute:([a-z_.]+)", rules)
    (tmp_path / "policy.yaml").write_text(rules.removeprefix("yaml"))
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
        running.store.nodes.update(OWNED, {"lessee": "lessees"})
        path = f"/v1/nodes/{OWNED}/states/provision"
        answers = [ask(running, token, "PUT", path, asking("clean", name)).status for name in names]
        running.close()
    assert answers == [status] * 2


def test_without_rules_a_lessee_runs_every_step_but_raw_requests(service: Service) -> None:
    service.store.nodes.update(OWNED, {"lessee": "lessees"})
    path = f"/v1/nodes/{OWNED}/states/provision"
    for name, status in (("firmware.update", 202), ("vendor.send_raw", 400)):
        assert ask(service, "lessee-admin", "PUT", path, asking("clean", name)).status == status
