"""Lines of the log, as text and as JSON."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest

from door.config import config as settings
from door.session.door_log import formatter

TOML = '[board]\ntime_zone = "Asia/Tokyo"\n[server]\nlog_format = "{}"\n'


def record(message: str, *args: object) -> logging.LogRecord:
    try:
        raise ValueError("a fault")
    except ValueError:
        found = logging.LogRecord("door", logging.ERROR, "", 0, message, args, sys.exc_info())
    found.created = 1_763_640_000.25
    return found


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_has_its_zone_and_in_json_it_is_one_line_in_any_case(
    tmp_path: Path, form: str
) -> None:
    file = tmp_path / "sysop.toml"
    file.write_text(TOML.format(form), encoding="utf-8")
    said = formatter(settings.load(file)).format(record("Hello,\n%s.", "Zoë"))
    if form == "text":
        assert said.startswith("2025-11-20 21:00:00.250+09:00 ")
        return
    assert "\n" not in said
    told = json.loads(said)
    assert told.pop("traceback").endswith("ValueError: a fault")
    assert told.pop("process") > 0
    assert told == {
        "at": "2025-11-20T21:00:00.250+09:00",
        "level": "ERROR",
        "logger": "door",
        "message": "Hello,\nZoë.",
    }
