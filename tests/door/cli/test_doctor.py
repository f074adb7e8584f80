"""`door doctor`: a drop file and its effect in plain words."""

from __future__ import annotations

import re
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from door.config import config as settings
from door.config import privacy
from door.dropfiles.formats import kind_of
from door.setup.machine import program
from tests import ROOT
from tests.door.dropfiles.writers import PASSWORD, bbsdev, chain, door32, door_sys, dorinfo, text
from tests.door.hosting import BOARD, HANG_UP, hosted
from tests.door.shell import Shell
from timebank.calls.arrival import host_caller
from timebank.ledger.engines import books_of

WHOLE = ("0", "-1", "38400", "Synchronet 3.20b", "42", "Ann Example", "Moth", "50", "59", "1", "1")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    config = tmp_path / "sysop.toml"
    config.write_text(BOARD)
    return Shell(config)


def dropped(tmp_path: Path, *lines: str) -> str:
    (tmp_path / "DOOR32.SYS").write_bytes(text(*lines))
    return str(tmp_path)


def doctor_output(shell: Shell, *words: str) -> str:
    answer = shell("doctor", *words)
    assert (answer.status, answer.error) == (0, "")
    return answer.output


def test_doctor_prints_caller_time_and_way_back(shell: Shell, tmp_path: Path) -> None:
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    assert "They can stay 59 minutes (line 9 of DOOR32.SYS, in minutes)." in words
    assert "This board is Xibalba" in words
    assert "Here the caller is Moth@Xibalba" in words
    assert "They would bring 59 minutes." in words
    assert "The call would end at " in words
    assert "What they win would be given back by MODUSER.DAT" in words


def test_leaves_nothing_in_the_books(shell: Shell, tmp_path: Path) -> None:
    doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "MODUSER.DAT").exists()


def test_doctor_prints_the_agreed_settings_and_their_effect(shell: Shell, tmp_path: Path) -> None:
    shell.config.write_text(f'{BOARD}share = 50\ngive_back = "bank"\n')
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    assert "They would bring 29 minutes 30 seconds." in words
    assert "That is 50 percent of what they have left there." in words
    assert "What they win would stay in their account in the bank here." in words


def test_a_way_that_the_files_do_not_open_is_named(shell: Shell, tmp_path: Path) -> None:
    shell.config.write_text(f'{BOARD}give_back = "exitinfo"\n')
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    assert 'in the bank here (give_back = "exitinfo" finds no such file).' in words


def test_doctor_asks_for_a_table_for_an_unlisted_board(shell: Shell, tmp_path: Path) -> None:
    shell.config.write_text(BOARD.partition("[boards")[0])
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    assert "it counts as host." in words
    assert "Here the caller is Moth@host" in words


def test_doctor_prints_the_lines_to_paste_and_the_command_line(
    shell: Shell, tmp_path: Path
) -> None:
    shell.config.write_text(BOARD.partition("[boards")[0])
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    _, _, paste = words.partition(f"Paste this at the end of {shell.config}:\n")
    lines = paste.splitlines()
    table = dedent("\n".join(lines))
    assert table.startswith('[boards.Synchronet]\naliases = ["Synchronet"]')
    assert f"is:\n    {program('door')} run --dropfile %f\nPaste" in words
    assert "`door setup synchronet` does this" in words
    # The pasted lines are all that was missing.
    with shell.config.open("a", encoding="utf-8") as file:
        file.write(f"\n{table}\n")
    assert "This board is Synchronet" in doctor_output(shell, "--dropfile", str(tmp_path))


def test_doctor_suggests_the_name_of_an_unknown_board_as_alias(
    shell: Shell, tmp_path: Path
) -> None:
    shell.config.write_text(BOARD.partition("[boards")[0])
    lines = (*WHOLE[:3], 'The "Owl"', *WHOLE[4:])
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *lines))
    assert '    [boards.YourBoard]\n    aliases = ["The \\"Owl\\""] # ' in words


CASES = ROOT / "tests/door/dropfiles"
EXAMPLES = sorted(
    path
    for folder in ("cases", "data")
    for path in (CASES / folder).glob("*/*")
    if kind_of(path.name) is not None
)
OTHER = "[boards.Copan]\nminutes = 30\n"
OURS = "[boards.YourBoard]\nminutes = 30\n[boards.ENiGMA]\nminutes = 30\n"


def pasted(output: str) -> str:
    """Return the lines that `door doctor` suggests for the settings."""
    _, _, paste = output.partition("Paste this at the end of ")
    lines = paste.splitlines()[1:]
    table = takewhile(lambda line: line.startswith("    "), lines)
    return dedent("\n".join(table))


