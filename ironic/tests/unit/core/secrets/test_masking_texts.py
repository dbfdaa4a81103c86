"""Secrets inside of texts: what goes and what stays."""

import time

import pytest

from ironic.core.secrets.masking import masked_text

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:pw@host/x", "https://******@host/x"),
        (
            "no answer from https://u:p@h:8080/ after ftp://a:b@c",
            "no answer from https://******@h:8080/ after ftp://******@c",
        ),
        ("https://u:p@ss@host/x", "https://******@host/x"),
        ("https://user:p/w@host/x", "https://******@host/x"),
        ("https://token0123@github.com/x", "https://******@github.com/x"),
        ("HTTP://u:p@h", "HTTP://******@h"),
        ("https://u:p'w@h", "https://******@h"),
        ('https://u:p"w@h/x', "https://******@h/x"),
        ("https://u:<p>@h", "https://******@h"),
        ("ftp://user%3Apw@h", "ftp://******@h"),
        ("amqp://guest:guest@localhost:5672//", "amqp://******@localhost:5672//"),
        ("https://u:p@h1,https://u:p@h2", "https://******@h1,https://******@h2"),
        ("https://h/p?temp_url_sig=abc&temp_url_expires=1", "https://h/p?temp_url_sig=******&temp_url_expires=1"),
        ("https://h/?X-Amz-Date=1&X-Amz-Signature=abc", "https://h/?X-Amz-Date=1&X-Amz-Signature=******"),
        ("https://h/?a=1&access%5Ftoken=abc#t", "https://h/?a=1&access%5Ftoken=******"),
        ("/relative?sig=abc;key=d", "/relative?sig=******;key=******"),
        ("{'password': 'a b\\'c', 'x': 'y'}", "{'password': '******', 'x': 'y'}"),
        ('{"a": "failed with password=\'x\'"}', '{"a": "failed with password=\'******\'"}'),
        (r"{\"password\": \"abc\", \"a\": \"b\"}", r"{\"password\": \"******\", \"a\": \"b\"}"),
        ('password="never closed', 'password="******'),
        ("ipmitool -U a password=abc -H h", "ipmitool -U a password=****** -H h"),
        ("X-Auth-Token: gAAAA", "X-Auth-Token: ******"),
        ("users:\n  - name: a\n    password: b\n", "users:\n  - name: a\n    password: ******\n"),
        ("Authorization: Basic dXNlcjpw", "Authorization: Basic ******"),
        ("curl -H 'authorization: bearer abc.def' h", "curl -H 'authorization: bearer ******' h"),
        ("got Bearer abcdefghijklmnopqr1 of it", "got Bearer ****** of it"),
        (f"a\n{PEM}\nb", "a\n******\nb"),
        ("-----BEGIN PRIVATE KEY-----\nnever ended", "******"),
    ],
)
def test_it_takes_secrets_out(text: str, shown: str) -> None:
    assert masked_text(text) == shown
    assert masked_text(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain words: and a colon",
        "52:54:00:00:00:01",
        "ssh://git@host/x",
        '{"a":"https://host","m":"x@y"}',
        "qemu+ssh://root@host/system",
        "https://[::1]:80/a@b",
        "https://host:80/mail?to=a@b",
        "mail a@b about https://host/x",
        'sshkey="ssh-rsa AAAA user@host" console=ttyS0',
        "nofb nomodeset ipa-debug=1 url=https://h?x=1&y=2 ip=dhcp",
        "The password: it is too short",
        "Step deploy.write_image failed: key error",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "sort_key=name&marker=1",
        "capabilities boot_mode:uefi,secure_boot:true",
    ],
)
def test_it_leaves_the_rest(text: str) -> None:
    assert masked_text(text) == text


@pytest.mark.parametrize(
    "part",
    ["://a:x", "a:'", "password='", "bearer ", "%a", "a" * 63 + ".", "authorization:  ", "a:   ", "pass\n", "key=b "],
)
@pytest.mark.parametrize("end", ["", "@", "=", ":", "'"])
def test_twice_the_text_takes_about_twice_the_time(part: str, end: str) -> None:
    def seconds(size: int) -> float:
        text = part * (size // len(part)) + end
        begun = time.thread_time()
        masked_text(text)
        return time.thread_time() - begun

    # Quadratic work would take sixty-four times as long.
    assert seconds(320_000) < 24 * seconds(40_000) + 0.25


def test_a_long_text_is_read_to_its_end() -> None:
    text = "word " * 40_000 + "password=x " + "word " * 40_000 + "https://u:p@h"
    assert masked_text(text) == text.replace("=x ", "=****** ").replace("u:p@", "******@")
