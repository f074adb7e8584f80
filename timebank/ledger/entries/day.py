"""The rules of the day: the used time, the end of a day, its grant, and the share of a loan."""

from __future__ import annotations

from timebank.language import N_, Phrase
from timebank.ledger import reasons
from timebank.ledger.entries.cutoff import must_stay_in_purse, put_away
from timebank.ledger.entries.state import CallerState, Leg, Ruling, move
from timebank.ledger.reasons import Reason
from timebank.settings.settings import BankSettings
from timebank.words import MINUTE, span_phrase


def charge(state: CallerState, ticked: int, reason: Reason | None = None) -> Ruling:
    """Charge the time up to `ticked` seconds after log-on; `reason` when not that it was used.

    What is left of it when nothing is left on line is waived, for good: it is accounted for.
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
    """Return whether another day begins for the caller: the board's is later than theirs."""
    return state.day is None or today > state.day


def end(state: CallerState, earned: int, settings: BankSettings) -> Ruling:
    """Forfeit what is left of the grant, and put away what was earned beyond it.

    Where it cannot be put away, it stays where it is, as earned on the new day.

    What stands on the table stays there. It is taken for what was earned, as far as that
    reaches: as before the day changes, a loss takes what was earned first. The rest of it is
    left of the grant, and is forfeited when it comes back (`end_old_stake`).
    """
    own = state.stake - state.old_stake
    kept = min(state.online + state.held + own, max(0, earned))
    on_table = min(kept, own)
    if settings.mode == "none":  # where all of it would be forfeited
        on_table, kept = 0, min(kept, state.online + state.held)
    kept -= on_table
    kept_online = min(kept, state.online)
    kept_held = kept - kept_online
    old_stake, frozen = state.stake - on_table, must_stay_in_purse(state, settings)
    left, gains = reasons.LeftOfDay(state.day or ""), reasons.Earned(state.day or "")
    ruling = move(
        state._replace(old_stake=old_stake, carried=on_table + (kept if frozen else 0)),
        Leg("online", "forfeit", state.online - kept_online, left),
        Leg("held", "forfeit", state.held - kept_held, left),
    )._replace(remarks=_remarks(old_stake, on_table, kept if frozen else 0))
    if frozen:
        return ruling
    ruling = ruling.then(put_away, "online", kept_online, gains, "Day change", settings)
    return ruling.then(put_away, "held", kept_held, gains, "Day change", settings)


def _remarks(old_stake: int, on_table: int, frozen: int) -> tuple[Phrase, ...]:
    """Tell what becomes of the table, and of what a frozen caller earned."""
    texts = (
        # Short: a painted table has three rows for all that is said at a day change.
        (
            N_("A new day: of your {amount} on the table, only winnings are yours to keep."),
            old_stake,
        ),
        (N_("You earned {amount} of your stake: what comes back of it is yours."), on_table),
        (N_("Your account is frozen: you keep what you earned in your pot, {amount}."), frozen),
    )
    return tuple(Phrase(text, amount=span_phrase(amount)) for text, amount in texts if amount)


def begin(state: CallerState, today: str, settings: BankSettings) -> Ruling:
    """Begin a day with its grant, of which a loan takes its share.

    A guest's minutes are the host's: none are granted.
    """
    own = None if state.own is None else state.own.on_new_day()
    state = state._replace(day=today, turns={}, own=own)
    if state.is_guest:
        return Ruling(state)
    grant = settings.minutes_per_day * MINUTE
    granted = move(state, Leg("allotment", "online", grant, reasons.Granted(today)))
    # Right behind the grant: EARNED knows it by that.
    return granted.then(pay_loan_share, grant, today, settings)


def pay_loan_share(
    state: CallerState, amount: int, day: str | None, settings: BankSettings
) -> Ruling:
    """Pay the loan's share of an amount that came on line; `day` is that of a grant."""
    share = min(-state.loan, amount * settings.limits.loan_share // 100)
    return move(state, Leg("online", "loan", share, reasons.LoanShare(day)))


def end_old_stake(state: CallerState, returned: int) -> Ruling:
    """Forfeit what an earlier day's minutes are of a stake that has come back.

    `returned` seconds came back on line. What was lost was first what had been earned or put
    down today, so of what comes back the earlier day's minutes are the first.
    """
    if not state.old_stake:
        return Ruling(state)
    gone = min(returned, state.old_stake)
    left = min(state.old_stake - gone, state.stake)
    carried = state.carried + state.old_stake - left
    forfeited = Leg("online", "forfeit", gone, reasons.OldStake())
    return move(state._replace(old_stake=left, carried=carried), forfeited)
