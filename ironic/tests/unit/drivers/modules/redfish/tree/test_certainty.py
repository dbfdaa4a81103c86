"""What is whole and what is not, in documents as BMCs send them."""

from typing import Any

import pytest

from ironic.core.readings import ABSENT, Known, Unreadable
from ironic.drivers.modules.redfish.tree.certainty import (
    Document,
    Uncertain,
    given,
    leads_to,
    target_of,
    value_at,
    whole_links,
    whole_paths,
)
from ironic.drivers.modules.redfish.wire.document_faults import collection_fault
from ironic.drivers.modules.redfish.wire.document_repair import repaired

PATH = "/redfish/v1/Systems/1/Storage/A/Volumes"
ONE, TWO = {"@odata.id": f"{PATH}/1"}, {"@odata.id": f"{PATH}/2"}


def of(**document: Any) -> Document:
    return Document(PATH, repaired({"Name": "n", **document}, PATH))


@pytest.mark.parametrize("more", [{}, {"Members@odata.count": 2}, {"Members@odata.count": "2"}])
def test_a_list_is_whole_if_each_entry_names_a_resource_and_the_count_agrees(more: dict[str, Any]) -> None:
    assert whole_paths(of(Members=[ONE, TWO], **more)) == (ONE["@odata.id"], TWO["@odata.id"])
    assert collection_fault(of(Members=[]).json) is None


@pytest.mark.difference("paths in two spellings")
@pytest.mark.parametrize("spelt", [f"{PATH}/1/", f"{PATH}/1#"])
def test_a_member_in_two_spellings_is_one_member(spelt: str) -> None:
    twice = [ONE, {"@odata.id": spelt}]
    assert whole_paths(of(Members=twice, **{"Members@odata.count": 1})) == (ONE["@odata.id"],)
    for more, fault in [({}, "names a resource twice"), ({"Members@odata.count": 2}, "names 1 of 2")]:
        with pytest.raises(Uncertain, match=f"Members {fault}"):
            whole_paths(of(Members=twice, **more))


def test_members_that_differ_in_case_only_are_as_many_as_the_count_says() -> None:
    other = {"@odata.id": f"{PATH.lower()}/1"}
    assert whole_paths(of(Members=[ONE, other], **{"Members@odata.count": 2})) == (ONE["@odata.id"], other["@odata.id"])
    for more, fault in [({}, "names a resource twice"), ({"Members@odata.count": 1}, "names 2 of 1")]:
        with pytest.raises(Uncertain, match=f"Members {fault}"):
            whole_paths(of(Members=[ONE, other], **more))


def test_parts_of_one_resource_are_different_members() -> None:
    parts = [{"@odata.id": f"{PATH}#/Drives/{number}"} for number in range(2)]
    assert whole_paths(of(Members=parts)) == tuple(part["@odata.id"] for part in parts)


@pytest.mark.parametrize(
    "members",
    [None, "x", 5, True, {}, [None], [5], [[]], [{}], [{"@odata.id": None}], [ONE, None], [ONE, ONE], [ONE, 5]],
)
def test_a_list_with_an_odd_entry_is_not_whole(members: Any) -> None:
    with pytest.raises(Uncertain, match=f"{PATH} is incomplete, as Members "):
        whole_paths(of(Members=members))


@pytest.mark.parametrize("count", [0, 1, 3, None, True, "x", "", [], {}, -2, 2.5])
def test_a_list_whose_count_disagrees_is_not_whole(count: Any) -> None:
    with pytest.raises(Uncertain, match="Members@odata.count"):
        whole_paths(of(**{"Members": [ONE, TWO], "Members@odata.count": count}))


@pytest.mark.parametrize("place", ["/next", 5, [1], [], 0, {"@odata.id": 5}, {"@odata.id": None}, {"@odata.id": "/n"}])
def test_a_list_that_goes_on_elsewhere_is_not_whole(place: Any) -> None:
    with pytest.raises(Uncertain, match="a page of its members"):
        whole_paths(of(**{"Members": [ONE], "Members@odata.nextLink": place}))


def test_a_document_without_members_is_no_whole_list() -> None:
    with pytest.raises(Uncertain, match="Members is missing"):
        whole_paths(of())


def test_no_list_of_links_is_an_answer_and_an_odd_one_is_none() -> None:
    assert whole_links(of(), "Drives") == whole_links(of(Links={}), "Drives") == ()
    assert whole_links(of(Links={"Drives": [ONE, TWO], "Drives@odata.count": 2}), "Drives") == (
        ONE["@odata.id"],
        TWO["@odata.id"],
    )
    no_lists: list[Any] = [
        None, 5, {"Drives": None}, {"Drives": "x"}, {"Drives": [ONE, None]}, {"Drives": [{}]},
        {"Drives": [ONE], "Drives@odata.count": 2},
    ]  # fmt: skip
    for links in no_lists:
        with pytest.raises(Uncertain, match="Links"):
            whole_links(of(Links=links), "Drives")


def test_null_and_absent_are_answers_of_plain_values_and_odd_ones_are_not() -> None:
    assert given(of(Inserted=None), "Inserted", bool) is given(of(), "Inserted", bool) is None
    assert given(of(Inserted="true"), "Inserted", bool) is True
    assert value_at(of(Inserted=None), "Inserted", bool) is value_at(of(), "Inserted", bool) is ABSENT
    assert value_at(of(Inserted=False), "Inserted", bool) == Known(False)
    values: list[Any] = ["yes", 1, [], {}]
    for odd in values:
        with pytest.raises(Uncertain, match="Inserted has a value of another type"):
            given(of(Inserted=odd), "Inserted", bool)


def test_a_link_is_there_or_absent_and_null_is_neither() -> None:
    assert leads_to(of(Volumes=ONE), "Volumes") and not leads_to(of(), "Volumes")
    links: list[Any] = [None, 5, [], {}, "x"]
    for odd in links:
        with pytest.raises(Uncertain, match="Volumes"):
            leads_to(of(Volumes=odd), "Volumes")


def test_a_value_without_a_row_must_have_the_type_that_its_reader_names() -> None:
    assert given(of(Alias="Pxe"), "Alias", str) == "Pxe"
    odd = value_at(of(Alias=["Pxe"]), "Alias", str)
    assert isinstance(odd, Unreadable) and odd.shown("none") == "none"
    with pytest.raises(Uncertain, match="Alias has a value of another type"):
        odd.certain()


@pytest.mark.parametrize("odd", [None, 5, [], {}, {"target": None}, {"target": ["/x"]}, {"target": ""}])
def test_an_action_without_a_place_for_orders_is_not_offered(odd: Any) -> None:
    assert target_of(of(Actions={"#A.B": odd}), "A.B") is target_of(of(), "A.B") is None
    assert target_of(of(Actions={"#A.B": {"target": "/x"}}), "A.B") == "/x"
