"""Public keys as callers paste them: a line of OpenSSH's `.pub` files or `authorized_keys`.

They are read here, without the library that speaks SSH: only what is kept is, and nothing of it is
believed before somebody has signed with the other half.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass

from door.errors import KeyRefused
from timebank.language import Phrase

# By the name of a kind: how many bytes its point has, where that is all.
_ELLIPTIC = {
    "ssh-ed25519": 32,
    "ecdsa-sha2-nistp256": 65,
    "ecdsa-sha2-nistp384": 97,
    "ecdsa-sha2-nistp521": 133,
    # Keys that a small device keeps.
    "sk-ssh-ed25519@openssh.com": 32,
    "sk-ecdsa-sha2-nistp256@openssh.com": 65,
}
_RSA = "ssh-rsa"
KINDS = (*_ELLIPTIC, _RSA)
LEAST_BITS, MOST_BITS = 2048, 4096  # of RSA; to check a signature with more takes too long
MOST_EXPONENT = 2**32  # the same
LONGEST_NAME = 40

_NO_KEY = Phrase(
    "That's no public key. Paste the line of your .pub file; it begins with ssh-ed25519, say."
)


@dataclass(frozen=True)
class PublicKey:
    kind: str
    data: bytes  # in SSH's own form
    name: str = ""  # what its owner calls it

    @property
    def line(self) -> str:
        text = base64.b64encode(self.data).decode("ascii")
        return " ".join(part for part in (self.kind, text, self.name) if part)

    @property
    def fingerprint(self) -> str:
        """What callers' programs show of a key."""
        digest = base64.b64encode(hashlib.sha256(self.data).digest()).decode("ascii")
        return f"SHA256:{digest.rstrip('=')}"


def read(line: str) -> PublicKey:
    """Read a line; raises `KeyRefused` for what is no key, or one that will not do.

    >>> read("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + 43 * "A" + " me").name
    'me'
    """
    kind, text, *name = [*line.split(maxsplit=2), "", ""]
    if kind not in KINDS:
        # Behind options, say: to leave them out would allow what their owner did not mean to.
        raise KeyRefused(_NO_KEY)
    try:
        data = base64.b64decode(text, validate=True)
        parts = _parts(data)
    except (ValueError, binascii.Error) as error:
        raise KeyRefused(_NO_KEY) from error
    if parts[0] != kind.encode():
        raise KeyRefused(_NO_KEY)
    if kind == _RSA:
        _check_rsa(parts)
    else:
        _check_point(kind, parts)
    return PublicKey(kind, data, "".join(filter(str.isprintable, name[0])).strip()[:LONGEST_NAME])


def _parts(data: bytes) -> list[bytes]:
    """Take apart what is in it; ValueError where it ends too soon."""
    parts = []
    while data:
        length = int.from_bytes(data[:4], "big")
        if len(data) < 4 + length:
            raise ValueError("the key ends too soon")
        parts.append(data[4 : 4 + length])
        data = data[4 + length :]
    if not parts:
        raise ValueError("the key is empty")
    return parts


def _check_point(kind: str, parts: list[bytes]) -> None:
    is_of_device, is_ecdsa = kind.startswith("sk-"), "ecdsa" in kind
    wanted = 2 + is_ecdsa + is_of_device
    if len(parts) != wanted or len(parts[1 + is_ecdsa]) != _ELLIPTIC[kind]:
        raise KeyRefused(_NO_KEY)


def _check_rsa(parts: list[bytes]) -> None:
    if len(parts) != 3:
        raise KeyRefused(_NO_KEY)
    exponent, modulus = (int.from_bytes(part, "big") for part in parts[1:])
    if not LEAST_BITS <= modulus.bit_length() <= MOST_BITS:
        raise KeyRefused(
            Phrase(
                "An RSA key has {least} to {most} bits here, and yours has {bits}.",
                least=LEAST_BITS,
                most=MOST_BITS,
                bits=modulus.bit_length(),
            )
        )
    if not 2 < exponent < MOST_EXPONENT or not exponent % 2:
        raise KeyRefused(_NO_KEY)
