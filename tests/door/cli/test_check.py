"""`door check`: the certificates that the settings name are looked at before callers do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from door.config.listeners import DOORS_ALONE
from door.lines.ssh import host_key
from tests.certificates import LOCKED_KEY, pair
from tests.door.shell import Shell

TLS = '[[listeners]]\nkind = "telnets"\ncertificate = "certificate.pem"\nkey = "key.pem"\n'


def checked(folder: Path, certificate: bytes | None = None, key: bytes | None = None) -> list[str]:
    """Return the report of `door check` for files with these contents."""
    for name, content in (("certificate.pem", certificate), ("key.pem", key)):
        if content is not None:
            (folder / name).write_bytes(content)
            (folder / name).chmod(0o600)
    config = folder / "sysop.toml"
    config.write_text(f'[board]\nname = "Nighthawk"\n{TLS}')
    result = Shell(config)("check")
    assert result.status == (2 if result.error else 0)
    return (result.error or result.output).replace(str(folder), "HERE").splitlines()


def test_check_reports_unwritable_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bank = tmp_path / "bank"
    bank.mkdir()
    monkeypatch.setattr("door.cli.check.os.access", lambda path, _mode: path != bank)
    config = tmp_path / "sysop.toml"
    config.write_text('[timebank]\nmode = "external"\nthebank_ext = "bank/THEBANK.EXT"\n')
    (told,) = [line for line in Shell(config)("check").output.splitlines() if "write" in line]
    assert told.startswith(f"You may not write into {bank}, where the board keeps THEBANK.EXT: run")


def test_check_reports_a_command_that_is_missing(tmp_path: Path) -> None:
    config = tmp_path / "sysop.toml"
    sentence = "[notify] command: there is no program sendmial that you may run."
    for program, is_missing in (("sendmial", True), ("sh", False)):
        config.write_text(f'[notify]\ncommand = ["{program}"]\n')
        assert (sentence in Shell(config)("check").output) == is_missing


def test_check_names_the_tables_that_play_by_other_rules(tmp_path: Path) -> None:
    config = tmp_path / "sysop.toml"
    config.write_text('[rules.friday]\n[games.vegas]\nrules = "friday"\ndecks = 2\n')
    assert "\nRules: Vegas friday.\n" in Shell(config)("check").output
    config.write_text("[games.vegas]\ndecks = 2\n")
    assert "Rules" not in Shell(config)("check").output


def test_check_reports_a_foreign_file(tmp_path: Path) -> None:
    config = tmp_path / "sysop.toml"
    config.write_text('[timebank]\nimport = ["BANK.EXT"]\n')
    (tmp_path / "BANK.EXT").write_bytes(b"")
    assert "left alone" not in Shell(config)("check").output
    (tmp_path / "BANK.EXT").unlink()
    (tmp_path / "BANK.EXT").symlink_to("sysop.toml")
    (tmp_path / "BANK.EXT.lock").hardlink_to(config)
    text = Shell(config)("check").output
    assert f"{tmp_path}/BANK.EXT is left alone: it is a symbolic link, " in text
    assert f"{tmp_path}/BANK.EXT.lock is left alone: it has 2 names (hard links)" in text


def test_check_reports_an_obstacle_at_our_own_file(tmp_path: Path) -> None:
    config = tmp_path / "sysop.toml"
    config.write_text('[timebank]\nmode = "external"\nthebank_ext = "THEBANK.EXT"\n')
    os.mkfifo(tmp_path / "THEBANK.EXT")
    text = Shell(config)("check").output
    assert f"{tmp_path}/THEBANK.EXT is left alone: it is not a file.\n" in text


def test_check_reports_a_screen_that_others_could_have_linked(tmp_path: Path) -> None:
    config, texts = tmp_path / "sysop.toml", tmp_path / "texts"
    config.write_text('[board]\ntexts = "texts"\n')
    texts.mkdir()
    (texts / "menu.ans").write_bytes(b"")
    (texts / "welcome.ans").symlink_to(config)
    assert "is not shown" not in Shell(config)("check").output
    texts.chmod(0o770)
    lines = [line for line in Shell(config)("check").output.splitlines() if "is not shown" in line]
    assert lines == [
        f"{texts}/welcome.ans is not shown: it is a symbolic link, and must be a file of its own."
    ]


def test_a_good_certificate_is_no_matter(tmp_path: Path) -> None:
    assert "certificate" not in " ".join(checked(tmp_path, *pair()))


def test_check_reports_missing_files_with_line_and_key(tmp_path: Path) -> None:
    (line,) = checked(tmp_path)
    assert line.startswith(
        "HERE/sysop.toml, line 5: [[listeners]] 1, certificate: cannot be read: "
        "HERE/certificate.pem (no such file or directory); it must be there"
    )
    (line,) = checked(tmp_path, pair()[0])
    assert line.startswith("HERE/sysop.toml, line 6: [[listeners]] 1, key: cannot be read: HERE/k")


def test_check_reports_a_file_of_the_wrong_type(tmp_path: Path) -> None:
    certificate, key = pair()
    assert checked(tmp_path, key, key) == [
        "HERE/sysop.toml, line 5: [[listeners]] 1, certificate: must be a certificate in PEM, and "
        "HERE/certificate.pem holds none."
    ]
    assert checked(tmp_path, certificate, certificate) == [
        "HERE/sysop.toml, line 6: [[listeners]] 1, key: must be a private key in PEM, and "
        "HERE/key.pem holds none."
    ]


def test_check_reports_a_key_of_another_certificate(tmp_path: Path) -> None:
    assert checked(tmp_path, pair(1)[0], pair(2)[1]) == [
        "HERE/sysop.toml, line 6: [[listeners]] 1, key: must belong to the certificate "
        "HERE/certificate.pem, and HERE/key.pem does not."
    ]


def test_check_reports_an_encrypted_key_without_asking_for_the_password(tmp_path: Path) -> None:
    assert checked(tmp_path, pair(1)[0], LOCKED_KEY) == [
        "HERE/sysop.toml, line 6: [[listeners]] 1, key: must have no password: "
        "`openssl pkey -in HERE/key.pem -out NEW` takes it off."
    ]


def test_check_reports_the_ssh_host_keys(tmp_path: Path) -> None:
    config = tmp_path / "sysop.toml"
    modern = '[board]\nname = "Nighthawk"\n[[listeners]]\nkind = "ssh"\n'
    config.write_text(f'{modern}[[listeners]]\nkind = "ssh"\nport = 2223\ncompatibility = "old"\n')
    data = tmp_path / "data"
    for kind, noun in (("ssh-ed25519", "key"), ("ssh-rsa", "RSA key")):
        where = data / host_key.FILES[kind]
        text = Shell(config)("check").output
        assert (
            f"The {noun} that callers by SSH are shown is made at the first start: {where}." in text
        )
        data.mkdir(0o700, exist_ok=True)
        shown = host_key.host_key(data, kind).get_fingerprint()
        text = Shell(config)("check").output
        assert f"Callers by SSH are shown the {noun} {shown}, which is in {where}." in text
        assert "chmod" not in text
        where.chmod(0o644)
        assert f"run chmod 0600 {where}" in Shell(config)("check").output
        where.write_text("something else")
        where.chmod(0o600)
        assert f"can't be read from {where}" in Shell(config)("check").output
    assert "Port 2223 proves with SHA-1 that it is your board" in text
    config.write_text(modern)
    text = Shell(config)("check").output
    assert "RSA" not in text
    assert "SHA-1" not in text


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [("fairness", "beacon", "drand"), ("server", "link", "10.0.0.1:2324")],
)
def test_check_reports_a_retired_key_of_release_1_0(
    tmp_path: Path, table: str, key: str, value: str
) -> None:
    config = tmp_path / "sysop.toml"
    config.write_text(f'[{table}]\n{key} = "{value}"\n')
    result = Shell(config)("check")
    assert result.status == 0
    assert f"{config}, line 2: [{table}] {key} has no effect any more" in result.output


def test_a_board_for_doors_alone_is_in_order(tmp_path: Path) -> None:
    config = tmp_path / "sysop.toml"
    config.write_text("listeners = []\n", encoding="utf-8")
    result = Shell(config)("check")
    assert (result.status, result.error) == (0, "")
    assert DOORS_ALONE in result.output.splitlines()
    assert " nodes" not in result.output
    config.write_text("", encoding="utf-8")
    assert DOORS_ALONE not in Shell(config)("check").output
