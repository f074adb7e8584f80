"""The process of a `Helper`: it calls functions until its input ends.

A question is a function and its arguments, pickled, on standard input. Its answer on standard
output is the result and an empty text, or None and a traceback. The process loads what its
functions need, and nothing else of the board.
"""

import contextlib
import os
import pickle
import sys
import traceback
from typing import BinaryIO

NICE = 5  # steps by which it is less urgent than the board, up to the last one


def main() -> None:
    _let_the_board_go_first()
    with contextlib.suppress(EOFError, BrokenPipeError):
        answer(sys.stdin.buffer, sys.stdout.buffer)


def answer(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer question by question; EOFError when there are no more."""
    while True:
        function, arguments = pickle.load(questions)
        try:
            said = pickle.dumps((function(*arguments), ""))
        except Exception:
            said = pickle.dumps((None, traceback.format_exc()))
        answers.write(said)
        answers.flush()


def _let_the_board_go_first() -> None:
    """Be less urgent than the board, one that `chrt` puts before all others included."""
    with contextlib.suppress(OSError, AttributeError):  # a system may forbid that, or not know it
        os.nice(NICE)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
