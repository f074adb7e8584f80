"""An audit by several processes, each of which checks parts of it on a core of its own.

Each part reads the books as they are at one moment of its own: it agrees with itself, whatever the
board writes meanwhile. Nothing is written.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial
from typing import TypeVar

from timebank.audit import accounts, checkpoints
from timebank.audit.accounts import PartFound, Task
from timebank.audit.checkpoints import Checkpoint
from timebank.audit.findings import Finding
from timebank.errors import AuditBroken
from timebank.ledger.database import Desk
from timebank.ledger.engines import books_of
from timebank.settings.settings import BankSettings

T = TypeVar("T")

# Transfers from which on another process for a part is worth its start, half a second.
MANY = 100_000

_SAFE_PATH = "PYTHONSAFEPATH"  # what -P is called in the environment


def usual(transfers: int) -> int:
    """Say how many processes check books of so many transfers, unless somebody says otherwise."""
    return min(len(accounts.PARTS), os.cpu_count() or 1) if transfers >= MANY else 1


def audit(
    settings: BankSettings,
    desk: Desk,
    since_digest: str | None,
    begin: Checkpoint | None,
    jobs: int,
) -> tuple[list[Finding], Checkpoint | None]:
    """Check the books, or what came after a checkpoint.

    Returns what is wrong; and if nothing is, the checkpoint of the books as they are at the desk.
    One process is enough after a checkpoint. Raises `AuditBroken`.
    """
    began_with = None if begin is None else checkpoints.digest_of(begin.encoded())
    draft = checkpoints.draft(desk, began_with)
    mark = accounts.Mark(draft.last, draft.call, draft.balances())
    task = Task(since_digest if begin is None else None, begin, mark)
    if begin is None and jobs > 1:
        found = check(settings, desk.now, task, jobs)
    else:
        found = accounts.check(desk, task)
    if found.findings:
        return found.findings, None
    first_row = draft.first_row if found.first_row is None else found.first_row
    return [], draft._replace(first_row=first_row)


def check(settings: BankSettings, now: datetime, task: Task, jobs: int) -> PartFound:
    """Do what `accounts.check` does for the whole books, by `jobs` processes; raises what that
    raises, and `AuditBroken`."""
    return accounts.together(run(settings, now, jobs, parts(task)))


def parts(task: Task) -> list[Callable[[Desk], PartFound]]:
    return [partial(_check, name, task) for name in accounts.PARTS]


def run(
    settings: BankSettings, now: datetime, jobs: int, work: Sequence[Callable[[Desk], T]]
) -> list[T]:
    """Do each piece of work at a desk of its own, and return what comes of them, in order.

    Pieces go to other processes, so they are functions of modules, or `partial` of such. Raises
    what they raise, and `AuditBroken` when a process dies.
    """
    # Processes that begin with nothing of this one, which may have threads and open books.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(min(jobs, len(work)), context, _end_with_the_command) as pool:
            with _starting():
                asked = [pool.submit(_at_a_desk, settings, now, each) for each in work]
            return [each.result() for each in asked]
    except BrokenProcessPool:
        raise AuditBroken from None


def _end_with_the_command() -> None:
    """Let this process end without a word at Ctrl-C, and when the command is killed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_wait_for_the_end, daemon=True).start()


def _wait_for_the_end() -> None:
    command = multiprocessing.parent_process()
    assert command is not None  # which has started this process
    command.join()
    os._exit(1)


@contextmanager
def _starting() -> Iterator[None]:
    """Let processes start that import nothing of the folder that the command runs in, and that
    ignore Ctrl-C until `_end_with_the_command` has run."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]
        if before is not None:
            os.environ[_SAFE_PATH] = before
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _at_a_desk(settings: BankSettings, now: datetime, work: Callable[[Desk], T]) -> T:
    with closing(books_of(settings)) as database:
        database.open_existing()
        with database.reading(settings, now) as desk:
            return work(desk)


def _check(part: str, task: Task, desk: Desk) -> PartFound:
    return accounts.PARTS[part](desk, task)
