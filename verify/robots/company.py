"""What a robot makes of company on one call: messages and deals."""

from __future__ import annotations

from collections.abc import Callable

from verify.robots import phrases, reading
from verify.robots.reading import MARK, Paged
from verify.robots.screen import Screen
from verify.robots.seen import DEALS, DealHand, Page, Seen

_OF_A_DEAL = {"P", "R", "L", "Q"}  # keys of the page that it is entered from
_TO_THE_OTHER = ("t", "q")  # keys from the page of the day to that of the tournament, and back


class Company:
    """The eyes and ears for what others do; what they find goes to `seen`.

    `paints` says whether the screen is painted, and is read as it stands, or scrolls by.
    """

    def __init__(self, seen: Seen, now: Callable[[], float], *, paints: bool) -> None:
        self._seen = seen
        self._now = now
        self._paints = paints
        self.paged: Paged | None = None  # what was written, until its sender is told of it
        self.last_read = ""  # the mark of what another wrote last, of what came on this call
        self._deal = ""  # whose page or hands are shown: "daily" or "tournament"
        self._pressed = ""  # the last keys, which the board may not have answered yet

    def looks(self, screen: Screen) -> None:
        """Note what is on the screen; may be called at any moment."""
        picture = screen.picture
        self._reads_messages(picture)
        if phrases.MAIN_MENU.is_in(screen.prompt):
            self._deal = ""
        if not self._paints:
            return
        self._comes_to(reading.deal(screen.rows[0]))
        self._reads_hand(picture)

    def hears(self, line: str) -> None:
        """Note what a line says that has scrolled by."""
        deal = reading.deal(line)
        if deal is not None:
            self._comes_to(deal)
        self._reads_hand(line)

    def may_write(self, picture: str) -> bool:
        """Tell whether it would be sure which message the words are for that say it is taken."""
        is_known = self.paged is None or self.paged.is_told
        said = (phrases.TAKEN, phrases.REFUSED, phrases.CAME_BETWEEN)
        return is_known and not any(words.is_in(picture) for words in said)

    def writes(self, paged: Paged) -> None:
        self.paged = paged
        self._seen.typed.add(paged.mark)

    def decides(self, prompt: str, keys: str) -> None:
        """Note which deal is asked for, and what is agreed to for it.

        Behind a key that leads to the page of the other deal, that one may be asked for: what is
        on the screen is still the page before.
        """
        if self._deal and keys in ("p", "\r") and set(reading.letters(prompt)) >= _OF_A_DEAL:
            self._seen.asked |= set(DEALS) if self._pressed in _TO_THE_OTHER else {self._deal}
        self._pressed = keys
        price = phrases.PAY.search(prompt)
        if price is not None and keys == "y":
            self._seen.agreed.add(reading.span(price["amount"]))

    def _reads_messages(self, picture: str) -> None:
        """Note what others write, and what became of what was written.

        Nothing is written while the words for a message that was taken are on the screen, nor
        before it is known what became of the last on this line: so they are those for this one.
        """
        now = self._now()
        for mark in MARK.findall(picture):
            if mark not in self._seen.heard and mark not in self._seen.typed:
                self.last_read = mark
            self._seen.heard.setdefault(mark, now)
        paged = self.paged
        if paged is None or paged.is_told:
            return
        if taken := phrases.TAKEN.search(picture):
            to, is_on = " ".join(taken["name"].split()), phrases.IS_ON.is_in(picture)
            self._seen.pages[paged.mark] = Page(to, is_on, now, paged.to, paged.answers)
        elif not phrases.REFUSED.is_in(picture):
            return
        self.paged = paged._replace(is_told=True)

    def _comes_to(self, deal: tuple[str, bool] | None) -> None:
        self._deal, is_hand = deal or ("", False)
        if is_hand:
            self._seen.entered.add(self._deal)

    def _reads_hand(self, text: str) -> None:
        for hand in phrases.DEAL_HAND.finditer(text):
            if self._deal:
                played = DealHand(self._deal, int(hand["number"]), int(hand["total"]))
                self._seen.deal_hands.add(played)
