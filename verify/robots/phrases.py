"""The words by which robots and simulated callers recognise a room, in one place.

Each is a text of the program's catalogue (`timebank/language.py`). It is matched in every
language, so a new translation costs nothing here, and a new English text one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

from door.lobby.window import SERVICES
from timebank.language import LANGUAGES, catalogue

# An amount of time, in coins or as a length, in any language.
AMOUNT = r"[0-9][0-9.,]*\s[^\W\d]+(?:\s[0-9]+\ssecond\w*)?"
_MONEY = r"\$[0-9][0-9.,]*|FR\s[0-9][0-9.,]*|[0-9][0-9\s,]*\s[$F]"
_ALONE = f"(?:{AMOUNT}|{_MONEY})"
CLOCK = r"-?(?:\d+:)?\d+:\d\d"
HEXADECIMAL = "[0-9a-f]{64}"

_FIELD = re.compile(r"\{(\w+)\}")
_KINDS = {
    **dict.fromkeys(("coins", "amount", "span", "time"), AMOUNT),
    **dict.fromkeys(("mine", "dealer", "total", "number", "seconds"), r"\d+"),
}


def versions(text: str, context: str = "") -> list[str]:
    """Return a text in every language, English first, and each only once.

    >>> versions("Bank", "baccarat")
    ['Bank', 'Banque']
    """
    every = [text]
    for language in LANGUAGES:
        texts = catalogue(language)
        every.append(texts.pgettext(context, text) if context else texts.gettext(text))
    return list(dict.fromkeys(every))


def counted(one: str, many: str) -> list[str]:
    """Return the singular and plural texts, in every language.

    >>> counted("{number} win", "{number} wins")[:2]
    ['{number} win', '{number} wins']
    """
    every = [catalogue(language).ngettext(one, many, n) for language in LANGUAGES for n in (1, 2)]
    return list(dict.fromkeys(every))


class Said:
    """Texts in sequence on the screen, with any values in their fields, in any language.

    A field's value is under its name; `kinds` are regular expressions for fields.

    >>> Said("You lose {coins}.").search("Not in between. You lose 1.5 coins.")["coins"]
    '1.5 coins'
    >>> Said("Name:").is_in("Name: "), Said("Name:").is_in("Password:")
    (True, False)
    """

    def __init__(self, *texts: str, context: str = "", **kinds: str) -> None:
        several = product(*(versions(text, context) for text in texts))
        self._patterns = [
            re.compile(_pattern(" ".join(one), {**_KINDS, **kinds})) for one in several
        ]

    def is_in(self, shown: str) -> bool:
        return any(pattern.search(shown) for pattern in self._patterns)

    def search(self, shown: str) -> re.Match[str] | None:
        return next(self.finditer(shown), None)

    def fullmatch(self, shown: str) -> re.Match[str] | None:
        match = (pattern.fullmatch(shown) for pattern in self._patterns)
        return next(filter(None, match), None)

    def finditer(self, shown: str) -> Iterator[re.Match[str]]:
        """Yield the matches in each language; no two languages match at one place."""
        places = set[int]()
        for pattern in self._patterns:
            for match in pattern.finditer(shown):
                if match.start() not in places:
                    places.add(match.start())
                    yield match


def one_of(*phrases: Said) -> Said:
    """Return a text that matches wherever one of these does."""
    every = Said()
    every._patterns = [pattern for one in phrases for pattern in one._patterns]
    return every


def amount(found: re.Match[str]) -> str:
    """Return how much was won or lost, in coins where coins were told."""
    parts = found.groupdict()
    return parts.get("coins") or parts["amount"]


def _pattern(text: str, kinds: Mapping[str, str]) -> str:
    parts = _FIELD.split(text)
    message = ""
    for number, part in enumerate(parts):
        if number % 2:
            name = f"P<{part}>" if part not in parts[:number] else ":"
            message += f"(?{name}{kinds.get(part, '.+?')})"
        else:
            message += "".join(map(_letter, part))
    return message


def _letter(letter: str) -> str:
    """Return the possible forms of a letter: lines are broken, and some terminals lack accents.

    A full stop ends a sentence, unlike that of "1.5 coins".
    """
    if letter.isspace():
        return r"\s+"
    if letter == ".":
        return r"\.(?!\d)"
    return re.escape(letter) if letter.isascii() else r"\S{1,2}"


# Log-on and goodbye.

NAME = Said("Name:")
NEW_NAME = Said("The name you want:")
PASSWORD = Said("Password:")
NEW_PASSWORD = Said("A password (at least {number} characters):")
SAME_AGAIN = Said("Once more:")
PASSWORD_NOW = Said("Your current password:")
IS_TAKEN = Said("That name, or one that looks like it, is taken.")
IS_REGISTERED = Said("Write your password down; we can't look it up for you.")
DROP_CALL = Said("Drop that call and continue here?")
TAKEN_OVER = Said("You've logged on from another connection.")
LAST_WORDS = one_of(
    TAKEN_OVER,
    Said("Goodbye, {name}. Call again!"),
    Said("That was your third try. Goodbye."),
    Said("Your other call goes on. Goodbye."),
    Said("You're out of time."),
    Said("{event} has begun. Please call back at {time}.", time=".+?"),
    Said("The board is closing."),
)
WRONG = one_of(
    Said("Something went wrong here. The sysop will find it in the log."), Said("Traceback")
)

# Questions anywhere.

ANY_KEY = Said("Press any key")
PRESS_ENTER = Said("Press Enter")
MAIN_MENU = Said("Your game, or")
ALL_KEYS = Said("All keys")
GRACE_MENU = Said("Free of charge:")
LEAVE_BOARD = one_of(Said("Leave the board?"), Said("Leave the games?"), Said("Bank your {time}?"))
WELCOME = one_of(Said("Good to see you, {name}."), Said("Welcome, {name}."))
ENTER_FOR = Said("Your choice (Enter for {key})?")

# The bank's window.

WINDOW = Said("Your choice (Enter to quit):")
HOW_MUCH = one_of(*(Said(service.question) for service in SERVICES.values()))
SEND_TO = Said("Send to:")
NOTE = Said("Add a note (Enter for none):")
NAME_CONTAINS = Said("Name contains (Enter for all):")
# By the ledger's kind: the confirmation, and the question before it.
_SERVICES = {each.operation.reason.KIND: each for each in SERVICES.values()}
DONE = {kind: Said(service.done, name=r"[^.]+") for kind, service in _SERVICES.items()}
SURE = {kind: Said(service.confirmation, name=r"[^.]+") for kind, service in _SERVICES.items()}

# In company.

SAY_COMMAND = Said("Say (/p name message):")
WRITE_TO = Said("Write to:")
WRITE_TEXT = Said("To {name}:", name=r"[^:\n]+?")
YOUR_LINE = Said("Your line:")
WHOM_TO_IGNORE = Said("Whose messages and talk?")
# The confirmation of a message, by its receiver's name.
IS_ON = Said("Sent to {name}, who is on.", name=r"[^.,]+?")
TAKEN = one_of(IS_ON, Said("{name} isn't on. Your message waits for them.", name=r"[^.,\n]+?"))
# The refusal, with the text still in the field.
REFUSED = one_of(
    Said("Not so fast: please wait a few seconds."),
    Said("Nobody has written to you on this call."),
    Said("Too many messages wait for {name}. Try again when they've called."),
    Said("You've sent {number} messages in a day: that's the limit."),
    Said("There is no caller of that name. Use: /p name message"),
)

# The daily deal and the tournament.

DAILY, TOURNAMENT = versions("The daily deal"), versions("The tournament")
DEALS = (*DAILY, *TOURNAMENT, *versions("The duel"))
CHALLENGE = Said("Challenge whom:")
SURE_OF_STAKE = Said("Stake {amount} against {name}?")
DUEL_WAITS = Said("A duel waits for you")
NUMBER_OF_A_DUEL = Said("The number of a duel, or")
STAKE = Said("Stake how much? Up to {most}, or max (Enter for none):")
PAY = Said("Pay {amount} to enter? You lose it if you don't win.")

# The status line.

TIME_LEFT = one_of(Said("Time left", "{clock}", clock=CLOCK), Said("Time", "{clock}", clock=CLOCK))
IN_BANK = Said("Bank", "{clock}", clock=CLOCK)

# Before a hand.

COINS_TO_BET = one_of(
    Said("Coins to bet, {least_coins} to {most_coins} (Enter for {last_coins}):"),
    Said("Coins, {least_coins} to {most_coins} (Enter for {last_coins}):"),
)
PLACE_BETS = one_of(
    Said("Place your bets: {least} to {most} (Enter for {last}):"),
    Said("Place your bets, {least_coins} to {most_coins} coins (Enter for {last_coins}):"),
    Said("Bets, {least_coins} to {most_coins} (Enter for {last_coins}):"),
)
INSURANCE = Said("Coins to insure, up to {most} (Enter for {most}):")
CUT = Said("Your phrase (Enter: {phrase}):")
SAY = Said("Say:")
NOT_SO_FAST = Said("Not so fast: let the others get a word in.")
WHISPER = Said("Whisper (name message):")
NO_MORE_BETS = Said("No more bets.")
RESUMED = one_of(
    Said("The hand you left is still on the table."),
    Said("The coup you left is still on the table."),
)

# The page behind <F>airness: the owner of the shoe, then 64 digits on a line.

THIS_SEAL = Said("Seal of this shoe", "{digits}", digits=HEXADECIMAL)
NEXT_SEAL = Said("Seal of the next shoe", "{digits}", digits=HEXADECIMAL)
LAST_SEAL = Said("Seal of the last shoe", "{digits}", digits=HEXADECIMAL)
THIS_SEED = Said("Seed of this shoe", "{digits}", digits=HEXADECIMAL)
LAST_SEED = Said("Seed of the last shoe", "{digits}", digits=HEXADECIMAL)
FAIRNESS = Said("Fairness")
# UNIX bj shows their first digits before and after a run, other tables one after a hand.
SHORT_SEAL = Said("Seal", "{digits}", digits="[0-9a-f]{8}(?![0-9a-f])")
SHORT_SEED = Said("Seed", "{digits}", digits="[0-9a-f]{8}(?![0-9a-f])")

# The figures of a table.

TURNS = one_of(
    Said("Turns today: {turns}", turns=r"\d+"),
    *(Said(f"{words}: {{turns}}", turns=r"\d+") for words in versions("Turns today")),
    *(
        Said(words.replace("{number}", "{turns}"), turns=r"\d+")
        for words in counted("{number} turn today", "{number} turns today")
    ),
)
SITTING = Said("Sitting", "{clock}", clock=rf"[+-]?{CLOCK}")
SCORE = Said("W-L-push", "{won}-{lost}-{push}", won=r"\d+", lost=r"\d+", push=r"\d+")
YOUR_POT = Said("Your pot: {coins}.")
BANKROLL = versions("Bankroll")
POT = versions("Pot")
NET = versions("Net")
BACCARAT = versions("Baccarat")
PUSH = Said("push")

# Outcomes of a hand.

# An amount is coins with the same in time, or time or play money alone.
WON = one_of(Said("You win {coins}: {span}."), Said("You win {amount}.", amount=_ALONE))
LOST = one_of(Said("You lose {coins}: {span}."), Said("You lose {amount}.", amount=_ALONE))
EVEN = one_of(Said("Push: your bet comes back."), Said("Tie: your bet comes back."))
INSURANCE_LOST = Said("Your insurance of {coins} is lost.")
LAY_THERE = one_of(
    Said("Seats are kept for {time}."),
    Said("A round is still on the table. Seats are kept for {time}."),
    Said("You're back at your hand."),
)
PLAYED_OUT_WON = Said("Your hand at Vegas was played out: you won {time}.")
PLAYED_OUT_LOST = Said("Your hand at Vegas was played out: you lost {time}.")
PLAYED_OUT_PUSH = Said("Your hand at Vegas was played out: push.")
