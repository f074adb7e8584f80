"""The caller's own statistics, the hall of fame and the brass plate.

Each page is read from running totals whenever it is shown, without waiting for the writer.
"""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from door import wording
from door.call.markup import hanging, literal, plain, wrap
from door.call.page import MARGIN, TITLE_ROWS, Page
from door.games.registry import GAMES
from door.lobby import bulletins, texts
from door.lobby.luck import show_luck
from timebank.callers import awards, fame
from timebank.callers.award_names import BANK, all_awards, name_of, wish_of
from timebank.callers.standings import DaySpan
from timebank.language import N_, _, ngettext
from timebank.wagers import duels
from timebank.words import date_words, money, short_month, short_weekday, span, title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from door.call.board import Board
    from door.call.caller import Caller
    from timebank.callers.days_called import DaysCalled
    from timebank.callers.fame import Hall, PlayRecord
    from timebank.ledger.database import Desk
    from timebank.wagers.duels import DuelRecord

FEWEST_DAYS, MOST_DAYS = 7, 28  # in the chart
DAY_CELLS = 24  # of a row of the chart, before its bar
LONGEST_BAR = 30
MOST_PLACES = 10
LINES_ROWS = 40  # of a page in plain lines, which scrolls
PLATE_NAMES = 12
PLATE_CELLS = 34
AWARD_CELLS = 36  # for the name of an award
AWARD_COLUMNS = 70  # needed to show an award in one row
NARROW_LISTS = 3  # on a screen too narrow for two lists side by side


def _rows_of(caller: Caller) -> int:
    """Return how many rows a page has below its title."""
    console = caller.console
    return console.screen.page_rows - TITLE_ROWS if console.screen.is_painted else LINES_ROWS


def _columns_of(caller: Caller) -> int:
    return caller.console.screen.page_columns - MARGIN


# A caller's own page.

RECORD_KEYS = {"A": N_("Awards"), "L": N_("Luck"), "Q": N_("Quit")}
RECORD_MEANINGS = {
    "A": N_("See which awards you have, since when, and which you can still earn."),
    "L": N_("See how lucky you were: what your hands won, and what the odds say."),
    "Q": N_("Go back to the main menu."),
}


async def visit_record(board: Board, caller: Caller) -> None:
    """Show the caller's statistics, and from there awards and luck."""
    console = caller.console
    while True:
        caller.place = N_("Statistics")
        record = await caller.look_up(
            partial(fame.record, caller_id=caller.record.id, days=MOST_DAYS)
        )
        duelled = await caller.look_up(partial(duels.record, caller_id=caller.record.id))
        columns = _columns_of(caller)
        rows = [*_record_rows(record, columns), *_duels_row(duelled)]
        room = _rows_of(caller) - sum(len(wrap(row, columns)) for row in rows)
        rows += _chart(record.days, columns, room, painted=console.screen.is_painted)
        console.display.stage(Page(_("Your statistics"), rows))
        choice = await console.prompt.choose(RECORD_KEYS, RECORD_MEANINGS, default="Q")
        if choice == "Q":
            return
        if choice == "A":
            await _read_awards(caller)
        else:
            await show_luck(board, caller)


async def _read_awards(caller: Caller) -> None:
    """List all awards: those earned with their times, then the others with their conditions."""
    caller.place = N_("Awards")
    own = await caller.look_up(lambda desk: awards.of_caller(desk, caller.record.id))
    schedule = caller.bank_settings.schedule
    earned = {each.word: date_words(schedule.local(each.at).date()) for each in own}
    words = [*earned, *(each for each in all_awards(GAMES) if each not in earned)]
    rows = [f"|07{_('{number} of {all} earned').format(number=len(earned), all=len(words))}", ""]
    columns = _columns_of(caller) if caller.console.screen.is_painted else 0
    for word in words:
        rows += _award(word, earned.get(word, ""), columns)
    await caller.console.pager.read(_("Your awards"), "\n".join(rows))


def _award(word: str, earned: str, columns: int) -> list[str]:
    """Return an award with the time it was earned, if that is not "", and its condition.

    Where `columns` are few, its name has a row of its own; 0 columns mean plain lines.
    """
    name, wish = name_of(word), wish_of(word)
    name, words = (f"|15{name}", f"|10{earned}") if earned else (f"|08{name}", f"|08{wish}")
    if not columns:
        words = f"{words}. |07{wish}" if earned else words
        return [_("{field}: {meaning}").format(field=name, meaning=words)]
    words = f"|07{wish}  |10{earned}" if earned else words
    if columns < AWARD_COLUMNS:
        return [name, hanging(f"  {words}")]
    blank = " " * (AWARD_CELLS - len(plain(name)))
    first, *more = wrap(words, columns - AWARD_CELLS)
    return [f"{name}{blank}{first}", *(" " * AWARD_CELLS + line for line in more)]


