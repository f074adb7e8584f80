"""The room "Your settings": look, language, pace, tutor, limits, password, code and keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, get_args

from ansi.width import text_width
from door.call import arrivals, passwords, phrases
from door.call.chair import ALLOWED, WATCHED, Allowed, allowed
from door.call.markup import lit, literal, plain
from door.call.page import Page
from door.call.scene import LAYOUT_COLUMNS
from door.call.screen import Paint
from door.config.config import Pace
from door.errors import NotNow, TooManyTries
from door.games.registry import GAMES
from door.lines.registry import KINDS
from door.lobby import looks
from door.session import own_limits, ssh_keys, tour
from door.session.logon import new_password
from door.session.recovery import NewCode
from timebank.callers import recovery
from timebank.callers import ssh_keys as stored_keys
from timebank.callers.recovery import Secrets
from timebank.callers.standings import NAMED_AS_LOSER
from timebank.errors import BooksUnavailable
from timebank.language import LANGUAGES, N_, _
from timebank.wagers import chains
from timebank.wagers.journal import FIRST_TABLE
from timebank.window.teller import AUTO_DEPOSIT
from timebank.words import span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.console import Console
    from timebank.ledger.database import Desk

LABELS = {
    "S": N_("Screen"),
    "L": N_("Language"),
    "A": N_("Animation"),
    "T": N_("Tutor"),
    "C": N_("Cut the cards"),
    "W": N_("Who comes"),
    "Y": N_("Your phrase"),
    "D": N_("Auto-deposit"),
    "N": N_("Named as loser"),
    "H": N_("Watched"),
    "O": N_("Own limits"),
    "P": N_("Password"),
    "R": N_("Recovery code"),
    "K": N_("SSH keys"),
    "V": N_("View the tour"),
    "Q": N_("Quit"),
}
MEANINGS = {
    "S": N_("Choose what your terminal can show: letters, colours, or plain lines."),
    "L": N_("Change the language, from the next word on."),
    "A": N_(
        "How fast cards fall: normal, fast or off. A still clock suits lines below 1,200 baud: it"
        " moves when something else does."
    ),
    "T": N_("At a table, see what the book would do and what another play costs."),
    "C": N_("Before each shuffle, type a phrase that cuts the cards, so nobody can fix them."),
    "W": N_("Show a line when callers log on or off, or not."),
    "Y": N_("Choose the phrase that cuts your cards when you type no other."),
    "D": N_("When you log off, bank the minutes that you have left."),
    "N": N_("Appear in the list of losers, or not: winners always appear."),
    "H": N_("Let others sit behind your chair and watch: at Vegas, at all tables, or at none."),
    "O": N_("Limit what you can lose in a day, pause for some days, or see an hourly summary."),
    "P": N_("Choose another password."),
    "R": N_("Make a code that logs you on once when you've lost your password."),
    "K": N_("Log on by SSH with a key instead of your password: add one, or take one away."),
    "V": N_("See the three screens and the practice hand again."),
    "Q": N_("Go back to the main menu."),
}
WATCHED_AT: dict[Allowed, str] = {
    "shared": N_("at Vegas"),
    "all": N_("at all tables"),
    "none": N_("nowhere"),
}
PACES: dict[Pace, str] = {
    "normal": N_("normal"),
    "fast": N_("fast"),
    "off": N_("off"),
    "still": N_("off, still clock"),
}
PAINTS = {
    Paint.COLOUR: N_("in colour"),
    Paint.MONO: N_("no colour"),
    Paint.LINES: N_("plain lines"),
}
SWITCHES = {"T": "tutor", "C": "cut", "D": AUTO_DEPOSIT, "N": NAMED_AS_LOSER}
OPT_OUTS = {"W": arrivals.MUTED}  # on unless this preference is set
LABEL_CELLS, NARROW_LABEL_CELLS = 29, 19


async def visit_settings(board: Board, caller: Caller) -> None:
    """Show the settings and change those that the caller chooses, until they leave.

    Callers of other boards have no password and no code.
    """
    console = caller.console
    has_password = caller.record.board is None
    known: Sequence[str] = ()  # on plain lines, which tell only a change
    while True:
        caller.place = N_("Settings")
        secrets = await _secrets(board, caller) if has_password else []
        rows = [*_rows(caller), *secrets]
        page = Page(_("Your settings"), [row.text(console) for row in rows])
        console.display.stage(page, known)
        hidden = _without_ssh(board) if has_password else ("P", "R", "K")
        if not board.config.social.announces_arrivals:
            hidden = (*hidden, "W")
        if not board.config.social.watching:
            hidden = (*hidden, "H")
        labels = {key: _(label) for key, label in LABELS.items() if key not in hidden}
        choice = await console.prompt.ask(
            labels,
            menu=_menu(labels, rows) if _is_narrow(console) else "",
            brief=f"|07{_('Your setting, or ? for the list:')}" if known else "",
            cancel="Q",
            meanings=MEANINGS,
        )
        if choice == "Q":
            return
        was_painted = console.screen.is_painted
        await _change(board, caller, choice)
        is_new = was_painted or console.screen.is_painted or choice == "L"
        known = () if is_new else page.lines()


def _menu(labels: Mapping[str, str], rows: Sequence[SettingRow]) -> str:
    """Name the keys that the rows of a narrow screen do not show."""
    named = {row.key for row in rows}
    others = {key: label for key, label in labels.items() if key not in named}
    return f"|07{_('A letter above, or')} {lit(others)}"


async def _change(board: Board, caller: Caller, choice: str) -> None:
    if preference := {**SWITCHES, **OPT_OUTS}.get(choice):
        await caller.remember({preference: not caller.prefers(preference)})
    elif choice == "Y":
        await _change_phrase(caller)
    elif choice == "S":
        await _change_look(caller)
    elif choice == "L":
        await caller.change_language()
    elif choice == "A":
        await caller.remember({"animation": _next(list(get_args(Pace)), caller.pace)})
    elif choice == "H":
        chosen = _next(list(ALLOWED), allowed(caller.record))
        await caller.remember({WATCHED: chosen})
    elif choice == "O":
        await own_limits.visit_limits(caller)
    elif choice == "V":
        await tour.take(caller)
    elif choice == "P":
        await _change_password(board, caller)
    elif choice == "R":
        await _make_code(board, caller)
    elif choice == "K":
        await ssh_keys.visit_keys(caller, partial(_is_owner, board, caller))


def _next(values: Sequence[str], value: str) -> str:
    return values[(values.index(value) + 1) % len(values)]


class SettingRow(NamedTuple):
    """One setting in the list; `key` is the letter that changes it."""

    key: str
    label: str
    value: str

    def text(self, console: Console) -> str:
        """Return the row; on a narrow screen it shows the key, as a list of all takes 7 rows."""
        if not _is_narrow(console):
            return f"|07{self.label:<{LABEL_CELLS}}|15{self.value}"
        label = lit({self.key: _(LABELS[self.key])})
        space = " " * (NARROW_LABEL_CELLS - text_width(plain(label)))
        return f"|07{label}{space}|15{self.value}"


def _rows(caller: Caller) -> list[SettingRow]:
    console = caller.console
    look = console.screen.look
    screen = f"{look.charset.value}, {_(PAINTS[look.paint])}"
    if look.charset.is_of_home_computer and look.paint is Paint.COLOUR:
        screen = look.charset.value.upper()
    if look.paint is not Paint.LINES and not console.screen.is_large:
        screen = looks.too_small(console)
    switched = {
        key: _("on") if caller.prefers(each) else _("off") for key, each in SWITCHES.items()
    }
    comes = _("no") if caller.prefers(OPT_OUTS["W"]) else _("yes")
    is_named = _("yes") if caller.prefers(NAMED_AS_LOSER) else _("no")
    return [
        SettingRow("S", _("Screen"), screen),
        SettingRow("L", _("Language"), LANGUAGES[console.viewer.language]),
        SettingRow("A", _("Animation"), _(PACES[caller.pace])),
        SettingRow("T", _("Tutor"), switched["T"]),
        SettingRow("C", _("Cut the cards"), switched["C"]),
        *(
            [SettingRow("W", _("Show who comes and goes?"), comes)]
            if caller.config.social.announces_arrivals
            else []
        ),
        _phrase(caller),
        SettingRow("D", _("Auto-deposit"), switched["D"]),
        SettingRow("N", _("May others see your losses?"), is_named),
        *_watched(caller),
        SettingRow("O", _("Own limits"), _own_limits(caller, in_short=_is_narrow(console))),
    ]


def _is_narrow(console: Console) -> bool:
    return console.screen.is_painted and console.screen.page_columns < LAYOUT_COLUMNS


def _own_limits(caller: Caller, *, in_short: bool) -> str:
    """Return what the caller's own limits leave them to stake, or until when they are paused."""
    posted = caller.purse.posted
    if barred := caller.purse.why_no_bets():
        return barred
    if posted.stake_left is None and in_short:
        return _("none")
    if posted.stake_left is None:
        return _("type O to see or set them")
    return _("you can bet {left} more today").format(left=span(posted.stake_left))


