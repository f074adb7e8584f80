"""Letters beyond ASCII are read, shown and stored on every terminal, or refused."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher

from ansi.charset import READ_ALOUD, Charset
from door.call import passwords
from door.call.screen import Look, Paint
from door.lines.line import Hints
from door.lobby import looks
from tests.door.by_ssh import LISTENER, by_ssh
from tests.door.call.test_passwords import enter, stored_hash
from tests.door.visiting import MENU, Guest, known, sysop_toml, visitor
from tests.terminal import MODERN, READER, REFUSING, SYNCTERM, Profile
from tests.world import BOARD, PASSWORD, World, world

TOML = sysop_toml(events="")
SECRET = "été-2026x"
APART = unicodedata.normalize("NFD", SECRET)  # the accents behind their letters
UNREAD = "can't be read here"

UNKNOWN_UTF8 = replace(REFUSING, charset="utf-8")  # one that says nothing, and types UTF-8
UNKNOWN_CP437 = replace(REFUSING, charset="cp437")
UNKNOWN_LATIN = replace(REFUSING, charset="latin-1")
DUMB = replace(MODERN, terminal_types=("dumb",), environment={}, charset_names=())
DUMB_CP437 = replace(DUMB, charset="cp437")
DUMB_UTF8 = replace(DUMB, environment={"LANG": "en_US.UTF-8"})
FRENCH = replace(DUMB, environment={"LANG": "fr_FR.UTF-8"})
MTTS = replace(READER, charset_names=())
LATIN = replace(
    MODERN,
    charset="latin-1",
    environment={"LANG": "en_US.ISO-8859-1"},
    charset_names=("ISO-8859-1",),
)
# A terminal in UTF-8 under the name of one with CP437.
ALIEN = replace(SYNCTERM, charset="utf-8")
KINDS = {
    "cp437": SYNCTERM,
    "utf-8": MODERN,
    "latin-1": LATIN,
    "unknown": UNKNOWN_UTF8,
    "dumb": DUMB,
    "dumb, utf-8": DUMB_UTF8,
    "read aloud": MTTS,
    "alien": ALIEN,
}
EACH_KIND = pytest.mark.parametrize("profile", KINDS.values(), ids=KINDS)


async def stranger(board: World, profile: Profile) -> Guest:
    """Bring a stranger to the question for a new name."""
    guest = Guest(board, "")
    await guest.dials(profile)
    await guest.presses("new\r").is_asked("The name you want:")
    return guest


async def registers(guest: Guest, name: str, password: str = SECRET) -> None:
    await guest.presses(f"{name}\r").is_asked("A password")
    await guest.presses(f"{password}\r").is_asked("Once more:")
    await guest.presses(f"{password}\r").is_asked("It is valid as soon")


def named(board: World) -> list[str]:
    with board.books() as desk:
        rows = desk.connection.exec_driver_sql("SELECT name FROM callers ORDER BY id")
        return [name for (name,) in rows]


async def is_let_in(board: World, profile: Profile, name: str, password: str) -> Guest:
    guest = Guest(board, name)
    await guest.dials(profile)
    await guest.presses(f"{name}\r").is_asked("Password:")
    guest.presses(f"{password}\r")
    await guest.terminal.wait_for(
        lambda here: here.shows("Welcome") or here.shows("You're already on"), "a call"
    )
    return guest


# Names and passwords.


@EACH_KIND
async def test_a_name_and_a_password_are_registered_as_they_were_typed(
    board: World, profile: Profile
) -> None:
    guest = await stranger(board, profile)
    await registers(guest, "Ümit")
    assert named(board) == ["Ümit"]
    assert passwords.verify_password(stored_hash(board, "Ümit"), SECRET)
    assert not passwords.verify_password(stored_hash(board, "Ümit"), "t-2026x")


@EACH_KIND
async def test_a_caller_logs_on_from_every_kind_of_terminal(board: World, profile: Profile) -> None:
    enter(board, "Élodie", passwords.hash_password(SECRET))
    await is_let_in(board, profile, "Élodie", SECRET)


async def test_a_password_by_ssh_is_that_of_the_terminal(tmp_path: Path) -> None:
    password = "m²-été-ﬁn\u2009x"  # SSH makes "m2-été-fin x" of it
    async with world(tmp_path, toml=BOARD + LISTENER) as board:
        enter(board, "Ada", passwords.hash_password(password))
        terminal = await by_ssh(board, "Ada", password=password)
        await terminal.until("Welcome, Ada")


async def test_accents_may_be_typed_as_letters_of_their_own(board: World) -> None:
    enter(board, "Élodie", passwords.hash_password(SECRET))
    await is_let_in(board, MODERN, unicodedata.normalize("NFD", "Élodie"), APART)
    enter(board, "Ada", passwords.hash_password(APART))
    await is_let_in(board, SYNCTERM, "Ada", SECRET)


def test_a_password_is_no_longer_and_no_shorter_for_its_accents() -> None:
    apart = unicodedata.normalize("NFD", "éàüöß")
    with pytest.raises(passwords.PasswordRefused, match="at least 6"):
        passwords.check(apart, "Ada")
    with pytest.raises(passwords.PasswordRefused, match="can't be your name"):
        passwords.check(unicodedata.normalize("NFD", "élodie"), "Élodie")


# Unreadable letters.


@pytest.mark.parametrize("profile", [UNKNOWN_CP437, UNKNOWN_LATIN])
async def test_letters_of_an_unknown_terminal_are_asked_about_and_never_dropped(
    board: World, profile: Profile
) -> None:
    guest = await stranger(board, profile)
    await guest.presses("Ümit\r").sees("can't be read yet")
    await guest.is_asked("Your choice")
    await guest.presses("1").is_asked("The name you want:")
    assert named(board) == []
    if profile is UNKNOWN_CP437:
        await registers(guest, "Ümit")
        assert named(board) == ["Ümit"]
        await guest.presses(" ").sees("You have 60 minutes")
        assert "Which of these boxes" not in guest.screen, "it was asked before"


async def test_letters_of_a_password_are_asked_about_too(board: World) -> None:
    enter(board, "Ada", passwords.hash_password(SECRET))
    ada = Guest(board, "Ada")
    await ada.dials(UNKNOWN_CP437)
    await ada.presses("Ada\r").is_asked("Password:")
    await ada.presses(f"{SECRET}\r").is_asked("Your choice")
    await ada.presses("1").is_asked("Password:")
    await ada.presses(f"{SECRET}\r").sees("Welcome, Ada")


@pytest.mark.parametrize("profile", [DUMB_CP437, replace(MODERN, charset="cp437")])
async def test_letters_that_cannot_be_read_are_refused(board: World, profile: Profile) -> None:
    guest = await stranger(board, profile)
    guest.presses("Ümit\r")
    if profile is not DUMB_CP437:
        await guest.is_asked("Your choice")
        await guest.presses("\r").is_asked("The name you want:")
        guest.presses("Ümit\r")
    await guest.sees(UNREAD)
    await guest.is_asked("The name you want:")
    await guest.presses("Umit\r").is_asked("A password")
    await guest.presses(f"{SECRET}\r").sees(UNREAD)
    await guest.is_asked("A password")
    assert named(board) == []


async def test_keys_after_unreadable_letters_answer_no_prompt(
    board: World,
) -> None:
    guest = await stranger(board, UNKNOWN_CP437)
    await guest.presses(f"Ümit\r{SECRET}\r{SECRET}\r").sees("can't be read yet")
    await guest.is_asked("Your choice")
    assert "2026" not in guest.terminal.transcript


async def test_a_terminal_that_only_types_utf_8_is_not_painted_on_unasked(board: World) -> None:
    elodie = known(board, "Élodie", looks={})
    await elodie.calls(UNKNOWN_UTF8)
    await elodie.is_asked("Your choice (Enter for 5)?")
    await elodie.presses("\r").sees("Welcome, Élodie")


async def test_a_letter_that_cannot_be_read_can_be_rubbed_out(board: World) -> None:
    guest = await stranger(board, DUMB_CP437)
    await guest.presses("é\bAda\r").is_asked("A password")
    assert UNREAD not in guest.screen


async def test_a_line_with_unreadable_letters_is_not_sent(board: World) -> None:
    bob = await visitor(board, "Bob", profile=DUMB_CP437)
    await bob.presses("mo").is_asked("Your line:")
    await bob.presses("voilà\r").sees(UNREAD)
    await bob.is_asked("Your line:")
    assert "voil" not in bob.prompt


async def test_a_key_that_cannot_be_read_does_nothing(board: World) -> None:
    bob = await visitor(board, "Bob", profile=DUMB_CP437)
    await bob.presses("é").sees("That key does nothing here.")


async def test_a_caller_reads_when_a_field_is_full(board: World) -> None:
    guest = await stranger(board, DUMB)
    await guest.presses("Maximilian Alexander von Humboldt\r").sees("Type up to 24 characters.")
    assert guest.terminal.transcript.count("Type up to 24 characters.") == 1


# Passwords of release 1.0, which dropped letters.


def hashed_by_1_0(text: str) -> str:
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(text)


@pytest.mark.parametrize(
    ("stored", "typed"),
    [(APART, APART), ("├⌐t├⌐-2026x", SECRET)],
    ids=["apart", "misread"],
)
async def test_a_password_of_1_0_works_as_typed_and_is_stored_whole(
    board: World, stored: str, typed: str
) -> None:
    enter(board, "Ada", hashed_by_1_0(stored))
    await is_let_in(board, MODERN, "Ada", typed)
    whole = stored_hash(board, "Ada")
    assert passwords.verify_password(whole, SECRET)
    assert not passwords.verify_password(whole, "t-2026x"), "it is stored whole from now on"
    await is_let_in(board, SYNCTERM, "Ada", SECRET)
    assert stored_hash(board, "Ada") == whole


@pytest.mark.parametrize("is_of_1_0", [True, False])
async def test_a_password_stored_without_letters_works_with_and_without_them(
    board: World, is_of_1_0: bool
) -> None:
    """A password of 1.0, which dropped letters, or a right one with an extra key."""
    hashed = hashed_by_1_0 if is_of_1_0 else passwords.hash_password
    enter(board, "Ada", hashed("t-2026x"))
    for typed in (SECRET, "t-2026x"):
        await is_let_in(board, MODERN, "Ada", typed)


async def test_a_name_registered_without_a_letter_logs_on_as_typed(
    board: World,
) -> None:
    enter(board, "mit", hashed_by_1_0("t-2026x"))
    caller = await is_let_in(board, MODERN, "Ümit", SECRET)
    assert "Welcome, mit" in caller.screen
    enter(board, "Ümit", hashed_by_1_0("another"))
    await is_let_in(board, SYNCTERM, "Ümit", "another")  # the owner of the whole name


async def test_guesses_count_for_the_name_that_they_are_tried_on(board: World) -> None:
    enter(board, "mit", passwords.hash_password(SECRET))
    presented: list[str] = []
    reception = board.server.board.reception
    present = reception.present

    def noted(address: str, name: str, nudge: Callable[[], None]) -> Any:
        presented.append(name)
        return present(address, name, nudge)

    reception.present = noted  # type: ignore[method-assign]
    guest = Guest(board, "Ümit")
    await guest.dials(MODERN)
    await guest.presses("Ümit\rguessed\r").sees("Wrong name or password.")
    assert presented == ["mit"]


async def test_nothing_is_left_out_of_a_password_that_would_be_too_short() -> None:
    assert not passwords.verify_password(hashed_by_1_0("abc"), "abcéééé")
    assert not passwords.verify_password(hashed_by_1_0(""), "éééééé")


async def test_an_unknown_name_costs_as_many_checks_as_a_wrong_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []
    matches = passwords._matches
    monkeypatch.setattr(
        passwords, "_matches", lambda stored, each: tried.append(each) or matches(stored, each)
    )
    assert not passwords.verify_password(None, SECRET)
    of_nobody = len(tried)
    assert not passwords.verify_password(hashed_by_1_0("something else"), SECRET)
    assert len(tried) == 2 * of_nobody


# Plain lines.


@pytest.mark.parametrize("profile", [FRENCH, replace(MTTS, environment={"LANG": "fr_FR"})])
async def test_plain_lines_in_french_have_their_accents(board: World, profile: Profile) -> None:
    board.enter("Ada", looks={})
    terminal = await board.call(profile)
    await terminal.until("Nom :")
    assert "lignes occupées" in terminal.transcript
    await terminal.send(f"Ada\r{PASSWORD}\r").until("Appuyez sur")
    await terminal.send(" ").until("<Y> Réglages")
    assert not set(terminal.transcript) & set(map(chr, READ_ALOUD))


async def test_a_terminal_that_types_utf_8_is_answered_so(board: World) -> None:
    guest = await stranger(board, DUMB)
    guest.presses("Élodie")
    await guest.terminal.until("Élodie")  # the echo
    await guest.presses("\r").is_asked("A password")
    await guest.presses(f"{PASSWORD}\r{PASSWORD}\r").sees("Welcome, Élodie.")


async def test_the_look_of_a_terminal_is_remembered(board: World) -> None:
    elodie = Guest(board, "Élodie")
    board.enter("Élodie", looks={})
    await elodie.visits(DUMB)
    await elodie.logs_off()
    await elodie.dials(DUMB)
    await elodie.presses(f"Elodie\r{PASSWORD}\r").sees("Élodie")
    await elodie.goes_on_to(MENU)


async def test_plain_lines_that_were_chosen_before_get_their_letters(tmp_path: Path) -> None:
    lines = {"xterm-256color": {"charset": "ascii", "paint": "lines"}}
    async with world(tmp_path, toml=TOML) as board:
        elodie = known(board, "Élodie", looks=lines)
        await elodie.visits(MODERN)
        assert elodie.caller.console.screen.look == Look(Charset.UTF8, Paint.LINES)


@pytest.mark.parametrize(
    ("hints", "charset"),
    [
        (Hints(("xterm.js", "MTTS 64"), "fr_FR.UTF-8"), Charset.UTF8),
        (Hints(("xterm.js", "MTTS 64")), Charset.UTF8),
        (Hints(("dumb",)), Charset.ASCII),
        (Hints(("dumb",), charset="UTF-8"), Charset.UTF8),
        (Hints(("dumb",), typed="utf-8"), Charset.UTF8),
        (Hints(("dumb",), "fr_FR.ISO-8859-1"), Charset.LATIN1),
        (Hints(("dumb",), "fr_FR.ISO-8859-15"), Charset.ASCII),
        (Hints(("mudlet", "MTTS 68")), Charset.UTF8),
        (Hints(("mudlet", "MTTS 64")), Charset.ASCII),
        (Hints(("syncterm", "MTTS 64"), "fr_FR.UTF-8"), Charset.CP437),
        # A host's word counts, and not the language of the shell that it was started from.
        (Hints(("ascii", "xterm", "MTTS 64"), "fr_FR.UTF-8"), Charset.ASCII),
        (Hints(("ascii/utf-8", "MTTS 64"), "", "utf-8"), Charset.UTF8),
        (Hints(("ansi/utf-8", "MTTS 64"), "", "utf-8"), Charset.UTF8),
        (Hints(("ansi/cp437-text", "MTTS 64"), "", "cp437-text"), Charset.CP437_TEXT),
    ],
)
def test_plain_lines_are_in_the_character_set_of_the_terminal(
    hints: Hints, charset: Charset
) -> None:
    assert looks.guess(hints) == Look(charset, Paint.LINES)


@pytest.mark.parametrize(
    ("emulation", "charset", "look"),
    [
        ("ascii", None, Look(Charset.ASCII, Paint.LINES)),
        ("ascii", "cp437", Look(Charset.CP437, Paint.LINES)),
        ("ascii", "utf-8", Look(Charset.UTF8, Paint.LINES)),
        ("ascii", "koi8-r", Look(Charset.ASCII, Paint.LINES)),
        ("ansi", "iso-8859-1", Look(Charset.LATIN1, Paint.COLOUR)),
        ("ansi", None, Look(Charset.CP437, Paint.COLOUR)),
        ("ansi", "koi8-r", None),
        ("ansi", "utf-8", Look(Charset.UTF8, Paint.COLOUR)),
        ("ansi", "us-ascii", Look(Charset.ASCII, Paint.COLOUR)),
        ("rip", None, Look(Charset.CP437, Paint.COLOUR)),
        (None, "utf-8", None),
    ],
)
def test_a_host_says_in_which_letters_lines_are(
    emulation: str | None, charset: str | None, look: Look | None
) -> None:
    assert looks.look_by_host(emulation, charset) == look
