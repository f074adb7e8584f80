"""Rounds of drand's quicknet, recorded, and the network's constants."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from door.beacon import signed
from door.beacon.network import MARGIN, QUICKNET
from door.games.engine.shuffle import randomness
from tests.beacons import OWN, RECORDED, sign

# What quicknet's relays say of it besides, in `/info`.
GROUP_HASH = "f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e"
BEACON_ID = b"quicknet"

IsSigned = Callable[[str, int, str], bool]
both_libraries = pytest.mark.parametrize("is_signed", [signed._by_drand_verify, signed._by_blst])


def test_the_hash_of_its_chain_holds_all_that_is_written_of_the_network() -> None:
    said = QUICKNET.period.to_bytes(4, "big") + QUICKNET.genesis.to_bytes(8, "big")
    said += bytes.fromhex(QUICKNET.key) + bytes.fromhex(GROUP_HASH) + BEACON_ID
    assert sha256(said).hexdigest() == QUICKNET.chain


@both_libraries
def test_recorded_rounds_are_signed_by_it(is_signed: IsSigned) -> None:
    for number, signature in RECORDED.items():
        assert is_signed(QUICKNET.key, number, signature)
    assert is_signed(OWN.key, 7, sign(7))
    # As the relays and other programs have published it beside the signature.
    told = "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd"
    assert randomness(RECORDED[1000]) == told


@both_libraries
def test_what_was_tampered_with_is_not(is_signed: IsSigned) -> None:
    good = RECORDED[1000]
    prime = int(
        "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf"
        "6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
        16,
    )
    outside = next(x for x in range(1, 9) if pow(x**3 + 4, (prime - 1) // 2, prime) == 1)
    wrong = {
        "another round": (QUICKNET.key, 1001, good),
        "another round's": (QUICKNET.key, 1000, RECORDED[42]),
        "another network": (OWN.key, 1000, good),
        "another network's": (QUICKNET.key, 7, sign(7)),
        "a bit turned": (QUICKNET.key, 1000, good[:-1] + "8"),
        "negated": (QUICKNET.key, 1000, "9" + good[1:]),
        "no point of the group": (QUICKNET.key, 1000, f"{1 << 383 | outside:096x}"),
    }
    for what, said in wrong.items():
        try:
            assert not is_signed(*said), what
        except ValueError:
            continue


def test_what_is_no_signature_reaches_no_library() -> None:
    infinity, key_of_infinity = "c0" + "0" * 94, "c0" + "0" * 190
    good = RECORDED[42]
    for key, number, signature in (
        (QUICKNET.key, 42, good.upper()),
        (QUICKNET.key, 42, "zz" * 48),
        (QUICKNET.key, 42, good[:-2]),
        (QUICKNET.key, 42, good + "\n"),
        (QUICKNET.key, 42, ""),
        (QUICKNET.key[:-2], 42, good),
        (QUICKNET.key, 0, good),
        (QUICKNET.key, -1, good),
        (QUICKNET.key, 2**64, good),
        (key_of_infinity, 42, infinity),
    ):
        assert not signed.is_signed(key, number, signature)
    assert signed.is_signed(QUICKNET.key, 42, good)


def test_a_round_is_published_after_the_bet_and_soon() -> None:
    begun = datetime.fromtimestamp(QUICKNET.genesis, UTC)
    assert QUICKNET.published(1) == QUICKNET.genesis
    assert QUICKNET.after(begun - timedelta(days=1)).number == 1
    for tenths in range(100):
        bet = begun + timedelta(days=700, seconds=tenths / 10)
        fixed = QUICKNET.after(bet)
        assert MARGIN <= fixed.due - bet.timestamp() < MARGIN + QUICKNET.period
        assert (fixed.due - QUICKNET.genesis) // QUICKNET.period + 1 == fixed.number
