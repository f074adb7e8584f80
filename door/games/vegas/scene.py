"""The Vegas table as a caller sees it: the dealer in the middle, seven seats in an arc before it.

Cards of the seats are small, one cell high, so that everybody's hands are to be seen at once; the
dealer's are whole ones, and on a tall screen everybody's. On a narrow screen the seats are a list,
and the caller's own hand is large. Cards fall one by one: what is hidden yet is not painted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ansi.cards import paint_hand, short
from ansi.style import Colour, Style
from door import wording
from door.call.display import LAYOUT_COLUMNS, literal, wrap
from door.call.display import plain as without_codes
from door.games.blackjack import events as dealt
from door.games.tables.fairness import Fairness
from door.games.tables.scene import paint_title
from door.games.vegas.round import GAME
from door.games.vegas.words import (
    dealer_total,
    natural_odds,
    odds,
    standing_of,
    told_cards,
    total_of,
)
from timebank.language import N_, _
from timebank.words import span

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.display import Area
    from door.games.blackjack.hands import Hand
    from door.games.engine.cards import Card
    from door.games.vegas.news import RoundDealt, RoundWentOn
    from door.games.vegas.state import Chair
    from door.games.vegas.table import VegasTable

SEAT_WIDTH = 25
LEFT, MIDDLE, RIGHT = 1, 27, 53
# Where each chair is, from the dealer's right to the left: its step from the top, and its column.
PLACES = ((0, LEFT), (1, LEFT), (2, LEFT), (2, MIDDLE), (2, RIGHT), (1, RIGHT), (0, RIGHT))
DEALER_ROW = 1
CLOCK_ROW = 7
SEAT_ROWS = 4  # a name, two hands, how it ended
TALL_ROWS, TALL_SEAT_ROWS = 34, 8  # with room for whole cards at every seat
LINES_OF_TALK = 30  # that are kept; a large window shows more of them

_BLACK_CARD = Style(Colour.BLACK, Colour.GREY)
_RED_CARD = Style(Colour.RED, Colour.GREY)

ENDED = {
    "natural": ("|10", N_("wins")),
    "twenty-one": ("|10", N_("wins")),
    "win": ("|10", N_("wins")),
    "push": ("|14", N_("push")),
    "lose": ("|12", N_("loses")),
    "bust": ("|12", N_("bust")),
    "dealer-natural": ("|12", N_("loses")),
}
DEALER_RULES = {
    "stand 17": N_("Dealer stands on all 17s"),
    "hit soft 17": N_("Dealer hits soft 17"),
    "hit 17": N_("Dealer hits all 17s"),
}


class Place(NamedTuple):
    """Where a card lies: at a seat's hand, or with the dealer for seat -1."""

    seat: int
    hand: int
    card: int


