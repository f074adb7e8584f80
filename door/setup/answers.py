"""The answers that make a new board, and the checks on each."""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from typing import Any, TypeVar

from door.config.config import BoardSettings
from door.config.listeners import EVERY_ADDRESS, USUAL
from door.errors import SetupRefused
from door.lines.registry import KINDS
from timebank.settings.forms import Form, Number, Text, declared
from timebank.settings.settings import find_zone

T = TypeVar("T")

_BOARD = declared(BoardSettings)
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
    return _read(_BOARD["name"].form, "The name", text.strip())


def zone(text: str) -> str:
    return _read(Text(lambda name: find_zone(name).key), "The zone", text.strip())


def sysop(text: str) -> str:
    return _read(_BOARD["sysop"].form, "Your name", text)


def port(number: int) -> int:
    return _read(Number(0, 65535), "The port", number)


def _read(form: Form[Any], what: str, answer: T) -> T:
    try:
        checked: T = form.read(answer)
        return checked
    except ValueError as error:
        end = "" if str(error).endswith("?") else "."
        raise SetupRefused(f"{what} {error}{end}") from None


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
