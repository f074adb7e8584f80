"""The line of a caller by telnet, with what MUD clients want of it."""

from collections.abc import Mapping

from door.lines.flow import StreamLine
from door.lines.line import OpenKeys
from door.lines.telnet.framing import IAC, IAC_BYTE, Code

GMCP = b"\xc9"  # the option for figures and the like
_TYPED = ("text", "number", "secret")  # questions at which letters are typed


class TelnetLine(StreamLine):
    """A line that doubles every 0xFF it sends, so that none reads as a command."""

    prompt_mark = b""  # sent once behind each prompt
    # Make a program that echoes what is typed hide it, and show it again.
    echo_off, echo_on = b"", b""
    takes_figures = False  # whether the program has agreed to GMCP
    _is_marked = True  # nothing was written since the last mark
    _is_hidden = False
    _asked: OpenKeys | None = None
    _told = b""  # the figures that were sent last

    def write(self, data: bytes) -> None:
        self._is_marked = False
        if IAC_BYTE in data:
            data = data.replace(IAC_BYTE, IAC_BYTE + IAC_BYTE)
        super().write(data)

    def show_keys(self, keys: OpenKeys, language: str) -> None:
        """Mark the prompt, and hide what is typed at a question for a secret."""
        is_secret = keys.ask == "secret"
        if self.echo_off and is_secret != self._is_hidden:
            self._is_hidden = is_secret
            super().write(self.echo_off if is_secret else self.echo_on)
        is_typing = keys is self._asked and keys.ask in _TYPED  # what was written is an echo
        self._asked = keys
        if self.prompt_mark and not (self._is_marked or is_typing):
            super().write(self.prompt_mark)
        self._is_marked = True

    def show_figures(self, figures: Mapping[str, int]) -> None:
        if self.takes_figures:
            members = ", ".join(f'"{name}": {figure}' for name, figure in figures.items())
            data = f"Char.Vitals {{{members}}}".encode()
            if data != self._told:
                self._told = data
                begin, end = bytes((IAC, Code.SB)), bytes((IAC, Code.SE))
                super().write(begin + GMCP + data + end)
