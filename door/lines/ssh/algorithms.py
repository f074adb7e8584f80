"""The algorithms that an SSH port offers, by the `compatibility` of its listener.

The caller's order decides which of them is used. Needs no library.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# The kinds of host keys. The first signs in a thirtieth of a millisecond, the second in 0.7 ms.
ED25519, RSA = "ssh-ed25519", "ssh-rsa"
SHA1 = "ssh-rsa"  # signatures of an RSA key, of the board or of a caller


@dataclass(frozen=True)
class SshOffer:
    keys: tuple[str, ...]  # kinds of host keys
    signatures: tuple[str, ...]  # with which the board proves that it has such a key
    exchanges: tuple[str, ...]
    ciphers: tuple[str, ...]
    macs: tuple[str, ...]


# Each exchange takes less than a millisecond of the event loop: elliptic curves alone. The caller's
# order decides which is used. Ours decides whether a caller's guess was right: where both prefer
# the same (RFC 4253, section 7). So the first here is that of Dropbear's program, the one that
# guesses. Its newer versions prefer one that is not here, and guessing that is always wrong.
# The second withstands quantum computers, and new programs warn of those that do not.
_MODERN = SshOffer(
    (ED25519,),
    ("ssh-ed25519",),
    (
        "curve25519-sha256",
        "mlkem768x25519-sha256",
        "curve25519-sha256@libssh.org",
        "ecdh-sha2-nistp256",
    ),
    (
        "chacha20-poly1305@openssh.com",
        "aes128-gcm@openssh.com",
        "aes256-gcm@openssh.com",
        "aes128-ctr",
        "aes256-ctr",
    ),
    ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-256"),
)
# For cryptlib. Its exchanges with a group of the caller's choice are missing: asyncssh would take
# groups that are too small to be safe, and some that keep the event loop for 24 ms.
_BOARDS = SshOffer(
    (ED25519, RSA),
    (*_MODERN.signatures, "rsa-sha2-256", "rsa-sha2-512"),
    (*_MODERN.exchanges, "diffie-hellman-group14-sha256"),  # 1.3 ms
    (*_MODERN.ciphers, "aes128-cbc", "aes256-cbc"),
    _MODERN.macs,
)
# For libssh and libssh2 of before 2019.
_OLD = SshOffer(
    _BOARDS.keys,
    (*_BOARDS.signatures, SHA1),
    (*_BOARDS.exchanges, "diffie-hellman-group14-sha1"),
    _BOARDS.ciphers,
    (*_BOARDS.macs, "hmac-sha1"),
)

OFFERS: Mapping[str, SshOffer] = {"modern": _MODERN, "boards": _BOARDS, "old": _OLD}
