"""Steps on child nodes: each child needs the caller's own right, and only what was judged is acted on."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ironic.core.flows.steps import mark_of_child
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire import keystone
from ironic.tests.functional.wire.keystone import ACTIVE, FOREIGN, OWNED, ask
from ironic.tests.functional.wire.service import Response, Service

OWN, LENT, OTHERS = (f"22222222-0000-4000-8000-00000000000{number}" for number in (1, 2, 3))
STEP = {"interface": "bios", "step": "factory_reset", "execute_on_child_nodes": True}


@pytest.fixture
def service(tmp_path: Path, conf: Callable[..., None]) -> Iterator[Service]:
    """Serve a node of owners, lent to lessees; of its children one is not lent, one to them and one to strangers."""
    (tmp_path / "policy.yaml").write_text('"baremetal:step:execute:bios.by_admins": "role:admin"\n')
    with keystone.playing() as url:
        running = keystone.service(tmp_path, url, conf)
        common = {"driver": "fake-hardware", "provision_state": "manageable", "owner": "owners", "parent_node": OWNED}
        for uuid, lessee in ((OWN, None), (LENT, "lessees"), (OTHERS, "strangers")):
            running.store.nodes.create(common | {"uuid": uuid, "lessee": lessee})
        yield running
        running.close()


def clean(service: Service, token: str, *limit: str, verb: str = "clean", **more: Any) -> Response:
    step = STEP | ({"limit_child_node_execution": list(limit)} if limit else {}) | more
    if verb == "service":
        service.store.nodes.update(OWNED, {"provision_state": "active"})
    body = {"target": verb, f"{verb}_steps": [{"interface": "bios", "step": "apply_configuration"}, step]}
    return ask(service, token, "PUT", f"/v1/nodes/{OWNED}/states/provision", body)


def handed_on(service: Service) -> dict[str, Any]:
    """Return the step for children as the conductor got it."""
    ((_, _, _, arguments),) = service.conductor.asked
    found: dict[str, Any] = next(iter(arguments.values()))[1]
    return found


@pytest.mark.parametrize("verb", ["clean", "service"])
@pytest.mark.parametrize("child", [OTHERS, OWN, FOREIGN, ACTIVE, "99999999-0000-4000-8000-000000000000"])
def test_a_child_that_the_lessee_of_the_parent_may_not_see_is_not_there(
    service: Service, verb: str, child: str
) -> None:
    answer = clean(service, "lessee-admin", LENT, child, verb=verb)
    assert (answer.status, service.conductor.asked) == (404, [])
    assert child.encode() in answer.body


def test_without_a_list_it_is_done_to_the_children_that_the_caller_may_see(service: Service) -> None:
    assert clean(service, "lessee-admin").status == 202
    assert handed_on(service)["judged_children"] == [mark_of_child(LENT, "owners", "lessees")]


def test_a_child_that_is_seen_but_not_the_callers_to_act_on_refuses_the_list(service: Service) -> None:
    # Members of a lessee see a node and have nothing done to it; of this child "owners" are the lessee only.
    service.store.nodes.update(OTHERS, {"owner": "strangers", "lessee": "owners"})
    assert clean(service, "owner-member").status == 403
    assert clean(service, "owner-member", OTHERS).status == 403
    assert service.conductor.asked == []


@pytest.mark.parametrize("token", ["owner-member", "owner-admin"])
def test_the_owner_acts_on_all_of_them_and_the_list_travels(service: Service, token: str) -> None:
    assert clean(service, token).status == 202
    assert handed_on(service)["judged_children"] == [
        mark_of_child(OWN, "owners", None),
        mark_of_child(LENT, "owners", "lessees"),
        mark_of_child(OTHERS, "owners", "strangers"),
    ]


def test_a_rule_for_a_step_holds_on_children(service: Service) -> None:
    assert clean(service, "owner-member", step="by_admins").status == 403
    assert clean(service, "owner-admin", step="by_admins").status == 202


def test_who_stands_above_the_projects_is_handed_on_as_ever(service: Service) -> None:
    assert clean(service, "system-admin", OTHERS).status == 202
    assert handed_on(service) == STEP | {"limit_child_node_execution": [OTHERS]}


def test_a_node_that_is_seen_and_no_child_is_refused(service: Service) -> None:
    assert clean(service, "system-admin", FOREIGN).status == 400


def test_nobody_says_himself_what_was_judged(service: Service) -> None:
    assert clean(service, "lessee-admin", judged_children=[mark_of_child(OTHERS, "owners", "strangers")]).status == 400


def test_a_stop_for_children_stops_the_node_alone(service: Service) -> None:
    assert clean(service, "lessee-admin", step="hold").status == 202
    assert "judged_children" not in handed_on(service)


def test_many_steps_for_many_children_are_judged_once_and_bounded(service: Service) -> None:
    def asking(count: int) -> tuple[int, int]:
        body = {"target": "clean", "clean_steps": [STEP] * count}
        with counting_statements(service.store) as seen:
            answer = ask(service, "owner-member", "PUT", f"/v1/nodes/{OWNED}/states/provision", body)
        return answer.status, seen.selects

    assert [asking(1)[0], asking(3334)[0]] == [202, 400]
    assert asking(3333) == asking(1)
