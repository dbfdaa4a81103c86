"""Creating and patching: every field gets every kind of value, and nothing that is refused is kept."""

import json

from ironic.tests.suites.api.sample import BAD_BODIES, ODD, UNSTORABLE, Sample
from ironic.tests.suites.api.target import Target, place

MANY = 10_000


class CreateSuite:
    def test_a_new_one_is_shown_as_it_was_answered(self, target: Target, sample: Sample, maker: bytes) -> None:
        answer = target.send("POST", sample.collection, maker)
        assert answer.status == 201, answer.body
        assert target.send("GET", place(answer)).json == answer.json

    def test_a_longer_page_costs_no_more_statements(self, target: Target, sample: Sample) -> None:
        assert sample.body is not None
        detail = "" if sample.resource.since_detail is None else "detail=true"
        pages = [f"{sample.collection}?{query}" for query in ("", detail, "sort_key=uuid&sort_dir=desc", "limit=3")]
        # What is the same for all requests is looked up once and kept.
        before = [target.statements(page) for page in (*pages, *pages)][len(pages) :]
        for number in range(3, 10):
            answer = target.send("POST", sample.collection, json.dumps(sample.body(number)).encode())
            assert answer.status == 201, answer.body
        assert [target.statements(page) for page in pages] == before
        assert all((writes, commits) == (0, 0) and selects <= 3 for selects, writes, commits in before)

    def test_it_is_made_once(self, target: Target, sample: Sample, maker: bytes) -> None:
        made = target.send("POST", sample.collection, maker).json
        again = json.dumps(json.loads(maker) | {"uuid": made["uuid"]}).encode()
        target.refuses("POST", sample.collection, again, 409)

    def test_bad_bodies_are_refused(self, target: Target, sample: Sample, maker: bytes) -> None:
        for body in BAD_BODIES.values():
            target.refuses("POST", sample.collection, body.encode(), 400, 413)
        target.refuses("POST", f"{sample.collection}?x=1", maker, 400)

    def test_bytes_that_are_no_text_are_refused(self, target: Target, sample: Sample, maker: bytes) -> None:
        target.refuses("POST", sample.collection, b'{"uuid": "\xff\xfe"}', 400)
        target.refuses("POST", sample.collection, b"\xff" * 1000, 400)
        target.refuses("POST", sample.collection, maker + b"\x00", 400)

    def test_what_can_not_be_stored_is_refused(self, target: Target, sample: Sample, maker: bytes) -> None:
        for name in sample.resource.writable("create"):
            for value in UNSTORABLE.values():
                target.refuses("POST", sample.collection, _with(maker, name, value), 400)

    def test_no_value_is_our_fault(self, target: Target, sample: Sample, maker: bytes) -> None:
        for name in sample.resource.writable("create"):
            for value in ODD.values():
                answer = target.survives("POST", sample.collection, _with(maker, name, value))
                if answer.status == 201:
                    assert target.send("GET", place(answer)).json == answer.json


class PatchSuite:
    def test_bad_patches_are_refused(self, target: Target, sample: Sample, maker: bytes, item: str) -> None:
        operation = {"op": "add", "path": "/extra", "value": {}}
        for patch in (
            {},
            {"op": "add"},
            [1],
            ["x"],
            [None],
            [[operation]],
            [operation | {"op": "move", "from": "/extra"}],
            [operation | {"op": "test"}],
            [operation | {"op": ["add"]}],
            [operation | {"path": ""}],
            [operation | {"path": "/"}],
            [operation | {"path": 7}],
            [operation | {"path": "/no_such_field"}],
            [operation | {"path": "/" + "a" * 100_000}],
            [operation | {"path": "/extra" + "/a" * 1_000}],
            [operation | {"more": 1}],
            [{"op": "add", "path": "/extra"}],
            [operation, {"op": "remove", "path": "/extra/no_such_key"}],
        ):
            target.refuses("PATCH", item, json.dumps(patch).encode(), 400)
        for body in BAD_BODIES.values():
            target.refuses("PATCH", item, body.encode(), 400, 413)
        target.refuses("PATCH", f"{item}?x=1", b"[]", 400)

    def test_a_patch_of_ten_thousand_operations_is_refused(
        self, target: Target, sample: Sample, maker: bytes, item: str
    ) -> None:
        patch = [{"op": "add", "path": f"/extra/k{number}", "value": number} for number in range(MANY)]
        target.refuses("PATCH", item, json.dumps(patch).encode(), 400)

    def test_what_can_not_be_stored_is_not_patched_in(
        self, target: Target, sample: Sample, maker: bytes, item: str
    ) -> None:
        for name in sample.resource.writable("patch"):
            for value in UNSTORABLE.values():
                for path in (f"/{name}", f"/{name}/key", f"/{name}/0"):
                    patch = f'[{{"op": "add", "path": "{path}", "value": {value}}}]'
                    target.refuses("PATCH", item, patch.encode(), 400)

    def test_no_patched_value_is_our_fault(self, target: Target, sample: Sample, maker: bytes, item: str) -> None:
        for name in sample.resource.writable("patch"):
            for value in ODD.values():
                for path in (f"/{name}", f"/{name}/key", f"/{name}/0", f"/{name}/-"):
                    patch = f'[{{"op": "add", "path": "{path}", "value": {value}}}]'
                    target.survives("PATCH", item, patch.encode())
            target.survives("PATCH", item, f'[{{"op": "remove", "path": "/{name}"}}]'.encode())

    def test_an_empty_patch_changes_nothing(self, target: Target, sample: Sample, maker: bytes, item: str) -> None:
        before = target.send("GET", item).json
        assert target.send("PATCH", item, b"[]").json == before
        assert target.send("GET", item).json == before


def _with(maker: bytes, name: str, value: str) -> bytes:
    """Return a body in which a field has a value that is JSON as it is sent."""
    rest = {key: one for key, one in json.loads(maker).items() if key != name}
    parts = [f"{json.dumps(key)}: {json.dumps(one)}" for key, one in rest.items()]
    return f"{{{', '.join([*parts, f'{json.dumps(name)}: {value}'])}}}".encode()
