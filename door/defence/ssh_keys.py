"""Public keys as callers paste them: a line of OpenSSH's `.pub` files or `authorized_keys`.

This module reads them without the library that speaks SSH, because the board only stores a key. No
key is believed before its owner has signed with the private half.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass

from door.errors import KeyRefused
from timebank.language import Phrase

# The length in bytes of a kind's point, for kinds that are only a point.
_ELLIPTIC = {
    "ssh-ed25519": 32,
    "ecdsa-sha2-nistp256": 65,
    "ecdsa-sha2-nistp384": 97,
    "ecdsa-sha2-nistp521": 133,
    # Keys on a security token.
    "sk-ssh-ed25519@openssh.com": 32,
    "sk-ecdsa-sha2-nistp256@openssh.com": 65,
}
_RSA = "ssh-rsa"
KINDS = (*_ELLIPTIC, _RSA)
LEAST_BITS, MOST_BITS = 2048, 4096  # of RSA; a signature with more takes too long to check
MOST_EXPONENT = 2**32  # for the same reason
LONGEST_NAME = 40

_NO_KEY = Phrase(
    "That's no public key. Paste the line of your .pub file; it begins with ssh-ed25519, say."
)


@dataclass(frozen=True)
class PublicKey:
    kind: str
    data: bytes  # in SSH's own form
    name: str = ""  # the owner's comment on the line

    @property
    def line(self) -> str:
        text = base64.b64encode(self.data).decode("ascii")
        return " ".join(part for part in (self.kind, text, self.name) if part)

    @property
    def fingerprint(self) -> str:
        """The fingerprint that callers' programs show."""
        digest = base64.b64encode(hashlib.sha256(self.data).digest()).decode("ascii")
        return f"SHA256:{digest.rstrip('=')}"


def read(line: str) -> PublicKey:
    """Read a line; raise `KeyRefused` if it is no key, or a key too weak or too slow.

    >>> read("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + 43 * "A" + " me").name
    'me'
    """
    kind, text, *name = [*line.split(maxsplit=2), "", ""]
    if kind not in KINDS:
        # A line with options ends here: without them the key would allow more than its owner meant.
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
    """Return the parts of a key's data; raise `ValueError` if the data ends too soon."""
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
