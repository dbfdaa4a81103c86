"""The limit of traits per node, and what a change of traits costs."""

import threading

import pytest

from ironic.core.values.traits import MOST_OF_NODE as MOST
from ironic.tests.databases import counting_statements
from ironic.tests.functional.wire.service import Service
from ironic.tests.unit.api.resources.rows import add_node


def names(count: int) -> list[str]:
    return [f"CUSTOM_{number}" for number in range(count)]


@pytest.mark.parametrize(("count", "status"), [(MOST, 204), (MOST + 1, 400)])
def test_a_node_has_so_many_traits_at_most(service: Service, count: int, status: int) -> None:
    node = add_node(service, name="n")
    answer = service.call("PUT", "/v1/nodes/n/traits", body={"traits": [*names(count), "CUSTOM_0"]})
    assert answer.status == status
    assert len(service.store.traits.of([node.id])[node.id]) == (MOST if status == 204 else 0)


def test_one_more_is_refused_when_the_node_has_all_it_can(service: Service) -> None:
    node = add_node(service, name="n")
    service.store.traits.replace(node.id, names(MOST))
    assert service.call("PUT", "/v1/nodes/n/traits/CUSTOM_0").status == 204
    assert service.call("PUT", "/v1/nodes/n/traits/CUSTOM_X").status == 400
    assert service.store.traits.of([node.id])[node.id] == sorted(names(MOST))


def test_the_limit_holds_when_many_add_at_once(service: Service) -> None:
    node = add_node(service, name="n")
    service.store.traits.replace(node.id, names(MOST - 3))
    statuses: list[int] = []

    def add(number: int) -> None:
        statuses.append(service.call("PUT", f"/v1/nodes/n/traits/CUSTOM_NEW_{number}").status)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [204] * 3 + [400] * 5
    assert len(service.store.traits.of([node.id])[node.id]) == MOST


def test_traits_are_no_change_of_the_node(service: Service) -> None:
    node = add_node(service, name="n")
    assert service.call("PUT", "/v1/nodes/n/traits", body={"traits": ["CUSTOM_A"]}).status == 204
    assert service.store.nodes.get(node.id).updated_at is None


def test_a_change_is_one_transaction(service: Service) -> None:
    add_node(service, name="n")
    with counting_statements(service.store) as sent:
        assert service.call("PUT", "/v1/nodes/n/traits/CUSTOM_A").status == 204
    assert (sent.selects, sent.writes, sent.commits) == (3, 1, 1)
