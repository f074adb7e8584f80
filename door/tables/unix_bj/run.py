"""One run of the UNIX program for a caller, from the seal to the seed.

Commit before show: a hand and every answer are durable before a letter of them is printed.
`teletype` prints the program's letters. A run asks its questions, except for those that the pot
cannot pay. Messages of the board (seal, seed, refusals) come before, after and between the letters,
never in them. Painted screens show seal and seed in short; the page behind <F>airness has them
whole.

Every run has a shoe of its own, whose one seed makes all its shuffles.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ansi.keys import BACKSPACE, DELETE, ENTER, F1, INTERRUPT
from door.call.keyboard import HELP, letters_of
from door.call.lines_display import LinesDisplay
from door.call.page import Page
from door.call.screen import Paint
from door.call.whole_lines import chosen
from door.errors import RunEnded, TimeUp
from door.games.blackjack.round import BlackjackAction, BlackjackRound
from door.games.blackjack.rules import UNIX_BJ_STAKE, rules_to_mapping
from door.games.engine.game import Act
from door.games.unix_bj.game import BET, UNIX_BJ_KIND, UnixBjSettings
from door.tables.fairness import Fairness
from door.tables.play import Deal, Play, Step
from door.tables.reel import replay_hand
from door.tables.sitting import NO_BOOKS, Sitting
from door.tables.tutor.advice import Tutor
from door.tables.unix_bj import words
from door.tables.unix_bj.teletype import OPENING, Score, Teletype, decline, hand_start, is_yes
from timebank.errors import BooksUnavailable, CallClosed, NotEnough, Refused
from timebank.language import _
from timebank.wagers import play_money

if TYPE_CHECKING:
    from door.tables.scene import TableTally
    from door.tables.tutor.tutor_process import TutorProcess
    from timebank.wagers.journal import StoredRound
    from timebank.words import Unit


# The paper of a teletype on a caller's line: letters as they are, and bare prompts.
#
# Nothing is wrapped or coloured. Messages of the board, such as that the time is running out, come
# between the letters.


class Paper(LinesDisplay):
    """Scrolling lines for a program that prints letter by letter."""

    def print(self, letters: str) -> None:
        """Print `letters`, whose lines end in a bare newline."""
        self._send(letters.replace("\n", "\r\n"))

    def prompt(self, text: str, room: int = 0, brief: str = "") -> None:
        """Print the prompt; only typed letters follow it."""
        self._prompt, self._typed, self._wanted = text, "", room
        self._room = max(0, self._width - len(text))
        self._send(text)


GAME = UNIX_BJ_KIND.name
LONGEST_LINE = 60
STRUCK = (INTERRUPT, DELETE)

STAKE_KINDS = {
    BlackjackAction.INSURANCE: "insurance",
    BlackjackAction.SPLIT: "split",
    BlackjackAction.DOUBLE: "double",
}

log = logging.getLogger("door.tables")


@dataclass(frozen=True)
class Terms:
    """The stakes: a dollar in the smallest unit, and the limit of hands a day, None for none."""

    unit: Unit
    dollar: int
    turns_limit: int | None

    @classmethod
    def of_house(cls, settings: UnixBjSettings) -> Terms:
        if settings.stakes == "minutes":
            return cls("second", settings.coin_minutes * 60, settings.turns_per_day or None)
        return cls("usd-cent", UNIX_BJ_STAKE // BET, None)


class Run:
    """A run of the program; `find_open_round` resumes an open hand."""

    def __init__(
        self, sitting: Sitting, terms: Terms, tally: TableTally, tutor_process: TutorProcess
    ) -> None:
        """Begin without cards; add the results to `tally`, in dollars."""
        self.sitting = sitting
        self.caller = sitting.caller
        self.console = sitting.console
        self.settings = UnixBjSettings.among(self.caller.config.games)
        self.terms = terms
        self.tally = tally
        self.play = Play(self.caller, UNIX_BJ_KIND)
        self._rules = rules_to_mapping(self.settings.rules)
        self.stored: StoredRound | None = None  # the open hand that the run resumes
        self.teletype = Teletype(self.settings.prompts, terms.dollar, Score())
        self.paper = self._new_paper()
        self.letters = ""  # of the hand on the table
        self.fairness = Fairness()
        self._tutor_process = tutor_process
        self.tutor: Tutor | None = None  # None while it is off

    @property
    def round(self) -> BlackjackRound | None:
        round_: BlackjackRound | None = self.play.round
        return round_

    async def find_open_round(self) -> bool:
        """Return whether there is an open hand, and resume it under its own terms."""
        self.stored = stored = await self.play.find_open_round()
        if stored is not None:
            self.terms = Terms(stored.unit, stored.coin, self.terms.turns_limit)
        return stored is not None

    async def stand_open(self) -> None:
        await self._load_paper()
        await self._stand_unasked()

    async def seal(self) -> str:
        """Return the seal of the run's shoe, sealed now if needed. Raises `BooksUnavailable`."""
        shoe = self.play.shoe or await self.play.next_shoe(self._rules, fresh=True)
        return shoe.seal

    async def go(self) -> None:
        self.console.screen.scroll_lines()
        try:
            if await self._begin():
                self.console.screen.display = self.paper = self._new_paper()
                self.console.keyboard.rubout = INTERRUPT
                await self._program()
                self.console.keyboard.rubout = BACKSPACE
                self.console.screen.scroll_lines()
                self.console.screen.say(await self._open_seed())
            await self.console.pager.any_key()
        except TimeUp:
            self.console.keyboard.rubout = BACKSPACE
            await self._stand_unasked()
            await self.console.pager.any_key()
        finally:
            if self.tutor is not None:
                self.tutor.leave()
                self.tutor = None
            self.console.keyboard.rubout = BACKSPACE
        self._paint_again()

    async def _begin(self) -> bool:
        """Show the seal before the first letter; `False` when the run cannot begin."""
        try:
            seal = await self.seal()
            await self._load_paper()
        except BooksUnavailable:
            self.sitting.books_unavailable()
            return False
        if self.stored is not None:
            self.console.screen.say(f"|14{_(self.sitting.resumed)}")
        if self.console.screen.can_paint:
            self.console.screen.say(f"|07{Fairness(seal).short()}")
        return await self.sitting.attempt(self._cut())

    async def _cut(self) -> bool:
        """Cut a fresh shoe with the caller's words or phrase; `False` at Esc."""
        shoe = self.play.shoe
        assert shoe is not None
        if shoe.cut is None:
            words = await self.sitting.choose_cut(shoe)
            if words is None:
                return False
            self.play.shoe = replace(shoe, cut=words)
        return True

    async def _load_paper(self) -> None:
        """Start a new sheet with the score, and with the letters of a resumed hand."""
        caller_id, unit = self.caller.record.id, self.terms.unit
        score = await self.caller.ask_books(
            lambda desk: play_money.tally(desk, caller_id, GAME, unit)
        )
        base = Score(score.action, score.net)
        self.teletype = Teletype(self.settings.prompts, self.terms.dollar, base)
        self.letters = ""
        if self.stored is not None and self.round is not None:
            totals = self.round.totals
            base.action -= totals.staked // self.terms.dollar
            base.net -= (totals.won - totals.lost) // self.terms.dollar
            self.letters = self._letters_of(self.stored)

    def _letters_of(self, stored: StoredRound) -> str:
        """Return the letters of a hand from its journal."""
        deal, *steps = replay_hand(stored).steps
        letters = self.teletype.deal(stored.start, deal.hand.round, deal.events)
        return letters + "".join(
            self.teletype.print_events(each.hand.round, each.events) for each in steps
        )

    async def _program(self) -> None:
        self.paper.print(OPENING)
        try:
            if self.stored is not None:
                self.stored = None
                self.paper.print(self.letters)
                await self._play_hand()
                if self.terms != Terms.of_house(self.settings):
                    self.paper.print("\n")
                    raise RunEnded(_("The bets have changed since that hand was dealt."))
            while True:
                await self._deal()
                await self._play_hand()
        except RunEnded as ended:
            await self.play.stand(self._show)
            self.paper.print(self.teletype.account())
            if str(ended):
                self.paper.say(f"|12{ended}")

    async def _deal(self) -> None:
        if self.console.keyboard.interruption is not None:
            raise self.console.keyboard.interruption
        if self.console.keyboard.next_key() in STRUCK:
            await self.console.keyboard.key()
            self.paper.print("\n")
            raise RunEnded
        shoe = self.play.shoe
        assert shoe is not None
        start = hand_start(shoe.position + (self.round.cards_used if self.round else 0))
        deal = Deal(
            unit=self.terms.unit,
            coin=self.terms.dollar,
            turns_limit=self.terms.turns_limit,
            rules=self._rules,
            purse=None if self.terms.unit == "second" else "tab",
            start=start,
        )
        try:
            step = await self.play.place(BET * self.terms.dollar, deal, shoe.cut or "")
        except CallClosed:
            raise
        except (Refused, BooksUnavailable) as refused:
            self.paper.print("\n")
            raise RunEnded(self._sentence(refused)) from refused
        self.letters = ""
        self._print(self.teletype.deal(start, step.after, step.events))
        self._count(step)

    async def _play_hand(self) -> None:
        while self.round is not None and not self.round.over:
            try:
                await self._act(await self._decide(self.round))
            except NotEnough as refused:
                self.paper.say(f"|12{refused}")
            except BooksUnavailable as unavailable:
                self.paper.say(f"|12{self._sentence(unavailable)}")
                await self._line(_("Press Enter to try again: "))

    async def _decide(self, round_: BlackjackRound) -> BlackjackAction:
        """Ask the caller for a decision, with the tutor's advice where it is on."""
        if not self.caller.prefers("tutor"):
            return await self._asked(round_)
        if self.tutor is None:
            self.tutor = Tutor(self._tutor_process, self._say, lambda: self.round)
        tutor = self.tutor
        tutor.watch(round_, [each for each in round_.legal() if self._can_pay(round_.amount(each))])
        action = await self._asked(round_)
        tutor.judge(action)
        return action

    async def _asked(self, round_: BlackjackRound) -> BlackjackAction:
        for question in self.teletype.questions(round_):
            self.caller.purse.offer()
            if self._can_pay(round_.amount(question.yes)):
                line = await self._line(question.text)
                is_word = self.console.keyboard.sends_words and line.strip() == question.yes
                if is_yes(line) or is_word:
                    return question.yes
        return decline(round_)

    def _can_pay(self, amount: int) -> bool:
        is_time = self.terms.unit == "second"
        return not is_time or self.caller.purse.can_stake(amount, self.terms.dollar)

    async def _act(self, action: BlackjackAction) -> None:
        """Carry out an answer: work it out, make it durable, print it."""
        assert self.round is not None
        stake = self.round.amount(action)
        self._show(await self.play.act(Act(action), stake, STAKE_KINDS.get(action, "")))

    async def _line(self, prompt: str) -> str:
        """Ask and read a line, in which ? or F1 explains the keys; raises `RunEnded` at DEL."""
        self.paper.prompt(prompt)
        # For callers without a keyboard: the program asks for a line itself.
        keys = {"Y": _("Yes"), "N": _("No"), "Ctrl-C": _("Quit")}
        self.console.screen.offer("answers", keys, typed={"Y": "y\r", "N": "\r", "Ctrl-C": "\x03"})
        text, sends_words = "", self.console.keyboard.sends_words
        try:
            read = self.console.keyboard.key
            while (key := await read(takes_paste=True)) not in STRUCK:
                word = chosen(text, {"Q": _("Quit")}) if sends_words and key == ENTER else None
                if word and word[0] == "Q":
                    raise RunEnded
                if key == F1 or word or (key == ENTER and text == HELP):
                    self.paper.typed(text := "")
                    self.paper.say(words.keys(self.console.keyboard))
                elif key == ENTER:
                    break
                elif key == BACKSPACE:
                    text = text[:-1]
                else:
                    typed = (each for each in letters_of(key) if len(each) == 1)
                    text = (text + "".join(typed))[:LONGEST_LINE]
                self.paper.typed(text)
        finally:
            self.paper.answered()
            self.console.screen.offer("any")
        if key in STRUCK:
            raise RunEnded
        return text

    def _show(self, step: Step) -> None:
        self._print(self.teletype.print_events(step.after, step.events))
        self._count(step)

    def _count(self, step: Step) -> None:
        # An award would come between the letters: the menu has it.
        self.caller.tell(step.receipt._replace(awards=()))
        if step.after.over:
            totals = step.after.totals
            net = (totals.won - totals.lost) // self.terms.dollar
            self.tally.turns += 1
            self.tally.net += net
            self.tally.count(net)
            self.caller.last_hand.mark_shown()  # the next hand is dealt without a key

    def _say(self, text: str) -> None:
        """Print a line of the book between the letters."""
        self.paper.say(self.sitting.book_line(text))

    def _print(self, letters: str) -> None:
        self.letters += letters
        self.paper.print(letters)

    # The end of a run.

    async def _open_seed(self) -> str:
        """Close the shoe; return the message with its seed."""
        shoe = self.play.shoe
        if shoe is None:
            return ""
        try:
            seed, cut = await self.play.close_shoe(), shoe.cut or ""
            self.fairness = Fairness(
                *(shoe.seal, seed, cut), anchor=shoe.anchor or "", link=shoe.link
            )
        except BooksUnavailable:
            log.info("books unavailable at the table of %s", self.caller.record.name)
            return "|12" + _("The books can't be written right now. The seed stays sealed.")
        return f"|07{self.fairness.short()}" if self.console.screen.can_paint else ""

    async def _stand_unasked(self) -> None:
        """Answer no to all questions when the caller's time is up.

        Show the sheet as a page, because painted screens go on after it.
        """
        steps: list[Step] = []
        had_hand = self.round is not None and not self.round.over
        await self.play.stand(steps.append)
        for step in steps:
            self.letters += self.teletype.print_events(step.after, step.events)
        sheet = f"{self.letters}{self.teletype.account()}".split("\n")
        room = max(1, self.console.screen.page_rows - 4)
        seed = await self._open_seed()
        self._paint_again()
        self.console.display.stage(
            Page(self.sitting.title, [*sheet[-room:], *([seed] if seed else [])])
        )
        if had_hand:
            self.console.screen.say(f"|14{_('Your time is up: you stand.')}")
        for step in steps:
            self._count(step)

    def _paint_again(self) -> None:
        self.console.screen.paint_screens()
        self.caller.status.show()

    def _new_paper(self) -> Paper:
        colour = self.console.screen.look.paint is Paint.COLOUR
        line = self.console.line
        return Paper(
            self.console.screen.send,
            line.columns,
            colour=colour,
            echoes=not line.hints.works_by_lines,
        )

    def _sentence(self, refused: Exception) -> str:
        is_unwritten = isinstance(refused, BooksUnavailable)
        return _(NO_BOOKS) if is_unwritten else str(refused)
