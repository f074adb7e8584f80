"""What a sysop reads of settings that will not do: file, line, key, reason, and what to write."""

from __future__ import annotations

import errno
from pathlib import Path
from unittest import mock

import pytest

from door.config import config
from timebank.errors import Problem, SettingsError

WRONG = {
    'name = "X"': [
        "line 1: name: is not known here; it belongs to [[events]], [board] or [server].",
    ],
    "[board]\nname = 7": [
        'line 2: [board] name: must be text in "quotes", is 7.',
    ],
    '[board]\nname = "a\\tb"': [
        "line 2: [board] name: must not contain control characters or line ends.",
    ],
    '[board]\nnmae = "X"': [
        'line 2: [board] nmae: is not known here; did you mean "name"?',
    ],
    '[board]\ntime_zone = "Berlin"': [
        'line 2: [board] time_zone: "Berlin" is not a known time zone; did you mean '
        '"Europe/Berlin"?',
    ],
    '[board]\ntime_zone = "new york"': [
        'line 2: [board] time_zone: "new york" is not a known time zone; did you mean '
        '"America/New_York"?',
    ],
    '[board]\ntime_zone = "CEST"': [
        'line 2: [board] time_zone: "CEST" is not a known time zone; it must be a name such'
        ' as "Europe/Berlin".',
    ],
    "[board]\ntime_zone = 2": [
        'line 2: [board] time_zone: must be text in "quotes", is 2.',
    ],
    '[board]\nlanguage = "german"': [
        'line 2: [board] language: must be "en" or "fr", is "german".',
    ],
    "[board]\ndata_mode = 0700": [
        "line 2, column 14: has 0700: a number does not begin with 0.",
    ],
    '[board]\ndata_mode = "0777"': [
        'line 2: [board] data_mode: must be the mode of a folder such as "0700" (its owner '
        'alone), "0750" (its group may read) or "0770" (its group may write); others may '
        "never write.",
    ],
    "[board]\nanimation = false": [
        'line 2: [board] animation: must be "normal", "fast", "off" or "still", is false.',
    ],
    '[board]\ndata = "sysop.toml"': [
        "line 2: [board] data: must be a folder; HERE/sysop.toml is a file.",
    ],
    "[listeners]\nport = 23": [
        "line 1: [listeners]: must be tables headed [[listeners]], is a table.",
    ],
    "[[listener]]\nport = 23": [
        'line 1: [[listener]]: is not known here; did you mean "listeners"?',
    ],
    '[[listeners]]\nport = "23"': [
        'line 2: [[listeners]] 1, port: must be a whole number from 0 to 65535, is "23".',
    ],
    "[[listeners]]\nport = -1": [
        "line 2: [[listeners]] 1, port: must be a whole number from 0 to 65535, is -1.",
    ],
    '[[listeners]]\nkind = "Telnet"': [
        'line 2: [[listeners]] 1, kind: must be "telnet", "telnets", "rlogin", "web" or '
        '"ssh", is "Telnet"; did you mean "telnet"?',
    ],
    '[[listeners]]\nkind = "http"': [
        'line 2: [[listeners]] 1, kind: must be "telnet", "telnets", "rlogin", "web" or '
        '"ssh", is "http".',
    ],
    '[[listeners]]\nhost = "board.example"': [
        'line 2: [[listeners]] 1, host: must be an IP address of this machine, "0.0.0.0" '
        'for every IPv4 address or "::" for every address, is "board.example".',
    ],
    '[[listeners]]\nproxies = "127.0.0.1"': [
        'line 2: [[listeners]] 1, proxies: must be a list: write ["127.0.0.1"].',
    ],
    '[[listeners]]\nproxies = ["10.0.0.1/8"]': [
        "line 2: [[listeners]] 1, proxies: must be addresses or networks such as 192.0.2.7 "
        "or 10.0.0.0/8: 10.0.0.1/8 has host bits set.",
    ],
    '[[listeners]]\nkind = "telnets"': [
        'line 1: [[listeners]] 1, certificate: must name the file when kind is "telnets".',
        'line 1: [[listeners]] 1, key: must name the file when kind is "telnets".',
    ],
    '[server]\nloop = "uvloop"': [
        'line 2: [server] loop: must be "auto" or "asyncio", is "uvloop".',
    ],
    '[server]\nhealth = ":2330"': [
        'line 2: [server] health: must be an address and a port, "10.0.0.1:2330" or '
        '"[2001:db8::1]:2330".',
    ],
    '[calls]\nnodes = "16"': [
        'line 2: [calls] nodes: must be a whole number from 1 to 9999, is "16".',
    ],
    "[calls]\nnodes = 16.0": [
        "line 2: [calls] nodes: must be a whole number from 1 to 9999, is 16.0.",
    ],
    "[calls]\nnodes = 0": [
        "line 2: [calls] nodes: must be a whole number from 1 to 9999, is 0.",
    ],
    "[calls]\nminutes_per_day = 1441": [
        "line 2: [calls] minutes_per_day: must be a whole number from 1 to 1440, is 1441.",
    ],
    '[calls]\nminutes_per_day = "60 minutes"': [
        'line 2: [calls] minutes_per_day: must be a whole number from 1 to 1440, is "60 minutes".',
    ],
    "[calls]\nminutes = 60": [
        "line 2: [calls] minutes: is not known here; it belongs to [[events]].",
    ],
    "[calls]\ngrace_minutes = -5": [
        "line 2: [calls] grace_minutes: must be a whole number from 0 to 60, is -5.",
    ],
    '[defence]\nallow = "localhost"': [
        'line 2: [defence] allow: must be a list: write ["localhost"].',
    ],
    '[defence]\nallow = ["localhost"]': [
        "line 2: [defence] allow: must be addresses or networks such as 192.0.2.7 or "
        "10.0.0.0/8: 'localhost' does not appear to be an IPv4 or IPv6 network.",
    ],
    '[company]\nmessages = "no"': [
        'line 2: [company] messages: must be true or false, is "no".',
    ],
    '[deal]\nkind = "daily"': [
        'line 2: [deal] kind: must be "world" or "board", is "daily".',
    ],
    '[tournament]\nday = "Friday"': [
        'line 2: [tournament] day: must be "mon", "tue", "wed", "thu", "fri", "sat" or '
        '"sun", is "Friday"; did you mean "fri"?',
    ],
    "[tournament]\nprize_minutes = [5, 10, 15]": [
        "line 2: [tournament] prize_minutes: must not grow from one place to the next.",
    ],
    '[tournament]\nprize_minutes = [15, "10"]': [
        'line 2: [tournament] prize_minutes: must be whole numbers from 0 to 10080: "10" is not.',
    ],
    "[duels]\nmost_minutes = true": [
        "line 2: [duels] most_minutes: must be a whole number from 0 to 1440, is true.",
    ],
    '[pages]\nhost = "0.0.0.0"': [
        "line 2: [pages] host: is 0.0.0.0, which is not this machine alone, and passwords "
        "would go there for all to read: name a certificate and its key, or listen on "
        "127.0.0.1 behind a front end that has them.",
    ],
    "[public]\npage = true": [
        'line 2: [public] page: is shown by a port of kind "web", and [[listeners]] has none.',
    ],
    '[public]\naddress = "board.example"': [
        "line 2: [public] address: must be the board's address in a browser, without a "
        'path, such as "https://board.example", is "board.example".',
    ],
    '[fairness]\ncheck_address = "check.html"': [
        "line 2: [fairness] check_address: must be the address of the page that checks "
        'hands, such as "https://board.example/check.html", without a # in it.',
    ],
    '[timebank]\nmode = "built in"': [
        'line 2: [timebank] mode: must be "built-in", "external" or "none", is "built in"; '
        'did you mean "built-in"?',
    ],
    '[timebank]\nmode = "external"': [
        'line 1: [timebank] thebank_ext: must name the file to write when mode is "external".',
    ],
    '[timebank]\ndatabase = "postgres"': [
        "line 2: [timebank] database: must be a URL such as "
        '"postgresql://user@host:5432/name", or empty.',
    ],
    '[timebank]\ndatabase = "postgresql://bjft:secret@db/books"': [
        "line 2: [timebank] database: must not hold the password: take it out, and put it "
        "into the file that database_password_file names, or into the environment as "
        "PGPASSWORD.",
    ],
    '[timebank]\nhours = ["8-22"]': [
        'line 2: [timebank] hours: "8-22" must be like "mon-fri 08:00-22:00".',
    ],
    '[timebank]\nhours = ["Montag 08:00-22:00"]': [
        'line 2: [timebank] hours: "Montag 08:00-22:00" must name its days with daily, '
        'weekdays, weekends, mon, tue, wed, thu, fri, sat, sun; "montag" is not one of '
        "them.",
    ],
    '[timebank]\nbarred = "Mallory"': [
        'line 2: [timebank] barred: must be a list: write ["Mallory"].',
    ],
    '[timebank]\nbarred = ["x"]': [
        "line 2: [timebank] barred: \"x\" can't be a caller's name: A name has 2 to 24 characters.",
    ],
    '[timebank]\nimport = ["a", "a"]': [
        "line 2: [timebank] import: names HERE/a more than once.",
    ],
    '[[events]]\nname = "Mail"\ntime = "3:00"\nminutes = 60': [
        'line 3: [[events]] 1, time: must be "00:00" to "23:59", is "3:00".',
    ],
    '[[events]]\nname = "Mail"\ntime = 03:00:00\nminutes = 60': [
        'line 3: [[events]] 1, time: must be text in "quotes", is the date or time 03:00:00.',
    ],
    '[[events]]\nname = "Mail"\ntime = "25:00"\nminutes = "1h"': [
        'line 3: [[events]] 1, time: must be "00:00" to "23:59", is "25:00".',
        'line 4: [[events]] 1, minutes: must be a whole number from 1 to 10080, is "1h".',
    ],
    '[[events]]\nname = "Mail"\ntime = "03:00"\nminutes = 60\ndays = "Sunday"': [
        "line 5: [[events]] 1, days: must be one or a list of daily, weekdays, weekends, "
        'mon, tue, wed, thu, fri, sat, sun: "Sunday" is not; did you mean "sun"?',
    ],
    '[[events]]\nname = "Always"\ntime = "00:00"\nminutes = 1440': [
        "line 1: [[events]]: leave no opening in the week: no one could ever call.",
    ],
    '[events]\nname = "Mail"': [
        "line 1: [events]: must be tables headed [[events]], is a table.",
    ],
    "[games.blackjack]\nopen = true": [
        "line 1: [games.blackjack]: is not a game of this house, which has "
        "black-jack-for-time, baccarat, unix-bj, vegas, red-dog; did you mean "
        '"black-jack-for-time"?',
    ],
    "[games.black_jack_for_time]\nopen = true": [
        "line 1: [games.black_jack_for_time]: is not a game of this house, which has "
        "black-jack-for-time, baccarat, unix-bj, vegas, red-dog; did you mean "
        '"black-jack-for-time"?',
    ],
    "[games]\nopen = false": [
        "line 2: [games] open: is not a game of this house, which has black-jack-for-time, "
        "baccarat, unix-bj, vegas, red-dog.",
    ],
    "[games.vegas]\nsmallest_bet = 20": [
        "line 2: [games.vegas] smallest_bet: must not be more than largest_bet, which is 10.",
    ],
    "[games.vegas]\nnatural_pays = 1.2": [
        "line 2: [games.vegas] natural_pays: must be a number from 1 to 100 in steps of one"
        " half, is 1.2.",
    ],
    '[games.vegas]\nnatural_pays = "3:2"': [
        "line 2: [games.vegas] natural_pays: must be a number from 1 to 100 in steps of one"
        ' half, is "3:2".',
    ],
    '[games.vegas]\ndealer = "H17"': [
        'line 2: [games.vegas] dealer: must be "stand 17", "hit soft 17", "hit 17 with an '
        'ace" or "hit 17", is "H17"; did you mean "hit 17"?',
    ],
    '[games.vegas]\nties = "push"': [
        "line 2: [games.vegas] ties: is not known here; it belongs to [games.black-jack-for-time].",
    ],
    "[games.unix-bj]\nlargest_bet = 5": [
        "line 2: [games.unix-bj] largest_bet: is not known here.",
    ],
    '[games.baccarat]\nlanguage = "fr"': [
        'line 2: [games.baccarat] language: must be "caller", "english" or "french", is "fr".',
    ],
    '[boards."A|B"]': [
        "line 1: [boards.A|B]: must have another name: 1 to 24 characters, and no @ or |.",
    ],
    "[boards.Xibalba]\nshare = 0": [
        "line 2: [boards.Xibalba] share: must be a whole number from 1 to 100, is 0.",
    ],
    '[boards.Xibalba]\nconvention = "doorparty"': [
        "line 2: [boards.Xibalba] convention: does not go with `tag` and `secret`: Xibalba:"
        " a board that calls as DoorParty does needs its tag.",
    ],
    "[boards]\nXibalba = 60": [
        "line 2: [boards] Xibalba: must be one table, is 60.",
    ],
    '[callers]\nquestion = "Which net?"': [
        "line 1: [callers] answers: must have at least one answer to `question`.",
    ],
    '[notify]\ncommand = "mail me"': [
        'line 2: [notify] command: must be a list: write ["mail me"].',
    ],
    "[board]\nname = Nighthawk": [
        'line 2, column 8: has text without quotes: write "Nighthawk".',
    ],
    '[board\nname = "X"': [
        "line 1, column 7: has a header that is not closed: write [board].",
    ],
    '[board]\nname = "X': [
        "line 2, column 10: has text that begins with a quote and does not end with one on "
        "its line.",
    ],
    '[board]\nname = "X"\nname = "Y"': [
        "line 3, column 11: has name a second time; it stands on line 2 too: keep one of them.",
    ],
    "nodes: 16": [
        'line 1, column 6: has ":" after nodes; TOML has "=" there.',
    ],
    "[calls]\nnodes = 16 minutes_per_day = 60": [
        "line 2, column 12: has minutes_per_day = 60 after the value: one line holds one value.",
    ],
    "[calls]\nnodes = 016": [
        "line 2, column 10: has 016: a number does not begin with 0.",
    ],
    "[calls]\nnodes = 1_000_000_000_000_000_000_000": [
        "line 2: [calls] nodes: must be a whole number from 1 to 9999, is 1000000000000000000000.",
    ],
    f"[calls]\nnodes = {'9' * 5000}": [
        "line 2: has a number of thousands of digits.",
    ],
    "[calls]\nNodes = 5": [
        'line 2: [calls] Nodes: is not known here; did you mean "nodes"?',
    ],
    "[CALLS]\nnodes = 5": [
        'line 1: [CALLS]: is not known here; did you mean "calls"?',
    ],
    "[calls]\nnodes = 5\n[board]\n[calls]\nnodes = 6": [
        "line 4, column 7: has the table [calls] a second time; it begins on line 1: put all its"
        " keys there.",
    ],
    "calls.nodes = 5\n[calls]\nminutes_per_day = 5": [
        "line 2, column 7: has [calls] here and `calls.nodes = 5` on line 1: keep one of them.",
    ],
    "[[calls]]\nnodes = 5": [
        "line 1: [[calls]]: must be one table, is a list.",
    ],
    "[calls]\nnodes = 2026-11-28": [
        "line 2: [calls] nodes: must be a whole number from 1 to 9999, is the date or time"
        " 2026-11-28.",
    ],
    "[games.vegas]\nnatural_pays = nan": [
        "line 2: [games.vegas] natural_pays: must be a number from 1 to 100 in steps of one half,"
        " is nan.",
    ],
    '[games.vegas]\nrules = "holiday"\n[rules.holidays]': [
        'line 2: [games.vegas] rules: must be "1991", "casino" or "holidays", is "holiday"; did'
        ' you mean "holidays"?',
    ],
    '[rules.mine]\nrules = "mine"': [
        "line 2: [rules.mine] rules: is not known here.",
    ],
    "[rules.casino]\ndecks = 2": [
        "line 1: [rules.casino]: must have another name: 1 to 24 characters, and no @ or |, and"
        " not 1991 or casino.",
    ],
    "; the board\n[board]": [
        "line 1, column 1: has a remark after ;, and TOML begins one with #.",
    ],
    "[board]\n// the board": [
        "line 2, column 1: has a remark after //, and TOML begins one with #.",
    ],
    '[board]\nname == "X"': [
        'line 2, column 7: has "==", and TOML has one "=" there.',
    ],
    "[board] name = 5": [
        "line 1, column 9: has name = 5 after the header: write it on a line of its own.",
    ],
    '[board]\nname = "\\ud800"': [
        "line 2, column 15: is not valid TOML (Escaped character is not a Unicode scalar value).",
    ],
    '[timebank]\ndatabase = "postgresql:///books%0a"': [
        'line 2: [timebank] database: must end in the name of a database, such as "postgresql://'
        'user@host:5432/name".',
    ],
}
# Files that no editor, or a wrong one, has written.
BYTES = {
    b"\xef\xbb\xbf[board]\nname = 7\n": 'line 2: [board] name: must be text in "quotes", is 7.',
    b"[board]\r\nname = 7\r\n": 'line 2: [board] name: must be text in "quotes", is 7.',
    b"[board]\rname = 7\r": 'line 2: [board] name: must be text in "quotes", is 7.',
    b'[board]\nname = "\xe9"\n': "line 2: is not UTF-8 text (byte E9); save it as UTF-8.",
    "[board]".encode("utf-16"): "line 1: is not UTF-8 text (byte FF); save it as UTF-8.",
    "#\n[board]".encode("utf-16-le"): "line 1: is not UTF-8 text (byte 00); save it as UTF-8.",
    b"[board]\n" + bytes(4096): "line 2: is not UTF-8 text (byte 00); save it as UTF-8.",
}


