"""The time bank's part of sysop.toml, and the messages about wrong files."""

from __future__ import annotations

import json
import os
import tomllib
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timebank.errors import SettingsError
from timebank.settings import settings
from timebank.settings.schedule import Event
from timebank.settings.toml import LONGEST_FILE, lines_of_keys


@pytest.fixture
def write(tmp_path):
    """Put a text (or bytes) into sysop.toml and return its path."""

    def put(text: str | bytes) -> Path:
        path = tmp_path / "sysop.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


@pytest.fixture
def refusal(write):
    """Load a text that must be refused; return the sentences without the name of the file."""

    def load(text: str | bytes) -> list[str]:
        path = write(text)
        with pytest.raises(SettingsError) as refused:
            settings.load(path)
        assert refused.value.file == str(path)
        return str(refused.value).replace(str(path), "FILE").split("\n")

    return load


class TestDefaults:
    def test_an_empty_file_is_a_board(self, write):
        path = write("")
        bank = settings.load(path)
        assert bank.zone == ZoneInfo("UTC")
        assert bank.events == (Event("Mail hour", time(3), frozenset(range(7)), 60),)
        assert bank.minutes_per_day == 60
        assert (bank.mode, bank.thebank_ext) == ("built-in", None)
        assert bank.database == path.parent / "data" / "board.sqlite3"

    def test_a_board_may_have_no_events_at_all(self, write):
        assert settings.load(write("events = []")).events == ()

    def test_other_parts_of_the_file_are_not_the_time_banks_business(self, write):
        text = '[board]\nname = 5\n[calls]\nnodes = -1\n[[listeners]]\nport = "x"\n[nonsense]\n'
        assert settings.load(write(text)).minutes_per_day == 60


class TestValues:
    def test_everything_can_be_set(self, write):
        path = write(
            """
            [board]
            time_zone = "Europe/Berlin"
            data = "var/books"
            [calls]
            minutes_per_day = 1440
            [timebank]
            mode = "external"
            thebank_ext = "rats/THEBANK.EXT"
            [[events]]
            name = "Backup"
            time = "23:59"
            days = ["mon", "weekends"]
            minutes = 10
            [[events]]
            name = "Mail"
            time = "00:00"
            days = "weekdays"
            minutes = 1
            """
        )
        bank = settings.load(path)
        assert bank.zone == ZoneInfo("Europe/Berlin")
        assert bank.minutes_per_day == 1440
        assert bank.mode == "external"
        assert bank.thebank_ext == path.parent / "rats" / "THEBANK.EXT"
        assert bank.database == path.parent / "var" / "books" / "board.sqlite3"
        assert bank.events == (
            Event("Backup", time(23, 59), frozenset({0, 5, 6}), 10),
            Event("Mail", time(0, 0), frozenset(range(5)), 1),
        )

    def test_a_board_without_a_bank_of_its_own_has_no_duels(self, write):
        for mode, most in (("built-in", 600), ("none", 0)):
            text = f'[timebank]\nmode = "{mode}"\n[duels]\nmost_minutes = 10'
            assert settings.load(write(text)).most_duel == most

    def test_the_schedule_is_that_of_the_events_and_is_made_once(self, write):
        bank = settings.load(write('[board]\ntime_zone = "Asia/Tokyo"'))
        at = datetime(2024, 1, 1, 17, 59, tzinfo=UTC)
        assert bank.schedule.closed_at_or_after(at).start == at + timedelta(minutes=1)
        assert bank.schedule is bank.schedule

    def test_paths_start_at_the_folder_of_the_file_wherever_we_are(self, write, monkeypatch):
        path = write('[board]\ndata = "/srv/bjft"\n[timebank]\nthebank_ext = "../THEBANK.EXT"')
        monkeypatch.chdir(path.parent)
        bank = settings.load(Path("sysop.toml"))
        assert bank.database == Path("/srv/bjft/board.sqlite3")
        assert bank.thebank_ext == path.parent / ".." / "THEBANK.EXT"

    def test_a_byte_order_mark_and_dos_line_ends_are_tolerated(self, write):
        text = b"\xef\xbb\xbf[calls]\r\nminutes_per_day = 45\r\n"
        assert settings.load(write(text)).minutes_per_day == 45


