"""The format of records in THEBANK.EXT."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timebank.errors import NotARecord
from timebank.thebank.format import Record, format_record, parse_record

AT = datetime(2024, 12, 31, 23, 59)


def record(name: str = "Ann", minutes: int = 12, source: str = "Black Jack For Time") -> Record:
    return Record(name, minutes, source, AT, 17)


class TestWriting:
    def test_a_record_is_one_line_of_five_fields(self):
        line = format_record(record())
        assert line == b"Ann;12;Black Jack For Time;2024-12-31 23:59;17\r\n"

    def test_minutes_taken_out_are_negative(self):
        assert format_record(record(minutes=-5)).split(b";")[1] == b"-5"

    def test_a_record_without_a_number_has_four_fields(self):
        line = format_record(Record("Ann", 1, "x", AT, None))
        assert line == b"Ann;1;x;2024-12-31 23:59\r\n"

    def test_a_year_has_four_digits(self):
        long_ago = Record("Ann", 1, "x", datetime(999, 1, 2, 3, 4), None)
        assert format_record(long_ago) == b"Ann;1;x;0999-01-02 03:04\r\n"

    @pytest.mark.parametrize(
        ("name", "written"),
        [
            ("José Nuñez", b"Jos\x82 Nu\xa4ez"),
            ("Nguyễn", b"Nguyen"),  # CP437 lacks the letter: its accents are dropped
            ("Łukasz", b"\\u0141ukasz"),  # no accents to drop: its code point
            ("Иван", b"\\u0418\\u0432\\u0430\\u043d"),
            ("a;b\r\nc\x00", b"a,b  c "),
        ],
    )
    def test_characters_missing_from_cp437_are_replaced(self, name, written):
        assert format_record(record(name)).split(b";")[0] == written


class TestReading:
    @given(
        st.text(st.characters(codec="cp437", categories=["L", "N"]), min_size=1),
        st.integers(-(10**9), 10**9),
        st.text(st.sampled_from("abc XYZ"), max_size=10).map(str.strip),
        st.datetimes(datetime(1900, 1, 1)).map(lambda at: at.replace(second=0, microsecond=0)),
        st.none() | st.integers(0, 10**12),
    )
    def test_a_written_record_can_be_read(self, name, minutes, source, at, number):
        once = Record(name, minutes, source, at, number)
        assert parse_record(format_record(once)) == once

    @pytest.mark.parametrize("line", [b"", b"\r\n", b"  \n", b"; note\r\n", b";", b"\x1a"])
    def test_comments_and_empty_lines_say_nothing(self, line):
        assert parse_record(line) is None

    def test_other_programs_may_be_generous_with_spaces_and_signs(self):
        line = b" Ann ; +12 ;x; 2024-12-31 23:59 \n"
        assert parse_record(line) == Record("Ann", 12, "x", AT, None)

    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b"Ann", "it has 1 field instead of 5"),
            (b"Ann;1;x;2024-12-31 23:59;17;5", "it has 6 fields instead of 5"),
            (b" ;1;x;2024-12-31 23:59;17", "it has no name"),
            (b"Ann;;x;2024-12-31 23:59;17", "its minutes are not a whole number"),
            (b"Ann;1.5;x;2024-12-31 23:59;17", "its minutes are not a whole number"),
            (b"Ann;+-1;x;2024-12-31 23:59;17", "its minutes are not a whole number"),
            (b"Ann;1_0;x;2024-12-31 23:59;17", "its minutes are not a whole number"),
            (b"Ann;" + b"9" * 5000 + b";x;2024-12-31 23:59;17", "its minutes are not a whole"),
            (b"Ann;\xfd;x;2024-12-31 23:59;17", "its minutes are not a whole number"),
            (b"Ann;1;x;2024-12-31;17", "its time is not written YYYY-MM-DD HH:MM"),
            (b"Ann;1;x;2024-02-30 00:00;17", "its time is not written YYYY-MM-DD HH:MM"),
            (b"Ann;1;x;2024-12-31 23:59;", "its number is not a whole number"),
        ],
    )
    def test_nonsense_is_refused_with_a_reason(self, line, reason):
        with pytest.raises(NotARecord, match=reason):
            parse_record(line)

    @given(st.binary())
    def test_no_line_breaks_the_reader(self, line):
        with suppress(NotARecord):
            assert isinstance(parse_record(line), Record | None)
