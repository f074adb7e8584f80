"""Decides which board an rlogin caller comes from, and whether the board is believed.

An rlogin header proves nothing. So a board is known by the address that it calls from, and by a
secret if its convention has room for one. It is believed only about its own callers: a caller is
(board, name).
"""

import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from door.errors import BoardNotTrusted
from door.lines.rlogin.header import RloginHeader
from timebank.settings.forms import Texts

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_MAPPED_BITS = 96  # before an IPv4 address that is written as IPv6


class Convention(StrEnum):
    SYNCHRONET = "synchronet"  # a password, then the caller (Synchronet, GameSrv)
    DOORPARTY = "doorparty"  # the caller, then [TAG]caller


@dataclass(frozen=True)
class TrustedBoard:
    """A board whose callers are let in.

    `tag` is the text before its callers' names (``[TAG]user``), in any case, or "". `addresses` are
    the networks that it must call from. `secret` is the required first field, "" if the address is
    enough. Raises `ValueError`, with a sentence, for settings that do not go together.
    """

    name: str
    tag: str = ""
    addresses: tuple[Network, ...] = ()
    secret: str = field(default="", repr=False)
    convention: Convention = Convention.SYNCHRONET

    def __post_init__(self) -> None:
        if self.convention is Convention.DOORPARTY and not self.tag:
            raise ValueError(f"{self.name}: a board that calls as DoorParty does needs its tag.")
        if self.convention is Convention.DOORPARTY and self.secret:
            raise ValueError(
                f"{self.name}: a board that calls as DoorParty does has no field for a secret."
            )


@dataclass(frozen=True)
class RloginCaller:
    """A caller for whom a trusted board vouches; `user` is the caller's name there."""

    board: str
    user: str


def address_in(text: str) -> Address | None:
    """Return the address in a text; None if there is none. IPv4 mapped into IPv6 is IPv4."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def networks(texts: Sequence[str]) -> tuple[Network, ...]:
    """Read addresses and networks such as ``192.0.2.7``, ``10.0.0.0/8`` or ``2001:db8::/32``.

    Raises `ValueError`, with a sentence, for other texts, and for networks with host bits set.
    """
    return tuple(_network(text.strip()) for text in texts)


def _network(text: str) -> Network:
    """Return one network; an IPv4 network mapped into IPv6 is IPv4, as callers' addresses are."""
    network = ipaddress.ip_network(text)
    if isinstance(network, ipaddress.IPv6Network) and network.prefixlen >= _MAPPED_BITS:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            return ipaddress.ip_network((mapped, network.prefixlen - _MAPPED_BITS))
    return network


def _setting(text: str) -> Network:
    try:
        return _network(text.strip())
    except ValueError as error:
        reason = "must be addresses or networks such as 192.0.2.7 or 10.0.0.0/8"
        raise ValueError(f"{reason}: {error}") from None


NETWORKS = Texts(_setting)
"""The form of a setting that lists addresses and networks."""


def trusted(header: RloginHeader, peer: str, boards: Sequence[TrustedBoard]) -> RloginCaller:
    """Return the caller for whom a board at the address `peer` vouches; raise `BoardNotTrusted`.

    Among the boards at that address the header's tag chooses, and then the secret: exactly one must
    be left. All secrets are compared, in constant time.
    """
    here = [board for board in boards if _calls_from(board, peer)]
    if not here:
        raise BoardNotTrusted("no trusted board calls from this address")
    tagged = [board for board in here if board.tag.casefold() == header.tag.casefold()]
    if not tagged:
        which = "the tag of its callers" if header.tag else "a caller without a tag"
        raise BoardNotTrusted(f"no board at this address has {which}")
    known = [board for board, fits in [(b, _secret_fits(b, header)) for b in tagged] if fits]
    if not known:
        raise BoardNotTrusted("the secret is not the one that was agreed on")
    if len(known) > 1:
        names = " or ".join(board.name for board in known)
        raise BoardNotTrusted(f"it could be {names}: give them different tags or secrets")
    board = known[0]
    if board.convention is Convention.DOORPARTY and not _same_user(header):
        raise BoardNotTrusted("its two fields name two different callers")
    return RloginCaller(board.name, header.second)


def _calls_from(board: TrustedBoard, peer: str) -> bool:
    address = address_in(peer)
    return address is not None and any(address in network for network in board.addresses)


def _secret_fits(board: TrustedBoard, header: RloginHeader) -> bool:
    fits = hmac.compare_digest(header.first.encode(), board.secret.encode())
    return fits or not board.secret


def _same_user(header: RloginHeader) -> bool:
    first = " ".join(header.first.split()).casefold()
    # Some programs write the tag into both fields.
    return first in (header.second.casefold(), f"[{header.tag}]{header.second}".casefold())
