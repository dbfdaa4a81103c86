"""Which changes of a list of steps would send a secret in their arguments elsewhere."""

from typing import Any

import pytest

from ironic.core.secrets.secret_updates import redirected_step_secrets

UPDATE: dict[str, Any] = {
    "interface": "firmware",
    "step": "update",
    "args": {"settings": [{"component": "bios", "url": "https://a/b"}], "password": "old", "note": "x"},
}
FILES: dict[str, Any] = {
    "interface": "deploy",
    "step": "inject_files",
    "args": {"image_url": "https://a", "token": "t"},
}
STEPS = [UPDATE, FILES]
EVIL = [{"component": "bios", "url": "https://evil/b"}]


def with_args(step: dict[str, Any], **args: Any) -> dict[str, Any]:
    return step | {"args": step["args"] | args}


@pytest.mark.parametrize(
    ("after", "written", "names"),
    [
        ([with_args(UPDATE, settings=EVIL), FILES], [(("0", "args", "settings"), EVIL)], ["firmware.update"]),
        ([with_args(UPDATE, host="evil"), FILES], [(("0", "args", "host"), "evil")], ["firmware.update"]),
        ([UPDATE, with_args(FILES, image_url="evil")], [(("1", "args", "image_url"), "evil")], ["deploy.inject_files"]),
        ([UPDATE | {"step": "other"}, FILES], [(("0", "step"), "other")], ["firmware.other"]),
        # What was written before the items moved was not written to where the secret is now.
        (
            [with_args(UPDATE, settings=EVIL), FILES],
            [(("0",), with_args(UPDATE, password="mine")), (("0", "args", "settings"), EVIL)],
            ["firmware.update"],
        ),
        ([with_args(UPDATE, settings=EVIL, password="new"), FILES], [(("0",), {})], []),
        ([with_args(UPDATE, settings=EVIL), FILES], [(("0",), with_args(UPDATE, settings=EVIL))], []),
        ([FILES, UPDATE], [(("-",), FILES)], []),
        ([with_args(UPDATE, note="y", component="bmc"), FILES], [(("0", "args", "note"), "y")], []),
        ([FILES | {"priority": 3}], [], []),
    ],
)
def test_secrets_stay_with_their_step_and_its_addresses(
    after: list[dict[str, Any]], written: list[tuple[tuple[str, ...], object]], names: list[str]
) -> None:
    assert redirected_step_secrets(STEPS, after, written) == names
