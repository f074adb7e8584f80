"""Tables no wider than the window, with columns apart and omitted columns named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import pytest
from click.testing import CliRunner

from door.cli import callers, sysop
from door.cli.main import main as door
from timebank.cli import keeping, window
from timebank.cli.common import FORMATS
from timebank.cli.main import main as timebank
from timebank.reports import boards, house, statements, summary
from timebank.reports.tables import (
    PAGE,
    Column,
    Listing,
    Loud,
    Sheet,
    folded,
    width,
    written,
)
from timebank.settings import settings
from timebank.settings.schedule import Schedule

SCHEDULE = Schedule((), ZoneInfo("UTC"))
NAME = "Wolfeschlegelsteinhausen"  # as many letters as names may have
CJK = "字" * 12
WORDS = "600 minutes moved from Wolfeschlegelsteinhausen to Keihanaikukauakahihuli by the sysop"
LONGEST = {
    **dict.fromkeys(("Number", "Entry", "Record"), "1234567"),
    **dict.fromkeys(("Call", "Hand", "Hands", "Calls", "Grants", "Callers", "Visits"), "123456"),
    **dict.fromkeys(("Node", "Minutes"), "9999"),
    **dict.fromkeys(("Idle", "Left", "Wait"), "23:59:59"),
    **dict.fromkeys(("From", "To"), "adjustment"),
    **dict.fromkeys(("Last", "Period", "Since"), "2026-03-01"),
    **dict.fromkeys(("Why", "What"), WORDS),
    "By": "jane (command line)",
    "When": "2026-03-01 12:00:00",
    "Last call": "2026-03-01 12:00",
    "Way": "moduser",
    "SD": "+10.0",
    "State": "doubtful: the program died",
    "Address": "2001:db8::/64",
    "": "",
}


def cell(column: Column, name: str) -> str:
    return LONGEST.get(column.heading, "-99:59:59" if column.right else name)


def tables() -> Iterator[tuple[str, Sequence[Column]]]:
    """The columns of every table that a command prints."""
    nodes, *_ = sysop.nodes_table({"nodes": [], "log_ons": 0, "draining": False, "silent": ["one"]})
    refusals, *_ = sysop.refusals_table(
        {"held": [{"address": "", "wait": 0, "why": ""}], "more": 0, "names": 0}
    )
    money, own = statements._columns(statements.PLAY_COLUMNS), statements.limits_table([])
    found = {
        "accounts": next(statements.accounts_table([], {})),
        "limits": own,
        "ledger": statements.ledger_table([], SCHEDULE),
        "statement": [*statements.statement_table(iter(()), NAME, SCHEDULE)][1],
        "play money": Listing(money, [], ""),
        "summary": summary.summary_table([], ""),
        "house": next(house.table([], [], {})),
        "boards": boards.boards_table([]),
        "outstanding": boards.outstanding_table([], SCHEDULE),
        "outbox": keeping._outbox_table([], settings.load(Path("sysop.toml"))),
        "callers": callers.callers_table([], SCHEDULE),
        "log": window._log_table(None, iter(())),
        "nodes": nodes,
        "refused": refusals,
    }
    for what, table in found.items():
        assert isinstance(table, Listing)
        yield what, table.columns


@pytest.mark.parametrize("name", [NAME, CJK])
@pytest.mark.parametrize("most", [80, 100, 132, 200])
def test_every_table_fits_and_nothing_runs_into_anything(most: int, name: str) -> None:
    for what, columns in tables():
        row = [cell(column, name) for column in columns]
        lines = list(written([Listing(columns, [row, row], "")], Sheet(most)))
        assert max(map(width, lines)) <= most, what
        (wide,) = list(written([Listing(columns, [row], "")]))[1:]
        assert re.split("  +", wide.strip()) == [each for each in row if each], what
        for column, text in zip(columns, row, strict=True):
            is_whole = column.right or column.heading in ("Caller", "Table", "Board")
            if is_whole and not column.goes:
                assert any(text in line for line in lines), (what, column.heading)


TWO = (Column("Name", least=4), Column("Amount", right=True), Column("More", goes=1))


def test_columns_that_do_not_fit_are_named() -> None:
    table = Listing(TWO, [("Ann", "5", "something or other")], "")
    assert list(written([table], Sheet(40))) == [
        *("Name  Amount  More", "Ann        5  something or other")
    ]
    assert list(written([table], Sheet(20))) == [
        *("Name  Amount", "Ann        5"),
        *("No room for: More.", "  --wide shows", "  everything."),
    ]


def test_headings_come_again_where_columns_have_become_wider() -> None:
    rows = [("Ann", "5", "")] * PAGE + [("A long name that comes late", "5", "")]
    lines = list(written([Listing(TWO, iter(rows), "")], Sheet(80)))
    assert [number for number, line in enumerate(lines) if line.startswith("Name")] == [0, PAGE + 1]
    # Files have one heading.
    assert [line for line in written([Listing(TWO, rows, "")]) if line.startswith("Name")] == [
        "Name  Amount  More"
    ]


def test_an_empty_table_is_a_sentence_and_lines_between_rows_are_folded() -> None:
    assert list(written([Listing(TWO, [], "Nobody.")])) == ["Nobody."]
    listing = Listing(TWO, [("Ann", "5", ""), "  Also 0:01:00 sent to nobody."], "")
    assert list(written([listing], Sheet(18)))[2:] == [
        "  Also 0:01:00",
        "    sent to",
        "    nobody.",
    ]


def test_colours_change_no_width() -> None:
    rows = [("Ann", "5", Loud("frozen")), Loud("Beware.")]
    plain, coloured = (
        list(written([Listing(TWO, rows, "")], Sheet(40, colour=colour)))
        for colour in (False, True)
    )
    assert coloured[1] == "Ann        5  \x1b[31mfrozen\x1b[0m"
    assert [re.sub("\x1b\\[[0-9]+m", "", line) for line in coloured] == plain


def test_letters_as_wide_as_two_are_counted_so() -> None:
    assert (width("字a"), folded("字字字 字", 4)) == (3, ["字字", "字", "字"])


def leaves(group: click.Group, *path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, *path, name)
        else:
            yield " ".join((*path, name)), command


def test_every_command_that_prints_rows_takes_the_same_options() -> None:
    rows = {
        *("accounts", "ledger", "statement", "summary", "house", "log", "audit"),
        *("boards", "outbox", "tournament", "duels"),
        *("door nodes", "door refused", "door audit", "door odds"),
        *("door callers list", "door callers keys", "door config list"),
    }
    names = set()
    for name, command in (*leaves(timebank), *leaves(door, "door")):
        options = {option: each for each in command.params for option in each.opts}
        if "--format" in options:
            names.add(name)
            assert tuple(options["--format"].type.choices) == FORMATS, name
            assert "--wide" in options, name
        elif "--json" in options:  # of one thing, which is no table
            assert name == "door hand"
    assert names == rows


def test_odds_as_csv_have_a_line_for_each_way_to_play() -> None:
    result = CliRunner().invoke(door, ["odds", "vegas", "--format", "csv"])
    names, *rows = result.output.splitlines()
    assert names == "game,play,mean,sd,staked"
    assert rows[0].startswith("vegas,perfect,")
    result = CliRunner().invoke(door, ["odds", "vegas", "--card", "--format", "csv"])
    assert (result.exit_code, result.output[:6]) == (2, "A card")
