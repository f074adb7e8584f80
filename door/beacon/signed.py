"""Whether a round of a beacon is what the network has signed: the extra `beacon` knows the sums.

They take one or two milliseconds, and hold the interpreter meanwhile: never in the process of a
board. The library is drand-verify; where there is none for a newer Python, blst itself, as pyblst
has it, whose steps stand here. Tests have both say the same.
"""

from __future__ import annotations

import re
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec

from door.beacon.libraries import BEACON_LIBRARIES

DRAND_VERIFY, BLST = BEACON_LIBRARIES
INSTALL = "pip install 'blackjack-for-time[beacon]'"

# The scheme bls-unchained-g1-rfc9380: signatures in G1, keys in G2, and the generator of that.
_DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
_GENERATOR = bytes.fromhex(
    "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e"
    "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8"
)
# The first byte of the point at infinity, which signs everything for a key that is one.
_INFINITY = ("c", "e")
# What the libraries are asked with; drand-verify stops the thread for digits that are none.
_SIGNATURE = re.compile(r"[0-9a-f]{96}")
_KEY = re.compile(r"[0-9a-f]{192}")
_MOST = 2**63


def can_check() -> bool:
    """Tell whether a library is installed."""
    return any(map(find_spec, BEACON_LIBRARIES))


def is_signed(key: str, number: int, signature: str) -> bool:
    """Tell whether the network of a public key has signed a round so. Needs a library."""
    if not (_KEY.fullmatch(key) and _SIGNATURE.fullmatch(signature) and 0 < number < _MOST):
        return False
    if key.startswith(_INFINITY) or signature.startswith(_INFINITY):
        return False
    by_one = _by_drand_verify if find_spec(DRAND_VERIFY) is not None else _by_blst
    try:
        return by_one(key, number, signature)
    except ValueError:
        return False


def _by_drand_verify(key: str, number: int, signature: str) -> bool:
    import_module(DRAND_VERIFY).verify_bls_unchained_g1_rfc9380(number, signature, key)
    return True


def _by_blst(key: str, number: int, signature: str) -> bool:
    blst = import_module(BLST)
    first, second = blst.BlstP1Element(), blst.BlstP2Element()
    message = sha256(number.to_bytes(8, "big")).digest()
    signed = blst.miller_loop(
        first.uncompress(bytes.fromhex(signature)), second.uncompress(_GENERATOR)
    )
    wanted = blst.miller_loop(
        first.hash_to_group(message, _DOMAIN), second.uncompress(bytes.fromhex(key))
    )
    fits: bool = blst.final_verify(signed, wanted)
    return fits
