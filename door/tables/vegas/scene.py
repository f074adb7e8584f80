"""The scene of a Vegas table: the dealer, and the seats around the caller's own.

Cards are as large as the rows and the seats taken allow, and the caller's own are always whole. A
narrow screen lists the other seats.
Cards appear one by one: hidden cards are not painted yet.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence, Set
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ansi.width import text_width
from door import wording
from door.call.markup import literal, wrap
from door.call.markup import plain as without_codes
from door.games.blackjack import events as dealt
from door.games.blackjack.round import BlackjackPhase
from door.tables.fairness import Fairness
from door.tables.scene import FELT, RAIL, paint_title
from door.tables.vegas import felt, news
from door.tables.vegas.table_round import GAME
from door.tables.vegas.words import (
    SeatEnding,
    card_words,
    natural_odds,
    net_of,
    odds,
    total_of,
)
from door.tables.words import count_words, turns_so_far
from timebank.language import N_, _
from timebank.words import MINUTE, span

if TYPE_CHECKING:
    from ansi.canvas import Canvas
    from door.call.scene import Area
    from door.games.blackjack.blackjack_hand import Hand
    from door.games.engine.cards import Card
    from door.tables.vegas.felt import VegasLayout
    from door.tables.vegas.state import Chair, TableState
    from door.tables.vegas.table_round import VegasRound

TALK_LINES_SHOWN = 3  # for watchers in plain lines
LINES_OF_TALK = 30  # kept for large windows
NAME_COLUMNS = 13  # a seat in a line of its own

ENDED = {
    "natural": ("|14", N_("wins")),
    "twenty-one": ("|14", N_("wins")),
    "win": ("|14", N_("wins")),
    "push": ("|15", N_("push")),
    "lose": ("|00", N_("loses")),
    "bust": ("|00", N_("bust")),
    "dealer-natural": ("|00", N_("loses")),
}
DEALER_RULES = {
    "stand 17": N_("Dealer stands on all 17s"),
    "hit soft 17": N_("Dealer hits soft 17"),
    "hit 17 with an ace": N_("Dealer hits 17 with an ace"),
    "hit 17": N_("Dealer hits all 17s"),
}


class Place(NamedTuple):
    """The place of a card in a hand of a seat; the dealer is seat -1."""

    seat: int
    hand: int
    card: int


TURNED_OVER = Place(-1, 1, 0)  # the hole card, once more


class TableView(Protocol):
    """What a scene reads of a table: of a `VegasTable`, or of a film's table."""

    @property
    def title(self) -> str: ...

    @property
    def state(self) -> TableState: ...

    def seconds_left(self) -> int: ...


class Onlooker(Protocol):
    """What a scene reads of its viewer: of a `Caller`, or of a film's viewer."""

    @property
    def record(self) -> Any: ...

    @property
    def purse(self) -> Any: ...

    @property
    def console(self) -> Any: ...


