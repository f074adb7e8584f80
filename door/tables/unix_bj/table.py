"""The table of UNIX bj: a teletype, and a page that explains it.

What happens between the seal and the seed is `run.py`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from door.call.markup import lit
from door.call.page import MARGIN, Page
from door.games.unix_bj.game import UnixBjSettings
from door.lobby import texts
from door.lobby.teller import visit_bank
from door.tables.betting import BettingTime
from door.tables.fairness import Fairness
from door.tables.fairness_view import read_fairness
from door.tables.reel import DECIDED_SECONDS, END_SECONDS, THINK_SECONDS
from door.tables.scene import TableTally
from door.tables.sitting import Sitting
from door.tables.strategy import TableCard
from door.tables.tutor.tutor_process import TutorProcess
from door.tables.unix_bj import words
from door.tables.unix_bj.run import GAME, Run, Terms
from door.tables.unix_bj.teletype import OPENING, Score, Teletype
from door.tables.words import (
    BANK,
    BET,
    FAIRNESS,
    MEANINGS,
    QUIT,
    RULES,
    STRATEGY,
    STRATEGY_LABEL,
    turns_today,
)
from timebank.errors import BooksUnavailable
from timebank.language import N_, _
from timebank.wagers.play_money import tally
from timebank.words import date_words, span

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.tables.reel import Reel, ReplayedHand

PLAY, MANUAL = "PM"


class UnixBjTable(Sitting):
    title = "UNIX bj"

    def __init__(self, board: Board, caller: Caller) -> None:
        super().__init__(caller)
        self.tutor_process = TutorProcess.among(board.shared)
        self.settings = UnixBjSettings.among(caller.config.games)
        self.strategy = TableCard(board, GAME, self.settings.rules)
        self.terms = Terms.of_house(self.settings)
        self.tally = TableTally()
        self.open_run: Run | None = None  # with an open hand
        self.next_run: Run | None = None  # sealed, but not begun
        self.last = Fairness()  # of the last finished run
        self._known: Sequence[str] = ()  # the front page as last shown, for plain lines

    async def _run_visit(self) -> None:
        if self.terms.unit == "second":
            self.caller.status.coin = self.terms.dollar
        if self.open_run is None:
            await self.has_open_hand()
        run, self.open_run = self.open_run, None
        if run is not None:
            await self._play(run)
        while await self._between_runs():
            pass

    async def has_open_hand(self) -> bool:
        run = self._new_run()
        self.open_run = run if await run.find_open_round() else None
        return self.open_run is not None

    async def stand_open_hand(self) -> None:
        run, self.open_run = self.open_run, None
        if run is not None:
            await run.stand_open()

    async def _between_runs(self) -> bool:
        refusal = self._refusal()
        folder, front = self.caller.config.board.texts, await self._front_page(refusal)
        page = texts.headed(self.console, folder, GAME, front)
        self.console.display.stage(page, self._known)
        self._known = page.lines()
        choices = {
            PLAY: _("Play"),
            MANUAL: _("Manual"),
            FAIRNESS: _("Fairness"),
            BANK: _("Time bank"),
            QUIT: _("Quit"),
        }
        default = QUIT if refusal else PLAY
        choice = await self.console.prompt.ask(
            {**choices, STRATEGY: _(STRATEGY_LABEL)},
            menu=lit(choices, default),
            brief=self._in_brief(choices, default),
            default=default,
            cancel=QUIT,
            also={BET: PLAY, RULES: MANUAL},
            meanings={
                PLAY: N_("Start the program. Type ? there for how to answer and how to end it."),
                MANUAL: N_("Read its manual page, with the rules and the keys."),
                **MEANINGS,
            },
        )
        if choice == MANUAL:
            columns = self.console.screen.page_columns - MARGIN
            await self.console.pager.read(
                words.MANUAL_TITLE, words.manual(columns, self.console.keyboard)
            )
        elif choice == FAIRNESS:
            await self._read_fairness()
        elif choice == STRATEGY:
            await self.strategy.read(self.console)
        elif choice == BANK:
            await visit_bank(self.caller)
        elif choice == PLAY:
            if refusal := self._refusal():
                self.console.screen.say(f"|12{refusal}")
                await self.console.pager.any_key()
            else:
                run, self.next_run = self.next_run or self._new_run(), None
                await self._play(run)
        return choice != QUIT

    def _new_run(self) -> Run:
        return Run(self, self.terms, self.tally, self.tutor_process)

    async def _play(self, run: Run) -> None:
        await run.go()
        if run.fairness.seed:
            self.last = run.fairness

    async def _read_fairness(self) -> None:
        """Show the seal of the next run and the seed of the last one."""
        run = self.next_run or self._new_run()
        try:
            seal = await run.seal()
        except BooksUnavailable:
            self.books_unavailable()
            await self.console.pager.any_key()
            return
        self.next_run = run
        fairness = replace(self.last, seal=seal, is_next_sealed=True, last_seal=self.last.seal)
        fairness = fairness.sealed_ahead(
            self.caller.record.preferences, run.play.shoe, self.last.link
        )
        await read_fairness(self.caller, GAME, fairness)

    async def _front_page(self, refusal: str) -> Page:
        # A caller who cannot play gets the reason instead of the keys.
        keys = words.keys(self.console.keyboard)
        last = f"|14{refusal}" if refusal else keys
        body = [words.introduction(), "", *self._terms_in_words(), "", last]
        try:
            caller_id, unit = self.caller.record.id, self.terms.unit
            score = await self.caller.ask_books(lambda desk: tally(desk, caller_id, GAME, unit))
        except BooksUnavailable:
            unread = _("The books can't be read right now.")
            return Page(self.title, [*body, "", f"|12{unread}"])
        if score.action:
            body += ["", words.score(score.action, score.net)]
        return Page(self.title, body)

    def _terms_in_words(self) -> list[str]:
        if self.terms.unit != "second":
            return [words.terms_of_play_money()]
        turns = self.caller.purse.turns(GAME)
        return [*words.terms(self.terms.dollar, turns, self.terms.turns_limit)]

    def _refusal(self) -> str:
        if self.terms.unit != "second":
            return self.caller.purse.why_no_bets()
        return BettingTime(self.caller, GAME, self.settings, 1).refusal()

    def _statement(self) -> str:
        net = words.net_words(self.tally.net)
        return self.tally.summed_up(self.title, hand_is_open=self.caller.hand_waits, result=net)


async def menu_words(board: Board, caller: Caller) -> str:
    house = UnixBjSettings.among(caller.config.games)
    if house.stakes == "minutes":
        return _("{turns}, $1 is {time}").format(
            turns=turns_today(caller, GAME, house), time=span(house.coin_minutes * 60)
        )
    score = await caller.ask_books(lambda desk: tally(desk, caller.record.id, GAME, "usd-cent"))
    return words.net_so_far(score.net) if score.action else _("play money")


CLEARED = "\x1b[0m\x1b[2J\x1b[H"


def film(reel: Reel, hand: ReplayedHand) -> None:
    stored = hand.stored
    paper = Teletype("1975", stored.coin, Score())
    title = _("Hand {number}").format(number=stored.id)
    reel.mark(title)
    reel.write(f"{CLEARED}{title}: {stored.caller}, {date_words(stored.day)}\r\n\r\n")
    reel.now += THINK_SECONDS
    _print(reel, OPENING)
    round_ = hand.after
    for step in hand.steps:
        if step.act is None:
            _print(reel, paper.deal(stored.start, step.hand.round, step.events))
        else:
            # Answer no to every question before the one that was answered with yes.
            for question in paper.questions(round_):
                is_yes = question.yes == step.act.word
                reel.now += THINK_SECONDS
                reel.write(question.text)
                reel.now += DECIDED_SECONDS
                reel.write("y\r\n" if is_yes else "\r\n")
                if is_yes:
                    break
            _print(reel, paper.print_events(step.hand.round, step.events))
        round_ = step.hand.round
    reel.now += THINK_SECONDS
    if why := hand.why_unsettled():
        reel.write(f"\r\n{why}\r\n")
    reel.now += END_SECONDS


def _print(reel: Reel, letters: str) -> None:
    reel.write(letters.replace("\n", "\r\n"))
