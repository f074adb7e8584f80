"""A door without a server: the first one starts a server for all doors."""

from __future__ import annotations

import asyncio
import os
import pwd
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from door.errors import DropFileRefused
from door.lines import hand_over
from door.run import relay, starting, turning_away
from door.server import server_note
from door.session.arrival import WENT_ON
from tests.door.hosting import BOARD, HANG_UP, Host, Visit, hosted, until_gone
from tests.door.processes import HIT, INSURANCE, dealt_door, open_a_hand, question
from timebank import serving

STARTED = "A door has started this server"
GOES_ON = WENT_ON
TOML = "[server]\nstart_for_doors_minutes = 5\n"


def started(host: Host) -> int:
    """The process of the server that a door has started, which runs."""
    server = server_note.server_in(host.config.board.data)
    assert server is not None
    assert server.runs
    return server.process


def processes_of_calls(host: Host) -> set[int]:
    """The processes that have served callers."""
    with host.books() as desk:
        rows = desk.connection.exec_driver_sql("SELECT process FROM calls").scalars()
        return {int(each.rpartition(":")[2]) for each in rows}


def log_text(host: Host) -> str:
    return (host.config.board.data / starting.LOG).read_text("utf-8")


def held_by(process: int) -> set[str]:
    """Return the targets of a process's descriptors."""
    folder = f"/proc/{process}/fd"
    return {os.readlink(os.path.join(folder, each)) for each in os.listdir(folder)}


async def comes(host: Host, node: int, alias: str) -> Visit:
    file = host.door32(node, user=40 + node, alias=alias)
    return await host.on_terminal("--dropfile", str(file), name=f"{alias}@Xibalba")


