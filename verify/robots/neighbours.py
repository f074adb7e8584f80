"""What robots saw in company, held against the books: messages, deals, and who stands where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verify.robots.books import Account, Message
from verify.robots.seen import DEALS, Page, Seen


def company(seen: Seen, account: Account, lag: float) -> Iterator[str]:
    """What was taken is kept once, for whom it was meant; what was read was written; who was on
    has read it; and a caller has a part in those deals alone that they asked for."""
    yield from _written(seen, account)
    yield from _read(seen, account, lag)
    yield from _deals(seen, account)


def _written(seen: Seen, account: Account) -> Iterator[str]:
    for mark, page in seen.pages.items():
        kept = [message for message in account.sent if mark in message.text]
        readers = [message.reader for message in kept]
        if readers != [page.to]:
            yield f"the page {mark} to {page.to} was taken, and the books have it for {readers}"
        elif page.to not in _meant(page, kept[0], account.heard):
            yield f"the page {mark} went to {page.to}, and was meant for another: {page}"
    for message in account.sent:
        if not any(mark in message.text for mark in seen.typed):
            yield f"the books have {message}, which they never wrote"


def _meant(page: Page, kept: Message, heard: Sequence[Message]) -> set[str]:
    """Return who can be meant: in an answer whoever wrote what it answers, or has written since."""
    if not page.answers:
        return {page.meant}
    first = [message.number for message in heard if page.answers in message.text]
    return {
        message.sender for message in heard if first and first[0] <= message.number < kept.number
    }


def _read(seen: Seen, account: Account, lag: float) -> Iterator[str]:
    texts = [message.text for message in (*account.heard, *account.sent)]
    for mark in seen.heard:
        if mark not in seen.typed and not any(mark in text for text in texts):
            yield f"the page {mark} was read, and is in no book"
    for message in account.heard:
        if message.shown is not None:
            continue
        for call in account.calls:
            waited = call.opened + call.ticked - max(call.opened, message.at)
            if call.reason == "log-off" and waited > lag:
                yield f"{message} waited for {waited} seconds of a call, and was not read"


def _deals(seen: Seen, account: Account) -> Iterator[str]:
    """Every deal that was on the screen has its try, each try was asked for, each price agreed to,
    and what the last hand of a deal came to is its score."""
    tries = {deal: [each for each in account.tries if each.deal == deal] for deal in DEALS}
    for deal in DEALS:
        if deal in seen.entered and not tries[deal]:
            yield f"the screen had hands of the {deal} deal, and the books have no try"
    unasked = [each for each in account.tries if each.deal not in seen.asked]
    if unasked:
        yield f"the books have {unasked}, which was never asked for"
    for each in tries["tournament"]:
        if not each.is_entered:
            yield f"the books have {each} in a tournament that they have not entered"
        if each.paid and each.paid not in seen.agreed:
            yield f"the books have {each}, and agreed to was {sorted(seen.agreed)}"
    for hand in seen.deal_hands:
        ends = [each.score for each in tries[hand.deal] if each.hands == hand.number]
        if ends and hand.total not in ends:
            yield f"the screen had {hand}, and the books have the scores {ends}"


def page_waits(all_seen: Sequence[Seen]) -> list[float]:
    """Say how long after its sender was told a page was on the screen of a reader who was on."""
    by_name = {seen.name: seen for seen in all_seen}
    return [
        max(0.0, by_name[page.to].heard[mark] - page.at)
        for seen in all_seen
        for mark, page in seen.pages.items()
        if page.is_on and page.to in by_name and mark in by_name[page.to].heard
    ]