def _phrase(caller: Caller) -> SettingRow:
    phrase = phrases.stored(caller.record.preferences)
    words = _("drawn when needed") if phrase is None else literal(phrase.text)
    return SettingRow("Y", _("Your phrase"), words)


def _watched(caller: Caller) -> list[SettingRow]:
    if not caller.config.social.watching:
        return []
    return [
        SettingRow("H", _("Where may others watch you?"), _(WATCHED_AT[allowed(caller.record)]))
    ]


async def _change_phrase(caller: Caller) -> None:
    """Show the seals of the caller's next shoes, on plain lines on request; then ask for a phrase.

    Only games played alone have such chains.
    """
    console, caller_id = caller.console, caller.record.id
    alone = {name: caller.new_seed() for name, game in GAMES.items() if game.kind.most_seats == 1}

    def seal(desk: Desk) -> list[tuple[str, str]]:
        return [
            (name, chains.current_anchor(desk, caller_id, name, FIRST_TABLE, root))
            for name, root in alone.items()
        ]

    sealed = await caller.ask_books(seal)
    paragraphs = [f"|14{_(GAMES[name].title)}\n|15{anchor}" for name, anchor in sealed]
    paragraphs.append(
        "|07"
        + _(
            "These anchors seal your next shoes. Note them, then choose a phrase: the house can't "
            "fit the cards to it any more."
        )
    )
    words = _("Read the anchors that seal your next shoes?")
    if console.screen.is_painted or await console.prompt.agrees(words, default="N"):
        await console.pager.read(_("Your phrase"), "\n\n".join(paragraphs))
    typed = await console.prompt.entry(
        f"|11{_('Your new phrase:')}|07",
        longest=phrases.LONGEST,
        meaning=_("Any words you like. They go into the shuffle."),
    )
    if not typed or not typed.strip():
        return
    try:
        await phrases.choose(caller, typed)
    except NotNow as refused:
        console.screen.say(f"|12{refused}")
        await console.pager.any_key()


