"""Shows and checks the hands of the journal, and the tries at deals and tournaments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from door.errors import NoSuchHand
from door.games.blackjack import duplicate
from door.games.blackjack.duplicate import HANDS
from door.games.blackjack.rules import BLACK_JACK_FOR_TIME, BlackjackRules, rules_from_mapping
from door.games.blackjack.world import fits_date
from door.games.engine import shuffle
from door.games.engine.errors import GameError
from door.games.engine.journaled import acts_of, seat_of
from door.games.rounds import kind_of, readable, rebuild, the_hand
from door.games.solver.tutor import costs
from timebank.audit.accounts import audit as audit_books
from timebank.audit.findings import Finding
from timebank.errors import JournalDamaged
from timebank.ledger.generations import generation_of
from timebank.reports import extracts
from timebank.reports.ledger_pages import Sought
from timebank.wagers import chains, contests, journal
from timebank.wagers.contests import WHOLE_BET, WORLD
from timebank.wagers.rounds import VOID
from timebank.words import amount_words, clock, money, title

if TYPE_CHECKING:
    from door.games.engine.game import Dealt
    from timebank.ledger.database import Desk
    from timebank.wagers.contests import StoredContest, StoredTry
    from timebank.wagers.journal import Shoe, StoredRound


def describe(desk: Desk, number: int) -> str:
    """Return a hand in words: seal and seed, cards, actions, transfers, result.

    The seed stays hidden until the shoe is done, and the hole card until the hand is settled.
    Raises `NoSuchHand`.
    """
    stored, round_ = _stored(desk, number)
    local = desk.settings.schedule.local(stored.dealt)
    acts = ", ".join(str(act) for act in acts_of(stored)) or "none"
    generation = generation_of(desk.connection, "rounds", number)
    lines = [
        f"Hand {stored.id}: {title(stored.game)}, {stored.caller}, dealt {local:%Y-%m-%d %H:%M:%S}",
        *([f"Books    generation {generation}"] if generation > 1 else []),
        f"Bet      {amount_words(stored.stake, stored.unit)}",
        *_seat_lines(stored),
        *_shoe_lines(stored.shoe),
        f"Cards    {_cards_words(stored, round_)}",
        f"Actions  {acts}",
        f"Result   {_result_words(stored)}",
        "Transfers",
    ]
    for row in extracts.chosen(desk, Sought(hand=number)):
        moved = f"{row.source} -> {row.target}"
        amount = clock(row.amount) if row.unit == "second" else money(row.amount, row.unit)
        lines.append(f"  {row.number:>6}  {amount:>9}  {moved:<18}  {row.why}")
    return "\n".join(lines)


def as_json(desk: Desk, number: int) -> str:
    """Return a settled hand as JSON for `door replay`; stakes are seconds or cents.

    Raises `NoSuchHand`, also for a hand that is still hidden.
    """
    stored, round_ = _stored(desk, number)
    if not stored.settled:
        raise NoSuchHand(f"Hand {number} is still in play; its cards are not open yet.")
    if stored.outcome == VOID:
        raise NoSuchHand(f"Hand {number} was never played to its end: it is void.")
    if not round_.over:
        raise NoSuchHand(f"Hand {number} is not over: others at the table still play.")
    several = len(stored.seats) > 1
    seats = [{"stake": seat.bet} for seat in stored.seats]
    return json.dumps(
        {
            "game": stored.game,
            "rules": dict(stored.rules),
            **({"seats": seats} if several else {"stake": stored.stake}),
            "shoe": " ".join(round_.shoe[: round_.cards_used]),
            "actions": [str(act) for act in acts_of(stored)],
        }
    )


def audit(desk: Desk, since: int = 1) -> tuple[list[Finding], int]:
    """Check the books, the settled hands from number `since` on, and the tries since then.

    Return the findings and the number of hands.
    """
    findings, counted = replayed(desk, since)
    return [*audit_books(desk), *findings, *wrong_tries(desk, since)], counted


def replayed(desk: Desk, first: int = 1) -> tuple[list[Finding], int]:
    """Replay the settled hands from number `first` on; return findings and number of hands."""
    findings, counted, links = list[Finding](), 0, _Links()
    for stored in journal.rounds_between(desk, first, journal.last_round(desk)):
        if isinstance(stored, JournalDamaged):
            findings.append(_damaged(stored))
            continue
        if stored.shoe is not None and not shuffle.fits(stored.shoe.seed, stored.shoe.seal):
            findings.append(Finding(f"hand {stored.id}", "its seed does not fit its seal."))
        if stored.shoe is not None and not links.fit(desk, stored.shoe, stored.game):
            findings.append(Finding(f"hand {stored.id}", "its seed does not fit its chain."))
        if stored.settled and stored.outcome != VOID:
            counted += 1
            findings.extend(_check(stored))
    return findings, counted


def _damaged(damaged: JournalDamaged) -> Finding:
    return Finding(f"hand {damaged.number}", f"{str(damaged).rstrip('.')}.")


class _Links:
    """The chains of an audit. Shoes come in the order of their links, so each is hashed once."""

    def __init__(self) -> None:
        self._followed: dict[str, tuple[int, bytes]] = {}

    def fit(self, desk: Desk, shoe: Shoe, game: str) -> bool:
        """Return whether a shoe's seed fits its link of a chain of its caller or table."""
        if shoe.anchor is None:
            return shoe.link == 0
        number, seed = self._followed.get(shoe.anchor, (0, b""))
        try:
            if number == 0:
                length = chains.chain_length(desk, shoe.anchor, shoe.caller_id, game, shoe.table)
                number, seed = 0, bytes.fromhex(shoe.anchor)
                if length is None or not 0 < shoe.link <= length:
                    return False
            if shoe.link < number:
                number, seed = 0, bytes.fromhex(shoe.anchor)
            fits = chains.hashes_to(shoe.seed, shoe.link - number, seed)
        except (ValueError, TypeError):  # no hexadecimal digits, no bytes
            return False
        if fits:
            self._followed[shoe.anchor] = shoe.link, shoe.seed
        return fits


