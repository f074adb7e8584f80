"""Imitations of each board's drop files, one per writer and quirk, byte by byte.

The callers are invented. The tests state what must be read.
"""

from __future__ import annotations

from typing import NamedTuple

PASSWORD = "SWORDFISH"  # on line 14 of every DOOR.SYS that has it


class Written(NamedTuple):
    """A file as a board leaves it."""

    name: str
    content: bytes


def text(*lines: str, end: str = "\r\n", charset: str = "cp437") -> bytes:
    return "".join(line + end for line in lines).encode(charset)


def door32(
    *,
    comm: str = "0",
    handle: str = "-1",
    host: str = "Synchronet 3.20b",
    number: str = "42",
    real_name: str = "Ann Example",
    alias: str = "Moth",
    level: str = "50",
    left: str = "59",
    emulation: str = "1",
    node: str = "3",
) -> tuple[str, ...]:
    return (comm, handle, "38400", host, number, real_name, alias, level, left, emulation, node)


def door_sys(
    *,
    port: str = "COM1:",
    node: str = "3",
    name: str = "Moth",
    password: str = PASSWORD,
    level: str = "50",
    seconds: str = "3599",
    minutes: str = "59",
    graphics: str = "GR",
    rows: str = "25",
    number: str = "42",
    alias: str = "Moth",
    event: str = "03:00",
    ansi_unused: str = "N",
    credit: str = "15",
) -> list[str]:
    """The 52 lines of GAP, as Synchronet fills them."""
    return [
        *(port, "38400", "8", node, "38400", "Y", "Y", "Y", "Y", name),
        *("Nowhere, ZZ", "555-0100", "555-0101", password, level, "17", "11/20/26"),
        *(seconds, minutes, graphics, rows, "N", "ABC", "0", "00/00/00", number, "Z", "4", "5"),
        *("0", "0", "01/02/70", "/sbbs/node3/", "/sbbs/data/", "The Keeper", alias, event, "Y"),
        *(ansi_unused, "Y", "7", credit, "11/20/26", "20:00", "19:30", "999", "0", "10", "20"),
        *("a comment", "0", "7"),
    ]


def dorinfo(user: tuple[str, ...], *, left: str = "59", emulation: str = "1") -> tuple[str, ...]:
    return (
        *("Moth House", "The", "Keeper", "COM1", "38400 BAUD,N,8,1", "0"),
        *user,
        *(emulation, "50", left),
    )


def chain(
    *,
    number: str = "42",
    alias: str = "Moth",
    real_name: str = "Ann Example",
    left: str = "3540.00",
    baud: str = "38400",
    board: str = "Moth House",
) -> tuple[str, ...]:
    return (
        *(number, alias, real_name, "", "56", "F", "0.00", "11/20/26", "80", "25", "50", "0", "0"),
        *("1", "1", left, "/bbs/gfiles/", "/bbs/data/", "261120.log", baud, "1", board),
        *("The Keeper", "72000", "60", "10", "4", "20", "5", "8N1"),
    )


def bbsdev(
    *,
    version: str = "1.0",
    comm: str = "stdio",
    parameters: str = "",
    alias: str = "Moth",
    key: str = "42",
    columns: str = "132",
    rows: str = "43",
    deadline: str = "2026-11-20T20:30:00Z",
    charset: str = "IBM437",
    software: str = "ENiGMA 0.4.1",
    board: str = "Moth House",
    level: str = "30",
    node: str = "3",
) -> tuple[str, ...]:
    return (
        *(version, comm, parameters, alias, key, columns, rows, "Y", "N", "1.332", deadline),
        *(charset, "en-US", software, board, "The Keeper", level, node, "N"),
    )


def put(record: bytearray, offset: int, content: bytes) -> None:
    record[offset : offset + len(content)] = content


def pascal(record: bytearray, offset: int, string: str) -> None:
    put(record, offset, bytes((len(string),)) + string.encode("cp437"))