@pytest.mark.parametrize("data", BYTES)
def test_a_file_in_other_letters_is_explained(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "sysop.toml"
    path.write_bytes(data)
    with pytest.raises(SettingsError) as refused:
        config.load(path)
    assert str(refused.value) == f"{path}, {BYTES[data]}"


def test_thousands_of_wrong_lines_are_named_at_once(tmp_path: Path) -> None:
    """A running board that reads the file again stands still meanwhile."""
    path = tmp_path / "sysop.toml"
    path.write_text("".join(f"k{number} = 1\n" for number in range(9000)), encoding="utf-8")
    with (
        pytest.raises(SettingsError) as refused,
        mock.patch.object(Problem, "__eq__", side_effect=AssertionError),
    ):
        config.load(path)
    assert str(refused.value).count("\n") == 8999


def test_a_file_that_cannot_be_looked_at_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder belongs to another user, or it has gone just now."""

    def stat(path: Path, *, follow_symlinks: bool = True) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    (tmp_path / "sysop.toml").touch()
    monkeypatch.setattr(Path, "stat", stat)
    with pytest.raises(SettingsError, match=r"sysop\.toml: cannot be read \(Permission denied\)"):
        config.load(tmp_path / "sysop.toml")


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_setting_is_named_with_its_line_and_what_to_write(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "sysop.toml"
    path.write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        config.load(path)
    sentences = str(refused.value).replace(f"{path}, ", "").replace(str(tmp_path), "HERE")
    assert sentences.split("\n") == WRONG[text]
