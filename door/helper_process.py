"""The process of a `Helper`: it calls functions until its input ends.

A question is a pickled function with its arguments, on standard input. Its answer on standard
output is the result and an empty text, or None and a traceback. The process loads only the modules
that its functions need.
"""

import contextlib
import os
import pickle
import sys
import traceback
from typing import BinaryIO

NICENESS = 5  # added to that of the board


def main() -> None:
    _yield_to_the_board()
    with contextlib.suppress(EOFError, BrokenPipeError):
        answer(sys.stdin.buffer, sys.stdout.buffer)


def answer(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer questions in order; raise EOFError at their end."""
    while True:
        function, arguments = pickle.load(questions)
        try:
            reply = pickle.dumps((function(*arguments), ""))
        except Exception:
            reply = pickle.dumps((None, traceback.format_exc()))
        answers.write(reply)
        answers.flush()


def _yield_to_the_board() -> None:
    """Lower the priority of this process below the board's, also if `chrt` has raised that."""
    with contextlib.suppress(OSError, AttributeError):  # a system may forbid or lack this
        os.nice(NICENESS)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