class VegasScene:
    def __init__(self, table: TableView, caller: Onlooker) -> None:
        self.title = table.title
        self._table = table
        self._caller = caller
        self.talk: deque[str] = deque(maxlen=LINES_OF_TALK)
        # The lines to the whole table, each with the number of its speaker.
        self.public_talk: deque[tuple[int, str]] = deque(maxlen=LINES_OF_TALK)
        self.is_from_behind = False  # whether a watcher sees it
        self.hidden: list[Place] = []  # cards not shown yet, in order
        self._still: TableState | None = None  # the table while cards are hidden
        self._is_deal = False  # whether they are those of a deal
        self.banner: SeatEnding | None = None  # shown across the felt
        self.streak = ""  # the caller's wins in a row, after a round
        self.has_side = False  # whether talk was last painted next to the felt

    def from_behind(self, name: str, unheard: Set[int]) -> VegasScene:
        """Return a copy for a watcher, without the talk of `unheard` callers.

        `name` is unused: the felt shows the caller's seat.
        """
        scene = copy(self)
        talk = (line for speaker, line in self.public_talk if speaker not in unheard)
        scene.talk, scene.is_from_behind = deque(talk), True
        return scene

    # Cards that appear one by one.

    @property
    def _state(self) -> TableState:
        """The table, or a still of it while cards are hidden."""
        return self._table.state if self._still is None else self._still

    @property
    def _coin(self) -> int:
        return self._state.house.coin_minutes * MINUTE

    def hide(self, item: news.RoundDealt | news.RoundWentOn) -> None:
        """Hide the new cards of `item`; `show_next` shows them one by one.

        Until the last one is shown the scene is a still of the table, with a round that is not
        over. So nothing but the shown cards tells how the round goes on.
        """
        round_, places = item.round, list[Place]()
        for event in reversed(item.events):
            if isinstance(event, dealt.BlackjackDealt):
                cards = len(round_.seats[event.seat].hands[event.hand].cards)
                place = Place(event.seat, event.hand, 0)
            elif isinstance(event, dealt.DealerDealt):
                cards, place = len(round_.dealer), Place(-1, 0, 0)
            elif isinstance(event, dealt.BlackjackRevealed):
                cards, place = 1, TURNED_OVER
            else:
                continue
            later = sum(each[:2] == place[:2] for each in places)
            places.insert(0, place._replace(card=cards - 1 - later))
        self.hidden, self._is_deal = places, isinstance(item, news.RoundDealt)
        self._still = copy(self._table.state)
        self._still.seats = {number: copy(chair) for number, chair in self._still.seats.items()}
        self._still.alarm = None
        self._mask()

    def show_next(self) -> None:
        del self.hidden[:1]
        self._mask()

    def show_all(self) -> None:
        self.hidden = []
        self._mask()

    def _mask(self) -> None:
        """Update the hands of the still; drop it when no card is hidden."""
        hand = self._table.state.hand
        if self._still is None or hand is None or not self.hidden:
            self._still = None
            return
        seats = tuple(
            seat._replace(
                hands=tuple(
                    self._visible_hand(place, number, one) for number, one in enumerate(seat.hands)
                )
            )
            for place, seat in enumerate(hand.round.seats)
        )
        shown = replace(hand.round, seats=seats, phase=BlackjackPhase.PLAY, turn=None)
        self._still.hand = hand._replace(round=shown)

    def _visible_hand(self, seat: int, number: int, hand: Hand) -> Hand:
        """Return a hand without its hidden cards, and without its end."""
        cards = tuple(
            card for at, card in enumerate(hand.cards) if Place(seat, number, at) not in self.hidden
        )
        # On a deal the dealer's natural ends a hand.
        has_stood = hand.has_stood and not self._is_deal
        return replace(hand, cards=cards, has_stood=has_stood, settled=None)

    def _dealer_cards(self, hand: VegasRound) -> list[Card | None]:
        """Return the dealer's visible cards; the second is face down until it is turned over."""
        cards = [
            card for at, card in enumerate(hand.round.dealer) if Place(-1, 0, at) not in self.hidden
        ]
        return [*cards[:1], None, *cards[2:]] if TURNED_OVER in self.hidden and cards[1:] else cards

    # The scene.

    def paint(self, canvas: Canvas, area: Area) -> None:
        if area.is_narrow:
            self._paint_narrow(canvas, area)
            return
        self.has_side = area.left + area.columns < canvas.width
        state = self._state
        chairs = max((state.house.seats, *state.seats))
        mine = state.seat_of(self._caller.record.id)
        own = chairs // 2 + 1 if mine is None else mine.chair
        layout = felt.layout_of(area, len(state.seats.keys() - {own}), has_side=self.has_side)
        paint_title(canvas, area.left, self.title, self._turn_words())
        felt.paint_felt(canvas, layout.left, layout.columns, layout.rail_row)
        self._paint_dealer(canvas, layout)
        is_waiting = mine is not None and self._place(mine) is None
        printed = layout.own_row + 3 if is_waiting else layout.clock_row + 1
        room = layout.rail_row - printed if is_waiting else layout.own_row - printed
        # The seats leave a cell on each side, which a long line may use.
        column, width = layout.dealer_column - 1, layout.seat_columns + 2
        felt.paint_print(canvas, printed, column, width, self.felt_words(), room)
        for chair, place in layout.places_of(own, chairs, state.seats).items():
            seat = state.seats.get(chair)
            if seat is not None:
                self._paint_seat(canvas, place, layout.seat_columns, seat)
            else:
                felt.paint_ring(canvas, place, layout.seat_columns)
        first = layout.rail_row + 1
        if not self.has_side:
            self._paint_talk(canvas, layout.left + 1, layout.columns - 2, first, area.rows)
        if self.banner is not None:
            rows = area.rows - layout.rail_row
            felt.paint_banner(
                canvas, layout.rail_row, layout.left, layout.columns, rows, self.banner
            )

    def lines(self) -> Sequence[str]:
        lines = [f"|15{self.title}"]
        for seat in self._state.seated():
            words = _("Seat {number}: {name}, {coins}") if seat.bet else _("Seat {number}: {name}")
            seated = words.format(
                number=seat.chair,
                name=f"|15{literal(seat.name)}|07",
                coins=wording.coins_of(seat.bet, self._coin),
            )
            lines.append(f"|07{seated}")
            lines.extend(f"|07  {words}" for words in self._hand_lines(seat))
        hand = self._state.hand
        if hand is not None:
            cards = self._dealer_cards(hand)
            words = _("Dealer: {cards} ({total})")
            dealer_line = words.format(cards=card_words(cards), total=count_words(cards))
            lines.append(f"|07{dealer_line}")
        if hand is None or hand.over or self.is_from_behind:  # watchers hear it once
            coin = _("A coin is {time} of your time.").format(time=span(self._coin))
            lines.append(f"|07{coin}")
        if self.is_from_behind:
            lines.extend(list(self.talk)[-TALK_LINES_SHOWN:])
        return lines

    def pot_words(self) -> str:
        """Return the caller's pot and turns in a line, for a screen that has no status line."""
        coins = wording.coins(self._caller.purse.pot(self._coin))
        return f"|07{_('Your pot: {coins}.').format(coins=coins)} {self._turns_only()}."

    def explain(self, *, in_lines: bool = False) -> Sequence[str]:
        """Return the meaning of each field, for the help page."""
        painted = self._caller.console.screen.is_painted
        fields = [
            (_("A coin"), _("What a coin is worth in your time.")),
            (_("Turns today"), _("Turns you've played today, and the limit.")),
            (_("Dealer"), _("The dealer's cards and their total.")),
            (_("Seat"), _("A player's name, bet, cards and total.")),
        ]
        if painted:
            fields += [
                ("►", _("Whose turn it is.")),
                (_("+ and -"), _("Coins won and lost in the round that is over.")),
                (
                    _("Clock"),
                    _("Below the dealer's cards: how long the table waits, and for whom."),
                ),
            ]
        return [f"|15{name}|07  {meaning}" for name, meaning in fields]

    def fairness(self) -> Fairness:
        """Return seal, seed and cut. A seed next to a seal belongs to the shoe before."""
        state = self._state
        seal = "" if state.shoe is None else state.shoe.seal
        is_next_sealed = bool(seal and state.seed)
        fairness = Fairness(seal, state.seed, state.cut, is_next_sealed=is_next_sealed)
        shoe = state.shoe
        if shoe is None:
            return fairness
        commitments = tuple((each.name, each.commitment) for each in state.commitments)
        return replace(
            fairness.sealed_ahead(self._caller.record.preferences, shoe, shoe.link - 1),
            commitments=commitments,
        )

    def clock_words(self, width: int) -> str:
        """Return the words for the alarm of the table, "" for none.

        A name that is too long for `width` is shortened.
        """
        alarm, left = self._state.alarm, self._table.seconds_left()
        if alarm is None:
            return ""
        is_theirs = alarm.name == self._caller.record.name and not self.is_from_behind
        if alarm.what == "turn" and is_theirs:
            return f"|15|20 {_('Your turn: {seconds} s').format(seconds=left)} |18"
        words = {
            "bell": _("Cards in {seconds} s"),
            "turn": _("{name}: {seconds} s"),
            "return": _("{name} is away: {seconds} s"),
            "retry": _("Waiting for the books: {seconds} s"),
        }[alarm.what]
        room = width - text_width(words.format(name="", seconds=left))
        name = felt.shortened(literal(alarm.name), room) if alarm.name else ""
        return f"|14{words.format(name=name, seconds=left)}"

    # Painting.

    def _paint_dealer(self, canvas: Canvas, layout: VegasLayout) -> None:
        hand, width = self._state.hand, layout.seat_columns
        row, column = layout.dealer_row, layout.dealer_column
        large = layout.dealer_rows == felt.LARGE_ROWS
        after = canvas.put_pipe(row, column, f"|15{_('Dealer')}", FELT)
        if hand is not None:
            cards = self._dealer_cards(hand)
            total = f"|14{count_words(cards)}" if cards else ""
            canvas.put_pipe(row, after + 2, total, FELT)
            felt.paint_fan(canvas, row + 1, column, cards, width, large=large)
        else:
            felt.paint_places(canvas, row + 1, column, large=large)
        canvas.put_pipe(layout.clock_row, column, self.clock_words(width), FELT)

    def felt_words(self) -> tuple[str, str, str]:
        """Return the print on the felt: the pays and the dealer's rule."""
        rules = self._state.house.rules
        pays = _("Blackjack pays {odds}").format(odds=natural_odds(rules))
        insurance = _("Insurance pays {odds}").format(odds=odds(rules.insurance_pays, 1))
        return pays.upper(), _(DEALER_RULES[rules.dealer]), insurance.upper()

    def _paint_seat(self, canvas: Canvas, at: felt.SeatPlace, width: int, seat: Chair) -> None:
        row, column = at.row, at.column
        bet, end = self._bet_words(seat), column + width - 1
        name = felt.shortened(literal(seat.name), width - len(bet) - 3)
        canvas.put_pipe(row, column - 2, self._pointer(seat), FELT)
        canvas.put_pipe(row, column, f"{self._colour_of(seat)}{name}", FELT)
        felt.paint_right(canvas, row, end, f"|15{bet}")
        place, hand = self._place(seat), self._state.hand
        if place is None or hand is None:
            canvas.put_pipe(row + 1, column, self._waiting_words(seat), FELT)
            return
        hands, net = hand.round.seats[place].hands, self._net_words(place)
        last, status = row + at.rows - 1, self._status_words(seat, place)
        if at.has_cards:
            self._paint_hands(canvas, row + 1, column, width, hands, large=at.is_large)
            words = _hands_words(hands, width - 1, net)
            room = width - 2 - text_width(without_codes(words))
            felt.paint_right(canvas, last, end, words)
            status = status if text_width(without_codes(status)) <= room else ""
        else:
            for number, one in enumerate(hands):
                words = _hand_words(one, net if len(hands) == 1 else "")
                room = width - 1 - text_width(without_codes(words))
                felt.paint_line(canvas, row + 1 + number, column, one.cards, room)
                felt.paint_right(canvas, row + 1 + number, end, words)
            if len(hands) > 1:
                felt.paint_right(canvas, last, end, net)
        canvas.put_pipe(last, column, status, FELT)

    def _paint_hands(
        self,
        canvas: Canvas,
        row: int,
        column: int,
        width: int,
        hands: Sequence[Hand],
        *,
        large: bool = False,
    ) -> None:
        """Paint the cards of a seat's hands next to each other."""
        each = width // len(hands)
        for number, one in enumerate(hands):
            start = column + number * each
            felt.paint_fan(canvas, row, start, one.cards, each - 1, large=large)

    def _pointer(self, seat: Chair) -> str:
        return "|14►" if self._state.at_turn is seat else ""

    def _colour_of(self, seat: Chair) -> str:
        if seat.guest is None:
            return "|00"
        is_mine = seat.caller_id == self._caller.record.id
        return "|14" if is_mine or self._state.at_turn is seat else "|15"

    def _paint_talk(self, canvas: Canvas, left: int, width: int, first: int, end: int) -> None:
        """Paint the talk, the latest line in the row before `end`."""
        lines = [line for text in self.talk for line in wrap(text, width)]
        room = max(0, end - first)
        for number, line in enumerate(lines[-room:] if room else ()):
            canvas.put_pipe(first + number, left, line)

    # On a narrow screen.

    def _paint_narrow(self, canvas: Canvas, area: Area) -> None:
        self.has_side = False
        left, width = area.left + 1, area.columns - 1
        paint_title(canvas, area.left, self.title, self._turns_only())
        mine = self._state.seat_of(self._caller.record.id)
        others = [seat for seat in self._state.seated() if seat is not mine]
        # Whole cards for the dealer, if a row of talk still fits.
        is_whole = felt.NARROW_ROWS + felt.NARROW_CARD_ROWS + len(others) <= area.rows
        first = 2 + (felt.NARROW_CARD_ROWS if is_whole else 0)
        own = first + len(others)
        rail = own + 1 + felt.NARROW_CARD_ROWS
        canvas.blank(1, area.left, area.columns, rail - 1, FELT)
        canvas.put(rail, area.left, "▄" * area.columns, RAIL)
        self._paint_narrow_dealer(canvas, left, width, is_whole=is_whole)
        for number, seat in enumerate(others):
            self._paint_in_a_line(canvas, first + number, left, width, seat)
        self._paint_own(canvas, own, left, width, mine)
        self._paint_talk(canvas, left, width, rail + 1, area.rows)
        if self.banner is not None:
            felt.paint_banner(canvas, rail, area.left, area.columns, area.rows - rail, self.banner)

    def _paint_narrow_dealer(
        self, canvas: Canvas, left: int, width: int, *, is_whole: bool
    ) -> None:
        hand = self._state.hand
        column = canvas.put_pipe(1, left, f"|15{_('Dealer')} ", FELT)
        if hand is not None:
            cards = self._dealer_cards(hand)
            words = f" |14{count_words(cards)}" if cards else ""
            if is_whole:
                felt.paint_fan(canvas, 2, left, cards, width - 1)
                column = canvas.put_pipe(1, column, words, FELT)
            else:
                room = width - column - text_width(without_codes(words))
                column = felt.paint_line(canvas, 1, column, cards, room)
                column = canvas.put_pipe(1, column, words, FELT)
        elif is_whole:
            felt.paint_places(canvas, 2, left)
        felt.paint_right(canvas, 1, left + width, self.clock_words(left + width - column - 1))

    def _paint_in_a_line(
        self, canvas: Canvas, row: int, left: int, width: int, seat: Chair
    ) -> None:
        place, hand = self._place(seat), self._state.hand
        if place is None or hand is None:
            words = self._waiting_words(seat)
        else:
            hands = hand.round.seats[place].hands
            words = _hands_words(hands, width - NAME_COLUMNS, self._net_words(place))
        room = width - text_width(without_codes(words)) - 1
        name = felt.shortened(literal(seat.name), room)
        canvas.put_pipe(row, left - 1, self._pointer(seat), FELT)
        column = canvas.put_pipe(row, left, f"{self._colour_of(seat)}{name} ", FELT)
        canvas.put_pipe(row, max(column, left + NAME_COLUMNS), words, FELT)

    def _paint_own(
        self, canvas: Canvas, row: int, left: int, width: int, seat: Chair | None
    ) -> None:
        """Paint the caller's own seat: a row of words, and whole cards in the five below."""
        place, hand = None if seat is None else self._place(seat), self._state.hand
        if seat is None or place is None or hand is None:
            felt.paint_print(canvas, row + 2, left, width, self.felt_words(), 4)
            if seat is not None:
                name = f"{self._colour_of(seat)}{literal(seat.name)}"
                column = canvas.put_pipe(row, left, name, FELT)
                canvas.put_pipe(row, column + 2, self._waiting_words(seat), FELT)
            return
        hands = hand.round.seats[place].hands
        self._paint_hands(canvas, row + 1, left, width, hands)
        right = self._status_words(seat, place) or f"|15{self._bet_words(seat)}"
        free = width - text_width(without_codes(right)) - 2
        room = free - min(text_width(seat.name), NAME_COLUMNS)
        words = _hands_words(hands, room, self._net_words(place))
        name = felt.shortened(literal(seat.name), free - text_width(without_codes(words)))
        canvas.put_pipe(row, left - 1, self._pointer(seat), FELT)
        column = canvas.put_pipe(row, left, f"{self._colour_of(seat)}{name}", FELT)
        canvas.put_pipe(row, column + 1, words, FELT)
        felt.paint_right(canvas, row, left + width, right)

    # In words.

    def _turns_only(self) -> str:
        if self.is_from_behind:
            return ""
        return turns_so_far(self._caller.purse.turns(GAME), self._state.house.turns_per_day)

    def _turn_words(self) -> str:
        coin = _("A coin is {time}").format(time=span(self._coin))
        return f"{coin}   {self._turns_only()}".rstrip()

    def _place(self, seat: Chair) -> int | None:
        return None if self._state.hand is None else self._state.hand.place_of(seat.caller_id)

    def _bet_words(self, seat: Chair) -> str:
        place, hand = self._place(seat), self._state.hand
        if seat.bet:
            return wording.coins_of(seat.bet, self._coin)
        if place is None or hand is None:
            return ""
        if hand.over:
            is_mine = seat.caller_id == self._caller.record.id
            return f"|14{self.streak}" if is_mine else ""
        staked = sum(one.stake for one in hand.round.seats[place].hands)
        return wording.coins_of(staked, hand.coin)

    def _waiting_words(self, seat: Chair) -> str:
        if seat.bet:
            return f"|14{_('ready')}"
        if self._state.in_play is not None:
            return f"|15{_('sits this one out')}"
        return f"|15{_('away') if seat.silent else _('no bet yet')}"

    def _net_words(self, place: int) -> str:
        """Return the net of a seat in a finished round."""
        hand = self._state.hand
        if hand is None or not hand.over:
            return ""
        return net_of(hand.round, place, hand.coin)

    def _status_words(self, seat: Chair, place: int) -> str:
        hand = self._state.hand
        assert hand is not None  # the seat has a place in it
        if hand.over:
            return f"|14{_('ready')}" if seat.bet else ""
        insurance = hand.round.seats[place].insurance
        if insurance:
            coins = wording.coins_of(insurance, hand.coin)
            return f"|15{_('insured: {coins}').format(coins=coins)}"
        if seat.guest is not None:
            return ""
        return f"|15{_('has left') if seat.stood else _('away')}"

    def _hand_lines(self, seat: Chair) -> list[str]:
        place, hand = self._place(seat), self._state.hand
        if place is None or hand is None:
            return []
        words = _("{cards} ({total})")
        lines = [
            words.format(cards=card_words(one.cards), total=total_of(one))
            for one in hand.round.seats[place].hands
        ]
        if self.is_from_behind and (net := self._net_words(place)):
            lines.append(net)  # callers get a message instead
        return lines


