"""Lists of checksums: which line is that of the image."""

import pytest

from ironic.drivers.modules.agent.deployment_image import listed_checksum

MD5, SHA256, SHA512 = "a" * 32, "b" * 64, "c" * 128
BSD = [f"MD5 (img) = {MD5}", f"SHA256 (img) = {SHA256}", f"SHA512 (img) = {SHA512}"]


@pytest.mark.parametrize(
    ("lines", "algorithm", "found"),
    [
        (BSD, "sha512", SHA512),
        (BSD, "sha256", SHA256),
        (BSD, "md5", MD5),
        (BSD, "sha384", None),
        ([f"{MD5}  img", f"{SHA256} *dir/img\r", f"# {SHA512}"], "sha256", SHA256),
        ([f"{SHA256} *./img"], "sha256", SHA256),
        ([f"SHA3-256 (img) = {'d' * 64}", f"SHA256(img)= {SHA256.upper()}"], "sha256", SHA256),
        ([f"SHA3-256 (img) = {'d' * 64}", f"SHA256 (img) = {SHA256}"], "sha3_256", "d" * 64),
        ([f"SHA2-512 (img) = {SHA512}"], "sha512", SHA512),
        (["# one sum", SHA256], "sha256", SHA256),
        ([MD5], "sha256", None),
        ([f"{SHA256}  other"], "sha256", None),
    ],
)
def test_the_line_of_the_asked_algorithm_counts(lines: list[str], algorithm: str, found: str | None) -> None:
    digits = {"md5": 32, "sha256": 64, "sha3_256": 64, "sha384": 96, "sha512": 128}[algorithm]
    assert listed_checksum(lines, "img", (digits,), algorithm) == found


def test_without_an_algorithm_the_first_usable_length_counts() -> None:
    assert listed_checksum(BSD, "img", (64, 128)) == SHA256
