"""`[company]` in sysop.toml: what callers may say to each other, hear of them and see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from timebank.settings.toml import TomlTable

MOST_A_DAY, MOST_WAITING = 1000, 500


@dataclass(frozen=True)
class CompanySettings:
    messages: bool = True  # whether callers may write to each other
    messages_a_day: int = 100
    messages_waiting: int = 30
    one_liners: bool = True  # whether they may leave a line on the menu
    comings: bool = True  # whether they are told who logs on and off
    watching: bool = True  # whether one may watch another's table


def read_company(table: TomlTable) -> CompanySettings:
    usual = CompanySettings()
    return CompanySettings(
        messages=table.flag("messages", usual.messages),
        messages_a_day=table.whole("messages_a_day", usual.messages_a_day, 1, MOST_A_DAY),
        messages_waiting=table.whole("messages_waiting", usual.messages_waiting, 1, MOST_WAITING),
        one_liners=table.flag("one_liners", usual.one_liners),
        comings=table.flag("comings", usual.comings),
        watching=table.flag("watching", usual.watching),
    )