def word(record: bytearray, offset: int, number: int) -> None:
    put(record, offset, number.to_bytes(2, "little"))


def remote_access(
    *, minutes: int = 59, number: int = 42, status: int = 1, start: str = "03:00"
) -> bytes:
    """EXITINFO.BBS of RemoteAccess 2.x."""
    record = bytearray(2363)
    pascal(record, 241, "Ann Example")
    pascal(record, 507, "Moth")
    record[675] = 1 << 3
    word(record, 691, 50)
    word(record, 723, 25)
    record[1155] = 80
    record[1257] = status
    pascal(record, 1258, start)
    pascal(record, 1278, "20:00")
    pascal(record, 1284, "11-20-26")
    word(record, 1293, minutes)
    word(record, 1299, number)
    pascal(record, 1307, "20:00")
    return bytes(record)


def quickbbs(size: int, *, number: int = 42) -> bytes:
    """EXITINFO.BBS as Synchronet writes it with DORINFO: no event, and the allowance per call."""
    record = bytearray(size)
    pascal(record, 241, "Moth")
    record[360] = 1 << 3
    word(record, 373, 50)
    word(record, 389, 25)
    pascal(record, 420, "20:00")
    pascal(record, 426, "11/20/26")
    word(record, 435, 600)
    word(record, 445, number)
    return bytes(record)


_ICY_DOOR_SYS = door_sys(event="00:00", credit="0", name="Ann Example")
_WWIV_DOOR_SYS = door_sys(port="COM1", event="00:01", name="Ann Example", password="X")
_SYNCHRONET_NAME = ("MOTH", "", "NOWHERE, ZZ")