class TestWrongValues:
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            (
                "[calls]\nminutes_per_day = 0",
                "line 2: [calls] minutes_per_day: must be a whole number from 1 to 1440, is 0.",
            ),
            (
                "[calls]\nminutes_per_day = 1441",
                "line 2: [calls] minutes_per_day: must be a whole number from 1 to 1440, is 1441.",
            ),
            (
                "[calls]\nminutes_per_day = true",
                "line 2: [calls] minutes_per_day: must be a whole number from 1 to 1440, is true.",
            ),
            (
                "[calls]\nminutes_per_day = 60.0",
                "line 2: [calls] minutes_per_day: must be a whole number from 1 to 1440, is 60.0.",
            ),
            (
                '[calls]\nminutes_per_day = "60"',
                'line 2: [calls] minutes_per_day: must be a whole number from 1 to 1440, is "60".',
            ),
            (
                '[board]\ntime_zone = "Europe/Berln"',
                'line 2: [board] time_zone: "Europe/Berln" is not a known time zone; '
                'did you mean "Europe/Berlin"?',
            ),
            (
                '[board]\ntime_zone = "?"',
                'line 2: [board] time_zone: "?" is not a known time zone; '
                'it must be a name such as "Europe/Berlin".',
            ),
            (
                "[board]\ntime_zone = 1",
                'line 2: [board] time_zone: must be text in "quotes", is 1.',
            ),
            ('[board]\ndata = " "', "line 2: [board] data: must not be empty."),
            (
                '[board]\ndata = "a\\u0000b"',
                "line 2: [board] data: must not contain control characters or line ends.",
            ),
            (
                f'[board]\ndata = "{"x" * 201}"',
                "line 2: [board] data: must be 200 characters at most, is 201 long.",
            ),
            (
                '[board]\ndata = "sysop.toml"',
                "line 2: [board] data: must be a folder; FILE is a file.",
            ),
            ("board = 5", "line 1: board: must be one table, is 5."),
            ("[[board]]", "line 1: [[board]]: must be one table, is a list."),
            ("[events]", "line 1: [events]: must be tables headed [[events]], is a table."),
            ("events = [1]", "line 1: events: must be tables headed [[events]], is a list."),
            (
                '[timebank]\nmode = "buildin"',
                'line 2: [timebank] mode: must be "built-in", "external" or "none", '
                'is "buildin"; did you mean "built-in"?',
            ),
            (
                '[timebank]\nmode = "external"',
                "line 1: [timebank] thebank_ext: "
                'must name the file to write when mode is "external".',
            ),
            (
                '[timebank]\nthebank_ext = "."',
                "line 2: [timebank] thebank_ext: must be a file; FOLDER is a folder.",
            ),
            (
                '[timebank]\nmodus = "none"',
                'line 2: [timebank] modus: is not known here; did you mean "mode"?',
            ),
            ("[timebank]\nxyz = 1", "line 2: [timebank] xyz: is not known here."),
        ],
    )
    def test_are_refused_with_line_key_and_reason(self, refusal, tmp_path, text, sentence):
        assert refusal(text) == ["FILE, " + sentence.replace("FOLDER", str(tmp_path))]

    @pytest.mark.parametrize(
        "zone", ["", "/etc/passwd", "../Berlin", "America", "zone.tab", "A" * 200, "Ä", "\\u0000"]
    )
    def test_an_invalid_time_zone_is_refused(self, refusal, zone):
        (sentence,) = refusal(f'[board]\ntime_zone = "{zone}"')
        assert sentence.startswith("FILE, line 2: [board] time_zone: ")

    def test_all_mistakes_are_reported_in_file_order(self, refusal):
        sentences = refusal(
            '[timebank]\nmode = 1\n[calls]\nminutes_per_day = 0\n[board]\ntime_zone = "x"\n'
            '[[events]]\nname = "a"\nsize = 2\n'
        )
        keys = [sentence.split(": ")[1] for sentence in sentences]
        assert keys == [
            "[timebank] mode",
            "[calls] minutes_per_day",
            "[board] time_zone",
            "[[events]] 1, time",
            "[[events]] 1, minutes",
            "[[events]] 1, size",
        ]

    def test_the_sysops_text_is_quoted_safely(self, refusal):
        (sentence,) = refusal('[timebank]\n"k\\u001b\\n" = 1')
        assert sentence == "FILE, line 2: [timebank] k??: is not known here."
        (sentence,) = refusal(f'[timebank]\nmode = "{"x" * 100}\\u001b"')
        assert sentence.endswith(f'is "{"x" * 37}...".')
        (sentence,) = refusal(f"[calls]\nminutes_per_day = {'9' * 100}")
        assert sentence.endswith("is a number of very many digits.")


