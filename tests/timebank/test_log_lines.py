"""Lines of a log: in English, and by the clock of the board."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from timebank.language import EnglishFormatter


def test_a_log_line_has_the_boards_time_and_its_utc_offset() -> None:
    line = logging.LogRecord("door.server", logging.WARNING, "", 0, "Hello, %s.", ("Ann",), None)
    line.created = datetime(2026, 11, 20, 12, 0, 0, 250_000, tzinfo=UTC).timestamp()
    form = EnglishFormatter("%(asctime)s %(levelname)s: %(message)s", ZoneInfo("Asia/Tokyo"))
    assert form.format(line) == "2026-11-20 21:00:00.250+09:00 WARNING: Hello, Ann."