@pytest.mark.parametrize(
    "boards", ["", OTHER + "[boards.Tikal]\n", OURS], ids=["none", "two", "ours"]
)
@pytest.mark.parametrize(
    "example", EXAMPLES, ids=[f"{each.parent.name}/{each.name}" for each in EXAMPLES]
)
def test_the_lines_to_paste_let_the_caller_in(
    shell: Shell, tmp_path: Path, example: Path, boards: str
) -> None:
    before = f"{BOARD.partition('[boards')[0]}{boards}"
    shell.config.write_text(before)
    (tmp_path / example.name).write_bytes(example.read_bytes())
    words = ("doctor", "--dropfile", str(tmp_path / example.name))
    answer = shell(*words)
    if example.parent.name in ("shifted-lines-bridge", "ra-missing-lines"):
        assert answer.status == 2
        return
    message = answer.output + answer.error
    shell.config.write_text(f"{before}\n{pasted(message)}\n", encoding="utf-8")
    named = re.search(r"--board (\S+)", message)
    after = shell(*words, *(("--board", named[1]) if named else ()))
    assert (after.status, after.error) == (0, "")
    assert "This board is " in after.output
    assert "Paste this" not in after.output


ANY_NAME = st.one_of(
    st.sampled_from(["", '"', "\\", "[boards.X]", "x = 1 # y", "v1.2", "\x7f", "Copan 2"]),
    st.sampled_from(["ENiGMA", "EleBBS/Linux v0.11.b1", "Renegade BBS 1.19/Alpha", "WWIV 5.8"]),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\r\n\x00\x1a"), max_size=90
    ),
)
MINUTES = st.sampled_from(["60", "0", "546", "5998", "32719", "", "x"])


@st.composite
def any_drop_file(draw: st.DrawFn) -> tuple[str, tuple[str, ...]]:
    """A file of any format, from a board with any name, with any time left."""
    board, left = draw(ANY_NAME), draw(MINUTES)
    files = {
        "DOOR32.SYS": door32(host=board, left=left, handle=draw(st.sampled_from(["-1", "4"]))),
        "DOOR.SYS": tuple(door_sys(minutes=left, seconds=f"{left}0")),
        "DORINFO1.DEF": (board, *dorinfo(("Moth", "Example"), left=left)[1:]),
        "CHAIN.TXT": chain(board=board, left=left),
        "BBSDEV.DRP": bbsdev(software=draw(ANY_NAME), board=board, deadline=""),
    }
    name = draw(st.sampled_from(sorted(files)))
    return name, files[name]


TWO = "boards.Copan.minutes = 30\nboards.Tikal.minutes = 30\n"


@given(any_drop_file(), st.sampled_from(["", OTHER + "[boards.Tikal]\n", OURS, TWO]))
@hypothesis_settings(max_examples=30, deadline=None)
def test_a_board_that_is_not_listed_gets_a_table_that_the_check_accepts(
    dropped: tuple[str, tuple[str, ...]], boards: str
) -> None:
    name, lines = dropped
    before = BOARD.partition("[boards")[0]
    before = f"{boards}{before}" if boards is TWO else f"{before}{boards}"
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(Path(folder) / "sysop.toml")
        shell.config.write_text(before, encoding="utf-8")
        path = Path(folder) / name
        path.write_bytes(text(*lines, charset="utf-8"))
        answer = shell("doctor", "--dropfile", str(path))
        message = answer.output + answer.error
        if "Paste this" not in message:
            listed = "This board is " in message or "do not say that the board is" in message
            assert listed or answer.status == 2
            return
        table = pasted(message)
        assert message.rstrip().endswith(table.splitlines()[-1].rstrip())
        shell.config.write_text(f"{before}\n{table}\n", encoding="utf-8")
        checked = shell("check")
        assert (checked.status, checked.error) == (0, "")
        named = re.search(r"--board (\S+)", message)
        after = shell("doctor", "--dropfile", str(path), *(("--board", named[1]) if named else ()))
        assert (after.status, after.error) == (0, "")
        assert "This board is " in after.output


def test_boards_in_one_line_are_to_be_written_as_tables_first(shell: Shell, tmp_path: Path) -> None:
    one_line = "boards = {Copan = {minutes = 30}, Tikal = {}}\n"
    before = BOARD.partition("[boards")[0]
    shell.config.write_text(f"{one_line}{before}")
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    sentence = "No table fits beside boards = {...}: write each board in it as [boards.NAME] first."
    assert f"{sentence}\nPaste this" in words
    refused = shell("setup", "synchronet")
    assert (refused.status, refused.error) == (2, f"{sentence}\n")
    shell.config.write_text(f"{before}{OTHER}[boards.Tikal]\n{pasted(words)}\n")
    assert shell("check").status == 0