def _without_ssh(board: Board) -> tuple[str, ...]:
    """Return the keys to hide on a board without SSH."""
    has_keys = any(KINDS[each.kind].has_keys for each in board.config.listeners)
    return () if has_keys else ("K",)


async def _secrets(board: Board, caller: Caller) -> list[SettingRow]:
    """Return the rows of password, recovery code and keys; none shows a secret."""
    has_code = await caller.ask_books(lambda desk: recovery.has_one(desk, caller.record.id))
    is_narrow = _is_narrow(caller.console)
    none = _("not made yet") if is_narrow else _("none: type R to make one")
    code = _("made, not used yet") if has_code else none
    rows = [SettingRow("R", _("Recovery code"), code)]
    if not is_narrow:  # a narrow screen needs the row for others
        rows.insert(0, SettingRow("P", _("Password"), "******"))
    if not _without_ssh(board):
        keys = ssh_keys.number_of(caller.record.preferences)
        rows.append(SettingRow("K", _("SSH keys"), keys))
    return rows


async def _change_look(caller: Caller) -> None:
    console = caller.console
    console.screen.scroll_lines()
    look = await looks.choose(console, console.screen.look)
    console.use_look(look)
    console.wants_lines = look.paint is Paint.LINES
    console.screen.paint_screens()
    await looks.remember(caller, look)


