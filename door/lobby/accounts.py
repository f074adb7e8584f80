"""Accounts at the bank's window: the list of all, finding one by name, and the own history."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from door.call.markup import literal, wrap
from door.call.page import Page
from door.call.talk import begins_with
from door.lobby.bulletins import PLACES
from door.wording import DAY
from timebank.callers import callers, standings
from timebank.callers.history import history
from timebank.calls.calls import open_calls
from timebank.errors import Refused
from timebank.language import N_, _
from timebank.names import names
from timebank.words import date_words, moment

if TYPE_CHECKING:
    from datetime import date

    from door.call.caller import Caller
    from timebank.callers.callers import CallerRecord
    from timebank.callers.history import Happening
    from timebank.ledger.database import Desk
    from timebank.settings.schedule import Schedule

WIDE = 70  # columns that the list needs as a table
LONGEST_NAME = 60  # characters: a guest's name, @ and the name of the guest's board


async def list_accounts(caller: Caller) -> None:
    """List all accounts, or those whose name has a part: first and last call, and place.

    Places are those of the bulletin's list of the richest.
    """
    part = await caller.console.prompt.entry(
        f"|07{_('Name contains (Enter for all):')}|15",
        longest=names.LONGEST,
        meaning=_("A part of a name, to find out how it is spelled. Enter alone lists everybody."),
    )
    if part is None:
        return
    listed = await caller.look_up(partial(_look, part=part))
    if not listed:
        caller.console.screen.say(f"|12{_('No name contains that.')}")
        await caller.console.pager.any_key()
        return
    rows = _rows(caller, listed)
    await caller.console.pager.read(
        _("Accounts ({number})").format(number=len(listed)), "\n".join(rows)
    )


def _look(desk: Desk, part: str) -> list[tuple[CallerRecord, int]]:
    """Return the callers with their places among the richest, 0 for none."""
    places = {each.name: place for place, each in enumerate(standings.richest(desk, PLACES), 1)}
    return [(each, places.get(each.name, 0)) for each in callers.listing(desk, part)]


def _rows(caller: Caller, listed: Sequence[tuple[CallerRecord, int]]) -> list[str]:
    schedule = caller.bank_settings.schedule
    today = schedule.day_of(caller.console.clock.now())
    is_wide = caller.console.screen.page_columns >= WIDE
    heads = _row(_("Caller"), _("Member since"), _("Last call"), _("Richest"), "11")
    rows = [heads] if is_wide else []
    for each, number in listed:
        since = date_words(schedule.day_of(each.created))
        last = _last_call(each, schedule, today)
        place = _("no. {place}").format(place=number) if number else ""
        if is_wide:
            rows.append(_row(literal(each.name), since, last, place, "15"))
            continue
        rows.append(f"|15{literal(each.name)}")
        rows.append(f"|07  {_('Member since {day}').format(day=since)}")
        rows.append(f"|07  {_('Last call: {day}').format(day=last)}")
        if number:
            rows.append(f"|07  {_('Richest: no. {place}').format(place=number)}")
    return rows


def _row(name: str, since: str, last: str, place: str, colour: str) -> str:
    rest = "|07" if colour == "15" else ""
    return f"|{colour}{name:<27}{rest}{since:<20}{last:<20}{place}".rstrip()


def _last_call(account: CallerRecord, schedule: Schedule, today: date) -> str:
    if account.last_call is None:
        return _("never")
    day = schedule.day_of(account.last_call)
    if day >= today:
        return _("today")
    return _("yesterday") if today - day == DAY else date_words(day)


async def find_account(caller: Caller, question: str) -> CallerRecord | None:
    """Ask for the name of a caller until it is known; return None at Esc or an empty line.

    The beginning of a name is enough for a caller who is on. For an unknown name, names that are
    like it are suggested.
    """
    prompt = caller.console.prompt
    while typed := await prompt.entry(f"|07{question}|15", longest=LONGEST_NAME):
        try:
            return await caller.ask_books(partial(_named, typed=typed))
        except Refused as refused:
            caller.console.screen.say(f"|12{literal(str(refused))}")
    return None


def _named(desk: Desk, typed: str) -> CallerRecord:
    on = [call for call in open_calls(desk) if call.live]
    record = callers.find(desk, typed) or begins_with(desk, on, typed)
    if record is None:
        raise Refused(callers.nobody(desk, typed, N_("There is no caller of that name.")))
    return record


async def read_history(caller: Caller) -> None:
    """Page through the caller's statement in words, newest first."""
    room = caller.console.screen.page_rows - 2
    starts: list[int | None] = [None]  # where each page begins, up to the current one
    while True:
        lines = await caller.ask_books(
            partial(history, caller_id=caller.record.id, before=starts[-1], limit=room + 1)
        )
        body, last = _statement_page(caller, lines, room)
        body = body or [f"|07{_('Nothing yet.')}"]
        caller.console.display.stage(Page(_("Your history"), body))
        choices = {} if last is None else {"O": _("Older")}
        if len(starts) > 1:
            choices["N"] = _("Newer")
        choices["Q"] = _("Quit")
        choice = await caller.console.prompt.ask(choices, default=next(iter(choices)), cancel="Q")
        if choice == "Q":
            return
        if choice == "O":
            starts.append(last)
        else:
            starts.pop()


def _statement_page(
    caller: Caller, lines: Sequence[Happening], room: int
) -> tuple[list[str], int | None]:
    """Lay out as many lines as fit into `room` rows.

    Return the rows, and the number of the last line if more are left, else None.
    """
    schedule = caller.bank_settings.schedule
    body: list[str] = []
    for number, line in enumerate(lines):
        first, *more = wrap(literal(line.words), caller.console.screen.page_columns - 17)
        rows = [f"|03{moment(schedule.local(line.at))}  |07{first}"]
        rows += [f"|07{' ' * 14}{words}" for words in more]
        if body and len(body) + len(rows) > room:
            return body, lines[number - 1].number
        body += rows
    return body, None
