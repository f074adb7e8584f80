"""The Vegas table as a caller sees it: the dealer in the middle, seven seats in an arc before it.

Cards of the seats are small, one cell high, so that everybody's hands are to be seen at once; the
dealer's are whole ones. Below the seats is what was said, and the seal of the shoe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ansi.cards import paint_hand, plain, short
from ansi.style import Colour, Style
from door import wording
from door.call.display import LAYOUT_COLUMNS, literal, wrap
from door.call.display import plain as without_codes
from door.games.tables.scene import paint_title
from door.games.vegas.round import GAME
from door.games.vegas.words import standing_of
from timebank.words import span

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.caller import Caller
    from door.call.display import Area
    from door.games.blackjack.hands import Hand
    from door.games.engine.cards import Card
    from door.games.vegas.state import Chair
    from door.games.vegas.table import VegasTable

SEAT_WIDTH = 25
LEFT, MIDDLE, RIGHT = 1, 27, 53
# Where each chair is, from the dealer's right to the left: row and column of its first cell.
PLACES = ((1, LEFT), (5, LEFT), (9, LEFT), (9, MIDDLE), (9, RIGHT), (5, RIGHT), (1, RIGHT))
DEALER_ROW = 1
CLOCK_ROW = 7
RAIL_ROW = 13
TALK_ROW = 14
ROWS_BELOW_TALK = 2  # seal, and cut or seed
LINES_OF_TALK = 12  # that are kept; a large window shows more of them

_BLACK_CARD = Style(Colour.BLACK, Colour.GREY)
_RED_CARD = Style(Colour.RED, Colour.GREY)

ENDED = {
    "natural": "|10Black Jack",
    "twenty-one": "|10wins",
    "win": "|10wins",
    "push": "|14push",
    "lose": "|12loses",
    "bust": "|12bust",
    "dealer-natural": "|12loses",
}


class VegasScene:
    def __init__(self, table: VegasTable, caller: Caller) -> None:
        self._table = table
        self._state = table.state
        self._caller = caller
        self.talk: deque[str] = deque(maxlen=LINES_OF_TALK)

    def paint(self, canvas: Canvas, area: Area) -> None:
        left, rows = area.centred(), area.rows
        paint_title(canvas, left, "Vegas", self._turn_words())
        self._paint_dealer(canvas, left + MIDDLE)
        for chair, (row, column) in enumerate(PLACES, start=1):
            seat = self._state.seats.get(chair)
            if seat is not None:
                self._paint_seat(canvas, row, left + column, seat)
            elif chair <= self._table.settings.seats:
                canvas.put_pipe(row, left + column, "|08a free seat")
        canvas.put_pipe(RAIL_ROW, left + 1, "|06" + "═" * (LAYOUT_COLUMNS - 2))
        self._paint_talk(canvas, left, rows - ROWS_BELOW_TALK)
        self._paint_shoe(canvas, left, rows - ROWS_BELOW_TALK)

    def lines(self) -> Sequence[str]:
        told = [f"|15Vegas|07 - {self._turn_words()}"]
        for seat in self._state.seated():
            bet = f", bets {wording.coins(seat.bet)}" if seat.bet else ""
            told.append(f"|07Seat {seat.chair}: |15{literal(seat.name)}|07{bet}")
            told.extend(f"|07  {words}" for words in self._hand_lines(seat))
        hand = self._state.hand
        if hand is not None:
            cards = ", ".join(plain(card) if card else "face down" for card in hand.round.dealer)
            told.append(f"|07Dealer: |15{cards}|07 ({hand.round.dealer_count})")
        told.append(f"|07A coin is {span(self._table.coin)} of your time.")
        told.extend(self.shoe_lines())
        return told

    def shoe_lines(self) -> list[str]:
        """Return seal, seed and cut, as far as there are any. A seed beside a seal is of the shoe
        before: it may not be taken for what the seal binds to."""
        state, told = self._state, []
        if state.shoe is not None:
            told.append(f"|08Seal {state.shoe.seal}")
        if state.seed:
            told.append(f"|08{'Last seed' if state.shoe else 'Seed'} {state.seed}")
        if state.cut:
            told.append(f"|08Cut with: {literal(state.cut)}")
        return told

    def clock_words(self) -> str:
        """Return what the clock of the table runs for, "" when it is off."""
        alarm, left = self._state.alarm, self._table.seconds_left()
        if alarm is None:
            return ""
        name = "Your turn" if alarm.name == self._caller.record.name else literal(alarm.name)
        return {
            "bell": f"|14The bell rings in {left}",
            "turn": f"|14{name}: {left}",
            "return": f"|14{name} may come back: {left}",
            "retry": f"|12Waiting for the books: {left}",
            "elsewhere": f"|14The shoe is in use: {left}",
        }[alarm.what]

    # Painting.

    def _paint_dealer(self, canvas: Canvas, column: int) -> None:
        hand = self._state.hand
        if hand is None:
            canvas.put_pipe(DEALER_ROW, column, "|02Dealer")
            self._paint_felt(canvas, column)
        else:
            canvas.put_pipe(DEALER_ROW, column, f"|02Dealer  |15{hand.round.dealer_count}")
            paint_hand(canvas, DEALER_ROW + 1, column, hand.round.dealer, SEAT_WIDTH)
        for number, line in enumerate(wrap(self.clock_words(), SEAT_WIDTH)):
            canvas.put_pipe(CLOCK_ROW + number, column, line)

    def _paint_felt(self, canvas: Canvas, column: int) -> None:
        rules = self._table.settings.rules
        dealer = {
            "stand 17": "Dealer stands on all 17s",
            "hit soft 17": "Dealer must hit soft 17",
            "hit 17": "Dealer must hit all 17s",
        }[rules.dealer]
        pays = (
            "3 to 2" if rules.natural_pays * 2 == 5 else f"{float(rules.natural_pays - 1):g} to 1"
        )
        words = (f"Black Jack pays {pays}", dealer, "Insurance pays 2 to 1")
        for number, line in enumerate(words):
            canvas.put_pipe(DEALER_ROW + 2 + number, column, f"|02{line}")

    def _paint_seat(self, canvas: Canvas, row: int, column: int, seat: Chair) -> None:
        at_turn = self._state.at_turn is seat
        mine = seat.caller_id == self._caller.record.id
        colour = "|14" if at_turn else "|08" if seat.guest is None else "|15" if mine else "|11"
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
        for number, one in enumerate(hand.round.seats[place].hands):
            self._paint_cards(canvas, row + 1 + number, column, one)
        canvas.put_pipe(row + 3, column, self._result_words(seat, place))

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

    def _paint_talk(self, canvas: Canvas, left: int, end: int) -> None:
        lines = [line for text in self.talk for line in wrap(text, LAYOUT_COLUMNS - 2)]
        room = end - TALK_ROW
        for number, line in enumerate(lines[-room:]):
            canvas.put_pipe(TALK_ROW + number, left + 1, line)

    def _paint_shoe(self, canvas: Canvas, left: int, row: int) -> None:
        told = self.shoe_lines()
        for number, line in enumerate(told[:ROWS_BELOW_TALK]):
            canvas.put_pipe(row + number, left + 1, line)

    # In words.

    def _turn_words(self) -> str:
        turns, limit = self._caller.purse.turns(GAME), self._table.settings.turns_per_day
        of = f" of {limit}" if limit else ""
        return f"A coin is {span(self._table.coin)}   Turns today: {turns}{of}"

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
        if seat.ready:
            return "|10ready"
        if self._state.in_play is not None:
            return "|08sits this one out"
        return "|07bets" if seat.bet else "|08is silent" if seat.silent else "|08no bet yet"

    def _result_words(self, seat: Chair, place: int) -> str:
        hand = self._state.hand
        assert hand is not None  # the seat has a place in it
        if hand.over:
            ready = "  |10ready" if seat.ready else ""
            return f"{standing_of(hand.round, place, hand.coin)}{ready}"
        insurance = hand.round.seats[place].insurance
        if insurance:
            return f"|07insured: {wording.coins_of(insurance, hand.coin)}"
        return "|08has left" if seat.guest is None else ""

    def _hand_lines(self, seat: Chair) -> list[str]:
        place, hand = self._place(seat), self._state.hand
        if place is None or hand is None:
            return []
        return [
            f"{', '.join(plain(card) for card in one.cards)} ({one.count})"
            for one in hand.round.seats[place].hands
        ]


def _hand_words(hand: Hand) -> str:
    """Return what a hand counts, and how it stands, with a blank before it."""
    count = f" |15{hand.count}" if len(hand.cards) > 1 else ""
    if hand.settled is not None:
        return f"{count} {ENDED[hand.settled.outcome]}"
    if hand.is_natural:
        return " |10Black Jack"
    if hand.standing:
        return f"{count} |08{'doubled' if hand.doubled else 'stands'}"
    return count