def event(**changes: object) -> str:
    keys = {"name": "Mail", "time": "03:00", "minutes": 60} | changes
    return "[[events]]\n" + "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in keys.items() if value is not None
    )


class TestWrongEvents:
    @pytest.mark.parametrize("minutes", [0, -1, 10081, True, 1.5, "60"])
    def test_a_length_out_of_range(self, refusal, minutes):
        (sentence,) = refusal(event(minutes=minutes))
        assert sentence.startswith(
            "FILE, line 4: [[events]] 1, minutes: must be a whole number from 1 to 10080, is "
        )

    @pytest.mark.parametrize("text", ["24:00", "3:00", "03:60", "03.00", "", "03:00 ", "٠٣:٠٠"])
    def test_a_time_that_no_clock_shows(self, refusal, text):
        (sentence, *_) = refusal(event(time=text))
        assert sentence.startswith("FILE, line 3: [[events]] 1, time: must ")

    @pytest.mark.parametrize("days", [[], "monday", ["mon", "x"], ["mon", 1], 5, {}, [["mon"]]])
    def test_days_that_are_none(self, refusal, days):
        (sentence,) = refusal(event(days=days).replace("{}", "{ }"))
        assert sentence.startswith("FILE, line 5: [[events]] 1, days: must ")

    @pytest.mark.parametrize("key", ["name", "time", "minutes"])
    def test_a_missing_key_of_an_event_is_named(self, refusal, key):
        assert refusal(event() + event(**{key: None})) == [
            f"FILE, line 5: [[events]] 2, {key}: is missing."
        ]

    @pytest.mark.parametrize(
        "events",
        [
            event(time="17:23", minutes=1440),
            event(days="mon", minutes=10080),
            event(time="00:00", minutes=720) + event(time="12:00", minutes=720),
        ],
    )
    def test_a_week_without_an_opening(self, refusal, events):
        assert refusal(events) == [
            "FILE, line 1: [[events]]: leave no opening in the week: no one could ever call."
        ]

    def test_a_minute_of_opening_is_enough(self, write):
        bank = settings.load(write(event(days="mon", minutes=10079)))
        assert not bank.schedule.always_closed()

    def test_an_event_that_cannot_be_read_says_nothing_about_the_week(self, refusal):
        assert len(refusal(event(minutes=1440) + event(minutes=0))) == 1


