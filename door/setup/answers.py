"""The answers that make a new board, and the checks on each."""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from zoneinfo import ZoneInfo, available_timezones

from door.config.config import LONGEST_BOARD_NAME, BoardSettings, means_new
from door.config.listeners import EVERY_ADDRESS, USUAL
from door.errors import SetupRefused
from door.lines.registry import KINDS
from timebank.errors import NameRefused
from timebank.names import names
from timebank.settings.quoting import guess, shown

ZONES = "zoneinfo"  # the folder with the files of the machine's time zones
PRIVATE_PORTS = 1024  # below it a port needs the rights of root


@dataclass(frozen=True)
class BoardAnswers:
    name: str
    zone: str
    port: int  # for telnet; 0 for any free one
    sysop: str
    web_port: int | None = None  # None without the page for browsers


def name(text: str) -> str:
    """Return the name of a board. All checks here raise `SetupRefused` for a wrong answer."""
    text = text.strip()
    if not 1 <= len(text) <= LONGEST_BOARD_NAME or not text.isprintable():
        raise SetupRefused(f"A board's name has 1 to {LONGEST_BOARD_NAME} characters, on one line.")
    return text


def zone(text: str) -> str:
    text = text.strip()
    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        known = guess(text, available_timezones())
        hint = known or '; it must be one such as "Europe/Berlin"'
        end = "" if known else "."
        raise SetupRefused(f"{shown(text)} is not a known time zone{hint}{end}") from None
    return text


def sysop(text: str) -> str:
    try:
        text = names.check(text)
    except NameRefused as refused:
        raise SetupRefused(str(refused)) from None
    if means_new(text):
        raise SetupRefused(f"{text} is what new callers type; choose another name.")
    return text


def port(number: int) -> int:
    if not 0 <= number <= 65535:
        raise SetupRefused("A port is a number from 1 to 65535, or 0 for any that is free.")
    return number


def zone_of_this_machine() -> str:
    """Return the machine's time zone, "UTC" if it has none."""
    key = os.environ.get("TZ", "").removeprefix(":")
    if not key:
        _, _, key = os.path.realpath("/etc/localtime").rpartition(f"/{ZONES}/")
    if key == "Etc/UTC":  # what Debian calls it
        return "UTC"
    try:
        return zone(key)
    except SetupRefused:
        return "UTC"


def in_the_way(number: int) -> str:
    """Return a sentence that says why a port cannot be opened now; "" if it can."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            wire.bind((EVERY_ADDRESS, number))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return f"Port {number} is taken now, by another program or a board that runs."
            if error.errno == errno.EACCES:
                return f"Ports below {PRIVATE_PORTS} need the rights of root."
            return f"Port {number} cannot be opened ({error.strerror})."
    return ""


def free_port() -> int:
    """Return the usual port if it is free, else 0, for any free one."""
    usual = KINDS[USUAL].usual_port
    return 0 if in_the_way(usual) else usual


def usual() -> BoardAnswers:
    """Return the default answers."""
    return BoardAnswers(
        name=BoardSettings.name,
        zone=zone_of_this_machine(),
        port=KINDS[USUAL].usual_port,
        sysop=BoardSettings.sysop,
    )