def _check(stored: StoredRound) -> Iterator[Finding]:
    where = f"hand {stored.id}"
    try:
        hand = rebuild(stored)
    except JournalDamaged as damaged:
        yield _damaged(damaged)
        return
    again = hand.round
    if not hand.over:
        yield Finding(where, "it is settled, but by its journal it is still in play.")
        return
    kind, seat = kind_of(stored), seat_of(stored)
    totals, outcome = kind.totals(again, seat), kind.outcome(again, seat)
    if outcome != stored.outcome:
        yield Finding(where, f"its outcome is {stored.outcome}, replayed it is {outcome}.")
    for name, booked, replayed in (
        ("lost", stored.lost, totals.lost),
        ("returned", stored.returned, totals.returned),
        ("won", stored.won, totals.won),
    ):
        if booked != replayed:
            unit = "seconds" if stored.unit == "second" else "cents"
            sentence = f"{name} is {booked} {unit} in the books, replayed it is {replayed}."
            yield Finding(where, sentence)
    if dict(stored.result or {}) != kind.result(again, seat):
        yield Finding(where, "the result in its journal is not that of the replay.")
    if not hand.shoe.done and hand.is_shoe_done:
        yield Finding(where, "nothing more is dealt from its shoe, which is still open.")


def _stored(desk: Desk, number: int) -> tuple[StoredRound, Dealt]:
    """Return a hand and its rebuilt round."""
    stored = the_hand(desk, number)
    with readable(number):
        return stored, rebuild(stored).round


