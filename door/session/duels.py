"""The room "Duels": the caller's duels, a new challenge, and the page of each duel.

docs/duels.md has the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from door.call.keyboard import CHANGED
from door.call.markup import lit, literal
from door.call.page import Page
from door.lobby import amounts
from door.lobby.accounts import find_account
from door.lobby.amounts import MovementWords
from door.session.contest_page import ContestPage, Overview, new_shoe
from door.session.shared_hands import DealScene, signed
from door.session.tournament import GAME
from door.tables.scoring import settle_duels
from timebank.errors import Refused
from timebank.language import N_, _
from timebank.wagers import contests, duels
from timebank.wagers.contests import Contest, ContestResult, ContestTry
from timebank.wagers.duels import Duel
from timebank.words import day_time_words, span

if TYPE_CHECKING:
    from door.call.board import Board
    from door.call.caller import Caller
    from door.flag import Flag
    from timebank.ledger.database import Desk

TITLE = N_("Duels")
DUEL = N_("The duel")
HANDS = 5
MOST_SHOWN = 9  # duels, which have a key each
KEYS = {"C": N_("Challenge"), "Q": N_("Quit")}
MEANINGS = {
    "C": N_("Challenge another caller: choose who, and for how many minutes."),
    "Q": N_("Go back to the daily deal."),
}
STAKE = MovementWords(
    N_("Stake how much? Up to {most}, or max (Enter for none):"),
    N_("Stake {amount} against {name}?"),
    N_("You have challenged {name} for {amount}."),
)
# The words for each state of a duel: see `state_of`.
STATES = {
    "answer": N_("{name} waits for your answer."),
    "asked": N_("{name} has not answered yet."),
    "play": N_("Your hands against {name} wait for you."),
    "played": N_("You have played, and {name} has not yet."),
    "working": N_("The result against {name} is being worked out."),
    "won": N_("You have won against {name}."),
    "lost": N_("{name} has won."),
    "won in time": N_("You have won: {name} did not finish in time."),
    "lost in time": N_("{name} has won: you did not finish in time."),
    "even": N_("You and {name} are even, and each stake is back."),
    "declined": N_("The duel with {name} was not accepted: the stake is back."),
    "expired": N_("The duel with {name} was not played in time: each stake is back."),
    "called off": N_("The duel with {name} was called off: each stake is back."),
    "restored": N_("The board was restored. The duel with {name} ended: each stake is back."),
}


@dataclass(slots=True)
class DuelScene(DealScene):
    title: ClassVar[str] = DUEL

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        return [
            _("You and your rival play these five hands, with the same cards."),
            _("You bet 10 coins of play money on each."),
            _("More coins win both stakes, then the smaller cost against the book."),
        ]


class DuelsPage:
    """One caller at the list of their duels."""

    def __init__(self, board: Board, caller: Caller) -> None:
        self._board, self._caller, self._console = board, caller, caller.console

    async def visit(self) -> None:
        number, news = self._caller.record.id, ""
        look = partial(_with_states, caller_id=number, most=MOST_SHOWN)
        may_challenge = partial(duels.allowed_stake, call_id=self._caller.call_id)
        choice, rows = "Q", list[str]()
        while True:
            self._caller.place = TITLE
            self._caller.notices_shown.clear()
            await settle_duels(self._board)
            shown = await self._caller.look_up(look)
            why_not = (await self._caller.look_up(may_challenge)).why_not
            rows[:] = self._rows(shown, why_not)
            if choice == CHANGED:
                self._console.display.refresh()
            else:
                self._console.display.stage(Page(_(TITLE), rows))
                if news:
                    self._console.screen.say(news)
            keys = {key: _(label) for key, label in KEYS.items() if key != "C" or not why_not}
            numbers = {str(n): each.other(number).name for n, (each, _s) in enumerate(shown, 1)}
            menu = lit(keys, "Q")
            if shown:
                menu = f"|07{_('The number of a duel, or')} {menu}"
            choice = await self._console.prompt.ask(
                {**numbers, **keys},
                menu=menu,
                default="Q",
                cancel="Q",
                meanings=MEANINGS,
                changed=self._caller.notices_shown,
            )
            if choice == "Q":
                return
            if choice == CHANGED:
                continue
            news = ""
            if choice == "C":
                news = await amounts.serve(self._challenge())
            else:
                seal = shown[int(choice) - 1][0].seal
                await DuelPage(self._board, self._caller, seal).visit()

    def _rows(self, shown: Sequence[tuple[Duel, str]], why_not: str) -> list[str]:
        words = _(
            "Two callers stake the same minutes on five hands with the same cards. Nobody sees the"
            " other's hands before both have played. More coins win both stakes. After three days,"
            " a caller who has finished wins against one who has only begun."
        )
        rows = [f"|07{words} {_('Stakes come from your time bank.')}", ""]
        if why_not:
            rows += [f"|12{literal(why_not)}", ""]
        for number, (each, state) in enumerate(shown, 1):
            other = literal(each.other(self._caller.record.id).name)
            said = _(STATES[state]).format(name=other)
            rows.append(f"|15{number}  |14{said} |07{span(each.stake)}.")
        return rows if shown else [*rows, f"|07{_('You have no duels yet.')}"]

    async def _challenge(self) -> str:
        """Ask for a rival and a stake, challenge them, and return what came of it."""
        caller, console = self._caller, self._console
        rival = await find_account(caller, _("Challenge whom:"))
        if rival is None:
            return ""
        allowed = await caller.ask_books(
            lambda desk: duels.allowed_stake(desk, caller.call_id, rival.id)
        )
        if not allowed.seconds:
            raise Refused(allowed.rule)
        name, most, rule = literal(rival.name), allowed.seconds, literal(str(allowed.rule))
        if caller.bank_settings.most_duel < most:
            most, rule = caller.bank_settings.most_duel, _("A duel allows no more.")
        amount = await amounts.ask(console, STAKE, most, rule, name)
        if amount is None:
            return ""
        stake, (seed, seal, rules) = amount.seconds, new_shoe(self._board, caller, HANDS)
        shoe = (seed, seal, GAME, rules, HANDS)
        await caller.post(
            lambda desk, call, ticked: duels.challenge(desk, call, ticked, rival.id, stake, shoe)
        )
        caller.books.notices_wait.set()
        return f"|10{_(STAKE.done).format(name=name, amount=span(stake))}"


@dataclass(frozen=True)
class DuelOverview(Overview):
    contest: Duel
    state: str
    why_not: str  # the caller cannot accept; "" if they can


class DuelPage(ContestPage[DuelOverview]):
    """One caller at the page of a duel."""

    title = rules_title = last_title = DUEL
    scene = DuelScene
    leaving = N_("Leave the duel. The hand waits for you until the duel ends.")
    keys: ClassVar = {
        "A": N_("Accept"),
        "D": N_("Decline"),
        "W": N_("Withdraw challenge"),
        "P": N_("Play"),
        "V": N_("Review"),
        "R": N_("Rules"),
        "Q": N_("Quit"),
    }
    meanings: ClassVar = {
        "A": N_("Accept the duel, and put up your stake."),
        "D": N_("Decline the duel: the stake goes back."),
        "W": N_("Withdraw your challenge: your stake comes back."),
        "P": N_("Play the five hands, or go on where you left them. You have one try."),
        "V": N_("See each decision next to the book's and your rival's."),
        "R": N_("Read the rules of the duel."),
        "Q": N_("Go back to your duels."),
    }

    def __init__(self, board: Board, caller: Caller, seal: str) -> None:
        super().__init__(board, caller)
        self._seal = seal

    @property
    def changed(self) -> Flag:
        return self._caller.notices_shown

    async def look(self) -> DuelOverview:
        self.changed.clear()
        await settle_duels(self._board)
        number = self._caller.record.id

        def find(desk: Desk) -> DuelOverview:
            duel = duels.of_seal(desk, self._seal)
            assert duel is not None
            own_try = contests.try_of(desk, self._seal, number)
            placed = self.ranking(desk, duel)
            state, why_not = state_of(desk, duel, number), ""
            if state == "answer":
                terms = (duel.challenger.caller_id, duel.stake)
                allowed = duels.allowed_stake(desk, self._caller.call_id, *terms)
                why_not = str(allowed.rule) if allowed.seconds < duel.stake else ""
            return DuelOverview(duel, own_try, placed, state, why_not)

        return await self._caller.look_up(find)

    @staticmethod
    def last(desk: Desk) -> None:
        return None

    @staticmethod
    def ranking(desk: Desk, contest: Contest) -> list[ContestResult]:
        """List both results, the winner first, but nothing before both have played."""
        duel = duels.of_seal(desk, contest.seal)
        if duel is None or duel.outcome not in ("won", "even"):
            return []
        found = contests.results(desk, duel.seal)
        both = sorted(found, key=lambda each: (-each.score, each.cost or 0))
        is_even = duel.outcome == "even"
        return [each._replace(place=1 if is_even else n) for n, each in enumerate(both, 1)]

    def default(self, overview: DuelOverview) -> str | None:
        if overview.state == "play":
            return super().default(overview)
        answer = "Q" if overview.why_not else "A"
        return {"answer": answer, "won": "V", "lost": "V"}.get(overview.state, "Q")

    def hidden_keys(self, overview: DuelOverview) -> set[str]:
        shown = {"answer": {"A", "D"}, "asked": {"W"}, "play": {"P"}}.get(overview.state, set())
        if overview.why_not:
            shown = {"D"}
        return {"A", "D", "W", "P"} - shown | super().hidden_keys(overview)

    def terms(self, overview: DuelOverview) -> Iterator[str]:
        duel = overview.contest
        words = _("You and {name} stake {amount} each on five hands with the same cards.")
        name = literal(duel.other(self._caller.record.id).name)
        yield f"|07{words.format(name=name, amount=span(duel.stake))}"
        if duel.outcome is None:
            ends = day_time_words(self._caller.bank_settings.schedule.local(duel.ends))
            yield f"|11{_('Open until {time}.').format(time=ends)}"
            yield f"|07{_('More coins win both stakes, then the smaller cost against the book.')}"
            yield f"|07{_('If you begin, finish by then, or a rival who has finished wins.')}"
        if overview.why_not:
            yield f"|12{literal(overview.why_not)}"

    def place_words(self, overview: DuelOverview) -> str:
        other = literal(overview.contest.other(self._caller.record.id).name)
        if overview.state == "play" and overview.own_try is not None:
            return super().place_words(overview)
        own_try, scores = overview.own_try, {each.score for each in overview.placed}
        said = _(STATES[overview.state]).format(name=other)
        if overview.state == "played" and own_try is not None:
            return f"{_('Your coins: {coins}.').format(coins=signed(own_try.score or 0))} {said}"
        if overview.state in ("won", "lost") and len(scores) == 1:
            return f"{said} {_('The coins are equal, and the smaller cost wins.')}"
        return said

    def is_ranking_shown(self, overview: DuelOverview) -> bool:
        return bool(overview.placed)

    def unseen_words(self) -> str:
        return _("Nobody sees the other's hands before both have played.")

    def scoring(self) -> str:
        return _(
            "You bet 10 coins of play money on each hand. More coins win both stakes. Of equal"
            " coins, the smaller cost against the book wins. After three days, a caller who has"
            " finished wins against one who has only begun. In every other case both stakes go"
            " home. A stake counts as minutes sent today, even if it comes home."
        )

    async def go_to(self, choice: str) -> None:
        """Accept, decline or withdraw."""
        caller, number = self._caller, self._caller.record.id
        duel = await caller.look_up(partial(duels.of_seal, seal=self._seal))
        assert duel is not None
        try:
            if choice != "A":
                await caller.ask_books(lambda desk: duels.decline(desk, number, self._seal))
            elif await self._console.prompt.agrees(
                _(STAKE.confirmation).format(
                    amount=span(duel.stake), name=literal(duel.challenger.name)
                )
            ):
                await caller.post(
                    lambda desk, call, ticked: duels.accept(desk, call, ticked, self._seal)
                )
            caller.books.notices_wait.set()
        except Refused as refused:
            self._console.screen.say(f"|12{literal(str(refused))}")
            await self._console.pager.any_key()

    async def take_part(self, overview: DuelOverview) -> ContestTry:
        number = self._caller.record.id
        return await self._caller.ask_books(lambda desk: duels.begin(desk, self._seal, number))


def state_of(desk: Desk, duel: Duel, caller_id: int) -> str:
    """Return the key of `STATES` for a duel as this caller sees it."""
    if duel.outcome == "won":
        entry = contests.entry_of(desk, duel.seal, caller_id)
        how = "won" if entry is not None and entry.prize else "lost"
        return how if duel.finished == 2 else f"{how} in time"
    if duel.outcome is not None:
        return duel.outcome
    if not duel.is_accepted:
        return "answer" if caller_id == duel.rival.caller_id else "asked"
    own_try = contests.try_of(desk, duel.seal, caller_id)
    if own_try is None or own_try.score is None:
        return "play"
    return "working" if duel.finished == 2 else "played"


def _with_states(desk: Desk, caller_id: int, most: int) -> list[tuple[Duel, str]]:
    found = duels.of_caller(desk, caller_id, most)
    return [(each, state_of(desk, each, caller_id)) for each in found]
