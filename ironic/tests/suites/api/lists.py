"""Lists: paging, sorting, choosing fields, filters."""

from urllib.parse import quote

from ironic.core.values.value_types import Words
from ironic.tests.functional.wire.service import BASE
from ironic.tests.suites.api.sample import HOSTILE_TEXTS, Sample
from ironic.tests.suites.api.target import Target

PAGING = ("limit", "marker", "sort_key", "sort_dir", "fields", "detail")


class ListSuite:
    def test_an_unknown_parameter_is_refused(self, target: Target, sample: Sample) -> None:
        target.refuses("GET", f"{sample.collection}?no_such_parameter=1", b"", 400)
        for text in HOSTILE_TEXTS.values():
            target.refuses("GET", f"{sample.collection}?{text or 'x'}=1", b"", 400)

    def test_too_many_parameters_are_refused(self, target: Target, sample: Sample) -> None:
        target.refuses("GET", f"{sample.collection}?{'fields=uuid&' * 2000}", b"", 400)

    def test_a_parameter_is_given_once_unless_it_is_a_list(self, target: Target, sample: Sample) -> None:
        filters = sample.resource.table.filters
        for name in (*PAGING, *filters):
            query = f"{sample.collection}?{name}=1&{name}=1"
            if name in filters and isinstance(filters[name].type, Words):
                assert target.survives("GET", query).status == target.survives("GET", query.partition("&")[0]).status
            elif name != "fields":
                target.refuses("GET", query, b"", 400)

    def test_no_text_in_a_query_is_our_fault(self, target: Target, sample: Sample) -> None:
        for name in (*PAGING, *sample.resource.table.filters):
            for text in HOSTILE_TEXTS.values():
                target.survives("GET", f"{sample.collection}?{name}={text}")

    def test_a_zero_in_a_query_is_refused(self, target: Target, sample: Sample) -> None:
        for name in (*PAGING, *sample.resource.table.filters):
            target.refuses("GET", f"{sample.collection}?{name}=a%00b", b"", 400)

    def test_limits_are_positive_numbers(self, target: Target, sample: Sample) -> None:
        for limit in ("0", "-1", "-" + "9" * 50, "x", "1.5", "1e3", "0x10", "%D9%A3", "9" * 200, "true"):
            target.refuses("GET", f"{sample.collection}?limit={limit}", b"", 400)

    def test_large_limits_are_cut(self, target: Target, sample: Sample) -> None:
        for limit in ("1", "1000", "1001", "2147483648", "9" * 30):
            answer = target.send("GET", f"{sample.collection}?limit={limit}")
            assert answer.status == (200 if sample.paged else 400), answer.body

    def test_lists_are_sorted_by_fields_that_can_be_sorted(self, target: Target, sample: Sample) -> None:
        for name, one in sample.resource.table.fields.items():
            for direction in ("asc", "desc"):
                path = f"{sample.collection}?sort_key={name}&sort_dir={direction}"
                answer = target.survives("GET", path)
                can = sample.paged and one.sortable and not one.hidden
                assert answer.status == (200 if can else 400), (name, answer.body)

    def test_hostile_sort_keys_are_refused(self, target: Target, sample: Sample) -> None:
        for key in ("id;drop table nodes", "nodes.id", "id desc", "__class__", "rowid", "node_id", "ID", "a" * 5000):
            target.refuses("GET", f"{sample.collection}?sort_key={quote(key)}", b"", 400)
        for direction in ("up", "ASC", "asc;", "1"):
            target.refuses("GET", f"{sample.collection}?sort_dir={quote(direction)}", b"", 400)

    def test_unknown_markers_are_refused(self, target: Target, sample: Sample) -> None:
        target.refuses("GET", f"{sample.collection}?marker=99999999-0000-4000-8000-00000000dead", b"", 400, 404)
        target.refuses("GET", f"{sample.collection}?marker=%00", b"", 400)

    def test_unknown_fields_are_refused(self, target: Target, sample: Sample) -> None:
        for names in ("no_such_field", "uuid,no_such_field", "uuid,__class__", "%E2%80%8Buuid", "a" * 5000):
            target.refuses("GET", f"{sample.collection}?fields={names}", b"", 400)

    def test_every_page_is_sorted_the_same_way(self, target: Target, sample: Sample) -> None:
        if not sample.paged:
            return
        whole = target.send("GET", sample.collection).json[sample.resource.collection]
        seen, path = [], f"{sample.collection}?limit=1"
        while path:
            page = target.send("GET", path).json
            seen += page[sample.resource.collection]
            path = page.get("next", "").removeprefix(BASE)
        assert seen == whole
        assert whole
