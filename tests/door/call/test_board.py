"""What a server knows of other servers."""

import os
import subprocess
import sys

from door.call.process import process_is_gone, this_process


def test_a_process_that_has_ended_here_is_known_to_be_gone() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert process_is_gone(f"{this_process().rpartition(':')[0]}:{ended.stdout.strip()}")


def test_a_process_that_was_killed_is_gone_before_its_parent_has_noticed() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as killed:
        process = f"{this_process().rpartition(':')[0]}:{killed.pid}"
        assert not process_is_gone(process)
        killed.kill()
        os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
        assert process_is_gone(process)


def test_a_process_that_runs_is_not_gone() -> None:
    assert not process_is_gone(this_process())


def test_nothing_is_known_of_processes_elsewhere() -> None:
    assert not process_is_gone("another machine:1")
    assert not process_is_gone("no number at all")
