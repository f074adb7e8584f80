"""The board and strangers: admissions, messages and log lines."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

import pytest

from door.call import passwords
from door.clock import SystemClock
from door.config import config as settings
from door.defence.reception import Reception, _RefusalLog
from door.errors import CallRefused
from door.lines.tls import tls
from tests.certificates import put_into, trusting
from tests.door.defence.test_locked_out import besieged
from tests.door.strangers import CAFE, HOME, VILLAIN, Stranger, defended, refusals
from tests.door.visiting import MENU, sysop_toml
from tests.terminal import REFUSING, Terminal
from tests.world import PASSWORD, world
from timebank.callers import callers
from timebank.keeping import deletion


async def test_leaving_the_queue_costs_no_try_and_no_extra_wait(
    tmp_path: Path,
) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=2)) as board:
        board.enter("Ada")
        ada = Stranger(board, "Ada", HOME)
        await ada.is_wrong(2)
        for _ in range(2):
            await ada.connects()
            await ada.tries(PASSWORD)
            await ada.waits("30:00")
            await ada.terminal.close()
        await ada.connects()
        await ada.tries("guessed")
        await ada.waits("30:00")
        ada.presses("\x1b")
        await ada.tries(PASSWORD)
        await ada.waits("30:00")
        await board.clock.advance(30 * 60)
        await ada.goes_on_to(MENU)


@pytest.mark.usefixtures("ipv6")
async def test_a_block_of_ipv6_gets_no_answer_on_a_port_for_every_address(tmp_path: Path) -> None:
    toml = defended(block='["::/16"]').replace('"127.0.0.1"', '"::"')
    async with world(tmp_path, toml=toml) as board:
        async with Terminal(REFUSING) as blocked, Terminal(REFUSING) as other:
            await blocked.connect(board.server.ports[0], host="::1")
            await blocked.until_closed()
            assert blocked.transcript == ""
            await other.connect(board.server.ports[0])
            await other.until_heard("Name:")
        assert refusals(board) == ["refused ::1: the address is blocked"]


async def test_where_a_caller_has_called_from_is_known_after_a_restart(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        board.enter("Ada")
        ada = Stranger(board, "Ada", HOME)
        await ada.is_let_in()
        await ada.logs_off()
        await board.server.stop("A restart.")
        await board.open()
        await besieged(board, "Ada")
        await ada.is_let_in()


async def test_a_wait_reads_the_same_for_every_name_known_or_not(
    tmp_path: Path,
) -> None:
    """Also for a name at its home address, and for the right password."""
    names = ("Ada", "Locked", "Deleted", "Nobody", "At Home", "Right")
    async with world(tmp_path, toml=defended(wrong_passwords=1)) as board:
        for name in names:
            if name != "Nobody":
                board.enter(name)
        with board.books() as desk:
            callers.set_locked(desk, callers.number_named(desk, "Locked"), True)
            deletion.delete(desk, callers.number_named(desk, "Deleted"))
        texts = []
        for number, name in enumerate(names):
            caller = Stranger(board, name, f"127.0.{number}.99")
            if name == "At Home":
                await caller.is_let_in()
                await caller.logs_off()
            await caller.is_wrong(1)
            await caller.connects()
            await caller.tries(PASSWORD if name == "Right" else "a guess....")
            await caller.waits("30:00")
            await board.clock.advance(100)
            await caller.waits("28:20")
            texts.append(caller.terminal.transcript.replace(name, "-"))
            await caller.terminal.close()
        assert len(set(texts)) == 1


async def test_every_name_costs_the_same_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test cannot measure time well; most of it is one Argon2 check at the same cost."""
    worked: list[str] = []
    verify = passwords._hasher().verify

    class Counted:
        def verify(self, stored: str, password: str) -> bool:
            worked.append(stored.split("$")[3])
            return verify(stored, password)

    decoy = passwords._decoy()
    async with world(tmp_path, toml=defended(wrong_passwords=4)) as board:
        with board.books() as desk:
            for name in ("Ada", "Locked", "Deleted"):
                callers.register(desk, name, decoy)  # hashed as a new password is
            callers.set_locked(desk, callers.number_named(desk, "Locked"), True)
            deletion.delete(desk, callers.number_named(desk, "Deleted"))
        board.enter("No Password")
        with board.books() as desk:
            callers.set_password_hash(desk, callers.number_named(desk, "No Password"), "")
        monkeypatch.setattr(passwords, "_hasher", Counted)
        for number, name in enumerate(("Ada", "Locked", "Deleted", "No Password", "Nobody")):
            await Stranger(board, name, f"127.0.{number}.2").is_wrong(1)
        # An attacker who had to wait counts too.
        await Stranger(board, "Nobody", VILLAIN).is_wrong(4)
        late = Stranger(board, "Nobody", VILLAIN)
        await late.connects()
        await late.tries("guessed")
        await late.waits("30:00")
        await board.clock.advance(30 * 60)
        await late.sees("Wrong name or")
    assert len(worked) == 5 + 4 + 1
    assert len(set(worked)) == 1


