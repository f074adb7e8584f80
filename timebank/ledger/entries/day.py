"""The rules of the day: used time, the end of a day, the grant, and the share of a loan."""

from __future__ import annotations

from timebank.language import N_, Phrase
from timebank.ledger import reasons
from timebank.ledger.entries.cutoff import must_stay_in_purse, put_away
from timebank.ledger.entries.state import CallerState, Leg, Ruling, move
from timebank.ledger.reasons import Reason
from timebank.settings.settings import BankSettings
from timebank.words import MINUTE, span_phrase


def charge(state: CallerState, ticked: int, reason: Reason | None = None) -> Ruling:
    """Charge the time up to `ticked` seconds after log-on; `reason` defaults to used time.

    Time beyond the minutes left online is waived for good.
    """
    due = ticked - state.ticked
    if due <= 0:
        return Ruling(state)
    charged = min(due, state.online)
    used = Leg("online", "elapsed", charged, reason or reasons.Used(state.node))
    waived = state.waived + due - charged
    state = state._replace(ticked=ticked, charged=state.charged + charged, waived=waived)
    return move(state, used)


def is_over(state: CallerState, today: str) -> bool:
    """Return whether a new day begins for the caller: `today` is later than the caller's day."""
    return state.day is None or today > state.day


def end(state: CallerState, earned: int, settings: BankSettings) -> Ruling:
    """Forfeit the rest of the grant, and put earned time away.

    `earned` is the caller's earned time in seconds. If it cannot be put away, it stays in place and
    counts as earned on the new day.

    The stake stays on the table. It counts as earned time up to `earned`, because a loss takes
    earned time first. The rest of the stake is part of the old grant, and is forfeited when it
    returns (`end_old_stake`).
    """
    own = state.stake - state.old_stake
    savings = min(state.online + state.held + own, max(0, earned))
    on_table = min(savings, own)
    if settings.mode == "none":  # where all of it would be forfeited
        on_table, savings = 0, min(savings, state.online + state.held)
    savings -= on_table
    saved_online = min(savings, state.online)
    saved_held = savings - saved_online
    old_stake, frozen = state.stake - on_table, must_stay_in_purse(state, settings)
    left, gains = reasons.LeftOfDay(state.day or ""), reasons.Earned(state.day or "")
    ruling = move(
        state._replace(old_stake=old_stake, carried=on_table + (savings if frozen else 0)),
        Leg("online", "forfeit", state.online - saved_online, left),
        Leg("held", "forfeit", state.held - saved_held, left),
    )._replace(remarks=_remarks(old_stake, on_table, savings if frozen else 0))
    if frozen:
        return ruling
    ruling = ruling.then(put_away, "online", saved_online, gains, "Day change", settings)
    return ruling.then(put_away, "held", saved_held, gains, "Day change", settings)


def _remarks(old_stake: int, on_table: int, frozen: int) -> tuple[Phrase, ...]:
    """Return the sentences about the stake and about a frozen caller's earned time."""
    texts = (
        # Short, because a painted table has three rows for all sentences of a day change.
        (
            N_("A new day: of your {amount} on the table, you keep only the winnings."),
            old_stake,
        ),
        (N_("You earned {amount} of your stake: what comes back of it is yours."), on_table),
        (N_("Your account is frozen: you keep what you earned in your pot, {amount}."), frozen),
    )
    return tuple(Phrase(text, amount=span_phrase(amount)) for text, amount in texts if amount)


def begin(state: CallerState, today: str, settings: BankSettings) -> Ruling:
    """Begin a day with its grant, and pay the share of a loan from it.

    A guest gets no grant.
    """
    own = None if state.own is None else state.own.on_new_day()
    state = state._replace(day=today, turns={}, own=own)
    if state.is_guest:
        return Ruling(state)
    grant = settings.minutes_per_day * MINUTE
    granted = move(state, Leg("allotment", "online", grant, reasons.Granted(today)))
    # Directly after the grant, which is how `EARNED` recognizes it.
    return granted.then(pay_loan_share, grant, today, settings)


def pay_loan_share(
    state: CallerState, amount: int, day: str | None, settings: BankSettings
) -> Ruling:
    """Pay the loan's share of `amount` seconds that came online.

    `day` is the day of a grant; None for winnings.
    """
    share = min(-state.loan, amount * settings.limits.loan_share // 100)
    return move(state, Leg("online", "loan", share, reasons.LoanShare(day)))


def end_old_stake(state: CallerState, returned: int) -> Ruling:
    """Forfeit the part of a returned stake that was an earlier day's minutes.

    `returned` seconds came back online. Losses took the minutes earned or staked today first, so
    the earlier day's minutes are the first to return.
    """
    if not state.old_stake:
        return Ruling(state)
    gone = min(returned, state.old_stake)
    left = min(state.old_stake - gone, state.stake)
    carried = state.carried + state.old_stake - left
    forfeited = Leg("online", "forfeit", gone, reasons.OldStake())
    return move(state._replace(old_stake=left, carried=carried), forfeited)
