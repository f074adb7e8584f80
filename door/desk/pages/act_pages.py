"""The sysop's acts on the pages: a page says what will happen, and its form does it.

Acts are carried out as by the commands: on accounts by the bank's own operations, on callers who
are on by the socket of the running server. The sysop's log names who did it. A form is good for one
act: if it is sent twice, the act is done once, and both answers show the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from door.desk.pages.forms import NOT_OURS, number_in, own_form
from door.errors import NoAnswer, PageRefused
from timebank.errors import EventRefused, OutcomeUnknown, Refused, TimeBankError
from timebank.keeping import caller_acts as acts
from timebank.keeping.events import (
    LEAST_MINUTES,
    MOST_MINUTES,
    MOST_NOTICE,
    USUAL_NOTICE,
    EventAsked,
)
from timebank.window import corrections
from timebank.words import MINUTE, clean

if TYPE_CHECKING:
    from door.desk.pages.operations import OnCaller, SysopActs
    from door.desk.pages.rendering import Guard, PageRenderer, Visit
    from timebank.ledger.database import Desk

LONGEST_TEXT = 200
LONGEST_MINUTES = 100_000
UNDER_WAY = "This is being done. The sysop's log shows when it is."
UNKNOWN = (
    "The books can't say whether this was done. Look at the sysop's log before you do it again."
)
START_EVENT, END_EVENT = "event-start", "event-end"
LENGTHS = {"minutes": (LEAST_MINUTES, MOST_MINUTES), "notice": (0, MOST_NOTICE)}


@dataclass(frozen=True)
class ActField:
    name: str
    label: str
    kind: str = "text"  # or "minutes", which may be negative, or "length" in minutes
    may_be_empty: bool = False


Doing = Callable[["SysopActs", str, "OnCaller | None", Mapping[str, str]], str]


@dataclass(frozen=True)
class PageAct:
    """An act of the sysop. `words` say what it means before it is confirmed, with the caller's name
    and the fields; `does`, which is called in a thread, does it and returns the result.
    """

    name: str
    label: str
    fields: Sequence[ActField]
    words: str
    does: Doing
    is_of_caller: bool = True


WHY = ActField("why", "Why? The caller reads it, and it stays in the books")
MAY_WHY = ActField("why", "Why? The caller reads it", may_be_empty=True)


def _changes(act: Callable[[Desk, int, str, str], str]) -> Doing:
    """Return how to do an act of the books on a caller, given its only field as typed."""
    return lambda do, by, on, form: do.change(
        on, lambda desk, who: act(desk, who, by, form.get("why") or form.get("text", ""))
    )


def _event(form: Mapping[str, str]) -> EventAsked:
    minutes, notice = form["minutes"], form["notice"]
    return EventAsked(
        form["name"] or None,
        int(minutes) if minutes else None,
        int(notice) if notice else USUAL_NOTICE,
    )


ACTS = (
    PageAct(
        "adjust",
        "Adjust the account",
        (ActField("minutes", "Minutes, below zero to take them out", "minutes"), WHY),
        "{name} reads: {why}.",
        lambda do, by, on, form: do.adjust(by, on, int(form["minutes"]) * MINUTE, form["why"]),
    ),
    PageAct(
        "freeze",
        "Freeze the account",
        (WHY,),
        "Nothing goes into {name}'s account or out of it any more. {name} reads: {why}.",
        _changes(lambda desk, who, by, typed: corrections.freeze(desk, who, typed, by)),
    ),
    PageAct(
        "unfreeze",
        "Open the account again",
        (WHY,),
        "{name} reads: {why}.",
        _changes(lambda desk, who, by, typed: corrections.unfreeze(desk, who, typed, by)),
    ),
    PageAct(
        "notice",
        "Leave a notice",
        (ActField("text", "What they read at their next log-on, or at once where they are on"),),
        "{name} reads: The sysop: {text}",
        _changes(lambda desk, who, by, typed: acts.leave_notice(desk, who, typed, by)),
    ),
    PageAct(
        "approve",
        "Let them bet",
        (),
        "{name} may bet from now on, and reads so at once or at the next log-on.",
        _changes(lambda desk, who, by, typed: acts.approve(desk, who, by)),
    ),
    PageAct(
        "lock",
        "Lock out",
        (MAY_WHY,),
        "{name} can't log on any more, and a call that is open ends. {why}",
        _changes(lambda desk, who, by, typed: acts.set_locked(desk, who, True, by, typed)),
    ),
    PageAct(
        "unlock",
        "Let in again",
        (),
        "{name} can log on again.",
        _changes(lambda desk, who, by, typed: acts.set_locked(desk, who, False, by)),
    ),
    PageAct(
        "mute",
        "Mute",
        (MAY_WHY,),
        "Others see nothing any more that {name} says. {why}",
        _changes(lambda desk, who, by, typed: acts.set_muted(desk, who, True, by, typed)),
    ),
    PageAct(
        "unmute",
        "Let them speak",
        (),
        "{name} may speak to others again.",
        _changes(lambda desk, who, by, typed: acts.set_muted(desk, who, False, by)),
    ),
    PageAct(
        "delete",
        "Delete",
        (MAY_WHY,),
        "Nobody sees {name} any more. {why}",
        _changes(acts.delete),
    ),
    PageAct(
        "restore",
        "Bring back",
        (ActField("new", "A new name, if another has theirs by now", may_be_empty=True),),
        "{name} is back with all their time, and may call again. {new}",
        lambda do, by, on, form: do.change(
            on, lambda desk, who: acts.bring_back(desk, f"#{who}", form["new"] or None, by)
        ),
    ),
    PageAct(
        "kick",
        "End the call",
        (MAY_WHY,),
        "{name}'s call ends now. An open hand waits for them. {why}",
        lambda do, by, on, form: do.kick(by, on, form["why"]),
    ),
    PageAct(
        "say",
        "Say something",
        (ActField("text", "What they read at once"),),
        "{name} reads at once: The sysop: {text}",
        lambda do, by, on, form: do.say(by, on, form["text"]),
    ),
    PageAct(
        "say-all",
        "Say something to everybody",
        (ActField("text", "What everybody who is on reads at once"),),
        "Everybody who is on reads at once: The sysop: {text}",
        lambda do, by, on, form: do.say(by, None, form["text"]),
        is_of_caller=False,
    ),
    PageAct(
        START_EVENT,
        "Start a system event early",
        (
            ActField("name", "Its name, empty for the next one", may_be_empty=True),
            ActField(
                "minutes", "Minutes that it lasts, empty for its own", "length", may_be_empty=True
            ),
            ActField(
                "notice", "Minutes until it begins, empty for one", "length", may_be_empty=True
            ),
        ),
        "Callers are told. What they have beyond it is held for them until it is over.",
        lambda do, by, on, form: do.start_event(by, _event(form)),
        is_of_caller=False,
    ),
    PageAct(
        END_EVENT,
        "Take the event back",
        (),
        "The event that was started early is taken back, and the board is open again. The one"
        " of the schedule takes place at its time.",
        lambda do, by, on, form: do.end_event(by),
        is_of_caller=False,
    ),
    PageAct(
        "drain",
        "Take no more calls",
        (),
        "The board takes no more calls, and closes when the last caller has gone. If it does so"
        " already, it closes now: callers are told, and no hand is lost.",
        lambda do, by, on, form: do.drain(by),
        is_of_caller=False,
    ),
)
NOT_OF_ONESELF = ("lock", "delete")
BY_NAME = {act.name: act for act in ACTS}


class ActPages:
    def __init__(self, showing: PageRenderer, doing: SysopActs) -> None:
        self._showing = showing
        self._doing = doing

    def routes(self, guard: Guard) -> list[Route]:
        return [
            Route("/acts", guard(self._board_acts)),
            Route("/caller/{number}/acts", guard(self._caller_acts)),
            Route("/act/{name}", guard(self._ask), methods=["POST"]),
            Route("/act/{name}/do", guard(self._do), methods=["POST"]),
        ]

    async def _board_acts(self, visit: Visit) -> Response:
        _check_powers(visit)
        started = await self._showing.read(self._doing.started_event)
        other = START_EVENT if started else END_EVENT
        acts = [act for act in ACTS if not act.is_of_caller and act.name != other]
        return self._showing.show("acts.html", visit, acts=acts, on=None)

    async def _caller_acts(self, visit: Visit) -> Response:
        _check_powers(visit)
        on = await self._find(visit.request.path_params["number"])
        own = NOT_OF_ONESELF if on.number == visit.who.id else ()
        acts = [act for act in ACTS if act.name in on.acts and act.name not in own]
        return self._showing.show("acts.html", visit, acts=acts, on=on)

    async def _ask(self, visit: Visit) -> Response:
        """Show what the act will do, with a form that does it."""
        act, on, form, _ = await self._read(visit)
        rehearsal = self._doing.rehearsal(on)
        rehearse = partial(act.does, rehearsal, visit.who.name, on, form)
        result, refusal = "", ""
        try:
            result = await self._showing.read(rehearse)
        except (EventRefused, Refused, NoAnswer) as refused:
            refusal = str(refused)
        what = act.name, on and on.number, form
        shown = {name: clean(typed, LONGEST_TEXT) for name, typed in form.items()}
        balances = zip(() if on is None else on.held, rehearsal.after, strict=True)
        return self._showing.show(
            "confirm.html",
            visit,
            409 if refusal else 200,
            act=act,
            on=on,
            form=form,
            words=act.words.format_map({**shown, "name": "" if on is None else on.name}),
            result=result,
            refusal=refusal,
            balances=[pair for pair in balances if any(each.amount for each in pair)],
            key="" if refusal else visit.session.issue(what),
        )

    async def _do(self, visit: Visit) -> Response:
        act, on, form, key = await self._read(visit)
        what = act.name, on and on.number, form
        forms = visit.session.forms
        shown, words = forms.get(key, (None, ""))
        if shown != what:
            raise PageRefused(NOT_OURS, 403)
        if not words:
            forms[key] = what, UNDER_WAY
            does = partial(act.does, self._doing, visit.who.name, on, form)
            try:
                words = await self._showing.read(does)
            except OutcomeUnknown:
                words = UNKNOWN
            except NoAnswer as unanswered:  # its words say that the outcome is unknown
                words = str(unanswered)
            except TimeBankError as refused:
                words = f"Not done. {refused}"
            forms[key] = what, words
        return self._showing.show("done.html", visit, act=act, on=on, words=words)

    async def _find(self, typed: str) -> OnCaller:
        on = await self._showing.read(partial(self._doing.find, number_in(typed) or 0))
        if on is None:
            raise PageRefused("There is no caller of that number.", 404)
        return on

    async def _read(self, visit: Visit) -> tuple[PageAct, OnCaller | None, dict[str, str], str]:
        """Read a form; return the act, its caller, the fields and the key of a preview.

        Raises `PageRefused` for what is wrong.
        """
        form = await own_form(visit.request, visit.session)
        _check_powers(visit)
        act = BY_NAME.get(visit.request.path_params["name"])
        if act is None:
            raise PageRefused("There is no such act.", 404)
        on = await self._find(form.get("caller", "")) if act.is_of_caller else None
        if on is not None and on.number == visit.who.id and act.name in NOT_OF_ONESELF:
            words = f"You can't do that to yourself here: `door callers {act.name}` can."
            raise PageRefused(words, 409)
        typed = {each.name: form.get(each.name, "").strip()[:LONGEST_TEXT] for each in act.fields}
        if wrong := _wrong(act, typed):
            raise PageRefused(wrong)
        return act, on, typed, form.get("key", "")


def _check_powers(visit: Visit) -> None:
    if not visit.who.powers:
        raise PageRefused("You may read these pages, but not change anything.", 403)


def _wrong(act: PageAct, typed: Mapping[str, str]) -> str:
    for each in act.fields:
        text = typed[each.name]
        if each.kind == "minutes":
            number = number_in(text.removeprefix("-"))
            if not number or number > LONGEST_MINUTES:
                return f"Minutes are a whole number, up to {LONGEST_MINUTES:,}, and not 0."
        elif each.kind == "length":
            least, most = LENGTHS[each.name]
            number = number_in(text)
            if text and (number is None or not least <= number <= most):
                return f"The field “{each.label}” takes {least} to {most:,}."
        elif not (text or each.may_be_empty):
            return f"The field “{each.label}” is empty."
    return ""
