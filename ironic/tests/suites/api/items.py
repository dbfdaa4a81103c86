"""One thing: how a path may name it, which of its fields may be asked for."""

from ironic.tests.suites.api.sample import HOSTILE_TEXTS, Sample
from ironic.tests.suites.api.target import Target

METHODS = ("GET", "PATCH", "DELETE", "PUT", "POST")


class ItemSuite:
    def test_what_is_there_is_shown(self, target: Target, sample: Sample, item: str) -> None:
        answer = target.send("GET", item)
        assert answer.status == sample.one

    def test_no_name_in_a_path_is_our_fault(self, target: Target, sample: Sample) -> None:
        for text in HOSTILE_TEXTS.values():
            if text:
                for method in METHODS:
                    target.refuses(method, f"{sample.collection}/{text}", b"[]")

    def test_what_is_not_there_is_not_found(self, target: Target, sample: Sample) -> None:
        if sample.one == 200:
            target.refuses("GET", f"{sample.collection}/99999999-0000-4000-8000-00000000dead", b"", 404)

    def test_unknown_parameters_are_refused(self, target: Target, sample: Sample, item: str) -> None:
        for text in ("x=1", "limit=1", "fields=no_such_field", "fields=%00", "fields=uuid&x=1", "%00=1"):
            target.refuses("GET", f"{item}?{text}", b"", 400 if sample.one == 200 else sample.one)

    def test_each_field_can_be_chosen_alone(self, target: Target, sample: Sample, item: str) -> None:
        for name, one in sample.resource.table.fields.items():
            answer = target.survives("GET", f"{item}?fields={name}")
            if sample.chooses and sample.resource.since_fields is not None:
                assert answer.status == (200 if one.select and not one.hidden else 400), (name, answer.body)