class TestUnreadableFiles:
    def refused(self, path: Path) -> str:
        with pytest.raises(SettingsError) as refused:
            settings.load(path)
        return str(refused.value).removeprefix(str(path))

    def test_a_missing_one(self, tmp_path):
        assert self.refused(tmp_path / "no.toml") == ": there is no such file."

    def test_a_folder_and_a_pipe(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        assert self.refused(tmp_path) == ": is not a file."
        assert self.refused(tmp_path / "pipe") == ": is not a file."

    def test_one_that_leads_in_circles(self, tmp_path):
        (tmp_path / "loop").symlink_to("loop")
        assert self.refused(tmp_path / "loop").startswith(": cannot be read (")

    def test_one_that_we_may_not_read(self, write, monkeypatch):
        path = write("")

        def forbidden(*_args: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "open", forbidden)
        assert self.refused(path) == ": cannot be read (Permission denied)."

    def test_a_name_that_no_file_can_have(self):
        assert self.refused(Path("a\0b")).endswith(": cannot be read (embedded null byte).")

    def test_one_in_another_encoding_says_where(self, refusal):
        assert refusal(b'[board]\nname = "Caf\x82"\n') == [
            "FILE, line 2: is not UTF-8 text (byte 82); save it as UTF-8."
        ]

    def test_a_huge_one(self, write, refusal):
        assert refusal(b"#" * (LONGEST_FILE + 1)) == [
            "FILE: is longer than 256 kB, which no settings need."
        ]
        assert settings.load(write(b"#" * LONGEST_FILE)).minutes_per_day == 60

    def test_one_that_is_not_toml_says_line_and_column(self, refusal):
        (sentence,) = refusal("[board]\nname = Café\n")
        assert sentence.startswith("FILE, line 2, column 8: has text without quotes")
        (sentence,) = refusal("[board]\nname =")
        assert sentence.startswith("FILE, line 2")

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("a = " + "[" * 100_000, "FILE: is not valid TOML (is nested too deeply)."),
            ("a = " + "9" * 5000, "FILE, line 1: has a number of thousands of digits"),
            (
                ".".join("a" * 3000) + " = 1\n[timebank]\nx = 1",
                "FILE, line 3: [timebank] x: is not",
            ),
            ("[" + ".".join("a" * 3000) + "]\n[timebank]\nx = 1", "FILE, line 3: [timebank] x: is"),
        ],
    )
    def test_one_that_goes_beyond_every_measure(self, refusal, text, sentence):
        (problem,) = refusal(text)
        assert problem.startswith(sentence)


keys = st.one_of(st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.just('"a.b"'), st.just("'[x]'"))
plain_values = st.sampled_from(
    ["1", '"text"', "'#'", "[1, 2]", '"""x"""', "{ k = 1 }", "true  # why", "[[1], []]"]
)
long_values = st.sampled_from(
    ["[\n1,\n\n# [no]\n2]", '"""\na = 1\n[t]\n"""', "'''\n\n'''", "[\n{ k = 1 },\n]"]
)


class TestLines:
    """Every key of a random file is put on the line it was written on, or on none."""

    @given(
        st.lists(
            st.one_of(
                st.tuples(st.just("key"), keys, st.one_of(plain_values, long_values)),
                st.tuples(st.just("table"), st.lists(keys, min_size=1, max_size=3), st.none()),
                st.tuples(st.just("tables"), keys, st.none()),
                st.tuples(st.just("space"), st.sampled_from(["", "# a = 1", "  # [t]"]), st.none()),
            ),
            max_size=12,
        )
    )
    def test_are_where_they_were_written(self, statements):
        text, written, table, counts = "", {}, (), {}
        for kind, name, value in statements:
            line = text.count("\n") + 1
            before = text
            path: tuple[str | int, ...]
            if kind == "key":
                text += f"{name} = {value}\n"
                path = (*table, name.strip("\"'"))
            elif kind == "table":
                text += f"[{'.'.join(name)}]\n"
                path = tuple(part.strip("\"'") for part in name)
                path = (path[0], counts[path[0]] - 1, *path[1:]) if path[0] in counts else path
            elif kind == "tables":
                text += f"[[{name}]]\n"
                path = (name.strip("\"'"), counts.get(name.strip("\"'"), 0))
            else:
                text += name + "\n"
                continue
            try:
                tomllib.loads(text)
            except tomllib.TOMLDecodeError:
                text = before  # a repetition, which is not tested here
                continue
            if kind != "key":
                table = path
            if kind == "tables":
                counts[path[0]] = path[1] + 1
            written.setdefault(path, line)
        texts = lines_of_keys(text)
        # A table may have been mentioned before its own header, as part of a longer one.
        assert {path: texts[path] for path in written if texts[path] > written[path]} == {}
        lines = text.split("\n")
        for path, line in texts.items():
            last = [part for part in path if isinstance(part, str)][-1]
            assert last in lines[line - 1]
        assert texts.keys() >= written.keys()

    def test_a_key_inside_a_value_of_several_lines_has_none(self):
        lines = lines_of_keys("events = [\n{ name = 1 },\n{ name = 2 },\n]\nafter = 1\n")
        assert lines == {("events",): 1, ("after",): 5}

    def test_a_key_inside_a_value_of_one_line_has_its(self):
        lines = lines_of_keys("\nevents = [{ name = 1 }, { name = 2 }]\n")
        assert lines[("events", 1, "name")] == 2

    def test_a_value_too_long_to_follow_ends_the_search(self):
        lines = lines_of_keys("a = 1\nb = [\n" + "1,\n" * 300 + "]\nc = 1\n")
        assert lines == {("a",): 1}


