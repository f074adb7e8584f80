"""Talk at the Vegas table: to all or to one, cleaned, and not too much of it."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansi.charset import Charset, encode
from ansi.width import character_width
from door.call.markup import plain
from door.call.spoken import (
    LONGEST_LINE,
    MAX_LINES,
    WINDOW_SECONDS,
    Whisper,
    addressed,
    clean,
)
from door.errors import TalkRefused
from door.tables.vegas import news
from tests.door.seated import arrives, everybody_plays, party, shoe

# Cleaned


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("good luck", "good luck"),
        ("  too   many\tblanks \r\n", "too many blanks"),
        ("\x1b[2J\x1b[31mred", "[2J[31mred"),
        ("\x9b31mred\x07", "31mred"),
        ("|12red |XX", "│12red │XX"),
        ("\u202egnp.exe\u200b", "gnp.exe"),
        ("Zurich Z\u0300\u0301\u0302\u0303\u0304", "Zurich Z"),
        ("Cafe\u0301", "Café"),
        ("a\u20dd\u20dd\u034f\ufe0f \u0e01\u0e34\u0e34\u0e34", "a \u0e01"),
        ("\u3164\u2800\u115f", ""),
        ("\x1b\x00\r\n", ""),
    ],
)
def test_nothing_in_a_line_acts_on_another_terminal(typed: str, expected: str) -> None:
    assert clean(typed) == expected


@given(st.text(max_size=400))
def test_every_typed_line_becomes_short_printable_text_without_codes(typed: str) -> None:
    line = clean(typed)
    assert len(line) <= LONGEST_LINE
    assert line.isprintable()
    assert all(map(character_width, line))
    assert plain(line) == line
    assert "|" not in line
    for charset in Charset:
        assert not set(encode(line, charset)) & {*range(8), 9, 10, 13, 27, 127, 255}


# Addressed

NAMES = ["Ada", "Ada Lovelace", "Bob", "Bobby Tables", "Carl"]


@pytest.mark.parametrize(
    ("line", "to", "text"),
    [
        ("/bob hit me", "Bob", "hit me"),
        ("/BOBBY hit me", "Bobby Tables", "hit me"),
        ("/bobby tables hit me", "Bobby Tables", "hit me"),
        ("/ada lovelace is late", "Ada Lovelace", "is late"),
        ("/ada you are late", "Ada", "you are late"),
        ("/ c stand", "Carl", "stand"),
    ],
)
def test_a_whisper_goes_to_the_one_it_names(line: str, to: str, text: str) -> None:
    assert addressed(line, NAMES) == Whisper(to, text)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/b hello", "Who do you mean: Bob, Bobby Tables"),
        ("/dan hello", "No such player here"),
        ("/bob", "Nothing to tell Bob"),
        ("/", "No such player here"),
        ("/-- hello", "No such player here"),
    ],
)
def test_a_whisper_without_a_receiver_is_not_sent(line: str, why: str) -> None:
    with pytest.raises(TalkRefused, match=why):
        addressed(line, NAMES)


@given(st.text(string.printable, max_size=200))
def test_every_line_is_a_whisper_or_speech_or_refused(typed: str) -> None:
    try:
        what = addressed(clean(typed), NAMES)
    except TalkRefused:
        return
    assert isinstance(what, Whisper) == clean(typed).startswith("/")


# At the table


async def test_all_callers_read_a_line_and_two_read_a_whisper(tmp_path: Path) -> None:
    async with party(tmp_path, 3) as three:
        ada, bob, cyd = three.sitters
        ada.says("hello \x1b[5mall")
        bob.says("/ada hello yourself")
        for guest in (ada, bob, cyd):
            assert guest.was_told(news.TableTalk) == [news.TableTalk("Ada", "hello [5mall")]
        whispered = [news.Whispered("Bob", "Ada", "hello yourself")]
        assert ada.was_told(news.Whispered) == bob.was_told(news.Whispered) == whispered
        assert cyd.was_told(news.Whispered) == []


async def test_a_caller_waiting_for_a_seat_can_talk_and_read(tmp_path: Path) -> None:
    async with party(tmp_path, 1, seed=shoe(1, everybody_plays)) as two:
        (ada,) = two.sitters
        await ada.bets(1)
        bob = await (await arrives(two.here, "Bob")).sits()
        bob.says("stand, I would")
        ada.says("/bob would you")
        assert ada.was_told(news.TableTalk) == [news.TableTalk("Bob", "stand, I would")]
        assert bob.was_told(news.Whispered) == [news.Whispered("Ada", "Bob", "would you")]


async def test_a_whisper_to_oneself_or_to_a_gone_caller_is_refused(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        await bob.gets_up()
        for name in ("ada", "bob"):
            with pytest.raises(TalkRefused, match="No such player here"):
                ada.says(f"/{name} hello")


async def test_a_flood_of_lines_is_dammed_and_runs_again_later(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, bob = two.sitters
        for number in range(MAX_LINES):
            ada.says(f"line {number}")
        for line in ("one more", "/bob one more"):
            with pytest.raises(TalkRefused, match="Not so fast"):
                ada.says(line)
        bob.says("my turn")
        assert len(bob.was_told(news.TableTalk)) == MAX_LINES + 1
        await two.pass_time(WINDOW_SECONDS)
        ada.says("one more")
        assert bob.was_told(news.TableTalk)[-1] == news.TableTalk("Ada", "one more")


async def test_leaving_and_returning_does_not_reset_the_talk_limit(tmp_path: Path) -> None:
    async with party(tmp_path, 2) as two:
        ada, _ = two.sitters
        for _ in range(MAX_LINES):
            ada.says("again")
        await ada.gets_up()
        await ada.sits()
        with pytest.raises(TalkRefused, match="Not so fast"):
            ada.says("again")
