"""`door init`: a board in an empty folder, without replacing any file."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from door.cli.main import main
from door.config import config as settings
from door.setup import machine, writing
from tests import ROOT
from tests.door.server.test_systemd import analyze, exposures
from tests.door.shell import CommandResult, Shell, door
from timebank import files

SECRET = "correct horse battery"
KNOWN = {"BJFT_SYSOP_PASSWORD": SECRET}
SHIPPED = (ROOT / "sysop.toml").read_text(encoding="utf-8")


def made(
    folder: Path,
    *words: str,
    typed: str | None = None,
    environment: Mapping[str, str] = KNOWN,
) -> CommandResult:
    return door("init", str(folder), *words, typed=typed, environment=environment)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files_below(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


def files_in(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file() and "sqlite3" not in path.name
    }


def test_a_board_is_made_of_a_few_answers(tmp_path: Path) -> None:
    folder = tmp_path / "bbs"
    words = ("--name", 'The "Ace"', "--zone", "Europe/Berlin", "--port", "0", "--sysop", "Ann")
    result = made(folder, *words)
    assert (result.status, result.error) == (0, "")
    config = settings.load(folder / "sysop.toml")
    assert (config.board.name, config.board.sysop) == ('The "Ace"', "Ann")
    assert (config.bank.zone.key, config.listeners[0].port) == ("Europe/Berlin", 0)
    assert "Ann is registered, with sysop powers." in result.output
    assert "Sysop powers: Ann" in result.output
    assert f"cd {folder} && " in result.output
    assert SECRET not in result.output
    shell = Shell(config.path)
    assert "Ann" in shell("callers", "list").output
    modes = [mode(folder / name) for name in ("sysop.toml", "data", "backups")]
    assert modes == [0o600, 0o700, 0o700]


def test_init_writes_a_page_with_the_answers_and_the_rest_are_defaults(tmp_path: Path) -> None:
    assert made(tmp_path, "--zone", "UTC", "--name", "Xibalba").status == 0
    path = tmp_path / "sysop.toml"
    own = set(path.read_text(encoding="utf-8").splitlines()) - set(SHIPPED.splitlines())
    assert own == {'name = "Xibalba"'}
    shown = json.loads(door("config", "list", "--config", str(path), "--format", "json").output)
    assert [each["key"] for each in shown if each["value"] != each["default"]] == ["board.name"]


def test_browsers_get_a_port_of_their_own(tmp_path: Path) -> None:
    result = made(tmp_path, "--web")
    assert "    http://localhost:8023 in a browser\n" in result.output
    kinds = [(each.kind, each.port) for each in settings.load(tmp_path / "sysop.toml").listeners]
    assert kinds == [("telnet", 2323), ("web", 8023)]


def test_init_keeps_existing_files_and_can_be_repeated(tmp_path: Path) -> None:
    first = made(tmp_path, "--sysop", "Ann", "--with", "all")
    assert first.status == 0
    before = files_in(tmp_path)
    again = made(tmp_path, "--with", "all", environment={"BJFT_SYSOP_PASSWORD": "quite another"})
    assert again.status == 0
    assert files_in(tmp_path) == before
    assert "sysop.toml is there already and stays as it is." in again.output
    assert "Ann is registered already; `door callers password" in again.output
    assert "is there already, as it would be written now." in again.output
    refused = made(tmp_path, "--name", "Other", "--port", "23")
    assert refused.status == 2
    assert "stays as it is: change it without --name, --port." in refused.error
    assert files_in(tmp_path) == before


def test_a_file_changed_by_the_sysop_stays_and_ours_is_added(tmp_path: Path) -> None:
    assert made(tmp_path, "--with", "logrotate").status == 0
    file = tmp_path / "system" / "logrotate" / "bjft"
    ours = file.read_text(encoding="utf-8")
    file.write_text("mine\n", encoding="utf-8")
    result = made(tmp_path, "--with", "logrotate")
    assert (
        f"{file} is there already and stays. Put bjft.new in its place, unless you have changed it."
        in (result.output)
    )
    assert file.read_text(encoding="utf-8") == "mine\n"
    assert file.with_name("bjft.new").read_text(encoding="utf-8") == ours


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--zone", "Europe/Berln"), '"Europe/Berln" is not a known time zone; did you mean'),
        (("--name", " "), "The name must not be empty."),
        (("--name", "x" * 41), "The name must be 40 characters at most, is 41 long."),
        (("--port", "70000"), "The port must be a whole number from 0 to 65535, is 70000."),
        (("--sysop", "new"), "Your name is what new callers type; choose another."),
        (("--mail", "ann@example.org"), "--mail needs --with systemd"),
        (("--with", "systemd", "--mail", "a'b"), "is not a mail address"),
        (("--user", "a b"), "is not the name of a user"),
    ],
)
def test_an_answer_that_will_not_do_is_refused_before_anything_is_written(
    tmp_path: Path, words: tuple[str, ...], reason: str
) -> None:
    result = made(tmp_path / "bbs", *words)
    assert result.status == 2
    assert reason in result.error
    assert not (tmp_path / "bbs").exists()


def test_a_password_that_will_not_do_is_refused_as_well(tmp_path: Path) -> None:
    result = made(tmp_path / "bbs", environment={"BJFT_SYSOP_PASSWORD": "x"})
    assert (result.status, "characters for your password" in result.error) == (2, True)
    assert not (tmp_path / "bbs").exists()


def test_init_without_a_password_explains_how_to_register_the_sysop(tmp_path: Path) -> None:
    result = made(tmp_path, "--sysop", "Ann", environment={"BJFT_SYSOP_PASSWORD": ""})
    assert result.status == 0
    assert "Sysop powers: nobody." in result.output
    assert f"`door callers password --config {tmp_path / 'sysop.toml'} Ann` registers" in (
        result.output
    )


def test_init_at_a_terminal_asks_until_the_answers_are_valid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("door.cli.init._somebody_is_there", lambda: True)
    answers = ("Xibalba", "Nowhere", "UTC", "2424", "n", "Ann", "short")
    typed = "\n".join((*answers, SECRET, SECRET, "fail2ban logrotate", ""))
    result = made(tmp_path, typed=typed, environment={"BJFT_SYSOP_PASSWORD": ""})
    assert result.status == 0, result.error
    assert '"Nowhere" is not a known time zone' in result.output
    assert "characters for your password" in result.output
    assert "Ann is registered, with sysop powers." in result.output
    jail = (tmp_path / "system/fail2ban/jail.d/bjft.conf").read_text(encoding="utf-8")
    assert f"logpath = {tmp_path}/data/refused.log\nport = 2424\n" in jail
    assert not (tmp_path / "system" / "systemd").exists()


def test_a_missing_library_is_said_at_the_question_and_no_answer_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "websockets", None)
    refused = made(tmp_path, "--web")
    assert (refused.status, "needs the library websockets" in refused.error) == (2, True)
    monkeypatch.setattr("door.cli.init._somebody_is_there", lambda: True)
    typed = "\n".join(("Xibalba", "UTC", "2424", "y", "n", "Ann", "none", ""))
    result = made(tmp_path, typed=typed)
    assert result.status == 0, result.error
    _, asked, after = result.output.split("A page for browsers as well?")
    assert "needs the library websockets, which is not installed: run " in asked
    assert "'blackjack-for-time[web]'. Then answer again.\n" in asked
    assert "Ann is registered, with sysop powers." in after
    assert settings.load(tmp_path / "sysop.toml").board.name == "Xibalba"


def test_no_password_is_asked_for_once_and_one_that_differs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("door.cli.init._somebody_is_there", lambda: True)
    words = ("--name", "Xibalba", "--zone", "UTC", "--port", "0", "--telnet-only", "--sysop", "Ann")
    nothing = {"BJFT_SYSOP_PASSWORD": ""}
    result = made(tmp_path / "none", *words, typed="\nnone\n", environment=nothing)
    assert result.status == 0, result.error
    assert "Once more" not in result.output
    typed = "\n".join((SECRET, "another", SECRET, SECRET, "none", ""))
    result = made(tmp_path / "some", *words, typed=typed, environment=nothing)
    assert result.status == 0, result.error
    assert result.output.count("The two passwords differ.") == 1
    assert "Ann is registered, with sysop powers." in result.output


def test_the_password_comes_from_a_file_or_from_standard_input(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n", encoding="utf-8")
    none = {"BJFT_SYSOP_PASSWORD": ""}
    for name, words, typed in (
        ("one", ("--password-file", str(secret)), None),
        ("two", ("--password-file", "-"), f"{SECRET}\n"),
    ):
        result = made(tmp_path / name, *words, typed=typed, environment=none)
        assert "Sysop is registered, with sysop powers." in result.output


def test_a_disk_that_fills_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int, data: bytes) -> None:
        os.write(file, data[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_all", full)
        result = made(tmp_path)
    assert result.status == 2
    assert "cannot be written (No space left on device)." in result.error
    assert "mend that and run this again." in result.error
    assert list(tmp_path.iterdir()) == []
    assert made(tmp_path).status == 0


def test_a_file_is_replaced_whole_with_its_mode_and_through_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "sysop.toml", tmp_path / "link"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)
    writing.replace(link, "new")
    assert link.is_symlink()
    assert (file.read_text(encoding="utf-8"), mode(file)) == ("new", 0o640)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link", "sysop.toml"]


def test_a_link_that_leads_nowhere_is_no_place_for_settings(tmp_path: Path) -> None:
    (tmp_path / "sysop.toml").symlink_to(tmp_path / "nowhere")
    result = made(tmp_path)
    assert (result.status, "is a link to a missing file." in result.error) == (2, True)
    assert not (tmp_path / "data").exists()


# Settings that depend on the machine.


def test_systemd_understands_the_units_that_are_written(tmp_path: Path) -> None:
    result = made(tmp_path, "--with", "systemd", "--user", "root", "--mail", "ann@example.org")
    assert result.status == 0
    assert "enable --now bjft bjft-maintain.timer" in result.output
    folder = tmp_path / "system" / "systemd"
    units = tmp_path / "etc" / "systemd" / "system"
    shutil.copytree(folder, units)  # as the steps on the screen do
    assert f"cp -r {folder}/* /etc/systemd/system/" in result.output
    written = {str(each.relative_to(units)): each.read_text("utf-8") for each in files_below(units)}
    assert written.keys() == {
        *("bjft.service", "bjft.socket", "bjft-.service.d/jobs.conf"),
        *(f"bjft-{job}.{kind}" for job in machine.JOBS for kind in ("service", "timer")),
    }
    done = analyze("verify", *(each for each in files_below(units) if each.suffix != ".conf"))
    assert done is None or (done.returncode, done.stderr.strip()) == (0, "")
    assert {unit: level for unit, level in exposures(units).items() if level > 3.0} == {}
    assert (
        f"ExecStart={machine.program('door')} serve --config {tmp_path}/sysop.toml\n"
        in (written["bjft.service"])
    )
    assert "Type=notify\n" in written["bjft.service"]
    writes = f"ReadWritePaths=-{tmp_path}/data -{tmp_path}/texts -{tmp_path}/backups\n"
    for unit in ("bjft.service", "bjft-.service.d/jobs.conf"):
        assert "User=root\n" in written[unit]
        assert writes in written[unit]
    for text in written.values():
        assert "/opt/bjft" not in text
        assert "/var/lib/bjft" not in text


@pytest.mark.parametrize("job", ["audit", "full-audit"])
def test_the_digest_of_an_audit_is_mailed_even_if_it_fails(tmp_path: Path, job: str) -> None:
    """The mailer is no part of the audit: a unit that fails still runs it, out of its sandbox."""
    assert made(tmp_path, "--with", "systemd", "--mail", "ann@example.org").status == 0
    unit = (tmp_path / f"system/systemd/bjft-{job}.service").read_text(encoding="utf-8")
    (script,) = re.findall(r"^ExecStopPost=\+/bin/sh -c '(.*)'$", unit.replace("\\\n", ""), re.M)
    tools = tmp_path / "tools"
    tools.mkdir()
    mail = tmp_path / "mail"
    for name, does in (
        ("journalctl", '[ "$1" = --sync ] || echo "a digest of ${3#*=}"'),
        ("sendmail", f'[ "$1" = -t ] && cat >{mail}'),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (tools / name).chmod(0o755)
    script = script.replace("$$", "$").replace("/usr/sbin/sendmail", "sendmail")
    known = {"PATH": f"{tools}:/bin:/usr/bin", "SERVICE_RESULT": "exit-code", "INVOCATION_ID": "7"}
    subprocess.run(["/bin/sh", "-c", script], env=known, check=True)
    head = "To: ann@example.org\nSubject: Black Jack For Time: an audit (exit-code)\n\n"
    assert mail.read_text(encoding="utf-8") == f"{head}a digest of 7\n"


def test_a_container_is_nobodys_root_and_its_commands_are_ours(tmp_path: Path) -> None:
    assert made(tmp_path, "--with", "container").status == 0
    text = (tmp_path / "system/container/Containerfile").read_text(encoding="utf-8")
    assert re.findall(r"^(?:ARG BASE=|FROM )(\S+)", text, re.M) == [
        "docker.io/library/debian:stable-slim",
        *("${BASE}", "python", "python"),
    ]
    assert "\nUSER bjft\n" in text
    assert "\nVOLUME /board\n" in text
    assert f"\nEXPOSE {settings.load(tmp_path / 'sysop.toml').listeners[0].port}\n" in text
    healthy, begins = (json.loads(words) for words in re.findall(r"CMD (\[.*\])$", text, re.M))
    commands = (" ".join(healthy), *re.findall(r"door [^;\]]+", begins[-1]))
    assert len(commands) == 3
    # A command keeps the help names of its first run: those of the program.
    usual = main.context_settings
    for words in map(shlex.split, commands):
        main.commands[words[1]].make_context(words[1], words[2:], **usual)


def test_a_unit_may_use_a_port_of_roots_and_a_home_where_it_has_to(tmp_path: Path) -> None:
    assert made(tmp_path, "--port", "23", "--with", "systemd").status == 0
    service = (tmp_path / "system/systemd/bjft.service").read_text(encoding="utf-8")
    assert "AmbientCapabilities=CAP_NET_BIND_SERVICE\n" in service
    assert "PrivateUsers=no\n" in service


def test_a_ban_holds_for_the_port_of_the_pages_too(tmp_path: Path) -> None:
    assert made(tmp_path).status == 0
    with (tmp_path / "sysop.toml").open("a", encoding="utf-8") as settings:
        settings.write("[pages]\nserve = true\nport = 8024\n")
    assert made(tmp_path, "--with", "fail2ban").status == 0
    jail = (tmp_path / "system/fail2ban/jail.d/bjft.conf").read_text(encoding="utf-8")
    assert ",8024\n" in jail


def test_a_folder_that_cannot_stand_in_a_unit_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "my board"
    result = made(folder, "--with", "systemd", "--with", "fail2ban")
    assert result.status == 2
    assert "has a blank or a sign in it that other programs misread" in result.error
    assert not (folder / "system").exists()
    assert made(folder).status == 0