async def test_two_doors_at_once_start_one_server_that_inherits_nothing(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as host:
        visits = await asyncio.gather(comes(host, 1, "Moth"), comes(host, 2, "Bee"))
        for visit in visits:
            await visit.comes_in()
        process = started(host)
        assert processes_of_calls(host) == {process}
        assert os.getsid(process) == os.getpgid(process) != process, "it leads no session"
        assert os.getsid(process) not in {os.getsid(visit.process.pid) for visit in visits}
        for visit in visits:
            assert await visit.goes() == 0
        assert not any("/pts/" in each for each in held_by(process)), "a terminal of the host's"
        assert log_text(host).count(STARTED) == 1
        os.kill(process, signal.SIGTERM)
        await until_gone(process)
        assert " ERROR " not in log_text(host)
        assert not (host.config.board.data / hand_over.NAME).exists()


async def test_no_key_of_a_caller_ends_a_door_that_waits_for_its_server(tmp_path: Path) -> None:
    """The terminal is the host's until then: Ctrl-C and Ctrl-\\ are signals of it."""
    async with hosted(tmp_path) as host:
        visit = await comes(host, 1, "Moth")
        await visit.terminal.until(relay.ONE_MOMENT)
        visit.presses("\x03\x1c")
        await visit.comes_in()
        assert await visit.goes() == 0
        assert "Traceback" not in visit.terminal.transcript


AN_UPDATE = """
import sys, time

missing = sys.argv.pop().split(",")

class BeingReplaced:
    def find_spec(self, name, path=None, target=None):
        if name in missing:
            missing.remove(name)
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, BeingReplaced())
time.sleep = lambda seconds: None
from door.cli.entry import main
try:
    main()
finally:
    assert not missing, missing
"""


# The modules of a door that no server keeps; each is missing once, when it is imported.
OF_A_DOOR = (
    *("door.run.relay", "door.lines.hand_over", "door.run.caller_line", "door.closed"),
    *("door.run.starting", "timebank.serving"),
)


# The second one logs the reason.
@pytest.mark.parametrize("modules", [OF_A_DOOR, ["door.run.turning_away"]], ids=["most", "last"])
def test_a_door_waits_while_an_update_replaces_its_files(
    tmp_path: Path, modules: Sequence[str]
) -> None:
    (tmp_path / "sysop.toml").write_text(BOARD)
    door = (sys.executable, "-c", AN_UPDATE, "run", "--local")
    done = subprocess.run(
        [*("sh", "-c", 'ulimit -t 30; exec "$@"', "sh"), *door, ",".join(modules)],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        input=" ",
    )
    assert "Traceback" not in done.stderr
    assert hand_over.CLOSED in done.stdout
    assert done.returncode == relay.REFUSED
    if modules is OF_A_DOOR:
        assert "start `door serve` when the machine starts" in done.stderr


async def test_when_one_is_killed_in_a_hand_its_door_starts_another_for_all(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as host:
        moth = await comes(host, 1, "Moth")
        await moth.comes_in()
        await moth.sits_down()
        await open_a_hand(moth)
        staked = host.balances(moth.name)["stake"]
        killed = started(host)
        os.kill(killed, signal.SIGKILL)
        await until_gone(killed)
        await moth.terminal.wait_for(lambda here: GOES_ON in here.transcript, GOES_ON)
        assert await question(moth) in (HIT, INSURANCE)
        assert host.balances(moth.name)["stake"] == staked > 0
        bee = await comes(host, 2, "Bee")
        await bee.comes_in()
        assert processes_of_calls(host) == {killed, started(host)}
        moth.gets(HANG_UP)
        assert await moth.ends(within=2.0) == 0
        assert await bee.goes() == 0


async def test_a_host_with_a_cpu_limit_starts_no_server(
    tmp_path: Path,
) -> None:
    async with hosted(tmp_path) as host:
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", 'ulimit -t 30; exec "$@"', "sh", *dealt_door(host.folder), "run"),
            *("--config", str(host.config.path), "--dropfile", str(host.door32())),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        shown, _ = await process.communicate(b" ")
        assert (process.returncode, hand_over.CLOSED in shown.decode()) == (relay.REFUSED, True)
        assert shown.startswith(f"{relay.ONE_MOMENT}\r\n".encode())
        host.expected = "start `door serve` when the machine starts"
        assert host.expected in host.log
        assert not (host.config.board.data / hand_over.NAME).exists()


# Without a server.


@pytest.fixture
def board(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "sysop.toml").write_text(TOML)
    return tmp_path


def lock_of(board: Path) -> Path:
    return board / "data" / "board.sqlite3.serving"


def reach(board: Path) -> None:
    wire = starting.reach(str(board / "sysop.toml"), str(board / "data"), str(lock_of(board)))
    assert wire is not None
    wire.close()


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the caller's text and the log of a door in this process."""
    reports: list[tuple[str, str]] = []
    monkeypatch.setattr(
        turning_away, "turn_away", lambda path, line, words, why: reports.append((words, why))
    )
    return reports


def runs(board: Path) -> int | None:
    return relay.relay(["--config", str(board / "sysop.toml"), "--local"], {})


def test_invalid_settings_start_no_server(board: Path, reports: list[tuple[str, str]]) -> None:
    for toml in ("board = 3\n", "[board]\ndata = 3\n", "[server\n"):
        (board / "sysop.toml").write_text(toml)
        assert runs(board) == relay.REFUSED
    assert [words for words, _ in reports] == [hand_over.OUT_OF_ORDER] * 3
    assert os.listdir(board / "data") == []


def test_a_call_without_a_drop_file_starts_no_server(
    board: Path, reports: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(board)
    config = ["--config", "sysop.toml", "--stdio"]
    for words, why in (
        ([], f"{board}: there is no drop file in this folder. Have the board write one of "),
        (["--dropfile", "door.sys"], f"{board}/door.sys: there is no such file. "),
        (["--dropfile", "none/door.sys"], f"{board}/none/door.sys: there is no such file. "),
    ):
        assert relay.relay([*config, *words], {}) == relay.REFUSED
        assert reports[-1][0] == DropFileRefused.polite
        assert reports[-1][1].startswith(f"the call is refused: {why}")
    assert os.listdir(board / "data") == []


def test_a_door_that_fails_says_so_without_a_traceback(
    board: Path, reports: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cwd() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(hand_over, "dial", lambda folder: cwd())
    monkeypatch.setattr(relay.os, "getcwd", cwd)
    monkeypatch.setattr(starting, "reach", lambda *words, waits: 1 / 0)
    assert runs(board) == relay.FAILED
    assert reports == [
        (hand_over.OUT_OF_ORDER, "the door failed: ZeroDivisionError('division by zero')")
    ]


def test_a_door_next_to_an_unreachable_server_starts_none(
    board: Path, reports: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dial(folder: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(hand_over, "dial", dial)
    assert runs(board) == relay.REFUSED
    assert [words for words, _ in reports] == [hand_over.CLOSED]
    assert os.listdir(board / "data") == []


def test_a_door_of_another_user_starts_none_and_names_the_owner(
    board: Path, reports: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "OTHERS_SECONDS", 0.0)
    owner = pwd.getpwuid(os.stat(board / "data").st_uid).pw_name
    monkeypatch.setattr(starting.os, "geteuid", lambda: 4_000_000)
    assert runs(board) == relay.REFUSED
    ((words, why),) = reports
    assert words == hand_over.CLOSED
    assert f"only {owner}, who owns {board / 'data'}, may start one: run `door serve`" in why
    assert os.listdir(board / "data") == []


@pytest.mark.parametrize(("limit", "what"), starting.LIMITS)
def test_under_limits_of_its_host_a_door_starts_none(
    board: Path,
    reports: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    what: str,
) -> None:
    usual = resource.getrlimit
    monkeypatch.setattr(starting, "OTHERS_SECONDS", 0.0)
    monkeypatch.setattr(
        starting.resource, "getrlimit", lambda asked: (30, 30) if asked == limit else usual(asked)
    )
    assert runs(board) == relay.REFUSED
    ((words, why),) = reports
    assert words == hand_over.CLOSED
    assert f"limits the {what} of this door" in why
    assert "start `door serve` when the machine starts" in why


def test_a_door_that_may_not_start_a_server_waits_for_one_that_may(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "OTHERS_SECONDS", 0.0)
    monkeypatch.setattr(starting, "START_SECONDS", 0.1)
    monkeypatch.setattr(starting, "objection", lambda folder: "it may not")
    with serving.take(str(lock_of(board)), serving.STARTING), pytest.raises(TimeoutError):
        reach(board)
    with pytest.raises(PermissionError, match="it may not"):
        reach(board)


def test_a_caller_waits_for_the_service_manager_to_restart_a_killed_server(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = [starting.POLL_SECONDS]
    clock = SimpleNamespace(monotonic=lambda: sum(passed), sleep=passed.append)
    monkeypatch.setattr(starting, "time", clock)
    monkeypatch.setattr(starting, "objection", lambda folder: "it may not")
    server = socket.socket()
    monkeypatch.setattr(hand_over, "dial_if_any", lambda _: server if sum(passed) > 5 else None)
    with server:
        with pytest.raises(PermissionError, match="it may not"):
            reach(board)
        assert starting.reach(str(board), str(board), str(lock_of(board)), waits=True) is server


def test_one_that_cannot_start_is_not_tried_again_for_a_while(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "PROGRAM", "door.no_such_program")
    log = board / "data" / starting.LOG
    with pytest.raises(ConnectionRefusedError):
        reach(board)
    assert log.read_text().count("door.no_such_program") == 1
    with pytest.raises(ConnectionRefusedError):
        reach(board)
    assert log.read_text().count("door.no_such_program") == 1
    long_ago = time.time() - starting.RETRY_SECONDS
    os.utime(lock_of(board), (long_ago, long_ago))
    with pytest.raises(ConnectionRefusedError):
        reach(board)
    assert log.read_text().count("door.no_such_program") == 2
    assert log.stat().st_mode & 0o777 == 0o600


def test_on_a_full_disk_which_takes_no_note_it_is_not_tried_again_either(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All doors used to start servers one after another for 20 seconds."""
    monkeypatch.setattr(starting, "PROGRAM", "door.no_such_program")
    monkeypatch.setattr(serving.Lock, "note", lambda *_: None)
    with pytest.raises(ConnectionRefusedError):
        reach(board)
    log = board / "data" / starting.LOG
    assert log.read_text().count("door.no_such_program") == 1


def test_one_that_takes_too_long_is_not_waited_for(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "START_SECONDS", 0.01)
    before = signal.getsignal(signal.SIGALRM)
    with serving.take(str(lock_of(board)), serving.STARTING), pytest.raises(TimeoutError):
        reach(board)
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("state", [serving.RESTORING, serving.MOVING])
def test_none_is_started_while_a_command_has_the_books_to_itself(board: Path, state: str) -> None:
    with (
        serving.take(str(lock_of(board)), state),
        pytest.raises(PermissionError, match="these books"),
    ):
        reach(board)
    assert os.listdir(board / "data") == [lock_of(board).name]


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_hang_up_while_a_server_starts_is_not_delayed(
    board: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(starting, "_keeps_out", lambda *_: os.kill(os.getpid(), number))
    with serving.take(str(lock_of(board)), serving.STARTING):
        assert runs(board) == relay.WELL


def test_a_first_door_makes_the_data_folder_as_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "_start", lambda lock, config, folder: None)
    (tmp_path / "sysop.toml").write_text(f'[board]\ndata_mode = "0750"\n{TOML}')
    with pytest.raises(ConnectionRefusedError):
        reach(tmp_path)
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o750
    lock_of(tmp_path).unlink()
    (tmp_path / "data").rmdir()
    (tmp_path / "sysop.toml").write_text(f"nonsense = 1\n{TOML}")
    with pytest.raises(FileNotFoundError, match="nonsense"):
        reach(tmp_path)


def test_a_door_reports_a_server_with_another_data_folder_on_its_books(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It used to wait for a server in its own folder, and reported a time-out."""
    monkeypatch.setattr(starting, "START_SECONDS", 0.5)
    with (
        serving.take(str(lock_of(board)), serving.SERVING, "/srv/other"),
        pytest.raises(ConnectionRefusedError, match="with the data folder /srv/other"),
    ):
        reach(board)


def test_leftovers_of_a_restore_do_not_refuse_a_door(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process looks at the lock just when a door takes it."""
    lock = serving.take(str(lock_of(board)), serving.RESTORING)
    os.close(lock.file)
    takes = iter([None])
    monkeypatch.setattr(starting.serving, "take_now", lambda place: next(takes))
    with pytest.raises(StopIteration):
        reach(board)


def test_a_caller_waits_for_a_failed_start_to_be_retried(
    board: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New callers are refused at once; otherwise every door would start a server in vain."""
    failed = iter([True, True, False])
    started: list[int] = []
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    monkeypatch.setattr(starting, "_has_failed", lambda lock: next(failed))
    monkeypatch.setattr(starting, "_start", lambda lock, *where: started.append(lock))
    monkeypatch.setattr(hand_over, "dial_if_any", lambda folder: ours if started else None)
    where = str(board / "sysop.toml"), str(board / "data"), str(lock_of(board))
    with ours, theirs:
        with pytest.raises(ConnectionRefusedError, match="could not be started"):
            starting.reach(*where)
        assert starting.reach(*where, waits=True) is ours
    assert len(started) == 1