def _record_rows(record: PlayRecord, columns: int) -> list[str]:
    games = record.games
    if not games:
        return [f"|07{_('No hands finished yet.')}", *_days_row(record.called)]
    hands = sum(game.hands for game in games)
    won, even = sum(game.hands_won for game in games), sum(game.hands_even for game in games)
    counts = (
        (_("Hands"), hands),
        (_("Won"), won),
        (_("Pushes"), even),
        (_("Lost"), hands - won - even),
        (_("Blackjacks"), sum(game.naturals for game in games)),
        (_("Charlies"), sum(game.charlies for game in games)),
    )
    rows = _flowing((f"|07{name} |15{number}" for name, number in counts), columns)
    rows.append(_streaks_row(record))
    rows += [f"|07{sentence}" for sentence in _sentences(record)]
    return rows + _days_row(record.called)


def _days_row(called: DaysCalled) -> list[str]:
    if called.longest < 2:
        return []
    words = _("Days called: {number}. In a row: {running} now, {longest} at most.")
    return [f"|07{words.format(**called._asdict())}"]


def _duels_row(duelled: DuelRecord) -> list[str]:
    if not any(duelled):
        return []
    words = _("Duels: {won} won, {lost} lost, {even} even.")
    return [f"|07{words.format(**duelled._asdict())}"]


def _flowing(parts: Iterable[str], columns: int) -> list[str]:
    """Set parts side by side, as many in a row as there is room for."""
    rows: list[str] = []
    for part in parts:
        longer = f"{rows[-1]}   {part}" if rows else part
        if rows and len(plain(longer)) <= columns:
            rows[-1] = longer
        else:
            rows.append(part)
    return rows


def _streaks_row(record: PlayRecord) -> str:
    won = max(game.longest_won for game in record.games)
    lost = max(game.longest_lost for game in record.games)
    words = _("Most in a row at one game: {won} won, {lost} lost.")
    return f"|07{words.format(won=won, lost=lost)}"


def _sentences(record: PlayRecord) -> Iterator[str]:
    for_time = [game for game in record.games if game.unit == "second"]
    if for_time:
        best = max(game.best for game in for_time)
        if best:
            yield _("Your best hand won {time}.").format(time=span(best))
        if record.net > 0:
            words = _("At the tables you're up {time}.")
        elif record.net < 0:
            words = _("At the tables you're down {time}.")
        else:
            words = _("At the tables you're even.")
        yield words.format(time=span(abs(record.net)))
    for game in record.games:
        if game.unit != "second":
            words = ngettext(
                "{game}, play money: {hands} hand, {amount}.",
                "{game}, play money: {hands} hands, {amount}.",
                game.hands,
            )
            amount = money(game.won - game.lost, game.unit)
            yield words.format(game=_(title(game.game)), hands=game.hands, amount=amount)
    favourite = record.games[0]
    hands = ngettext("{number} hand", "{number} hands", favourite.hands)
    yield _("Your table is {game}: {hands}.").format(
        game=_(title(favourite.game)), hands=hands.format(number=favourite.hands)
    )
    if record.ranked > 1:
        yield _rank_sentence(record)


def _rank_sentence(record: PlayRecord) -> str:
    others = record.ranked - 1
    if record.behind == others:
        words = _("You're ahead of everybody else who has played.")
    elif not record.behind:
        words = _("Nobody is behind you yet.")
    else:
        words = _("You're ahead of {number} of the {all} others who have played.")
        words = words.format(number=record.behind, all=others)
    if not record.named:
        return words
    names = ", ".join(map(literal, record.named))
    return f"{words} {_('Just behind you: {names}.').format(names=names)}"