async def test_a_crowd_of_strangers_does_not_keep_out_known_callers(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended(logons=3, calls_per_address=1)) as board:
        board.enter("Ada")
        ada = Stranger(board, "Ada", HOME)
        await ada.is_let_in()
        await ada.logs_off()
        crowd = [Stranger(board, "", f"127.0.1.{number}") for number in range(3)]
        for stranger in crowd:
            await stranger.connects()
            await stranger.is_asked("Name:")
        one_more = Stranger(board, "", CAFE)
        await one_more.connects()
        await one_more.is_told("Too many callers are logging on.")
        await ada.is_let_in()
        await crowd[0].terminal.until_closed()
        assert [stranger.terminal.closed for stranger in crowd] == [True, False, False]
        await one_more.connects()  # Ada is on a node now, and no stranger's place is hers
        await one_more.is_asked("Name:")
        assert refusals(board) == [
            f"turned away {CAFE}: too many are at the log-on already",
            "turned away 127.0.1.0: too many are at the log-on already",
        ]


async def test_a_block_counts_at_the_next_call_once_the_file_is_read_again(tmp_path: Path) -> None:
    async with world(tmp_path, toml=defended()) as board:
        villain = Stranger(board, "", VILLAIN)
        await villain.connects()
        await villain.is_asked("Name:")
        toml = defended(block=f'["{VILLAIN}"]')
        (tmp_path / "sysop.toml").write_text(toml, encoding="utf-8")
        board.server.reload()
        await villain.is_asked("Name:")  # the open call is not affected
        again = Stranger(board, "", VILLAIN)
        await again.connects()
        await again.terminal.until_closed()
        assert again.terminal.wire == b""
        assert refusals(board) == [f"refused {VILLAIN}: the address is blocked"]


async def test_callers_through_a_front_end_are_judged_by_their_own_addresses(
    tmp_path: Path,
) -> None:
    toml = defended(block='["192.0.2.66"]', calls_per_address=1)
    toml = toml.replace("[[listeners]]", '[[listeners]]\nproxies = ["127.0.0.1"]')
    async with world(tmp_path, toml=toml) as board:
        terminals = []
        for address in ("192.0.2.7", "192.0.2.8", "192.0.2.66"):
            terminal = Terminal(REFUSING)
            header = f"PROXY TCP4 {address} 198.51.100.1 40000 23\r\n".encode()
            await terminal.connect(board.server.ports[0], header=header)
            board.terminals.append(terminal)
            terminals.append(terminal)
        for terminal in terminals[:2]:
            await terminal.until("Name:")
        await terminals[2].until_closed()
        broken = Terminal(REFUSING)
        await broken.connect(board.server.ports[0], header=b"Ada\r")
        await broken.until_closed()
        assert refusals(board) == [
            "refused 192.0.2.66: the address is blocked",
            "turned away 127.0.0.1: a front end is not understood:"
            " it does not begin as a PROXY header",
        ]


TELNETS = (
    '[[listeners]]\nkind = "telnets"\nhost = "127.0.0.1"\nport = 0\n'
    'certificate = "certificate.pem"\nkey = "key.pem"\n'
)