async def _change_password(board: Board, caller: Caller) -> None:
    """Let the caller choose another password after typing the current one.

    Guesses are limited as at the log-on: a stranger may have found the call left open. The call
    itself goes on, as its owner may just have forgotten.
    """
    console = caller.console
    before = await _shows_password(board, caller)
    if before is None:
        return
    hashed = await new_password(board, console, caller.record.name)
    if hashed is None:
        return
    had_keys = stored_keys.lines_of(caller.record.preferences)
    changed = await caller.ask_books(
        lambda desk: recovery.set_password(desk, caller.record.id, before, hashed)
    )
    if changed is None:
        await _tell_of_a_change(console, _("Nothing was done."))
        return
    caller.record = changed
    console.screen.say(f"|10{_('Your password is changed. Your old recovery code is void.')}")
    if had_keys:
        console.screen.say(f"|10{_(stored_keys.VOID)}")
    await console.pager.any_key()
    await _give_code(caller, Secrets(hashed, None))


async def _make_code(board: Board, caller: Caller) -> None:
    before = await _shows_password(board, caller)
    if before is not None:
        await _give_code(caller, before)


async def _give_code(caller: Caller, before: Secrets) -> None:
    """Show a new code, which works once the caller has pressed a key."""
    try:
        stands = await NewCode(caller.record.id, before).give(caller.console, caller.ask_books)
    except BooksUnavailable:
        await caller.console.pager.any_key()
        raise
    if not stands:
        await _tell_of_a_change(caller.console, _("The code you just saw doesn't work."))


async def _tell_of_a_change(console: Console, consequence: str) -> None:
    words = _("Your password or code was changed from elsewhere meanwhile.")
    console.screen.say(f"|12{words} {consequence}")
    await console.pager.any_key()


async def _is_owner(board: Board, caller: Caller) -> bool:
    return await _shows_password(board, caller) is not None


async def _shows_password(board: Board, caller: Caller) -> Secrets | None:
    """Ask for the caller's password; return it and the digest of their code, as stored.

    Return None if the password is wrong, or was wrong too often; the screen says which. A caller
    who must wait reads so before the question, so that guesses meanwhile cost no check and no line
    in the log of refusals.
    """
    console, name, address = caller.console, caller.record.name, caller.console.line.address
    try:
        board.reception.hold_back(address, name)
    except TooManyTries as refused:
        console.screen.say(f"|12{refused}")
        await console.pager.any_key()
        return None
    old = await console.prompt.entry(
        f"|11{_('Your current password:')}|07",
        longest=passwords.LONGEST,
        secret=True,
        fills="current-password",
    )
    if not old:
        return None
    record = await board.authenticate(name, old)
    if record is not None:
        secrets = await caller.ask_books(lambda desk: recovery.secrets_of(desk, record.id))
        return Secrets(record.password_hash, secrets.digest)
    board.reception.wrong_on_call(address, name)
    console.screen.say(f"|12{_('Wrong password.')}")
    await console.pager.any_key()
    return None