def _chart(
    days: Sequence[tuple[date, int]], columns: int, room: int, *, painted: bool
) -> list[str]:
    """Draw a bar a day, today first: green for the amount won, red for the amount lost.

    The chart takes about `room` rows, but has at least `FEWEST_DAYS`. Plain lines have no bars, and
    leave out days that came out even.
    """
    count = max(FEWEST_DAYS, min(MOST_DAYS, room - 2))  # a heading and an empty row take 2
    shown = days[-count:] if painted else [(day, net) for day, net in days if net]
    most = max((abs(net) for _day, net in shown), default=0)
    if not most:
        return []
    longest = min(LONGEST_BAR, columns - DAY_CELLS) if painted else 0
    heading = _("Won and lost by day")
    rows = [*([""] if room >= count + 2 else []), f"|11{heading}"]
    for day, net in reversed(shown):
        name = f"{short_weekday(day)} {day.day:>2} {short_month(day)}"
        amount = f"+{wording.clock_time(net)}" if net > 0 else wording.clock_time(net)
        bar = "█" * -(-abs(net) * longest // most)
        rows.append(f"|07{name:<13}|15{amount:>9}  |{10 if net > 0 else 12}{bar}".rstrip())
    return rows


# The hall of fame.

PERIODS = {"T": N_("Today"), "W": N_("This week"), "E": N_("Ever")}
HALL_KEYS = {**PERIODS, "B": N_("Brass plate"), "Q": N_("Quit")}
HALL_MEANINGS = {
    "T": N_("See who leads today."),
    "W": N_("See who leads since Monday."),
    "E": N_("See who leads of all time."),
    "B": N_("See who broke the bank at Baccarat."),
    "Q": N_("Go back to the main menu."),
}


async def visit_hall(caller: Caller) -> None:
    """Show the lists of today so far, of this week or of all time, and the brass plate."""
    console = caller.console
    period = "T"
    while True:
        caller.place = N_("Hall of fame")
        page = await _hall_page(caller, period)
        folder = caller.config.board.texts
        console.display.stage(texts.headed_if_room(console, folder, "hall-of-fame", page))
        choice = await console.prompt.choose(HALL_KEYS, HALL_MEANINGS)
        if choice == "Q":
            return
        if choice == "B":
            await _read_plate(caller)
        else:
            period = choice


async def _hall_page(caller: Caller, period: str) -> Page:
    columns, rows = _columns_of(caller), _rows_of(caller)
    painted = caller.console.screen.is_painted
    side_by_side = painted and columns >= bulletins.COLUMNS
    pairs = 3 if period == "E" else 2  # duels are counted for all time only
    places = _places(rows, pairs if side_by_side else NARROW_LISTS)

    def read(desk: Desk) -> tuple[Hall, list[tuple[str, int]]]:
        return fame.hall(desk, _period(desk, period), places), duels.most_won(desk, places)

    hall, duellists = await caller.look_up(read)
    heading = _("Hall of fame: {period}").format(period=_(PERIODS[period]))
    lists = _lists(hall)
    if period == "E" and duellists:
        lists.insert(2, _numbers(_("Duels won"), duellists))
    if not painted:
        return Page(heading, _stacked(lists))
    return Page(
        heading, bulletins.paired(lists) if side_by_side else _stacked(lists[:NARROW_LISTS])
    )


def _places(rows: int, lists: int) -> int:
    """Return how many places each of so many lists below each other has room for."""
    return max(1, min(MOST_PLACES, (rows - 2 * lists) // lists))


def _period(desk: Desk, period: str) -> DaySpan | None:
    today = desk.settings.schedule.day_of(desk.now)
    if period == "E":
        return None
    return DaySpan(today - timedelta(days=today.weekday() if period == "W" else 0), today)


def _lists(hall: Hall) -> list[list[str]]:
    lists = [
        bulletins.times_of(_("Won most"), hall.winners),
        bulletins.times_of(_("Best hand"), hall.best_hands),
    ]
    if hall.losers:
        lists.append(bulletins.times_of(_("Lost most, and admit it"), hall.losers))
    if hall.streaks:
        lists.append(_numbers(_("Hands won in a row"), hall.streaks))
    return lists


def _numbers(heading: str, places: Sequence[tuple[str, int]]) -> list[str]:
    return bulletins.list_of(heading, ((name, str(number)) for name, number in places))


def _stacked(lists: Sequence[Sequence[str]]) -> list[str]:
    return [row for each in lists for row in (*each, "")][:-1]


async def _read_plate(caller: Caller) -> None:
    caller.place = N_("Brass plate")
    names = await caller.look_up(lambda desk: awards.holders(desk, BANK, PLATE_NAMES))
    rows = _plate(names, painted=caller.console.screen.is_painted)
    await caller.console.pager.read(_("Brass plate"), "\n".join(rows))


def _plate(names: Sequence[str], *, painted: bool) -> list[str]:
    """Draw the plate with the callers who broke the bank, the latest first."""
    if not names:
        return [f"|07{_('Nobody has broken the bank yet. The plate is polished and waits.')}"]
    heading = _("They broke the bank")
    if not painted:
        return [heading, *map(literal, names)]
    inner = PLATE_CELLS - 2
    edge = "─" * inner
    engraved = [f"|14{heading:^{inner}}", "", *(f"|15{literal(name):^{inner}}" for name in names)]
    rows = [f"|06│{row}{' ' * (inner - len(plain(row)))}|06│" for row in engraved]
    return [f"|06┌{edge}┐", *rows, f"|06└{edge}┘"]
