"""Control text in a name or a reason is harmless in reports."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from tests.timebank.reports.test_exports import bean_check
from timebank.calls.arrival import host_caller
from timebank.reports import exports
from timebank.reports.statements import printable
from timebank.window.corrections import adjust

# Names a board can give its caller; OWASP's leading characters, and text after a separator.
FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1+cmd",
    "-2+3+cmd",
    "@SUM(1,1)",
    "\uff1d1+1",
    ' "=1+1',
    "a;=1+1",
    'a,"@b',
    "a | -b",
]
TERMINALS = "a\x1b[2Jb\x9b31mc\u202ed\x07e"


def cells(output: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(output)) for cell in row]


def starts_a_formula(cell: str) -> bool:
    """Return whether a spreadsheet reads a cell, or a part after a separator, as a formula."""
    number = re.fullmatch(r"[-+]?(\$|FR )?[0-9][0-9,.:]*", cell)
    return number is None and any(
        part.lstrip(" \t\r\n\"'")[:1] in tuple("=+-@\uff1d\uff0b\uff0d\uff20")
        and not part.startswith("'")
        for part in re.split("[,;|\t\r\n]", cell)
        if part.strip(" \t\r\n\"'")
    )


@pytest.fixture
def crowd(board):
    """Create callers of other boards with such names, and a transfer with such a text."""
    for number, alias in enumerate(FORMULAS):
        board.do(host_caller, "Xibalba", str(number), alias)
    board.do(adjust, 1, 600, '=1+1;"quoted" \\ and more', "@Tester")
    return board


REPORTS = [
    *(("accounts",), ("ledger",), ("log",), ("boards",), ("outbox",), ("summary",)),
    ("statement", "=cmd|' /C calc'!A0@Xibalba"),
]


class TestSpreadsheets:
    @pytest.mark.parametrize("words", REPORTS, ids=lambda words: words[0])
    def test_find_no_formula_in_any_report(self, crowd, timebank, words):
        code, output, _ = timebank(*words, "--format", "csv")
        assert code == 0
        assert [cell for cell in cells(output) if starts_a_formula(cell)] == []

    def test_find_none_in_the_export_either(self, crowd, timebank):
        assert not any(map(starts_a_formula, cells(timebank("export", "csv")[1])))

    def test_show_the_name_unchanged_after_an_apostrophe(self, crowd, timebank):
        output = cells(timebank("accounts", "--format", "csv")[1])
        assert "'=cmd|' /C calc'!A0@Xibalba" in output
        assert "a;'=1+1@Xibalba" in output

    @pytest.mark.parametrize(
        "text", ["-5", "-0:05:00", "-$12.50", "-FR 1,000", "Jean-Luc", "Ann, -", "a = b", "x@y", ""]
    )
    def test_find_numbers_and_plain_texts_as_they_were(self, text):
        (cell,) = list(csv.reader(exports.as_csv(("what",), [{"what": text}])))[1:] or [[""]]
        wanted = "Ann,' -" if text == "Ann, -" else text
        assert "".join(cell) == wanted

    def test_find_numbers_below_zero_as_numbers(self, crowd, timebank):
        output = timebank("accounts", "--format", "csv")[1]
        (adjustment,) = [
            row for row in csv.DictReader(io.StringIO(output)) if row["account"] == "5"
        ]
        assert (adjustment["amount"], adjustment["shown"]) == ("-600", "-0:10:00")

    @pytest.mark.parametrize("lead", ["\t", "\r", "\n", "\t=", "\r\n=", " \t ="])
    def test_find_no_control_at_the_beginning_of_a_cell(self, lead):
        line = "".join(exports.as_csv(("what",), [{"what": f"{lead}1+1"}])).split("\n", 1)[1]
        assert line.startswith("'" if "=" in lead else " ")
        assert line.rstrip("\n").isprintable()


class TestTerminals:
    @pytest.fixture
    def hostile_names(self, board):
        """Create books as a program without checks would write them."""
        number = board.caller("Ann")
        board.do(adjust, number, 600, "for the test", "Tester")
        board.sql("UPDATE callers SET name = ?", TERMINALS)
        board.sql("UPDATE sysop_log SET by = ?, what = ?", TERMINALS, TERMINALS)
        return board

    @pytest.mark.parametrize("form", ["text", "csv", "json"])
    @pytest.mark.parametrize("command", ["accounts", "ledger", "log"])
    def test_are_sent_nothing_that_they_would_obey(self, hostile_names, timebank, command, form):
        code, output, _ = timebank(command, "--format", form)
        assert code == 0
        assert output.replace("\n", "").isprintable()

    def test_lose_no_part_of_a_name_in_json(self, hostile_names, timebank):
        assert TERMINALS in [
            row["caller"] for row in json.loads(timebank("accounts", "--format", "json")[1])
        ]

    def test_read_a_statement_with_a_hostile_name(self, hostile_names):
        assert printable(TERMINALS) == "a [2Jb 31mc d e"


@pytest.mark.long
def test_bean_check_accepts_every_hostile_name(crowd, timebank, folder):
    path = folder / "books.beancount"
    assert timebank("export", "beancount", "--output", str(path))[0] == 0
    assert bean_check(path) == (0, "")
    text = path.read_text(encoding="utf-8")
    assert "caller: \"=cmd|' /C calc'!A0@Xibalba\"" in text


def test_json_contains_every_hostile_name_unchanged(crowd, timebank):
    names = {row["caller"] for row in json.loads(timebank("export", "json")[1])["accounts"]}
    assert "=cmd|' /C calc'!A0@Xibalba" in names
