"""`door bj`: the UNIX game bj on a plain terminal, as /usr/games/bj was played.

The game needs no board, books or caller: it uses standard input and output. Standard output gets
only what the old game printed. The seal and the seed, which that game did not have, go to standard
error. On a terminal DEL interrupts as well, and Ctrl-H rubs out. The terminal is restored
afterwards.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import signal
import sys
import termios
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import click

from door.errors import InputEnded
from door.games.blackjack.round import BlackjackAction, BlackjackRound, start
from door.games.blackjack.rules import UNIX_BJ, UNIX_BJ_STAKE
from door.games.engine import shuffle
from door.games.unix_bj.game import BET, UNIX_BJ_KIND
from door.tables.unix_bj import teletype
from door.tables.unix_bj.teletype import OPENING, Prompts, Score, Teletype, decline, hand_start
from timebank.cli.errors import UserError

DOLLAR = UNIX_BJ_STAKE // BET  # cents
LONGEST_LINE = 256  # bytes of an answer; the rest is dropped
MOST_READ = 4096

_DEL, _CTRL_H = b"\x7f", b"\b"


def play(prompts: Prompts, seed: bytes | None) -> None:
    """Play until interrupted or until the input ends; `seed` makes the cards if it is given."""
    seed = seed or secrets.token_bytes(shuffle.SEED_BYTES)
    _aside(f"Seal {shuffle.seal(seed)}")
    paper = Teletype(prompts, DOLLAR, Score())
    keyboard = StandardInput()
    with keyboard.taken(), _teletype_keys():
        try:
            _print(OPENING)
            _play(paper, keyboard, seed)
        except InputEnded:
            _print(f"\n{paper.account()}")
    _aside(f"Seed {seed.hex()}")


def read_seed(text: str) -> bytes:
    """Return a seed from its hexadecimal digits; raise `ValueError` if it is none."""
    seed = bytes.fromhex(text)
    shuffle.seal(seed)  # raises for a seed of another length
    return seed


def _play(paper: Teletype, keyboard: StandardInput, seed: bytes) -> None:
    position = 0
    while True:
        position = hand_start(position)
        cards = UNIX_BJ_KIND.cards(seed, "", UNIX_BJ.decks, position)
        round_, events = start(UNIX_BJ, cards, [UNIX_BJ_STAKE])
        _print(paper.deal(position, round_, events))
        while not round_.over:
            round_, events = round_.apply(_decide(paper, keyboard, round_))
            _print(paper.print_events(round_, events))
        position += round_.cards_used


def _decide(paper: Teletype, keyboard: StandardInput, round_: BlackjackRound) -> BlackjackAction:
    for question in paper.questions(round_):
        _print(question.text)
        if teletype.is_yes(keyboard.line()):
            return question.yes
    return decline(round_)


class StandardInput:
    """Standard input, read by lines, and the signals that interrupt it.

    A signal wakes a waiting read through a pipe. A signal that comes just before the read starts to
    wait is not lost either.
    """

    def __init__(self) -> None:
        self._struck = False
        self._typed = b""
        self._wake = -1  # becomes readable when a signal comes
        self._input: int | None = None
        if sys.stdin is not None:
            # Under tests standard input may be a text, which has no descriptor.
            with contextlib.suppress(OSError):
                self._input = sys.stdin.fileno()

    def line(self) -> str:
        """Wait for a line; raise `InputEnded` at an interrupt or at the end of the input."""
        line = b""
        while not line.endswith(b"\n"):
            if self._struck:
                raise InputEnded
            part, newline, rest = (self._typed or self._more()).partition(b"\n")
            if not part + newline:
                break
            self._typed = rest
            # Only the beginning of an endless answer counts.
            line = line[:LONGEST_LINE] + part + newline
        if not line:
            raise InputEnded
        return line.decode("ascii", "replace")

    def _more(self) -> bytes:
        """Wait for the next bytes; return none at the end of the input."""
        if sys.stdin is None:  # the parent process has closed it: the input has ended
            return b""
        if self._input is None:
            return sys.stdin.buffer.readline(MOST_READ)
        while self._wake in select.select([self._input, self._wake], [], [])[0]:
            os.read(self._wake, MOST_READ)
            if self._struck:
                raise InputEnded
        try:
            return os.read(self._input, MOST_READ)
        except OSError:  # the terminal has hung up
            return b""

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Let signals interrupt the game instead of the program."""
        self._wake, woken = os.pipe()
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, self._wake)
            stack.callback(os.close, woken)
            os.set_blocking(woken, False)
            stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(woken))
            for number in (signal.SIGINT, signal.SIGQUIT):
                stack.callback(signal.signal, number, signal.signal(number, self._strike))
            for number in (signal.SIGTERM, signal.SIGHUP):
                stack.callback(signal.signal, number, signal.signal(number, _end))
            yield

    def _strike(self, number: int, frame: FrameType | None) -> None:
        self._struck = True


def _end(number: int, frame: FrameType | None) -> None:
    """End the program by an exception, so that the terminal is restored."""
    raise SystemExit(128 + number)


@contextlib.contextmanager
def _teletype_keys() -> Iterator[None]:
    """Make DEL an interrupt key of the terminal, if there is one, without printing anything for it.

    A terminal has one interrupt character, which stays. DEL replaces the quit character, which no
    game needs. If DEL used to rub out, Ctrl-H does so now.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        yield
        return
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def change(number: int, frame: FrameType | None) -> None:
        termios.tcsetattr(terminal, termios.TCSADRAIN, _as_teletype(before))

    change(0, None)
    # After a stop, the shell may have changed the terminal.
    continued = signal.signal(signal.SIGCONT, change)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, continued)
        with contextlib.suppress(termios.error):  # a terminal that has hung up
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _as_teletype(before: Sequence[Any]) -> list[Any]:
    """Return the attributes of a terminal, from `tcgetattr`, changed for the game."""
    input_, output, control, local, *speeds, keys = before
    keys = list(keys)
    if keys[termios.VERASE] == _DEL:
        keys[termios.VERASE] = _CTRL_H
    if keys[termios.VINTR] != _DEL:
        keys[termios.VQUIT] = _DEL
    input_ |= termios.ICRNL
    output |= termios.OPOST | termios.ONLCR
    local |= termios.ICANON | termios.ECHO | termios.ISIG
    local &= ~termios.ECHOCTL  # a teletype prints nothing for a control key
    return [input_, output, control, local, *speeds, keys]


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _aside(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


@click.command()
@click.option(
    "--prompts",
    type=click.Choice(["1975", "1971"]),
    default="1975",
    show_default=True,
    help="Ask as the program did, or with the bare ? of its first manual.",
)
@click.option("--seed", help="Replay the cards of this seed (64 hexadecimal digits).")
def bj(prompts: Prompts, seed: str | None) -> None:
    """Play the UNIX game bj here. Type y for yes, Enter for no, DEL or Ctrl-C to quit."""
    try:
        raw = None if seed is None else read_seed(seed)
    except ValueError as error:
        raise UserError("--seed takes 64 hexadecimal digits.") from error
    play(prompts, raw)