class VegasScene:
    title = "Vegas"

    def __init__(self, table: VegasTable, caller: Caller) -> None:
        self._table = table
        self._state = table.state
        self._caller = caller
        self.talk: deque[str] = deque(maxlen=LINES_OF_TALK)
        self.hidden: list[Place] = []  # cards that this caller is yet to see, in order
        self._rows = SEAT_ROWS  # of a seat, in the area that is painted

    # Cards that fall one by one.

    def hide(self, item: RoundDealt | RoundWentOn) -> None:
        """Take the cards that an event brought off the table, to be shown one after the other."""
        places: list[Place] = []
        for event in item.events:
            if isinstance(event, dealt.BlackjackDealt):
                places.append(Place(event.seat, event.hand, 0))
            elif isinstance(event, dealt.DealerDealt):
                places.append(Place(-1, 0, 0))
            elif isinstance(event, dealt.BlackjackRevealed):
                places.append(Place(-1, 1, 1))
        taken: dict[tuple[int, int], int] = {}
        for number in range(len(places) - 1, -1, -1):
            place = places[number]
            if place[:2] == (-1, 1):
                places[number] = Place(-1, 0, 1)
                continue
            round_ = item.round
            cards = round_.dealer if place.seat < 0 else round_.seats[place.seat].hands[place.hand]
            lie = len(cards) if isinstance(cards, tuple) else len(cards.cards)
            back = taken[place[:2]] = taken.get(place[:2], 0) + 1
            places[number] = place._replace(card=lie - back)
        self.hidden = places

    def show_next(self) -> None:
        del self.hidden[:1]

    def show_all(self) -> None:
        self.hidden = []

    def _seen(self, seat: int, number: int, hand: Hand) -> Hand:
        """Return a hand without what is hidden of it; how it ends is shown with the last card."""
        if not self.hidden:
            return hand
        cards = [
            card for at, card in enumerate(hand.cards) if Place(seat, number, at) not in self.hidden
        ]
        return replace(hand, cards=tuple(cards), settled=None)

    def _dealer_seen(self, cards: Sequence[Card | None]) -> list[Card | None]:
        """Return what is seen of the dealer's cards: the second is face down before it is shown."""
        if not self.hidden:
            return list(cards)
        seen: list[Card | None] = []
        for at, card in enumerate(cards):
            hidden = Place(-1, 0, at) in self.hidden
            if hidden and at == 1 and card is not None:
                seen.append(None)
            elif not hidden:
                seen.append(card)
        return seen

    # How it looks.

    def paint(self, canvas: Canvas, area: Area) -> None:
        if area.is_narrow:
            self._paint_narrow(canvas, area)
            return
        left = area.centred()
        self._rows = TALL_SEAT_ROWS if area.rows >= TALL_ROWS else SEAT_ROWS
        paint_title(canvas, left, self.title, self._turn_words())
        self._paint_dealer(canvas, left + MIDDLE)
        for chair, (step, column) in enumerate(PLACES, start=1):
            row, seat = DEALER_ROW + step * self._rows, self._state.seats.get(chair)
            if seat is not None:
                self._paint_seat(canvas, row, left + column, seat)
            elif chair <= self._table.settings.seats:
                self._paint_free(canvas, row, left + column)
        rail = DEALER_ROW + 3 * self._rows
        canvas.put_pipe(rail, left + 1, "|06" + "▄" * (LAYOUT_COLUMNS - 2))
        self._paint_talk(canvas, left + 1, LAYOUT_COLUMNS - 2, rail + 1, area.rows - 1)
        self._paint_short(canvas, left + LAYOUT_COLUMNS - 1, area.rows - 1)

    def lines(self) -> Sequence[str]:
        told = [f"|15{self.title}|07 - {self._turn_words()}"]
        for seat in self._state.seated():
            words = _("Seat {number}: {name}, {coins}") if seat.bet else _("Seat {number}: {name}")
            seated = words.format(
                number=seat.chair,
                name=f"|15{literal(seat.name)}|07",
                coins=wording.coins(seat.bet),
            )
            told.append(f"|07{seated}")
            told.extend(f"|07  {words}" for words in self._hand_lines(seat))
        hand = self._state.hand
        if hand is not None:
            cards = hand.round.dealer
            words = _("Dealer: {cards} ({total})")
            said = words.format(cards=told_cards(cards), total=dealer_total(cards))
            told.append(f"|07{said}")
        coin = _("A coin is {time} of your time.").format(time=span(self._table.coin))
        return [*told, f"|07{coin}"]

    def explain(self) -> Sequence[str]:
        """Say what each field of the table means."""
        return (
            _("Top right: what a coin is worth, and how many rounds you have bet on today."),
            _("Dealer: the dealer's cards and their total. Below: the clock of the table."),
            _("Seats: each player's name, bet, cards and total. A pointer marks whose turn it is."),
            _("Below the rail: what players say, and the start of the seal or seed of the shoe."),
        )

    def fairness(self) -> Fairness:
        """Return seal, seed and cut, as far as there are any. A seed beside a seal is of the shoe
        before: it may not be taken for what the seal binds to."""
        state = self._state
        seal = "" if state.shoe is None else state.shoe.seal
        is_sealed_anew = bool(seal and state.seed)
        return Fairness(seal, state.seed, state.cut, is_sealed_anew=is_sealed_anew)

    def clock_words(self) -> str:
        """Return what the clock of the table runs for, "" when it is off."""
        alarm, left = self._state.alarm, self._table.seconds_left()
        if alarm is None:
            return ""
        if alarm.what == "turn" and alarm.name == self._caller.record.name:
            return f"|14{_('Your turn: {seconds} s').format(seconds=left)}"
        words = {
            "bell": _("Cards in {seconds} s"),
            "turn": _("{name}: {seconds} s"),
            "return": _("{name} is away: {seconds} s"),
            "retry": _("Waiting for the books: {seconds} s"),
            "elsewhere": _("The shoe is in use: {seconds} s"),
        }[alarm.what]
        return f"|14{words.format(name=literal(alarm.name), seconds=left)}"

    # Painting.

    def _paint_dealer(self, canvas: Canvas, column: int) -> None:
        hand = self._state.hand
        if hand is None:
            canvas.put_pipe(DEALER_ROW, column, f"|10{_('Dealer')}")
            self._paint_felt(canvas, column)
        else:
            seen = self._dealer_seen(hand.round.dealer)
            canvas.put_pipe(DEALER_ROW, column, f"|10{_('Dealer')}  |15{dealer_total(seen)}")
            paint_hand(canvas, DEALER_ROW + 1, column, seen, SEAT_WIDTH)
        for number, line in enumerate(wrap(self.clock_words(), SEAT_WIDTH)):
            canvas.put_pipe(CLOCK_ROW + number, column, line)

    def felt_words(self) -> tuple[str, str, str]:
        rules = self._table.settings.rules
        pays = _("Blackjack pays {odds}").format(odds=natural_odds(rules))
        insurance = _("Insurance pays {odds}").format(odds=odds(2, 1))
        return pays, _(DEALER_RULES[rules.dealer]), insurance

    def _paint_felt(self, canvas: Canvas, column: int) -> None:
        canvas.put_pipe(DEALER_ROW + 1, column, "|02" + "░" * SEAT_WIDTH)
        for number, line in enumerate(self.felt_words()):
            canvas.put_pipe(DEALER_ROW + 2 + number, column, f"|10{line:^{SEAT_WIDTH}}")
        canvas.put_pipe(DEALER_ROW + 5, column, "|02" + "░" * SEAT_WIDTH)

    def _paint_free(self, canvas: Canvas, row: int, column: int) -> None:
        """Paint the ring on the felt in which a bet would lie."""
        canvas.put_pipe(row, column, f"|02{_('free seat'):^{SEAT_WIDTH}}")
        canvas.put_pipe(row + 1, column, f"|02{'┌───┐':^{SEAT_WIDTH}}")
        canvas.put_pipe(row + 2, column, f"|02{'└───┘':^{SEAT_WIDTH}}")

    def _paint_seat(self, canvas: Canvas, row: int, column: int, seat: Chair) -> None:
        at_turn = self._state.at_turn is seat
        mine = seat.caller_id == self._caller.record.id
        colour = "|14" if at_turn else "|07" if seat.guest is None else "|15" if mine else "|11"
        mark = "►" if at_turn else " "
        canvas.put_pipe(row, column - 1, f"{colour}{mark}{literal(seat.name)[: SEAT_WIDTH - 9]}")
        bet = self._bet_words(seat)
        canvas.put_pipe(row, column + SEAT_WIDTH - len(bet), f"|07{bet}")
        place = self._place(seat)
        if place is None:
            canvas.put_pipe(row + 1, column, self._waiting_words(seat))
            return
        hand = self._state.hand
        assert hand is not None  # the seat has a place in it
        hands = [
            self._seen(place, number, one)
            for number, one in enumerate(hand.round.seats[place].hands)
        ]
        if self._rows == TALL_SEAT_ROWS:
            self._paint_whole(canvas, row + 1, column, hands)
        else:
            for number, one in enumerate(hands):
                self._paint_cards(canvas, row + 1 + number, column, one)
        words = self._result_words(seat, place)
        canvas.put_pipe(row + self._rows - 1, column, words)

    def _paint_whole(self, canvas: Canvas, row: int, column: int, hands: Sequence[Hand]) -> None:
        width = SEAT_WIDTH // len(hands)
        for number, hand in enumerate(hands):
            left = column + number * (width + 1)
            paint_hand(canvas, row, left, hand.cards, width)
            canvas.put_pipe(row + 5, left, _hand_words(hand).lstrip())

    def _paint_cards(self, canvas: Canvas, row: int, column: int, hand: Hand) -> None:
        words = _hand_words(hand)
        room = SEAT_WIDTH - len(without_codes(words))
        step = 4 if 4 * len(hand.cards) <= room else 3
        cards: Sequence[Card] = hand.cards[-(room // step) :]
        for card in cards:
            style = _RED_CARD if card.suit in "HD" else _BLACK_CARD
            canvas.put(row, column, f"{short(card):>3}", style)
            column += step
        canvas.put_pipe(row, column, words)

    def _paint_talk(self, canvas: Canvas, left: int, width: int, first: int, end: int) -> None:
        """Paint what was said, the latest in the last row before `end`."""
        lines = [line for text in self.talk for line in wrap(text, width)]
        room = max(0, end - first)
        for number, line in enumerate(lines[-room:] if room else ()):
            canvas.put_pipe(first + number, left, line)

    def _paint_short(self, canvas: Canvas, end: int, row: int) -> None:
        """Paint the first digits of seal or seed, as far as a round is over."""
        words = self.fairness().short() if self._state.in_play is None else ""
        if words:
            canvas.put_pipe(row, end - len(words), f"|02{words}")

    # On a narrow screen.

    def _paint_narrow(self, canvas: Canvas, area: Area) -> None:
        left, width = area.left + 1, area.columns - 1
        canvas.put_pipe(0, 0, "|18" + " " * canvas.width)
        canvas.put_pipe(0, left, f"|18|15{self.title}")
        turns = self._turns_only()
        canvas.put_pipe(0, area.left + area.columns - 1 - len(turns), f"|18|15{turns}")
        self._paint_narrow_dealer(canvas, left, width)
        row = 2
        for seat in self._state.seated():
            if seat.caller_id != self._caller.record.id:
                self._paint_in_a_line(canvas, row, left, width, seat)
                row += 1
        mine = self._state.seat_of(self._caller.record.id)
        row = max(row, 5)
        canvas.put_pipe(row, left, "|06" + "▄" * width)
        if mine is not None:
            self._paint_own(canvas, row + 1, left, width, mine)
        self._paint_talk(canvas, left, width, row + 8, area.rows)

    def _paint_narrow_dealer(self, canvas: Canvas, left: int, width: int) -> None:
        hand = self._state.hand
        column = canvas.put_pipe(1, left, f"|10{_('Dealer')} ")
        if hand is not None:
            seen = self._dealer_seen(hand.round.dealer)
            for card in seen:
                style = _RED_CARD if card is not None and card.suit in "HD" else _BLACK_CARD
                face = "???" if card is None else f"{short(card):>3}"
                column = canvas.put(1, column, face, style) + 1
            column = canvas.put_pipe(1, column, f"|15{dealer_total(seen)}")
        clock = self.clock_words()
        room = width - (column - left)
        if clock and len(without_codes(clock)) < room:
            canvas.put_pipe(1, left + width - len(without_codes(clock)), clock)

    def _paint_in_a_line(
        self, canvas: Canvas, row: int, left: int, width: int, seat: Chair
    ) -> None:
        place, hand = self._place(seat), self._state.hand
        mark = "|14►" if self._state.at_turn is seat else " "
        name = literal(seat.name)[:12]
        column = canvas.put_pipe(row, left - 1, f"{mark}|11{name} ")
        column = max(column, left + 13)
        if place is None or hand is None:
            canvas.put_pipe(row, column, self._waiting_words(seat))
            return
        if hand.over and not self.hidden:
            canvas.put_pipe(row, column, standing_of(hand.round, place, hand.coin))
            return
        counts = [
            _hand_words(self._seen(place, number, one)).strip()
            for number, one in enumerate(hand.round.seats[place].hands)
        ]
        canvas.put_pipe(row, column, " |07/ ".join(counts))

    def _paint_own(self, canvas: Canvas, row: int, left: int, width: int, seat: Chair) -> None:
        """Paint the caller's own seat: a row of words, and whole cards in the five below."""
        place, hand = self._place(seat), self._state.hand
        mark = "|14►" if self._state.at_turn is seat else " "
        column = canvas.put_pipe(row, left - 1, f"{mark}|15{literal(seat.name)[:12]}")
        if place is None or hand is None:
            canvas.put_pipe(row, column + 2, self._waiting_words(seat))
            for number, words in enumerate(self.felt_words()):
                canvas.put_pipe(row + 2 + number, left, f"|10{words:^{width}}")
            return
        hands = hand.round.seats[place].hands
        each = (width - 1) // len(hands)
        totals = []
        for number, one in enumerate(hands):
            seen = self._seen(place, number, one)
            paint_hand(canvas, row + 1, left + number * each, seen.cards, each - 1)
            totals.append(total_of(seen) if seen.cards else "")
        canvas.put_pipe(row, column + 2, f"|15{' / '.join(totals)}")
        right = self._result_words(seat, place) or f"|15{self._bet_words(seat)}"
        canvas.put_pipe(row, left + width - 1 - len(without_codes(right)), right)

    # In words.

    def _turns_only(self) -> str:
        turns, limit = self._caller.purse.turns(GAME), self._table.settings.turns_per_day
        if not limit:
            return _("Turns today: {turns}").format(turns=turns)
        return _("Turns today: {turns} of {limit}").format(turns=turns, limit=limit)

    def _turn_words(self) -> str:
        coin = _("A coin is {time}").format(time=span(self._table.coin))
        return f"{coin}   {self._turns_only()}"

    def _place(self, seat: Chair) -> int | None:
        return None if self._state.hand is None else self._state.hand.place_of(seat.caller_id)

    def _bet_words(self, seat: Chair) -> str:
        place, hand = self._place(seat), self._state.hand
        if seat.bet:
            return wording.coins(seat.bet)
        if place is None or hand is None or hand.over:
            return ""
        staked = sum(one.stake for one in hand.round.seats[place].hands)
        return wording.coins_of(staked, hand.coin)

    def _waiting_words(self, seat: Chair) -> str:
        if seat.bet:
            return f"|10{_('ready')}"
        if self._state.in_play is not None:
            return f"|07{_('sits this one out')}"
        return f"|07{_('away') if seat.silent else _('no bet yet')}"

    def _result_words(self, seat: Chair, place: int) -> str:
        hand = self._state.hand
        assert hand is not None  # the seat has a place in it
        if hand.over and not self.hidden:
            ready = f"  |10{_('ready')}" if seat.bet else ""
            return f"{standing_of(hand.round, place, hand.coin)}{ready}"
        insurance = hand.round.seats[place].insurance
        if insurance:
            coins = wording.coins_of(insurance, hand.coin)
            return f"|07{_('insured: {coins}').format(coins=coins)}"
        if seat.guest is not None:
            return ""
        return f"|07{_('has left') if seat.stood else _('away')}"

    def _hand_lines(self, seat: Chair) -> list[str]:
        place, hand = self._place(seat), self._state.hand
        if place is None or hand is None:
            return []
        words = _("{cards} ({total})")
        return [
            words.format(cards=told_cards(one.cards), total=total_of(one))
            for one in hand.round.seats[place].hands
        ]


def _hand_words(hand: Hand) -> str:
    """Return what a hand counts, and how it stands, with a blank before it."""
    if not hand.cards:
        return ""
    count = f" |15{total_of(hand)}"
    if hand.settled is not None:
        if hand.is_natural:
            return f" |10{total_of(hand)}"
        colour, words = ENDED[hand.settled.outcome]
        return f"{count} {colour}{_(words)}"
    if hand.is_natural:
        return f" |10{total_of(hand)}"
    if hand.standing:
        return f"{count} |07{_('doubled') if hand.doubled else _('stands')}"
    return count