WRITERS: dict[str, Written] = {
    "synchronet stdio": Written("DOOR32.SYS", text(*door32(), end="\n")),
    "synchronet socket": Written("DOOR32.SYS", text(*door32(comm="2", handle="17"), end="\n")),
    "enigma 0.0 door32": Written(
        "door32.sys", text(*door32(comm="2", handle="-1", host="Moth House", left="546"))
    ),
    "enigma 0.5 door32": Written(
        "door32.sys", text(*door32(handle="0", host="Moth House ENiGMA", left="546"))
    ),
    "enigma 0.4 door32": Written("door32.sys", text(*door32(handle="0", host="Moth House"))),
    "mystic 1.10 unix": Written(
        "door32.sys", text(*door32(comm="2", handle="0", host="Mystic 1.10 A63"))
    ),
    "mystic 1.12 socket": Written(
        "door32.sys", text(*door32(comm="2", handle="9", host="Mystic 1.12 A48"))
    ),
    "wwiv door32": Written(
        "door32.sys", text(*door32(comm="2", handle="5", host="WWIV 5.8.0", left="3480"), end="\n")
    ),
    "gamesrv door32": Written(
        "DOOR32.SYS", text(*door32(comm="2", handle="1234", host="Moth House"))
    ),
    "binktermphp door32": Written(
        "DOOR32.SYS", text(*door32(handle="0", host="Moth House", node="1"))
    ),
    "maximus avatar": Written("DOOR32.SYS", text(*door32(comm="1", handle="1", emulation="2"))),
    "door32 without a last end of line": Written("DOOR32.SYS", text(*door32())[:-2]),
    "door32 of dos": Written("DOOR32.SYS", text(*door32()) + b"\x1a" + bytes(80)),
    "door32 with a mark": Written("DOOR32.SYS", b"\xef\xbb\xbf" + text(*door32())),
    "door32 of a macintosh": Written("DOOR32.SYS", text(*door32(), end="\r")),
    "door32 in cp437": Written("DOOR32.SYS", text(*door32(alias="Bj\xf6rn"))),
    "door32 in utf-8": Written("DOOR32.SYS", text(*door32(alias="Bj\xf6rn"), charset="utf-8")),
    "door32 without time": Written("DOOR32.SYS", text(*door32(left=""))),
    "door32 without a number": Written("DOOR32.SYS", text(*door32(number="0"))),
    "synchronet door.sys": Written("DOOR.SYS", text(*door_sys(), end="\n")),
    "synchronet door.sys, ten hours": Written(
        "DOOR.SYS", text(*door_sys(seconds="32767", minutes="600"), end="\n")
    ),
    "synchronet door.sys, blank from 32 on": Written(
        "DOOR.SYS", text(*door_sys()[:31], *[""] * 21, end="\n")
    ),
    "gap of 31 lines": Written("DOOR.SYS", text(*door_sys()[:31])),
    "icy_board door.sys": Written("DOOR.SYS", text(*_ICY_DOOR_SYS[:4], *_ICY_DOOR_SYS[5:])),
    "remoteaccess door.sys": Written("DOOR.SYS", text(*door_sys()[:13], *door_sys()[14:])),
    "enigma 0.0 door.sys": Written(
        "DOOR.SYS",
        text(*door_sys(seconds="15360", minutes="256", event="00:05", credit="256")),
    ),
    "enigma 2026 door.sys": Written(
        "DOOR.SYS",
        text(*door_sys(seconds="32760", minutes="546", event="00:05", credit="256")),
    ),
    "wwiv door.sys": Written("door.sys", text(*_WWIV_DOOR_SYS, end="\n")),
    "gamesrv door.sys": Written("DOOR.SYS", text(*door_sys(port="COM0:", event="00:00"))),
    "mystic door.sys": Written("DOOR.SYS", text(*door_sys(event="04:30", credit="0"))),
    "binktermphp door.sys": Written("DOOR.SYS", text(*door_sys(), "38400")),
    "synchronet dorinfo": Written(
        "DORINFO3.DEF", text(*dorinfo(_SYNCHRONET_NAME), end="\n").upper()
    ),
    "enigma 0.0 dorinfo": Written(
        "DORINFO3.DEF", text(*dorinfo(("Moth", "Moth", ""), left="546"), "-1")
    ),
    "icy_board dorinfo": Written(
        "DORINFO4.DEF",
        text(
            *dorinfo(())[:5],
            *("", "0", "Ann", "Example", "Ann", "Example", "Nowhere, ZZ", "1", "50", "59", "-1"),
        ),
    ),
    "wwiv dorinfo": Written(
        "dorinfo1.def",
        text(*("Moth House", "The Keeper", "", "COM0", "0 BAUD,N,8,1", "0"), "Moth", "", "")
        + text("1", "50", "59"),
    ),
    "synchronet chain": Written(
        "CHAIN.TXT", text(*chain(alias="MOTH", real_name="ANN EXAMPLE", left="3540"), end="\n")
    ),
    "wwiv chain": Written("chain.txt", text(*chain(left="    3540.00", baud="KB"), end="\n")),
    "icy_board chain": Written("CHAIN.TXT", text(*chain(number="0", left="3540"))),
    "enigma bbsdev": Written("BBSDEV.DRP", text(*bbsdev(), charset="utf-8")),
    "anetbbs bbsdev": Written(
        "BBSDEV.DRP",
        text(*bbsdev(deadline="", columns="80", rows="24", level="sysop"), charset="utf-8"),
    ),
    "binktermphp bbsdev": Written(
        "BBSDEV.DRP",
        text(*bbsdev(alias="Bj\xf6rn", key="u-7f3a", charset="UTF-8"), charset="utf-8"),
    ),
    "bbsdev of a later version": Written(
        "BBSDEV.DRP", text(*bbsdev(version="1.7", comm="socket", parameters="0"), "more")
    ),
    "remoteaccess exitinfo": Written("EXITINFO.BBS", remote_access()),
    "synchronet exitinfo": Written("EXITINFO.BBS", quickbbs(903)),
    "synchronet exitinfo before 3.20": Written("EXITINFO.BBS", quickbbs(702)),
}