def test_enigmas_callers_are_refused_with_the_lines_that_let_them_in(
    shell: Shell, tmp_path: Path
) -> None:
    shell.config.write_text(BOARD.partition("[boards")[0])
    lines = ("2", "-1", "115200", "Owl", "1", "Ann Lee", "Ann", "100", "546", "1", "1")
    answer = shell("doctor", "--dropfile", dropped(tmp_path, *lines))
    assert answer.status == 2
    assert "    [boards.ENiGMA]\n    minutes = 60 # a day" in answer.error
    assert "--board ENiGMA --dropfile {dropFilePath}" in answer.error


def test_a_file_of_two_boards_is_refused_in_a_sentence(shell: Shell, tmp_path: Path) -> None:
    two = '[boards.A]\naliases = ["Owl"]\n[boards.B]\naliases = ["Owl"]\n'
    shell.config.write_text(f"{BOARD.partition('[boards')[0]}{two}")
    lines = ("2", "-1", "115200", "Owl", "1", "Ann Lee", "Ann", "100", "546", "1", "1")
    answer = shell("doctor", "--dropfile", dropped(tmp_path, *lines))
    assert answer.status == 2
    assert "could be A or B" in answer.error
    assert "Paste this" not in answer.error


def test_an_alias_that_another_caller_has_is_spoken_of(shell: Shell, tmp_path: Path) -> None:
    config = settings.load(shell.config)
    privacy.make_folder(config)
    with closing(books_of(config.bank)) as database:
        database.open()
        with database.transaction(config.bank, datetime.now(UTC)) as desk:
            host_caller(desk, "Xibalba", "number 7", "Moth")
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    assert "Here the caller is Moth#42@Xibalba" in words
    assert "Another caller of Xibalba has that alias." in words
    others = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE[:6], "Bee", *WHOLE[7:]))
    assert "has that alias" not in others


def test_a_caller_who_is_locked_out_is_named_before_the_table(shell: Shell, tmp_path: Path) -> None:
    shell.config.write_text(BOARD.partition("[boards")[0])
    config = settings.load(shell.config)
    privacy.make_folder(config)
    with closing(books_of(config.bank)) as database:
        database.open()
        with database.transaction(config.bank, datetime.now(UTC)) as desk:
            host_caller(desk, "host", "number 42", "Moth")
    assert shell("callers", "lock", "Moth@host").status == 0
    words = doctor_output(shell, "--dropfile", dropped(tmp_path, *WHOLE))
    refusal, _, table = words.partition("Paste this")
    assert "They would not be let in: " in refusal
    assert "[boards.Synchronet]" in table


def test_a_board_without_limits_brings_its_allowance(shell: Shell, tmp_path: Path) -> None:
    lines = ("1.0", "stdio", "", "Moth", "u-7", "80", "24", "Y", "N", "N", "", "IBM437", "en")
    (tmp_path / "BBSDEV.DRP").write_bytes(
        text(*lines, "ENiGMA 0.4", "Xibalba", "The Keeper", "30", "1", "N", charset="utf-8")
    )
    words = doctor_output(shell, "--dropfile", str(tmp_path))
    assert "They would bring 60 minutes." in words
    assert "Their board sets no limit: 60 minutes a day, less what they have used." in words


def test_an_unreadable_file_is_refused_with_the_callers_message(
    shell: Shell, tmp_path: Path
) -> None:
    answer = shell("doctor", "--dropfile", dropped(tmp_path, *WHOLE[:5]))
    assert answer.status == 2
    assert "DOOR32.SYS" in answer.error
    assert "The caller would be told: Sorry, this board" in answer.error


def test_a_password_is_never_shown(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "DOOR.SYS").write_bytes(text(*door_sys(node="1", event="00:00")))
    assert PASSWORD not in doctor_output(shell, "--dropfile", str(tmp_path))


async def test_tells_the_debt_of_the_day_and_the_hand_on_the_table(tmp_path: Path) -> None:
    from tests.door.processes import open_a_hand

    async with hosted(tmp_path) as host:
        visit = await host.a_visit()
        await visit.sits_down()
        await open_a_hand(visit, coins=3)
        visit.gets(HANG_UP)
        assert await visit.ends() == 0
        words = doctor_output(Shell(host.config.path), "--dropfile", str(host.door32()))
        assert "Taken off it: 3 minutes on the table." in words
        assert len(host.visits_told()) == 1
