"""What may be a trait."""

import pytest

from ironic.core.values.traits import is_trait


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("CUSTOM_A", True),
        ("CUSTOM_0_", True),
        ("CUSTOM_" + "A" * 248, True),
        ("CUSTOM_" + "A" * 249, False),
        ("CUSTOM_", False),
        ("CUSTOM_a", False),
        ("CUSTOM_A-B", False),
        ("CUSTOM_A\n", False),
        ("HW_CPU_X86_VMX", True),
        ("HW_CPU_X86_NONE_SUCH", False),
        ("", False),
    ],
)
def test_a_word_is_a_trait_or_not(word: str, expected: bool) -> None:
    assert is_trait(word) is expected
