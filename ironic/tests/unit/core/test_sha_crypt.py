"""The hash is the one every Linux understands."""

import pytest

from ironic.core.sha_crypt import new_salt, sha256_crypt


@pytest.mark.parametrize(
    "password, salt, expected",
    [
        ("Hello world!", "saltstring", "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
        ("secret word äö", "abc", "$5$abc$HF71lic6SHYA8gTjuJpRwlqf1nWIjRalbdMviGWz1xD"),
    ],
)
def test_it_agrees_with_other_programs(password, salt, expected):
    assert sha256_crypt(password, salt) == expected


def test_it_salts_every_hash():
    assert len(new_salt()) == 16
    assert sha256_crypt("same") != sha256_crypt("same")


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, 64, 200])
def test_it_takes_any_length(length):
    assert len(sha256_crypt("x" * length, "s")) == len("$5$s$") + 43
