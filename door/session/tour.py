"""The tour of the first call: screens about minutes, hands and the bank, and a practice hand.

It needs no books: the practice hand is dealt from a fixed deck.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ansi.cards import CARD_HEIGHT, paint_hand
from door import wording
from door.call.caller import LANGUAGE_KEY
from door.call.markup import literal, wrap
from door.call.page import MARGIN, TITLE_ROWS, Page, page_columns
from door.games.black_jack_for_time.game import BlackJackForTimeSettings
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME
from door.games.engine.cards import parse_cards
from door.lobby import texts
from door.tables.black_jack_for_time.scene import ENDINGS, BlackJackScene
from door.tables.black_jack_for_time.words import main_rules
from timebank.errors import BooksFailed
from timebank.language import LANGUAGES, N_, _, next_language
from timebank.words import MINUTE, span, time_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.scene import Area
    from timebank.settings.schedule import ClosedPeriod

    # Paints on a canvas, at a row and a column.
    Strip = Callable[[Canvas, int, int], None]

TOURED = "toured"  # preference: the caller was offered the tour
# The caller has 12, and 18 after a hit; the dealer busts whether they hit or not.
DECK = "5H 9S 7C 7D 6D 9C 2H 3S"
BET = 2  # as the title of the practice hand says

KEYS = {"H": BlackjackAction.HIT, "S": BlackjackAction.STAY}
GOOD = 17  # a total to stay on
TWENTY_ONE = 21
HIT, STAY, LEAVE = "H", "S", "Q"

# The small pictures below the screens.
STRIP_ROWS = CARD_HEIGHT
BLACKJACK = ("AS", "KH")
_CHIP, _TOP = "▀▄▀▄▀▄▀", " ▄▄▄▄▄ "
_STACKS = (("|12", 4), ("|09", 3), ("|10", 2), ("|14", 1))  # colour and height
_CLOCK = (
    "|14 ▄▀▀▀▀▀▄ ",
    "|14█   |15│|14   █",
    "|14█   |15└──|14 █",
    "|14█       █",
    "|14 ▀▄▄▄▄▄▀ ",
)


def is_due(caller: Caller) -> bool:
    """Return whether to offer the tour: once, to a new caller who has time for it."""
    return caller.is_new and not caller.prefers(TOURED) and not caller.purse.time_is_up()


async def offer(caller: Caller) -> bool:
    """Show a new caller the news, and return whether they want the tour."""
    while (choice := await _ask(caller)) == LANGUAGE_KEY:
        await caller.change_language()
    with contextlib.suppress(BooksFailed):  # at worst they are asked again on the next call
        await caller.remember({TOURED: True})
    return choice == "Y"


async def _ask(caller: Caller) -> str:
    """Show the news and the offer; return "Y", "N" or the key that changes the language."""
    console = caller.console
    board = caller.config.board
    picture = texts.find(console, board.texts, "first-call")
    if picture is not None:
        picture = texts.filled(picture, {"BOARD": board.name, "NAME": caller.record.name})
    welcome = _("Welcome, {name}").format(name=caller.record.name)
    body = [f"|15{each}" for each in caller.news()]
    console.display.stage(texts.HeadedPage(welcome, body, picture, in_the_middle=True))
    console.screen.say(f"|07{_('Three short screens, and a practice hand that costs nothing.')}")
    yes = _("Yes")
    answers = {"Y": yes, "N": _("No")}
    if caller.asks_language:
        answers[LANGUAGE_KEY] = LANGUAGES[next_language(console.viewer.language)]
    return await console.prompt.ask(
        answers,
        question=_("First time here? Take a one-minute tour?"),
        default="Y",
        cancel="N",
        also={yes[0].upper(): "Y"},
    )


async def take(caller: Caller) -> None:
    """Show the screens and the practice hand, until the caller has had enough."""
    caller.place = N_("On the tour")
    for screen in screens(caller):
        if not await _reads(caller, screen):
            return
    await _practise(caller)


@dataclass(frozen=True)
class TourPage(Page):
    """A page with a small picture below its text, where there is room for both."""

    strip: Strip | None = None

    def paint(self, canvas: Canvas, area: Area) -> None:
        super().paint(canvas, area)
        columns = page_columns(area.columns)
        used = sum(len(wrap(each, columns - MARGIN)) for each in self.body)
        row = TITLE_ROWS + used + 1
        if self.strip is not None and row + STRIP_ROWS <= area.rows:
            self.strip(canvas, row, area.centred(columns) + 1)


def screens(caller: Caller) -> list[TourPage]:
    chapters: list[tuple[str, list[str], Strip]] = [
        (_("Your minutes are your chips"), _about_minutes(caller), _paint_chips),
        (_("How a hand goes"), _about_hands(caller), _paint_cards),
        (_("Closing time and the bank"), _about_bank(caller), _paint_clock),
    ]
    # Without block characters the pictures cannot be made out.
    is_drawn = caller.console.screen.look.charset.has_shapes
    pages = []
    for number, (title, body, strip) in enumerate(chapters, 1):
        paragraphs = [line for each in body for line in (f"|07{each}", "")]
        count = f"{number}/{len(chapters)}"
        if not caller.console.screen.is_painted:
            count = _("{number} of {all}").format(number=number, all=len(chapters))
        heading = f"{title} ({count})"
        pages.append(TourPage(heading, paragraphs[:-1], strip if is_drawn else None))
    return pages


async def _reads(caller: Caller, screen: TourPage) -> bool:
    """Show a screen, in pages if it must; return False when the caller has had enough."""
    text = "\n".join(screen.body)
    if not caller.console.pager.holds(text):  # its pages have numbers of their own
        title = screen.title.rpartition(" (")[0]
        return await caller.console.pager.read(title, text, leads_on=True)
    caller.console.display.stage(screen)
    if screen.title == screens(caller)[-1].title:
        onward, label, meaning = "P", _("Practice hand"), _("Play a hand that costs nothing.")
    else:
        onward, label, meaning = "N", _("Next"), _("Show the next screen.")
    return onward == await caller.console.prompt.ask(
        {onward: label, LEAVE: _("Quit")},
        default=onward,
        cancel=LEAVE,
        meanings={onward: meaning, LEAVE: _("Leave the tour.")},
        also={" ": onward},  # the space bar turns pages
    )


def _about_minutes(caller: Caller) -> list[str]:
    coin = span(caller.config.coin)
    return [
        _where_minutes_come_from(caller),
        _("One coin is {time}. Win and you stay longer. Lose and you leave sooner.").format(
            time=coin
        ),
        _("The last row of the screen shows your time left, ticking, and your pot in coins.")
        if caller.console.screen.is_painted
        else _("The menu tells you your time left, and each table your pot in coins."),
        _("Your last coin is never bet, so no hand throws you out."),
    ]


def _where_minutes_come_from(caller: Caller) -> str:
    if caller.record.board is not None:
        words = _("You play with the time you bring from {board}. That time is also your money.")
        return words.format(board=literal(caller.record.board))
    words = _("You get {time} on this board every day. That time is also your money.")
    return words.format(time=span(caller.config.bank.minutes_per_day * MINUTE))


def _about_hands(caller: Caller) -> list[str]:
    rules = BlackJackForTimeSettings.among(caller.config.games).rules
    dealer = _(
        "The dealer draws to 17. An ace and a ten-card on the deal are a blackjack, and pay extra."
    )
    return [
        _(
            "Get closer to 21 than the dealer without going over. Kings, queens and jacks count 10,"
            " an ace 1 or 11."
        ),
        _(
            "Bet, then hit for another card, stand on what you have, or double your bet for one "
            "last card. Go over 21 and you bust."
        ),
        f"{dealer} {main_rules(rules)}",
        _("At each table R shows the rules, F proves the deal, and ? lists the keys."),
    ]


def _about_bank(caller: Caller) -> list[str]:
    paragraphs = []
    closing = caller.purse.posted.closing
    if closing is not None:
        paragraphs.append(_about_event(caller, closing))
    host = caller.record.board
    if caller.bank_settings.mode == "built-in":
        paragraphs.append(_about_saving(is_guest=host is not None))
    if host is None:
        fresh = _("Then you get fresh ones.")
        paragraphs.append(f"{wording.expiry(caller.bank_settings)} {fresh}")
    else:
        words = _("The time you have left when you leave is yours again at {board}.")
        paragraphs.append(words.format(board=literal(host)))
    paragraphs.append(_("Next is a practice hand. It costs nothing and pays nothing."))
    return paragraphs


def _about_saving(*, is_guest: bool) -> str:
    if is_guest:
        return _(
            "The time bank, T at every table, keeps what you win here for another visit. There you"
            " can also send some to a friend, or borrow."
        )
    return _(
        "The time bank, T in the menu, keeps minutes for another day. There you can also send some"
        " to a friend, or borrow."
    )


def _about_event(caller: Caller, closing: ClosedPeriod) -> str:
    start = caller.bank_settings.schedule.local(closing.start)
    words = _(
        "The board closes for {event} at {time}, so nobody has more time than that. What you"
        " win beyond it goes to your bank, or waits for you."
    )
    return words.format(event=closing.name, time=time_words(start))


def _paint_chips(canvas: Canvas, row: int, column: int) -> None:
    for colour, height in _STACKS:
        for number in range(height):
            canvas.put_pipe(row + STRIP_ROWS - 1 - number, column, f"{colour}{_CHIP}")
        canvas.put_pipe(row + STRIP_ROWS - 1 - height, column, f"{colour}{_TOP}")
        column += len(_CHIP) + 2


def _paint_cards(canvas: Canvas, row: int, column: int) -> None:
    paint_hand(canvas, row, column, BLACKJACK, canvas.width - column)


def _paint_clock(canvas: Canvas, row: int, column: int) -> None:
    for number, line in enumerate(_CLOCK, row):
        canvas.put_pipe(number, column, line)


# The practice hand.


@dataclass(slots=True)
class PracticeScene(BlackJackScene):
    """The practice hand on the felt, as at a table."""

    title: ClassVar[str] = N_("A practice hand. Your bet: 2 coins")
    history_title: ClassVar[str] = ""

    def lines(self) -> Sequence[str]:
        return [f"|15{_(self.title)}", *self._card_lines()]

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        return [_("Above are the dealer's cards, one of them face down. Below are yours.")]

    def _figures(self) -> list[tuple[str, str]]:
        return self._bet_figures()


async def _practise(caller: Caller) -> None:
    scene = PracticeScene(coin=1, turns_limit=None, has_purse=False, is_dealt=True)
    hand, _events = start(BLACK_JACK_FOR_TIME, parse_cards(DECK), [BET])
    while not hand.over:
        key = await _plays(caller, scene, hand)
        if key == LEAVE:
            return
        hand, _events = hand.apply(KEYS[key])
    scene.end(_(ENDINGS[hand.outcomes[0]]), hand.totals.won - hand.totals.lost)
    _stage(caller, scene, hand)
    caller.console.screen.say(f"|14{_result(hand)}")
    await caller.console.pager.any_key(_("That's all there is to it."))


def _stage(caller: Caller, scene: PracticeScene, hand: BlackjackRound) -> None:
    scene.lay(hand)
    caller.console.display.stage(scene)


async def _plays(caller: Caller, scene: PracticeScene, hand: BlackjackRound) -> str:
    console = caller.console
    total = hand.seats[0].hands[0].count.total
    _stage(caller, scene, hand)
    if total < GOOD:
        words = _(
            "You have {total}. Hit: only a ten-card takes you over 21, and standing loses more"
            " on average."
        )
    else:
        words = _("You have {total}: that's good. Stand, and let the dealer draw.")
    console.screen.say(f"|14{words.format(total=total)}")
    choices = {HIT: _("Hit"), STAY: _("Stand"), LEAVE: _("Quit")}
    meanings = {
        HIT: _("Take another card."),
        STAY: _("Take no more cards; the dealer draws."),
        LEAVE: _("Leave the tour."),
    }
    default = HIT if total < GOOD else STAY
    return await console.prompt.ask(choices, default=default, cancel=LEAVE, meanings=meanings)


def _result(hand: BlackjackRound) -> str:
    settled = hand.seats[0].hands[0].settled
    if settled is None or settled.won == settled.lost == 0:
        return _("A push: your bet comes back.")
    if settled.won:
        words = _("You win! At a table that's {coins} coins more.")
        if hand.dealer_count.total > TWENTY_ONE:
            words = _("Dealer busts: you win! At a table that's {coins} coins more.")
        return words.format(coins=settled.won)
    return _("You lose this one. At a table that's {coins} coins less.").format(coins=settled.lost)
