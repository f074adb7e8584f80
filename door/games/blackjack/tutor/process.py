"""The tutor's process: it weighs spots for another process until that has no more questions.

A question is a `Spot`, pickled, on standard input; its answer a line of JSON on standard output:
what each action is worth, or an `error` that says why there is no answer. Nothing else of the
board is loaded here, and nothing of it is known. The process ends with its input, so it never
outlives the one that asks.
"""

import contextlib
import json
import pickle
import sys
import traceback
from typing import BinaryIO

from door.games.blackjack.tutor.hands import values


def main() -> None:
    with contextlib.suppress(EOFError, BrokenPipeError):
        answer(sys.stdin.buffer, sys.stdout.buffer)


def answer(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer question by question; EOFError when there are no more."""
    while True:
        spot = pickle.load(questions)
        try:
            said: dict[str, object] = {
                action.value: worth for action, worth in values(spot).items()
            }
        except Exception:
            said = {"error": traceback.format_exc()}
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()
