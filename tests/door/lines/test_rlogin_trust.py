"""Which board a caller comes from: by address, tag and secret, and never by their word."""

import re

import pytest

from door.errors import BoardNotTrusted
from door.lines.addresses import networks
from door.lines.rlogin.header import RloginHeader
from door.lines.rlogin.trust import Convention, RloginCaller, TrustedBoard, trusted

SYNCHRONET, DOORPARTY = Convention.SYNCHRONET, Convention.DOORPARTY


def board(
    name: str,
    *addresses: str,
    tag: str = "",
    secret: str = "",
    convention: Convention = SYNCHRONET,
) -> TrustedBoard:
    return TrustedBoard(name, tag, networks(addresses), secret, convention)


def header(first: str, second: str, tag: str = "") -> RloginHeader:
    return RloginHeader(first, second, "", "", tag)


VERT = board("Vertrauen", "192.0.2.7", "2001:db8::/32", secret="s3cret")
OPEN = board("Open House", "198.51.100.0/24")
ACME = board("Acme", "203.0.113.1", tag="ACME", convention=DOORPARTY)
# Three boards behind one address: by tag, and by secret.
FIRST = board("First", "10.0.0.0/8", tag="ONE", secret="1")
SECOND = board("Second", "10.0.0.0/8", secret="2")
THIRD = board("Third", "10.0.0.0/8", secret="3")
BOARDS = (VERT, OPEN, ACME, FIRST, SECOND, THIRD)


@pytest.mark.parametrize(
    ("said", "peer", "caller"),
    [
        (header("s3cret", "Ada"), "192.0.2.7", RloginCaller("Vertrauen", "Ada")),
        (header("s3cret", "Ada"), "2001:db8::99", RloginCaller("Vertrauen", "Ada")),
        (header("s3cret", "Ada"), "::ffff:192.0.2.7", RloginCaller("Vertrauen", "Ada")),
        (header("s3cret", "Ada"), "::ffff:c000:207", RloginCaller("Vertrauen", "Ada")),
        (header("s3cret", "Ada"), "2001:db8::99%eth0", RloginCaller("Vertrauen", "Ada")),
        (header("his own", "Ada"), "198.51.100.200", RloginCaller("Open House", "Ada")),
        (header("Ada", "Ada", "ACME"), "203.0.113.1", RloginCaller("Acme", "Ada")),
        (header("ada", "Ada", "acme"), "203.0.113.1", RloginCaller("Acme", "Ada")),
        (header("[ACME]Ada", "Ada", "ACME"), "203.0.113.1", RloginCaller("Acme", "Ada")),
        (header("1", "Ada", "one"), "10.1.2.3", RloginCaller("First", "Ada")),
        (header("2", "Ada"), "10.1.2.3", RloginCaller("Second", "Ada")),
        (header("3", "Ada"), "10.1.2.3", RloginCaller("Third", "Ada")),
    ],
)
def test_a_trusted_board_vouches_for_its_callers(
    said: RloginHeader, peer: str, caller: RloginCaller
) -> None:
    assert trusted(said, peer, BOARDS) == caller


@pytest.mark.parametrize(
    ("said", "peer", "reason"),
    [
        (header("s3cret", "Ada"), "192.0.2.8", "no trusted board calls from this address"),
        (header("s3cret", "Ada"), "unknown", "no trusted board calls from this address"),
        (header("s3cret", "Ada"), "", "no trusted board calls from this address"),
        (header("s3cre", "Ada"), "192.0.2.7", "the secret is not the one"),
        (header("S3CRET", "Ada"), "192.0.2.7", "the secret is not the one"),
        (header("s3crét", "Ada"), "192.0.2.7", "the secret is not the one"),
        (header("1", "Ada"), "10.1.2.3", "the secret is not the one"),
        (header("2", "Ada", "ONE"), "10.1.2.3", "the secret is not the one"),
        (header("s3cret", "Ada", "ACME"), "192.0.2.7", "has the tag of its callers"),
        (header("Ada", "Ada"), "203.0.113.1", "has a caller without a tag"),
        (header("Ada", "Ada", "OTHER"), "203.0.113.1", "has the tag of its callers"),
        (header("Bob", "Ada", "ACME"), "203.0.113.1", "name two different callers"),
    ],
)
def test_an_unlisted_board_is_not_trusted(said: RloginHeader, peer: str, reason: str) -> None:
    with pytest.raises(BoardNotTrusted, match=reason) as refused:
        trusted(said, peer, BOARDS)
    assert "s3c" not in str(refused.value).lower()


def test_a_board_without_addresses_is_never_believed() -> None:
    with pytest.raises(BoardNotTrusted, match="no trusted board calls"):
        trusted(header("s", "Ada"), "127.0.0.1", [board("Nowhere", secret="s")])


def test_two_boards_with_overlapping_networks_are_refused_by_name() -> None:
    twins = [board("One", "127.0.0.0/8"), board("Two", "127.0.0.1")]
    with pytest.raises(BoardNotTrusted, match="it could be One or Two: give them different tags"):
        trusted(header("s", "Ada"), "127.0.0.1", twins)


def test_a_board_shows_no_secret() -> None:
    assert "s3cret" not in repr(VERT)


@pytest.mark.parametrize(
    ("tag", "secret", "sentence"),
    [("", "", "Acme: a board .* needs its tag."), ("ACME", "s", "Acme: .* no field for a secret.")],
)
def test_settings_that_the_convention_cannot_keep_are_refused(
    tag: str, secret: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        board("Acme", "127.0.0.1", tag=tag, secret=secret, convention=DOORPARTY)


@pytest.mark.parametrize("text", ["", "localhost", "10.0.0.1/8", "300.1.1.1"])
def test_an_invalid_network_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"^'?{re.escape(text)}'? "):
        networks([text])


def test_ipv4_written_as_ipv6_is_the_network_that_it_is() -> None:
    assert networks(["::ffff:192.0.2.7", "::ffff:10.0.0.0/104"]) == networks(
        ["192.0.2.7", "10.0.0.0/8"]
    )
