"""`[company]` in sysop.toml: what callers may say to each other, hear of them and see."""

from __future__ import annotations

from dataclasses import dataclass

from timebank.settings.forms import Number, TrueOrFalse, setting


@dataclass(frozen=True)
class CompanySettings:
    messages: bool = setting(TrueOrFalse(), True)  # whether callers may write to each other
    messages_a_day: int = setting(Number(1, 1000), 100)
    messages_waiting: int = setting(Number(1, 500), 30)
    one_liners: bool = setting(TrueOrFalse(), True)  # whether they may leave a line on the menu
    comings: bool = setting(TrueOrFalse(), True)  # whether they are told who logs on and off
    watching: bool = setting(TrueOrFalse(), True)  # whether one may watch another's table
