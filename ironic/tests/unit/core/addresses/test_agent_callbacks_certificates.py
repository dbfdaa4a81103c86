"""Certificates of machines: nothing but certificates comes through, written anew."""

import pytest

from ironic.core.addresses import agent_callbacks
from ironic.tests.agent_double import make_certificate

CERTIFICATE = make_certificate()[0]


def test_it_returns_certificates_and_nothing_else() -> None:
    assert agent_callbacks.certificates_from_pem(CERTIFICATE).strip() == CERTIFICATE.strip()
    around = f"/etc/passwd\n{CERTIFICATE}\nfile:///dev/ptmx\n{CERTIFICATE}"
    assert agent_callbacks.certificates_from_pem(around).count("BEGIN CERTIFICATE") == 2
    assert "/" not in agent_callbacks.certificates_from_pem(around).replace(CERTIFICATE.strip(), "")


@pytest.mark.parametrize(
    "said",
    [
        *("", "true", "False", "1", "/dev/ptmx", "/etc/ssl/certs/ca-certificates.crt", "file:///dev/ptmx", "."),
        *("-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"),
        make_certificate()[1],  # a private key
        CERTIFICATE.replace("M", "é"),
        CERTIFICATE * 17,
        CERTIFICATE + " " * agent_callbacks.LONGEST_CERTIFICATES,
    ],
)
def test_it_refuses_all_else(said: str) -> None:
    with pytest.raises(ValueError, match="must"):
        agent_callbacks.certificates_from_pem(said)