class TestABooksServer:
    def test_is_named_by_a_url(self, write):
        url = "postgresql://me@db.example.org:5433/books?sslmode=verify-full"
        text = f'[timebank]\ndatabase = "{url}"\ndatabase_password_file = "secret"'
        path = write(text)
        server = settings.load(path).server
        assert (server.user, server.host, server.port) == ("me", "db.example.org", "5433")
        assert (server.name, server.options) == ("books", (("sslmode", "verify-full"),))
        assert server.password_file == path.parent / "secret"
        assert str(server) == "postgresql://me@db.example.org:5433/books"

    def test_may_be_on_a_socket_of_this_machine(self, write):
        path = write('[timebank]\ndatabase = "postgresql:///books?host=%2Frun%2Fpostgresql"')
        server = settings.load(path).server
        assert (server.host, server.port, server.user) == ("", "", "")
        assert server.options == (("host", "/run/postgresql"),)

    @pytest.mark.parametrize(
        ("named", "host", "port"),
        [
            ("one,two", "one,two", ""),
            ("one,two:5433", "one,two", "5433"),
            ("one:5432,two:5433", "one,two", "5432,5433"),
            ("[::1]:5432,[2001:db8::7]:5433", "::1,2001:db8::7", "5432,5433"),
        ],
    )
    def test_may_be_one_of_several_hosts(self, write, named, host, port):
        url = f"postgresql://me@{named}/books"
        server = settings.load(write(f'[timebank]\ndatabase = "{url}"')).server
        assert (server.host, server.port) == (host, port)
        assert str(server) == url

    def test_is_none_by_default(self, write):
        assert settings.load(write("[timebank]\ndatabase = ''")).server is None

    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("board.sqlite3", 'must be a URL such as "postgresql://user@host:5432/name", or empty'),
            ("mysql://host/name", 'must be a URL such as "postgresql://user@host:5432/name", or'),
            ("postgresql://host", "must end in the name of a database, such as"),
            ("postgresql://host/a/b", "must end in the name of a database, such as"),
            ("postgresql://host:port/name", "cannot be read as a URL"),
            ("postgresql://host:99999/name", "cannot be read as a URL"),
            ("postgresql://[::1/name", "cannot be read as a URL"),
            ("postgresql://one,/name", "has an empty name among its hosts"),
            ("postgresql://a:1,b/name", "must have a port for each of its hosts, or one behind"),
            ("postgresql:///name?host=a:1,b:2", "must name hosts with ports before the database"),
            ("postgresql://a/name?host=b", "gives the host or an option twice"),
            ("postgresql:///name?host=a&host=b", "gives the host or an option twice"),
            ("postgresql://host/name?sslmod=x", 'has the option "sslmod"; known are host, sslmode'),
            ("postgresql://me:open-sesame@host/name", "must not hold the password: take it out"),
            ("postgresql://host/name?password=open-sesame", 'has the option "password"; known are'),
        ],
    )
    def test_that_is_named_wrongly_is_refused(self, refusal, url, expected):
        (sentence,) = refusal(f'[timebank]\ndatabase = "{url}"')
        assert sentence.startswith(f"FILE, line 2: [timebank] database: {expected}")
        assert "sesame" not in sentence

    def test_has_a_file_for_its_password_and_a_file_of_books_has_none(self, refusal):
        assert refusal('[timebank]\ndatabase_password_file = "secret"') == [
            "FILE, line 2: [timebank] database_password_file: is only for a database on a server."
        ]
