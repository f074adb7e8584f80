"""Decides which board an rlogin caller comes from, and whether the board is believed.

An rlogin header proves nothing. So a board is known by the address that it calls from, and by a
secret if its convention has room for one. It is believed only about its own callers: a caller is
(board, name).
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from door.errors import BoardNotTrusted
from door.lines.addresses import Network, is_in
from door.lines.rlogin.header import RloginHeader


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


def trusted(header: RloginHeader, peer: str, boards: Sequence[TrustedBoard]) -> RloginCaller:
    """Return the caller for whom a board at the address `peer` vouches; raise `BoardNotTrusted`.

    Among the boards at that address the header's tag chooses, and then the secret: exactly one must
    be left. All secrets are compared, in constant time.
    """
    here = [board for board in boards if is_in(peer, board.addresses)]
    if not here:
        raise BoardNotTrusted("no trusted board calls from this address")
    tagged = [board for board in here if board.tag.casefold() == header.tag.casefold()]
    if not tagged:
        which = "the tag of its callers" if header.tag else "a caller without a tag"
        raise BoardNotTrusted(f"no board at this address has {which}")
    known = [board for board in tagged if _secret_fits(board, header)]
    if not known:
        raise BoardNotTrusted("the secret is not the one that was agreed on")
    if len(known) > 1:
        names = " or ".join(board.name for board in known)
        raise BoardNotTrusted(f"it could be {names}: give them different tags or secrets")
    board = known[0]
    if board.convention is Convention.DOORPARTY and not _same_user(header):
        raise BoardNotTrusted("its two fields name two different callers")
    return RloginCaller(board.name, header.second)


def _secret_fits(board: TrustedBoard, header: RloginHeader) -> bool:
    fits = hmac.compare_digest(header.first.encode(), board.secret.encode())
    return fits or not board.secret


def _same_user(header: RloginHeader) -> bool:
    first = " ".join(header.first.split()).casefold()
    # Some programs write the tag into both fields.
    return first in (header.second.casefold(), f"[{header.tag}]{header.second}".casefold())
