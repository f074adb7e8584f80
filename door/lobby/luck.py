"""The page "Luck": what the caller's hands won, compared with what exact odds would have given."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from door.call.markup import hanging
from door.errors import HelperUnavailable
from door.lobby.sums import Sums, wait_for_answer
from timebank.language import N_, _, ngettext
from timebank.ledger.schema import stamp
from timebank.reports.house import hands_of
from timebank.words import amount_words, decimal, title

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.ledger.database import Desk
    from timebank.reports.house import FinishedHand, Luck
    from timebank.words import Unit

DAYS = 30
FEWEST = 20  # hands needed to say how common such luck is
MOST = 3000  # hands counted, the newest

UNAVAILABLE = N_("Your luck can't be worked out right now.")


async def show_luck(board: Board, caller: Caller) -> None:
    caller.place = N_("Luck")
    console, heading = caller.console, _("Your luck")
    number = caller.record.id

    def read(desk: Desk) -> list[FinishedHand]:
        return hands_of(desk, number, stamp(desk.now - timedelta(days=DAYS)), MOST)

    hands = await caller.look_up(read)
    if not hands:
        words = _("No hands finished in the last {days} days.").format(days=DAYS)
        await console.pager.read(heading, f"|07{words}")
        return
    answer = Sums.among(board.shared).lucks(hands)
    try:
        if not await wait_for_answer(console, heading, answer):
            return
        text = "\n".join(lines_of(answer.result()))
    except (HelperUnavailable, asyncio.CancelledError):
        if not answer.done():  # the call itself was cancelled
            raise
        text = f"|12{_(UNAVAILABLE)}"
    finally:
        answer.cancel()
    await console.pager.read(heading, text)


def lines_of(lucks: Sequence[Luck]) -> Iterator[str]:
    words = _(
        "Your hands of the last {days} days. What you won beyond the odds of how you played is"
        " luck, and in the long run luck comes to nothing."
    )
    yield f"|07{words.format(days=DAYS)}"
    for luck in lucks:
        hands = ngettext("{number} hand", "{number} hands", luck.hands).format(number=luck.hands)
        yield ""
        yield f"|15{_(title(luck.game))}|07, {hands}"
        yield from (hanging(f"|07  {sentence}") for sentence in sentences(luck))


def sentences(luck: Luck) -> Iterator[str]:
    """Describe the luck at one table to the caller; the amounts in `luck` are the house's."""
    staked = amount_words(luck.staked, luck.unit)
    net = -luck.house
    if net > 0:
        words = _("You bet {staked} and won {net}.")
    elif net < 0:
        words = _("You bet {staked} and lost {net}.")
    else:
        words = _("You bet {staked} and came out even.")
    yield words.format(staked=staked, net=amount_words(abs(net), luck.unit))
    if luck.unknown:
        words = ngettext(
            "The odds of {number} hand are not known.",
            "The odds of {number} hands are not known.",
            luck.unknown,
        )
        yield words.format(number=luck.unknown)
    if luck.hands > luck.unknown:
        yield _given(-round(luck.given), luck.unit)
        yield from _lucky(luck)


def _given(given: int, unit: Unit) -> str:
    if given > 0:
        words = _("By the odds, the hands as you played them win {given} on average.")
    elif given < 0:
        words = _("By the odds, the hands as you played them lose {given} on average.")
    else:
        words = _("By the odds, the hands as you played them break even on average.")
    return words.format(given=amount_words(abs(given), unit))


def _lucky(luck: Luck) -> Iterator[str]:
    """Yield how lucky the caller was and, after enough hands, how common that is."""
    beyond, deviations = -luck.luck, -luck.deviations
    if not round(abs(beyond)) or not round(abs(deviations), 1):
        yield _("So your luck was neither good nor bad.")
        return
    words = _("So you had bad luck: {beyond} less than that ({deviations} standard deviations).")
    if beyond > 0:
        words = _(
            "So you had good luck: {beyond} more than that ({deviations} standard deviations)."
        )
    yield words.format(
        beyond=amount_words(round(abs(beyond)), luck.unit),
        deviations=decimal(round(abs(deviations), 1)),
    )
    if luck.hands - luck.unknown >= FEWEST:
        yield _how_common(beyond > 0, abs(deviations))


def _how_common(is_good: bool, deviations: float) -> str:
    share = round(50 * math.erfc(deviations / math.sqrt(2)))
    if share < 1:
        words = _("Fewer than 1 in 100 callers who play such hands do as badly or worse.")
        if is_good:
            words = _("Fewer than 1 in 100 callers who play such hands do as well or better.")
        return words
    words = _("About {share} in 100 callers who play such hands do as badly or worse.")
    if is_good:
        words = _("About {share} in 100 callers who play such hands do as well or better.")
    return words.format(share=share)
