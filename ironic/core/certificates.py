"""Certificates as text: what a machine sends of them is read here, before anything else may look at it.

What comes out was written by us. So it names no file, holds nothing beside certificates and has an end.
"""

from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

LONGEST: Final = 64 * 1024
MOST: Final = 16


def from_pem(text: str) -> str:
    """Return the certificates of a PEM text, written anew, or raise ValueError saying what is wrong."""
    if len(text) > LONGEST:
        raise ValueError(f"must not be longer than {LONGEST} characters")
    try:
        found = x509.load_pem_x509_certificates(text.encode("ascii"))
    except (ValueError, x509.InvalidVersion):
        raise ValueError("must be certificates in PEM format") from None
    if len(found) > MOST:
        raise ValueError(f"must not hold more than {MOST} certificates")
    return "".join(one.public_bytes(Encoding.PEM).decode() for one in found)
