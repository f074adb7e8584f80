"""The main menu, and the rooms behind it that are too small for a file of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from door import wording
from door.call import passwords
from door.call.console import lit
from door.call.display import LAYOUT_COLUMNS, wrap
from door.call.page import Page
from door.errors import Distrusted
from door.games.floor import menu_words, sit_down
from door.games.registry import GAMES
from door.lobby import bulletins, looks, texts
from door.lobby.teller import visit_bank
from door.session.logon import new_password
from door.session.recovery import NewCode
from timebank.callers import recovery
from timebank.callers.recovery import Secrets
from timebank.calls.calls import open_calls
from timebank.errors import BooksUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from door.call.board import Board
    from door.call.caller import Caller
    from door.call.console import Console
    from door.call.display import Scene
    from door.games.engine.descriptor import Game


SERVICES = {
    "T": "Time bank",
    "W": "Who is on",
    "N": "News",
    "Y": "Your settings",
    "G": "Good-bye",
}


async def main_menu(board: Board, caller: Caller) -> None:
    """Books that cannot be used do not end the call: the caller is told, and may wait or leave. But
    a hand that has to be left open is taken up as at any log-on, by calling again."""
    told = ""
    while True:
        caller.place = "Main menu"
        caller.status.coin = board.config.coin
        games = {game.letter: game for name, game in GAMES.items() if board.config.games[name].open}
        caller.console.stage(await _main_page(board, caller, list(games.values())))
        if told:
            caller.console.say(f"|12{told}")
        told = ""
        titles = {letter: game.title for letter, game in games.items()}
        choice = await caller.console.ask(
            {**titles, **SERVICES},
            menu=f"|07Your game, or {lit(SERVICES)}",
            default=next(iter(games), None),
            cancel="G",
        )
        try:
            if choice in games:
                await sit_down(games[choice], board, caller).visit()
            elif choice == "G":
                if await caller.console.agrees("Leave the board?"):
                    return
            else:
                await _serve(board, caller, choice)
        except BooksUnavailable as broken:
            if caller.hand_waits:
                raise
            told = str(broken)


async def _serve(board: Board, caller: Caller, choice: str) -> None:
    if choice == "T":
        await visit_bank(caller)
    elif choice == "W":
        await _who_is_on(board, caller)
    elif choice == "N":
        await _news(caller)
    elif choice == "Y":
        await _settings(board, caller)


async def _main_page(board: Board, caller: Caller, games: Sequence[Game]) -> Scene:
    purse = caller.purse.posted
    body = [
        f"|07Good to see you, |15{caller.record.name}|07.",
        "",
        f"|07  Time left          |15{wording.clock_time(caller.purse.time_left())}",
    ]
    if behind := wording.comes_back_after(purse, caller.bank_settings.schedule):
        body.append(f"|07  After {behind:<13}|15{wording.clock_time(purse.held)} more")
    if caller.bank_settings.mode == "built-in":
        body.append(f"|07  In the time bank   |15{wording.clock_time(purse.bank)}")
    body.append("")
    for game in games:
        try:
            words = await menu_words(game, board, caller)
        except BooksUnavailable:  # the menu is no reason to end a call
            words = "the books cannot be read just now"
        body.append(f"|08  <|15{game.letter}|08> |15{game.title:<22}|07{words}")
    if caller.statement:
        body += ["", *wrap(f"|14{caller.statement}", LAYOUT_COLUMNS - 2)]
    page = Page(board.config.board.name, body)
    return texts.headed(caller.console, board.config.board.texts, "menu", page)


async def _news(caller: Caller) -> None:
    caller.place = "News"
    bulletin = await caller.look_up(bulletins.of_yesterday)
    lines = bulletins.lines(bulletin, caller.config.board.name)
    await caller.console.read("Bulletin", "\n".join(lines))


async def _who_is_on(board: Board, caller: Caller) -> None:
    """List who is on line, here and in other processes of this board."""
    here = {other.call_id: other for other in board.callers()}
    now = board.clock.now()
    rows = [f"|11{'Node':>4}  {'Caller':<26}{'Where':<24}{'On for':>9}"]
    for call in await caller.ask_books(open_calls):
        if not call.live:
            continue
        place = here[call.call_id].place if call.call_id in here else "on another line"
        on_for = wording.clock_time(max(0, int((now - call.since).total_seconds())))
        rows.append(f"|15{call.node:>4}  |07{call.name:<26}{place:<24}{on_for:>9}")
    await caller.console.read("Who is on", "\n".join(rows))


async def _settings(board: Board, caller: Caller) -> None:
    """Callers of other boards have neither password nor code."""
    console = caller.console
    has_password = caller.record.board is None
    choices = {"S": "Screen", "C": "Cut the cards", "P": "Password", "R": "Recovery code"}
    if not has_password:
        del choices["P"], choices["R"]
    choices["Q"] = "Quit"
    while True:
        caller.place = "Settings"
        cuts = caller.prefers("cut")
        look = console.look
        body = [
            f"|07Screen         |15{look.charset.value}, {look.paint.value}",
            f"|07Cut the cards  |15{'yes, ask me before each shuffle' if cuts else 'no'}",
            *(await _secrets(caller) if has_password else []),
        ]
        console.stage(Page("Your settings", body))
        choice = await console.ask(choices, cancel="Q")
        if choice == "S":
            await _change_look(caller)
        elif choice == "C":
            await caller.remember({"cut": not cuts})
        elif choice == "P":
            await _change_password(board, caller)
        elif choice == "R":
            await _make_code(board, caller)
        else:
            return


async def _secrets(caller: Caller) -> list[str]:
    """Say of password and recovery code what may be said."""
    has_code = await caller.ask_books(lambda desk: recovery.has_one(desk, caller.record.id))
    code = "made, and not used yet" if has_code else "none: press R to make one"
    return ["|07Password       |15******", f"|07Recovery code  |15{code}"]


async def _change_look(caller: Caller) -> None:
    console = caller.console
    console.scroll_lines()
    look = await looks.choose(console)
    console.use_look(look)
    console.paint_screens()
    await looks.remember(caller, look)


async def _change_password(board: Board, caller: Caller) -> None:
    """Let the caller choose another password, once they have typed the one they have.

    It may be somebody else, at a call that was left open: guesses are held back as at the log-on.
    The call itself goes on: its owner may just have forgotten.
    """
    console = caller.console
    before = await _shows_password(board, caller)
    if before is None:
        return
    hashed = await new_password(board, console, caller.record.name)
    if hashed is None:
        return
    changed = await caller.ask_books(
        lambda desk: recovery.set_password(desk, caller.record.id, before, hashed)
    )
    if changed is None:
        await _tell_of_a_change(console, "Nothing was done.")
        return
    caller.record = changed
    console.say("|10Your password is changed. An earlier recovery code is void.")
    await console.any_key()
    await _give_code(caller, Secrets(hashed, None))


async def _make_code(board: Board, caller: Caller) -> None:
    before = await _shows_password(board, caller)
    if before is not None:
        await _give_code(caller, before)


async def _give_code(caller: Caller, before: Secrets) -> None:
    """Show a new code, which is the caller's when they have pressed a key under it."""
    try:
        stands = await NewCode(caller.record.id, before).give(caller.console, caller.ask_books)
    except BooksUnavailable:
        await caller.console.any_key()
        raise
    if not stands:
        await _tell_of_a_change(caller.console, "The code that you were shown does not work.")


async def _tell_of_a_change(console: Console, so: str) -> None:
    console.say(f"|12Your password or your code was changed meanwhile, not by you here. {so}")
    await console.any_key()


async def _shows_password(board: Board, caller: Caller) -> Secrets | None:
    """Ask for the caller's password and return what lets them in now, a code included.

    None, and a word about it, if the password is wrong, or was wrong too often.

    Whoever has to wait is told so before the question: a guess more would cost the board its work
    and the log of refusals a line, with each key that is pressed.
    """
    console, name, address = caller.console, caller.record.name, caller.console.line.address
    try:
        board.reception.hold_back(address, name)
    except Distrusted as distrusted:
        console.say(f"|12{distrusted}")
        await console.any_key()
        return None
    old = await console.entry("|11Your password now:|07", longest=passwords.LONGEST, secret=True)
    if not old:
        return None
    record = await board.authenticate(name, old)
    if record is not None:
        found = await caller.ask_books(lambda desk: recovery.secrets_of(desk, record.id))
        return Secrets(record.password_hash, found.digest)
    board.reception.wrong_on_call(address, name)
    console.say("|12That is not your password.")
    await console.any_key()
    return None