def _hands_words(hands: Sequence[Hand], room: int, net: str = "") -> str:
    """Return totals and states of a seat's hands, with their net after the round.

    Where `room` is too small, two hands have their totals only, or nothing.
    """
    if len(hands) == 1:
        words = _hand_words(hands[0], net)
        return words if text_width(without_codes(words)) <= room else total_of(hands[0])
    behind = f" {net}" if net else ""
    stands = " |15/ ".join(map(_hand_words, hands))
    counts = "|15" + " / ".join(total_of(hand) for hand in hands if hand.cards)
    fit = (
        words
        for words in (f"{stands}{behind}", f"{counts}{behind}", counts)
        if text_width(without_codes(words)) <= room
    )
    return next(fit, net)


def _hand_words(hand: Hand, net: str = "") -> str:
    """Return total and state of a hand, or its net in place of the state."""
    if not hand.cards:
        return ""
    count = f"{'|14' if hand.is_natural else '|15'}{total_of(hand)}"
    if net:
        return f"{count} {net}"
    if hand.settled is not None and not hand.is_natural:
        colour, words = ENDED[hand.settled.outcome]
        return f"{count} {colour}{_(words)}"
    if hand.has_stood and not hand.is_natural:
        return f"{count} |00{_('doubled') if hand.doubled else _('stands')}"
    return count
