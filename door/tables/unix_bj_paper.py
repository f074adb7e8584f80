"""The paper of a teletype on a caller's line: letters as they are, and bare prompts.

Nothing is wrapped, coloured or put in order for a screen. What the board itself has to say, such
as that the time is running out, stands between the letters like any other message among lines.
"""

from __future__ import annotations

from door.display import LinesDisplay


class Paper(LinesDisplay):
    """Lines that scroll up, in which a program prints to the letter."""

    def print(self, letters: str) -> None:
        """Print `letters`, whose lines end in a newline alone."""
        self._send(letters.replace("\n", "\r\n"))

    def prompt(self, text: str) -> None:
        """Print the prompt, and nothing behind it but what is typed."""
        self._prompt, self._typed = text, ""
        self._room = max(0, self._width - len(text))
        self._send(text)