async def test_a_flood_of_handshakes_is_limited_by_the_lines_per_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_into(tmp_path)
    begun: list[tls.TlsLayer] = []
    shake_hands = tls.TlsLayer._shake_hands

    def counted(layer: tls.TlsLayer) -> None:
        begun.append(layer)
        shake_hands(layer)

    monkeypatch.setattr(tls.TlsLayer, "_shake_hands", counted)
    async with world(tmp_path, toml=defended(calls_per_address=3) + TELNETS) as board:
        port = board.server.ports[1]
        with contextlib.ExitStack() as flood:
            for _ in range(20):
                wire = socket.create_connection(("127.0.0.1", port), source_address=(VILLAIN, 0))
                flood.enter_context(wire)
                wire.sendall(b"\x16\x03\x01\x02\x00\x01")  # the beginning of a greeting
            async with Terminal(REFUSING) as other:
                await other.connect(port, tls=trusting(), source=HOME)
                await other.until_heard("Name:")
        assert refusals(board) == [f"refused {VILLAIN}: too many calls at once"] * 17
        assert len(set(begun)) <= 3 + 1


async def test_an_unwritable_log_does_not_stop_refusals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    async with world(tmp_path, toml=defended()) as board:
        monkeypatch.setattr(_RefusalLog, "flush", no_room)
        await Stranger(board, "Ada", VILLAIN).is_wrong(2)
    assert capsys.readouterr().err == ""


async def test_a_log_has_its_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("door.defence.reception.LOG_BYTES", 2000)
    async with world(tmp_path, toml=defended()) as board:
        for _ in range(200):
            board.server.board.reception.malformed(VILLAIN, "nothing")
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "data").glob("refused*")}
    assert set(sizes) == {"refused.log", "refused.log.1"}
    assert max(sizes.values()) <= 2000


def test_two_processes_keep_one_log_within_its_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages write into it, too: fail2ban reads the file of that name only."""
    monkeypatch.setattr("door.defence.reception.LOG_BYTES", 2000)
    (tmp_path / "sysop.toml").touch()
    config = settings.load(tmp_path / "sysop.toml")
    both = [Reception(config, SystemClock(), lambda: 0, of) for of in ("", "pages")]
    for each in both:
        each.open_log(tmp_path)
    for number in range(101):
        for each in both[: 1 + number % 2] if number < 100 else both:
            each.was_wrong(f"192.0.2.{number}")
        lines = (tmp_path / "refused.log").read_text().splitlines()
        assert f"refused 192.0.2.{number}: " in lines[-1]
    assert ("pages" in lines[-1], "pages" in lines[-2]) == (True, False)
    assert max(path.stat().st_size for path in tmp_path.glob("refused*")) <= 2000
    for each in both:
        each.close_log()


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root makes files for another user.")
def test_the_log_that_root_makes_is_of_the_user_of_the_board(tmp_path: Path) -> None:
    """Root's `door pages` kept the board from writing into it, and fail2ban read nothing."""
    os.chown(tmp_path, 65534, 65534)
    config = tmp_path / "sysop.toml"
    config.touch()
    reception = Reception(settings.load(config), SystemClock(), lambda: 0, "pages")
    reception.open_log(tmp_path)
    about = (tmp_path / "refused.log").stat()
    assert (about.st_uid, about.st_gid, about.st_mode & 0o777) == (65534, 65534, 0o640)
    reception.close_log()


async def test_an_allowed_address_causes_no_search_for_a_caller_to_drop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A burst of callers from an allowed address looked through all of themselves, each of them."""
    async with world(tmp_path, toml=f"{sysop_toml()}\n[defence]\nlogons = 1\n") as board:
        reception = board.server.board.reception
        looked: list[str] = []
        monkeypatch.setattr(reception._defence, "is_known", looked.append)
        leave = [reception.enter(address, lambda: None) for address in ("127.0.0.1",) * 3]
        assert looked == []
        with contextlib.suppress(CallRefused):
            leave.append(reception.enter("192.0.2.66", lambda: None))
        assert looked == ["192.0.2.66"]
        for end in leave:
            end()