def _shoe_lines(shoe: Shoe | None) -> list[str]:
    if shoe is None:
        return []
    seed = shoe.shown_seed or "not shown before the shoe is done"
    lines = [f"Seal     {shoe.seal}", f"Seed     {seed}"]
    if shoe.anchor is not None:
        lines.append(f"Chain    {shoe.anchor}, of which it is number {shoe.link}")
    if shoe.cut:
        lines += [f"Cut      {phrase}" for phrase in shoe.cut.split("\n")]
    if shoe.signature:
        lines.append(f"Drand    shuffled with the round that is signed {shoe.signature}")
    decks = "1 deck" if shoe.decks == 1 else f"{shoe.decks} decks"
    return [*lines, f"Shoe     {decks}, dealt from card {shoe.position + 1} on"]


def _seat_lines(stored: StoredRound) -> list[str]:
    if len(stored.seats) == 1:
        return []
    others = (f"{seat.caller} (hand {seat.round_id})" for seat in stored.seats)
    return [f"Seats    {', '.join(others)}"]


def _cards_words(stored: StoredRound, round_: Dealt) -> str:
    # A seat may be void while other seats play: hide the face-down cards until all are settled.
    settled = all(seat.settled for seat in stored.seats)
    return f"{kind_of(stored).lies(round_, settled)}; {round_.cards_used} used"


def _result_words(stored: StoredRound) -> str:
    if not stored.settled:
        return "still in play"
    if stored.outcome == VOID:
        match dict(stored.result or {}).get("void"):
            case "restored":
                return "void: the books were restored with the hand open, and the stake returned"
            case "deleted":
                return "void: the caller was deleted, and the stake returned"
        return "void: the caller was deleted, and the stake forfeited"
    net = stored.won - stored.lost
    amount = amount_words(abs(net), stored.unit)
    words = f"won {amount}" if net > 0 else f"lost {amount}" if net < 0 else "even"
    return f"{stored.outcome}: {words}"


def wrong_tries(desk: Desk, since_hand: int = 1) -> list[Finding]:
    """Replay and weigh the tries at deals and tournaments, and return the differences.

    `since_hand` leaves out deals that have not changed since that hand. A deal takes 5 ms, and each
    try 1 ms.
    """
    return [
        Finding(f"{deal.kind} {deal.day}", words)
        for deal in contests.stored(desk, since_hand)
        for words in _wrong_in(desk, deal)
    ]


def _wrong_in(desk: Desk, deal: StoredContest) -> Iterator[str]:
    is_worlds = deal.seal.startswith(WORLD)
    if not is_worlds and not shuffle.fits(deal.seed, deal.seal):
        yield "its seed does not fit its seal."
    try:
        rules = rules_from_mapping(json.loads(deal.rules), BLACK_JACK_FOR_TIME)
    except (GameError, ValueError, TypeError, AttributeError) as error:
        yield f"its rules cannot be read: {str(error).rstrip('.')}."
        return
    if is_worlds and not fits_date(deal.seed, deal.seal, deal.day, deal.rules):
        yield "it is called the world's, but its seed or rules are not those of its date."
    for each in contests.stored_tries(desk, deal.seal):
        if words := _differs(rules, deal, each):
            yield f"the try of {each.name} {words}."


def _differs(rules: BlackjackRules, deal: StoredContest, stored: StoredTry) -> str:
    """Return how a replayed try differs from the books, "" for no difference."""
    try:
        again = duplicate.replay(rules, deal.seed, stored.acts.split(), deal.hands or HANDS)
    except (GameError, ValueError, TypeError, AttributeError) as error:
        return f"cannot be played again: {str(error).rstrip('.')}"
    if stored.score is None:
        return "is over, but has no score" if again.is_over else ""
    if not again.is_over:
        return f"has a score, but hand {again.number} is still in play"
    if again.score != stored.score:
        return f"has won {stored.score} coins in the books, replayed it is {again.score}"
    if stored.cost is not None and (cost := costs.cost_of(again)) != stored.cost:
        booked, weighed = _percent(stored.cost), _percent(cost)
        return f"costs {booked} of a bet in the books, weighed again it is {weighed}"
    return ""


def _percent(cost: int) -> str:
    return f"{cost * 100 / WHOLE_BET:.2f}%"
