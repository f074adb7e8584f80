"""The named or newest file counts; stale files are named and ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from door.dropfiles.search import find
from door.errors import DropFileRefused
from tests.door.dropfiles.reads import NO_ENVIRONMENT, put
from tests.door.dropfiles.writers import WRITERS, Written, dorinfo, text

STDIO = WRITERS["synchronet stdio"]
DOOR_SYS = WRITERS["synchronet door.sys"]
CHAIN = WRITERS["synchronet chain"]
BBSDEV = WRITERS["enigma bbsdev"]
DORINFO = text(*dorinfo(("MOTH", "", "")))


def test_the_newest_in_a_folder_counts(tmp_path: Path):
    old = put(tmp_path, STDIO, ago=3600 * 5)
    new = put(tmp_path, CHAIN)
    files = find(tmp_path, NO_ENVIRONMENT, None)
    assert (files.chosen, files.others) == (new, ())
    assert [(left.path, left.why) for left in files.left] == [
        (old, "it was written 4 hours before CHAIN.TXT")
    ]


def test_the_one_named_counts_though_it_is_older(tmp_path: Path):
    named = put(tmp_path, STDIO, ago=120)
    newer = put(tmp_path, CHAIN)
    files = find(named, NO_ENVIRONMENT, None)
    assert files.chosen == named
    assert [(left.path, left.why) for left in files.left] == [
        (newer, "it was written 1 minute after DOOR32.SYS")
    ]


def test_files_written_at_once_are_looked_at_in_the_order_of_trust(tmp_path: Path):
    chain = put(tmp_path, CHAIN, ago=1)
    door = put(tmp_path, DOOR_SYS, ago=2)
    door32 = put(tmp_path, STDIO, ago=3)
    files = find(tmp_path, NO_ENVIRONMENT, None)
    assert (files.chosen, files.others) == (door32, (door, chain))
    assert find(chain, NO_ENVIRONMENT, None).others == (door32, door)


def test_six_seconds_apart_is_another_call(tmp_path: Path):
    put(tmp_path, STDIO, ago=7)
    put(tmp_path, CHAIN, ago=1)
    files = find(tmp_path, NO_ENVIRONMENT, None)
    assert files.chosen.name == "CHAIN.TXT"
    assert files.left[0].why == "it was written 6 seconds before CHAIN.TXT"


@pytest.mark.parametrize("name", ["door32.sys", "Door32.Sys", "DOOR32.SYS"])
def test_names_come_in_any_case(name, tmp_path: Path):
    path = put(tmp_path, Written(name, STDIO.content))
    assert find(tmp_path, NO_ENVIRONMENT, None).chosen == path
    assert find(tmp_path / "DOOR32.sys", NO_ENVIRONMENT, None).chosen == path


def test_of_two_files_of_a_format_the_newer_counts(tmp_path: Path):
    put(tmp_path, Written("DOOR32.SYS", STDIO.content), ago=3)
    new = put(tmp_path, Written("door32.sys", STDIO.content), ago=1)
    files = find(tmp_path, NO_ENVIRONMENT, None)
    assert files.chosen == new
    assert files.left[0].why == "there is another DOOR32.SYS that counts"


def test_a_missing_file_is_refused_with_a_list_of_the_folder(tmp_path: Path):
    put(tmp_path, CHAIN)
    with pytest.raises(DropFileRefused) as caught:
        find(tmp_path / "DOOR.SYS", NO_ENVIRONMENT, None)
    assert caught.value.what == "there is no such file"
    assert caught.value.remedy.startswith("In its folder there is CHAIN.TXT.")


def test_a_missing_folder_is_refused(tmp_path: Path):
    with pytest.raises(DropFileRefused, match="no such folder either"):
        find(tmp_path / "node1" / "DOOR.SYS", NO_ENVIRONMENT, None)


def test_an_empty_folder_is_refused_with_the_formats_we_read(tmp_path: Path):
    with pytest.raises(DropFileRefused, match=r"no drop file in this folder.*DOOR32\.SYS, DOOR"):
        find(tmp_path, NO_ENVIRONMENT, None)


def test_a_file_of_another_name_is_refused(tmp_path: Path):
    (tmp_path / "XTRN.DAT").write_bytes(b"Ann")
    with pytest.raises(DropFileRefused, match="not that of a drop file we read"):
        find(tmp_path / "XTRN.DAT", NO_ENVIRONMENT, None)


def test_folders_and_links_to_nowhere_are_passed_over(tmp_path: Path):
    (tmp_path / "DOOR.SYS").mkdir()
    (tmp_path / "DOOR32.SYS").symlink_to(tmp_path / "gone")
    chain = put(tmp_path, CHAIN)
    assert find(tmp_path, NO_ENVIRONMENT, None).chosen == chain


def test_a_path_that_leads_through_a_file_is_refused(tmp_path: Path):
    path = put(tmp_path, CHAIN)
    with pytest.raises(DropFileRefused, match="cannot be read: Not a directory"):
        find(path / "DOOR.SYS", NO_ENVIRONMENT, None)


def test_a_path_that_is_too_long_is_refused(tmp_path: Path):
    with pytest.raises(DropFileRefused, match="cannot be read: File name too long"):
        find(tmp_path / ("x" * 5000) / "DOOR.SYS", NO_ENVIRONMENT, None)


# The environment


@pytest.mark.parametrize("variable", ["BBSDEV_DRP", "DOOR_DROPFILE"])
def test_the_environment_names_the_file(variable, tmp_path: Path):
    path = put(tmp_path, BBSDEV)
    files = find(None, {variable: str(path)}, None)
    assert (files.chosen, files.by) == (path, f"named by {variable}")


def test_synchronet_names_its_node_folder_and_number(tmp_path: Path):
    put(tmp_path, STDIO)
    files = find(None, {"SBBSNODE": f"{tmp_path}/", "SBBSNNUM": "3"}, None)
    assert (files.chosen.name, files.node, files.synchronet) == ("DOOR32.SYS", 3, True)
    assert files.by == "the newest in the folder of SBBSNODE"


def test_the_file_that_is_named_beats_the_environment(tmp_path: Path):
    path = put(tmp_path, STDIO)
    files = find(path, {"BBSDEV_DRP": str(tmp_path / "gone"), "SBBSNODE": "/gone"}, 7)
    assert (files.chosen, files.node) == (path, 7)


def test_a_file_that_the_environment_names_in_vain_is_refused(tmp_path: Path):
    with pytest.raises(DropFileRefused, match="there is no such file"):
        find(None, {"BBSDEV_DRP": str(tmp_path / "BBSDEV.DRP")}, None)


def test_without_a_word_the_folder_the_door_was_started_in_counts(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DropFileRefused, match=f"^{tmp_path}: there is no drop file"):
        find(None, NO_ENVIRONMENT, None)
    put(tmp_path, STDIO)
    files = find(None, NO_ENVIRONMENT, None)
    assert files.chosen == tmp_path / "DOOR32.SYS"
    assert files.by == "the newest in the folder the door was started in"


@pytest.mark.parametrize("number", ["", "x", "-1", "99999", "\u0663"])
def test_nonsense_is_no_node(number, tmp_path: Path):
    put(tmp_path, STDIO)
    assert find(tmp_path, {"SBBSNNUM": number}, None).node is None


# Several nodes in one folder


@pytest.mark.parametrize(
    ("node", "name"),
    [
        (1, "DORINFO1.DEF"),
        (10, "DORINFO0.DEF"),
        (10, "DORINFOA.DEF"),
        (11, "dorinfoa.def"),
        (11, "DORINFOB.DEF"),
        (16, "DORINFO10.DEF"),
        (12, "DORINFO12.DEF"),
    ],
)
def test_dorinfo_of_our_node_counts_and_not_the_newest(node, name, tmp_path: Path):
    ours = put(tmp_path, Written(name, DORINFO), ago=2)
    other = put(tmp_path, Written("DORINFO5.DEF", DORINFO), ago=1)
    files = find(tmp_path, NO_ENVIRONMENT, node)
    assert files.chosen == ours
    assert [(left.path, left.why) for left in files.left] == [(other, f"it is not of node {node}")]


def test_dorinfo1_does_for_every_node_where_there_is_no_other(tmp_path: Path):
    only = put(tmp_path, Written("DORINFO1.DEF", DORINFO))
    assert find(tmp_path, NO_ENVIRONMENT, 4).chosen == only
