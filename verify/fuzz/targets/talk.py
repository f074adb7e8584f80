"""One caller's text on the screens of the others and of the sysop.

From the bytes of their keys to the bytes of another terminal: chat, names, transfer messages and
the words that cut the cards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ansi.charset import Charset, encode
from ansi.home_computer import HomeKeys
from ansi.home_screen import HomeScreen
from ansi.keys import KeyDecoder
from door.call import spoken
from door.call.canvas_display import CanvasDisplay
from door.call.lines_display import LinesDisplay
from door.call.markup import literal
from door.call.screen import Display
from door.games.engine.shuffle import normal_cut
from tests.home_computer import SCREENS
from timebank import words
from timebank.errors import NameRefused
from timebank.language import Viewer
from timebank.names import names
from verify.fuzz.oracles import assert_harmless, assert_one_line
from verify.fuzz.target import Target

CHARSETS = tuple(Charset)
LONGEST_ENTRY = 80  # characters of one entry at a console


def check(data: bytes) -> None:
    """The first byte chooses the talker's terminal, the rest are the keys."""
    charset = CHARSETS[data[0] % len(CHARSETS)] if data else Charset.UTF8
    decoder = (HomeKeys if charset.is_of_home_computer else KeyDecoder)(charset)
    typed = "".join(key for key in decoder.feed(data[1:]) if len(key) == 1)
    typed = typed[:LONGEST_ENTRY]
    for text in (spoken.clean(typed), literal(words.clean(typed, 60)), literal(_cut(typed))):
        assert_one_line(text)
        for other in CHARSETS:
            _show(text, other)
    assert spoken.clean(spoken.clean(typed)) == spoken.clean(typed)
    _name(typed)


def _cut(typed: str) -> str:
    cut = normal_cut(typed)
    assert normal_cut(cut) == cut
    return cut


def _name(typed: str) -> None:
    try:
        name = names.check(typed)
    except NameRefused as refusal:
        assert_one_line(str(refusal))
        return
    assert names.check(name) == name
    assert names.fold(name) == names.fold(names.fold(name))
    assert_one_line(name)
    assert literal(name) == name
    for charset in CHARSETS:
        _show(name, charset)


def _show(text: str, charset: Charset) -> None:
    sent: list[bytes] = []
    home = HomeScreen(charset, 40, 24) if charset.is_of_home_computer else None

    def send(shown: str) -> None:
        sent.append(encode(shown, charset) if home is None else home.feed(shown))

    def at_once(flush: Callable[[], object]) -> None:
        flush()

    columns = 80 if home is None else 40
    displays: tuple[Display, ...] = (
        CanvasDisplay(send, at_once, Viewer(), columns, 24, colour=True),
        LinesDisplay(send, columns, colour=False),
    )
    for display in displays:
        display.say(f"|11Ada|07 says: {text}")
        display.prompt(text)
        display.typed(text)
        display.answered()
    if home is not None:
        screen = SCREENS[charset.value]()
        screen.feed(b"".join(sent))  # which raises at any code that the board never means
        assert not screen.joined
        return
    assert_harmless(b"".join(sent), cp437=charset is Charset.CP437)


def _seeds() -> Iterator[bytes]:
    typed = (
        b"hello all",
        b"/ada  psst |12red |16",
        b"\x1b[2J\x1b]0;evil\x07\x1b[6n\x1b[c\x05",
        "Æsop O\u2019Neil".encode(),
        "e\u0301\u0302\u0303\u0304 \u202eabc 日本 😀 \u3164".encode(),
        b"\x9b2J\x90\x9d\x05\x06\x0e\xff",
        "\u0410\u0434\u0430 Ada".encode(),
        b"Ada  Lovelace" + b"x" * 90,
    )
    for charset in range(len(CHARSETS)):
        for each in typed:
            yield bytes((charset,)) + each


TARGET = Target(
    name="talk",
    check=check,
    seeds=_seeds,
    tokens=(
        *(b"|07", b"|", b"\x1b[", b"\xc2\x9b", b"\xe2\x80\xae", b"\xcc\x81", b"/", b" ", b"@"),
        *(b"\xe2\x80\xa8", b"\xc2\xa0", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"\x9b", b"\xff"),
    ),
    longest=256,
    seconds=0.1,
)
