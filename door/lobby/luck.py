"""How lucky a caller was: what their hands won, beside what exact odds would have given."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from door.call.markup import hanging
from door.errors import NoAdviceNow
from door.lobby.sums import Sums, is_awaited
from timebank.language import N_, _, ngettext
from timebank.ledger.schema import stamp
from timebank.reports.house import hands_of
from timebank.words import amount_words, decimal, title

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.ledger.database import Desk
    from timebank.reports.house import FinishedHand, TableLuck
    from timebank.words import Unit

DAYS = 30
FEWEST = 20  # hands before anything is said of how often such luck comes
MOST = 3000  # hands, the newest

UNAVAILABLE = N_("Your luck can't be worked out right now.")


async def show_luck(board: Board, caller: Caller) -> None:
    caller.place = N_("Luck")
    console, heading = caller.console, _("Your luck")
    number = caller.record.id

    def read(desk: Desk) -> list[FinishedHand]:
        return hands_of(desk, number, stamp(desk.now - timedelta(days=DAYS)), MOST)

    hands = await caller.look_up(read)
    if not hands:
        told = _("No hand of yours was over in the last {days} days.").format(days=DAYS)
        await console.pager.read(heading, f"|07{told}")
        return
    asked = Sums.among(board.shared).lucks(hands)
    try:
        if not await is_awaited(console, heading, asked):
            return
        text = "\n".join(lines_of(asked.result()))
    except (NoAdviceNow, asyncio.CancelledError):
        if not asked.done():  # it is the call that ends
            raise
        text = f"|12{_(UNAVAILABLE)}"
    finally:
        asked.cancel()
    await console.pager.read(heading, text)


def lines_of(lucks: Sequence[TableLuck]) -> Iterator[str]:
    told = _(
        "Your hands of the last {days} days. What you won beyond the odds of how you played is"
        " luck, and in the long run luck comes to nothing."
    )
    yield f"|07{told.format(days=DAYS)}"
    for luck in lucks:
        hands = ngettext("{number} hand", "{number} hands", luck.hands).format(number=luck.hands)
        yield ""
        yield f"|15{title(luck.game)}|07, {hands}"
        yield from (hanging(f"|07  {sentence}") for sentence in sentences(luck))


def sentences(luck: TableLuck) -> Iterator[str]:
    """Say the luck of one table, whose amounts are the house's, to the caller."""
    staked = amount_words(luck.staked, luck.unit)
    net = -luck.house
    if net > 0:
        told = _("You staked {staked} and won {net}.")
    elif net < 0:
        told = _("You staked {staked} and lost {net}.")
    else:
        told = _("You staked {staked} and came out even.")
    yield told.format(staked=staked, net=amount_words(abs(net), luck.unit))
    if luck.unknown:
        told = ngettext(
            "The odds of {number} hand are not known.",
            "The odds of {number} hands are not known.",
            luck.unknown,
        )
        yield told.format(number=luck.unknown)
    if luck.hands > luck.unknown:
        yield _given(-round(luck.given), luck.unit)
        yield from _lucky(luck)


def _given(given: int, unit: Unit) -> str:
    if given > 0:
        told = _("By the odds, the hands as you played them win {given} on average.")
    elif given < 0:
        told = _("By the odds, the hands as you played them lose {given} on average.")
    else:
        told = _("By the odds, the hands as you played them break even on average.")
    return told.format(given=amount_words(abs(given), unit))


def _lucky(luck: TableLuck) -> Iterator[str]:
    """Say how far luck went, and how often it goes as far."""
    beyond, deviations = -luck.luck, -luck.deviations
    if not round(abs(beyond)) or not round(abs(deviations), 1):
        yield _("So you had neither good luck nor bad.")
        return
    told = _("So you had bad luck: {beyond} less than that ({deviations} standard deviations).")
    if beyond > 0:
        told = _(
            "So you had good luck: {beyond} more than that ({deviations} standard deviations)."
        )
    yield told.format(
        beyond=amount_words(round(abs(beyond)), luck.unit),
        deviations=decimal(round(abs(deviations), 1)),
    )
    if luck.hands - luck.unknown >= FEWEST:
        yield _as_often(beyond > 0, abs(deviations))


def _as_often(is_good: bool, deviations: float) -> str:
    share = round(50 * math.erfc(deviations / math.sqrt(2)))
    if share < 1:
        told = _("Fewer than 1 in 100 callers who play such hands do as badly or worse.")
        if is_good:
            told = _("Fewer than 1 in 100 callers who play such hands do as well or better.")
        return told
    told = _("About {share} in 100 callers who play such hands do as badly or worse.")
    if is_good:
        told = _("About {share} in 100 callers who play such hands do as well or better.")
    return told.format(share=share)
