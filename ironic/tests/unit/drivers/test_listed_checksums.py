"""Lists of checksums: which sum is that of the image, and under which name."""

import pytest

from ironic.drivers.modules.agent.checksum_lists import STRENGTH, BadList, listed_checksum

MD5, SHA1, SHA256, SHA384, SHA512 = "a" * 32, "1" * 40, "b" * 64, "e" * 96, "c" * 128
BSD = f"MD5 (img) = {MD5}\nSHA256 (img) = {SHA256}\nSHA512 (img) = {SHA512}\n"
GNU = f"{MD5}  img\n{SHA1}  img\n{SHA256}  img\n{SHA512}  img\n"
WITHOUT_MD5 = STRENGTH[:-1]


@pytest.mark.parametrize(
    ("text", "algorithm", "found"),
    [
        (BSD, "sha512", SHA512),
        (BSD, "sha256", SHA256),
        (BSD, "md5", MD5),
        (GNU, "sha256", SHA256),
        (f"{MD5}  img\n{SHA256} *dir/img\r\n# {SHA512}", "sha256", SHA256),
        (f"{SHA256} *./img", "sha256", SHA256),
        (f"{SHA256}\t img", "sha256", SHA256),
        (f"SHA3-256 (img) = {'d' * 64}\nSHA256(img)= {SHA256.upper()}", "sha256", SHA256),
        (f"SHA3-256 (img) = {'d' * 64}\nSHA256 (img) = {SHA256}", "sha3_256", "d" * 64),
        (f"SHA2-512 (img) = {SHA512}", "sha512", SHA512),
        (f"# one sum\n\n{SHA256}", "sha256", SHA256),
        (f"{'d' * 64}  img", "sha3_256", "d" * 64),
        (f"SHA256 (./img) = {SHA256}", "sha256", SHA256),
    ],
)
def test_the_sum_of_the_asked_algorithm_counts(text: str, algorithm: str, found: str) -> None:
    assert listed_checksum(text, "img", [algorithm]) == (algorithm, found)


@pytest.mark.parametrize(
    ("text", "best", "found"),
    [
        (BSD, "sha512", SHA512),
        (GNU, "sha512", SHA512),
        (f"{SHA512.upper()}  img\n{MD5}  img", "sha512", SHA512),
        (f"{MD5}  img\n{SHA256}  img\n", "sha256", SHA256),
        (f"{MD5}  img\nSHA256 (img) = {SHA256}\n", "sha256", SHA256),
        (f"SHA384 (img) = {SHA384}\n{SHA256}  img\n", "sha384", SHA384),
        (f"{SHA384}  img\n{MD5}  img\n", "sha384", SHA384),
        (f"{SHA512}  other\n{SHA256}  img\n", "sha256", SHA256),
        (f"{SHA512}  img.xz\n{SHA512}  IMG\n{SHA256}  img\n", "sha256", SHA256),
        (f"{'9' * 64}  old/img\n{SHA256}  img\n", "sha256", SHA256),
        (f"{MD5}  img\n", "md5", MD5),
        (f"{SHA256}  img\n{SHA256} *./img\n", "sha256", SHA256),
        (f"SHA512 (img) = {SHA256}\nSHA256 (img) = {SHA256}", "sha256", SHA256),
        (f"SHA512/256 (img) = {'9' * 64}\n{SHA256}  img", "sha256", SHA256),
        (f"BLAKE2b (img) = {'9' * 128}\n{SHA256}  img", "sha256", SHA256),
        (f"SHA512 (i) (img) = {SHA512}\n{SHA256}  img", "sha256", SHA256),
        (f"# img: 1024 bytes\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{SHA256}  img\n", "sha256", SHA256),
        (f"{SHA512}  img{' ' * 5000}x\n{SHA256}  img\n", "sha256", SHA256),
    ],
)
def test_the_strongest_sum_counts_and_under_no_other_name(text: str, best: str, found: str) -> None:
    assert listed_checksum(text, "img", STRENGTH) == (best, found)


@pytest.mark.parametrize(
    ("list_name", "text", "found"),
    [
        ("SHA256SUMS", f"{SHA256}  img", ("sha256", SHA256)),
        ("SHA256SUMS", f"{SHA512}  img\n{SHA256}  img", ("sha256", SHA256)),
        ("SHA3-256SUMS", f"{SHA256}  img", ("sha3_256", SHA256)),
        ("img.sha512", f"{SHA512}", ("sha512", SHA512)),
        ("img-CHECKSUM", f"{SHA256}  img", ("sha256", SHA256)),
        ("MD5SUMS", f"MD5 (img) = {MD5}\nSHA256 (img) = {SHA256}", ("sha256", SHA256)),
    ],
)
def test_the_name_of_a_list_says_of_what_its_sums_are(list_name: str, text: str, found: tuple[str, str]) -> None:
    assert listed_checksum(text, "img", STRENGTH, list_name) == found


def test_the_name_of_the_image_does_not_say_of_what_the_sums_are() -> None:
    assert listed_checksum(f"{SHA512}  md5.img", "md5.img", STRENGTH, "md5.img.sums") == ("sha512", SHA512)


@pytest.mark.parametrize(
    ("text", "list_name", "reason"),
    [
        ("", "", "has no"),
        ("<html><body>\n<a href='img'>img</a> " + SHA256, "", "has no"),
        (f"{SHA256}  other\n", "", "has no"),
        (f"{SHA256}  other\n{SHA512}\n", "", "has no"),
        (f"{SHA256}\n{SHA512}\n", "", "has no"),
        (f"{MD5}  img\n", "", "only md5"),
        (f"{SHA256[:-1]}  img\n", "", "has no"),
        (f"{'g' * 64}  img\n", "", "has no"),
        (f"SHA512 (img) = {SHA256}\n", "", "has no"),
        (f"{SHA512}  img\n", "B2SUMS", "has no"),
        (f"{SHA512}  img\n", "SHA256SUMS", "has no"),
        (f"{SHA256}  img\n{'9' * 64}  img\n", "", "differ"),
        (f"{SHA256}  a/img\n{'9' * 64}  b/img\n", "", "differ"),
    ],
)
def test_a_list_without_a_certain_sum_is_refused(text: str, list_name: str, reason: str) -> None:
    with pytest.raises(BadList, match=reason):
        listed_checksum(text, "img", WITHOUT_MD5, list_name)
