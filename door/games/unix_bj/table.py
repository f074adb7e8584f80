"""UNIX bj as a caller meets it: a teletype in a corner of the house, and a page that explains it.

What happens between the seal and the seed is `run.py`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from door import wording
from door.call.page import Page
from door.games.tables.betting import BettingTime
from door.games.tables.scene import TableTally
from door.games.tables.sitting import Sitting
from door.games.tables.words import Words, turns_today
from door.games.unix_bj.game import UnixBjSettings
from door.games.unix_bj.run import GAME, Run, Terms
from door.lobby import texts
from timebank.errors import BooksUnavailable
from timebank.wagers.play_money import tally
from timebank.words import span

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller


# The manual page of bj as a caller may read it, in our own words.

MANUAL = """\
|15NAME|07
  bj -- black jack, as Ken Thompson wrote it for UNIX in 1971

|15SYNOPSIS|07
  /usr/games/bj

|15DESCRIPTION|07
  You play against the dealer, who must hit below 17 and stand on any
  17. The bet is $2 on every hand. One deck runs on from hand to hand.

  A natural, 21 in your first two cards, pays $3. A natural of the dealer
  takes your bet, unless you have one too: nobody pays then.

  When the dealer shows an ace you may insure for $1, which wins $2 if
  the dealer has a natural and is lost otherwise.

  Two cards of the same value may be split into two hands of $2 each, once
  a hand; split aces get one card each. On ten or eleven in two cards you
  may double down: twice the bet, and exactly one more card.

  Over 21 is a bust and loses. Otherwise the larger total wins, and a tie
  is a push.

|15QUESTIONS|07
  y and Enter is yes. Enter alone is no.

  Insurance?  Split pair?  Double down?
  Hit? |08(the program of 1971 printed only ?)|07

|15KEYS|07
  Ctrl-H rubs out. DEL, Ctrl-C and telnet's Interrupt Process end the
  game; the hand on the table is then played as if you had said no to all
  that is still asked. Typed right behind your last answer of a hand, DEL
  ends the game before the next one.

|15OUTPUT|07
  A card is its rank and its suit: AS, TD. The action is all that you have
  ever bet, the standing what you have won or lost by it; both are told at
  every shuffle and when you leave.

|15FILES|07
  A run of the game is dealt from one seed. You see its seal before the
  first letter and the seed after the last one. From shuffle to shuffle a
  deck is dealt down to its last card, which is never dealt.

|15BUGS|07
  The page of 1972 warns of the random number generator. This one can be
  checked.
"""


WORDS = Words(
    last_turn="|12You have played all {limit} hands of today.",
    pot_too_small="|12Your pot holds {pot}; the bet is {least}, and your last coin cannot be bet.",
)


class UnixBjTable(Sitting):
    title = "UNIX bj"

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller, WORDS)
        self.settings = UnixBjSettings.of(caller.config.games)
        self.terms = Terms.of_house(self.settings)
        self.tally = TableTally()
        self.open_run: Run | None = None  # with a hand that was left

    async def _evening(self) -> None:
        if self.terms.unit == "second":
            self.caller.status.coin = self.terms.dollar
        if self.open_run is None:
            await self.has_open_hand()
        run, self.open_run = self.open_run, None
        if run is not None:
            await run.go()
        while await self._between_runs():
            pass

    async def has_open_hand(self) -> bool:
        run = Run(self, self.terms, self.tally)
        self.open_run = run if await run.find_open() else None
        return self.open_run is not None

    async def stand_open_hand(self) -> None:
        run, self.open_run = self.open_run, None
        if run is not None:
            await run.stand_open()

    async def _between_runs(self) -> bool:
        folder, page = self.caller.config.board.texts, await self._front_page()
        self.console.stage(texts.headed(self.console, folder, GAME, page))
        choices = {"P": "Play", "M": "Manual", "Q": "Quit"}
        choice = await self.console.ask(choices, default="P", cancel="Q")
        if choice == "M":
            await self.console.read("BJ(VI)", MANUAL.rstrip("\n"))
        elif choice == "P":
            refusal = self._refusal()
            if refusal:
                self.console.say(refusal)
                await self.console.any_key()
            else:
                await Run(self, self.terms, self.tally).go()
        return choice != "Q"

    async def _front_page(self) -> Page:
        body = [
            "|07The black jack of UNIX, as it was played on a teletype in 1971.",
            "",
            *self._terms_in_words(),
            "",
            "|07|15y|07 and |15Enter|07 is yes, |15Enter|07 alone is no. |15DEL|07 or "
            "|15Ctrl-C|07 ends it, and says no to",
            "|07whatever is still asked about the hand on the table. |15Ctrl-H|07 rubs out.",
        ]
        try:
            caller_id, unit = self.caller.record.id, self.terms.unit
            score = await self.caller.ask_books(lambda desk: tally(desk, caller_id, GAME, unit))
        except BooksUnavailable:
            return Page("UNIX bj", [*body, "", "|12The books cannot be read just now."])
        if score.action:
            standing = _standing(score.standing)
            body += ["", f"|07Your action is |15${score.action}|07. So far you {standing}."]
        return Page("UNIX bj", body)

    def _terms_in_words(self) -> list[str]:
        limit, turns = self.terms.turns_limit, self.caller.purse.turns(GAME)
        if self.terms.unit != "second":
            return ["|07The bet is |15$2|07 on every hand, in play money: the house keeps the tab."]
        words = [
            f"|07The bet is |15$2|07 on every hand. A dollar is a coin: |15"
            f"{span(self.terms.dollar)}|07 of your time."
        ]
        if limit is not None:
            words.append(f"|07You have played |15{turns}|07 of |15{limit}|07 hands today.")
        return words

    def _refusal(self) -> str:
        if self.terms.unit != "second":
            return ""
        return BettingTime(self.caller, GAME, self.settings, 1, self.words).refusal()

    def _statement(self) -> str:
        if not self.tally.turns:
            return ""
        standing = f"you {_standing(self.tally.net)}"
        if self.caller.hand_waits:
            standing = f"{standing}, with" if self.tally.net else "you leave it with"
            standing += " a hand still open"
        return f"UNIX bj: {wording.counted(self.tally.turns, 'hand')}; {standing}."


def sit_down(board: Board, caller: Caller) -> UnixBjTable:
    return UnixBjTable(caller)


async def menu_words(board: Board, caller: Caller) -> str:
    house = UnixBjSettings.of(caller.config.games)
    if house.stakes == "minutes":
        return f"{turns_today(caller, GAME, house)}, $1 is {span(house.coin_minutes * 60)}"
    score = await caller.ask_books(lambda desk: tally(desk, caller.record.id, GAME, "usd-cent"))
    return f"play money; so far you {_standing(score.standing)}" if score.action else "play money"


def _standing(dollars: int) -> str:
    if not dollars:
        return "break even"
    return f"{'win' if dollars > 0 else 'lose'} ${abs(dollars)}"
