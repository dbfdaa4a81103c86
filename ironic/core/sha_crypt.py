"""The password hash that Linux keeps in its shadow file, scheme 5 (SHA-256).

A rescue ramdisk is given this instead of the password. Python has no module for it that stays; the algorithm is the
public one by Ulrich Drepper ("Unix crypt using SHA-256 and SHA-512"), with its default of 5000 rounds.
"""

import hashlib
import secrets
from typing import Final

_ALPHABET: Final = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ROUNDS: Final = 5000
_SALT_LENGTH: Final = 16

# The order in which three bytes of the digest become four characters; two bytes are left over for the end.
_TRIPLES: Final = (
    (0, 10, 20),
    (21, 1, 11),
    (12, 22, 2),
    (3, 13, 23),
    (24, 4, 14),
    (15, 25, 5),
    (6, 16, 26),
    (27, 7, 17),
    (18, 28, 8),
    (9, 19, 29),
)


def new_salt() -> str:
    """Return a random salt."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_SALT_LENGTH))


def sha256_crypt(password: str, salt: str | None = None) -> str:
    """Return the hash of a password as it stands in a shadow file."""
    salt = (salt if salt is not None else new_salt())[:_SALT_LENGTH]
    return f"$5${salt}${_text(_digest(password.encode(), salt.encode()))}"


def _digest(password: bytes, salt: bytes) -> bytes:
    digest = _first(password, salt)
    long_password = _stretched(hashlib.sha256(password * len(password)).digest(), len(password))
    long_salt = _stretched(hashlib.sha256(salt * (16 + digest[0])).digest(), len(salt))
    for turn in range(_ROUNDS):
        parts = [long_password if turn % 2 else digest]
        parts += [long_salt] if turn % 3 else []
        parts += [long_password] if turn % 7 else []
        parts += [digest if turn % 2 else long_password]
        digest = hashlib.sha256(b"".join(parts)).digest()
    return digest


def _first(password: bytes, salt: bytes) -> bytes:
    other = hashlib.sha256(password + salt + password).digest()
    start = password + salt + _stretched(other, len(password))
    bits = len(password)
    while bits:
        start += other if bits & 1 else password
        bits >>= 1
    return hashlib.sha256(start).digest()


def _stretched(digest: bytes, length: int) -> bytes:
    """Repeat a digest to a length."""
    return (digest * (length // len(digest) + 1))[:length]


def _text(digest: bytes) -> str:
    groups = [_characters(digest[a] << 16 | digest[b] << 8 | digest[c], 4) for a, b, c in _TRIPLES]
    return "".join(groups) + _characters(digest[31] << 8 | digest[30], 3)


def _characters(value: int, count: int) -> str:
    return "".join(_ALPHABET[value >> 6 * place & 0x3F] for place in range(count))
