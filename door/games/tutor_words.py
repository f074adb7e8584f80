"""What the tutor says, in plain words without colours; the numbers are `tutor_odds`'.

Gains are for each coin that was bet, with two decimals; what is less than that is not worth a
word. What a decision costs is the difference of the gains as they are shown, so that whoever adds
up finds the same.
"""

from collections.abc import Mapping

from door.games.blackjack_course import Action

_ADVISED = {
    Action.INSURANCE: "insurance",
    Action.NO_INSURANCE: "no insurance",
    Action.DOUBLE: "double",
    Action.SPLIT: "split",
    Action.HIT: "hit",
    Action.STAY: "stand",
}
_DOING = {
    Action.INSURANCE: "taking it",
    Action.NO_INSURANCE: "going without",
    Action.DOUBLE: "doubling",
    Action.SPLIT: "splitting",
    Action.HIT: "hitting",
    Action.STAY: "standing",
}
_DONE = {
    Action.INSURANCE: "bought insurance",
    Action.NO_INSURANCE: "gone without insurance",
    Action.DOUBLE: "doubled",
    Action.SPLIT: "split",
    Action.HIT: "hit",
    Action.STAY: "stood",
}
_NOTHING = "0.00"


def before(best: Action, values: Mapping[Action, float]) -> str:
    """What the book says, and what the next best would be.

    >>> before(Action.HIT, {Action.HIT: -0.14, Action.STAY: -0.21})
    'The book says: hit (-0.14); standing is -0.21.'
    >>> before(Action.NO_INSURANCE, {Action.INSURANCE: -0.3, Action.NO_INSURANCE: -0.26})
    'The book says: no insurance; taking it costs 0.04 coins a coin bet on average.'
    """
    others = {action: value for action, value in values.items() if action is not best}
    insured = Action.NO_INSURANCE in values
    advised = _ADVISED[best] if insured else f"{_ADVISED[best]} ({_signed(values[best])})"
    if not others:
        return f"The book says: {advised}."
    second = max(others, key=others.__getitem__)
    if insured:
        cost = _cost(values[best], values[second])
        how = "is as good" if cost is None else f"costs {cost}"
    else:
        shown = _signed(values[second])
        how = "is as good" if shown == _signed(values[best]) else f"is {shown}"
    return f"The book says: {advised}; {_DOING[second]} {how}."


def after(best: Action, values: Mapping[Action, float], chosen: Action) -> str | None:
    """What the book would have done; None when that gains nothing that two decimals show.

    >>> after(Action.STAY, {Action.HIT: -0.14, Action.STAY: -0.07}, Action.HIT)
    'The book would have stood: that costs 0.07 coins a coin bet on average.'
    >>> after(Action.STAY, {Action.HIT: -0.2451, Action.STAY: -0.2049}, Action.HIT)
    'The book would have stood: that costs 0.05 coins a coin bet on average.'
    """
    cost = _cost(values[best], values[chosen])
    if cost is None:
        return None
    return f"The book would have {_DONE[best]}: that costs {cost}."


def _cost(best: float, worse: float) -> str | None:
    shown = f"{float(_signed(best)) - float(_signed(worse)):.2f}"
    return None if shown == _NOTHING else f"{shown} coins a coin bet on average"


def _signed(gain: float) -> str:
    shown = f"{gain:+.2f}"
    return _NOTHING if shown[1:] == _NOTHING else shown
