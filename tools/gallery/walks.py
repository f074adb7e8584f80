"""Callers' keys that visit every screen: each walk is one caller's evening.

A walk is the same on every terminal. It presses keys, each when the board waits for one, whatever
the screens show: those are compared as a whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from door.call.bystander import LOOK_SECONDS
from door.config import config as settings
from door.games.baccarat.events import BaccaratOutcome
from door.games.baccarat.round import BaccaratAction
from door.tables.scoring import played
from tests.door import punting
from tests.door.punting import ends, on_5
from tests.door.seated import Sitter, arrives, first_may_hit, settled, shoe
from tests.door.wall import Wall
from tests.terminal import REFUSING, Profile, Terminal
from tests.timebank.books import lay_new_books
from tests.world import BOARD, NOON, PASSWORD, World, log_on, world
from timebank.callers import callers, messages
from timebank.calls.calls import close_call, open_call
from timebank.ledger.engines import books_of
from timebank.wagers import contests, duels
from tools.gallery.seeds import CUT, SPARE, hand, insurance, raised
from tools.gallery.terminals import Looks

MINUTE = 60
# Rounds of the event loop without output before a screen counts as finished.
QUIET_ROUNDS = 30
SYSOP = "Moth"
STEADY = BOARD.replace('name = "The Test Board"', f'name = "The Midnight Oil"\nsysop = "{SYSOP}"')
NOBODYS_HASH = ""  # no password fits it
# Here cards fall one by one, at the clock that the walk moves.
LIVELY = STEADY.replace('animation = "off"', 'animation = "normal"')
CHECK_PAGE = "https://oil.example/check.html"
TOMLS = {
    "time-up": f"{STEADY}\n[calls]\nminutes_per_day = 1\n",
    "grace": f"{STEADY}\n[calls]\nminutes_per_day = 2\ngrace_minutes = 5\n",
    "last-turn": f"{STEADY}\n[games.black-jack-for-time]\nturns_per_day = 1\n",
    "checked": f'{STEADY}\n[fairness]\ncheck_address = "{CHECK_PAGE}"\n',
    "staged": LIVELY,
    "duel": f"{STEADY}\n[timebank]\nknown_days = 0\n",
    # Open on the day of the walk; two hands, and Ada is known.
    "tournament": (
        f"{STEADY}\n[timebank]\nknown_days = 0\n"
        '[tournament]\nday = "fri"\nhour = 0\nhours = 14\nhands = 2\nentry_minutes = 5\n'
    ),
}
# Every second of a board is lived through, so the last minutes of a tournament are enough.
BEGINS = {"tournament": NOON + timedelta(minutes=115)}
HEADERS = {"bjft": "b", "baccarat": "c", "red-dog": "r", "vegas": "v"}  # the keys of their games
DEAL_KEYS = " " + "s " * 9  # stand the hands of the world's deal of that day, except the first
MOST_PAGES = 9
MOMENT, LONGEST = 0.05, 20.0  # seconds that a walk waits at a time, and at most, for a banner
RECOVERY_CODE = "CARDS-CHIPS-CL0CK-GREEN-FELT5"  # where every caller has another one


BOXES = {
    ("cp437", "colour"): "1",
    ("utf-8", "colour"): "2",
    ("ascii", "mono"): "4",
    ("ascii", "lines"): "5",
    ("petscii", "colour"): "1",
    ("atascii", "colour"): "1",
}


class Shot(NamedTuple):
    name: str
    text: str
    terminal: Terminal


class Evening:
    """One caller on one terminal, and the screens stored from their evening."""

    def __init__(
        self, board: World, profile: Profile, looks: Looks, keep: Callable[[Shot], None]
    ) -> None:
        self.board = board
        self.profile = profile
        self.looks = looks
        self.terminal: Terminal
        self._keep = keep
        self._told = 0

    @property
    def scrolls(self) -> bool:
        look, *_ = self.looks.values()
        return look["paint"] == "lines"

    def deals(self, *seeds: bytes) -> None:
        """Have the next shoes come from these seeds."""
        self.board.seeds = [*seeds, *SPARE]

    @property
    def box(self) -> str:
        """The correct box for this terminal, of those shown at a first call."""
        look, *_ = self.looks.values()
        return BOXES[look["charset"], look["paint"]]

    async def dials(self) -> None:
        self.terminal = await self.board.call(self.profile)
        self._told = 0
        await self.terminal.until("Name:")

    async def visits(self, name: str, *, saved: int = 0) -> None:
        """Come to the main menu as a known caller."""
        self.board.enter(name, saved=saved, looks=self.looks)
        self.terminal = await self.board.call(self.profile)
        await log_on(self.terminal, name)
        await self.settles()
        await self.press(" ")
        self._told = len(self.terminal.transcript)

    async def settles(self) -> None:
        """Wait until the board asks for a key, or has hung up, and all of it is on the screen."""
        quiet = read = 0
        while quiet < QUIET_ROUNDS:
            await self.board.at_rest()
            await asyncio.sleep(0)
            came = len(self.terminal.wire)
            still = came == read and (self.terminal.closed or self._is_asked())
            quiet, read = (quiet + 1 if still else 0), came

    def _is_asked(self) -> bool:
        board = self.board.server.board
        consoles = [each for each in board.consoles if not isinstance(each.line, Wall)]
        return bool(consoles) and all(each.screen.awaits_key for each in consoles)

    async def watches(self, *texts: str) -> None:
        """Let time pass until one of `texts` is on a moving screen."""
        waited = 0.0
        while not (self.scrolls or any(text in self.terminal.picture for text in texts)):
            assert waited < LONGEST, f"none of {texts}:\n{self.terminal.picture}"
            waited += MOMENT
            await self.board.clock.advance(MOMENT)
            await self.settles()

    async def turns_to(self, text: str) -> None:
        """Leaf to the page that has `text`."""
        for _ in range(MOST_PAGES):
            if text in self.terminal.heard or text in self.terminal.picture:
                return
            await self.press("n")
        raise AssertionError(f"no {text!r}:\n{self.terminal.picture}")

    async def press(self, *keys: str) -> None:
        """Press these keys, each after the result of the one before is on the screen."""
        for each in keys:
            self.terminal.send(each)
            await self.settles()

    async def take(self, name: str, *keys: str) -> None:
        """Press keys and store the screen; of scrolling lines, those since the last one."""
        await self.press(*keys)
        output = self.terminal.transcript[self._told :].replace("\r", "")
        self._told = len(self.terminal.transcript)
        text = output if self.scrolls else self.terminal.picture
        lines = [line.rstrip() for line in text.split("\n")]
        self._keep(Shot(name, "\n".join(lines).strip("\n") + "\n", self.terminal))


async def first_call(here: Evening) -> None:
    await here.dials()
    await here.settles()
    await here.take("welcome")
    await here.take("new-name", "new\r")
    await here.take("new-password", "Ada\r")
    await here.take("recovery-code", f"{PASSWORD}\r", f"{PASSWORD}\r")
    await here.take("look", " ")
    await here.take("tour-offer", here.box)
    await here.take("tour-minutes", "y")
    await here.take("tour-hand", "\r")
    await here.take("tour-bank", "\r")
    await here.take("tour-practice", "\r")
    await here.take("tour-practice-card", "h")
    await here.take("tour-practice-win", "s")
    await here.take("first-menu", " ")


async def lobby(here: Evening) -> None:
    await here.visits("Ada", saved=30 * MINUTE)
    await here.take("menu")
    await here.take("help", "?")
    await here.press("q")
    await here.take("who-is-on", "w")
    await here.take("bulletin", "q", "n")
    await here.take("settings", "q", "y")
    await here.take("bank", "q", "t")
    await here.take("bank-deposit", "d")
    await here.take("bank-deposited", "5\r", "y")
    await here.take("goodbye", "q", "g", "y")


async def company(here: Evening) -> None:
    """Read another caller's message, and write to them."""
    here.board.enter("Ada", looks=here.looks)
    here.board.enter("Bob")
    with here.board.books() as desk:
        ada, bob = callers.find(desk, "Ada"), callers.find(desk, "Bob")
        assert ada is not None
        assert bob is not None
        messages.send(desk, bob.id, ada, "Vegas at nine? Bring coins.", messages.Limits())
    here.terminal = await here.board.call(here.profile)
    await log_on(here.terminal, "Ada")
    await here.settles()
    await here.take("message-waits")
    await here.press(" ")
    await here.take("message-field", "/", *"p Bob I'll be there")
    await here.take("message-sent", "\r")
    await here.take("messages", "m")
    await here.take("one-liner", "o", "Lucky in time, lucky in love.\r")
    await here.take("messages-read", "r")
    await here.press(" ")
    await here.board.pass_time(MINUTE)
    await here.take("menu-lives", "q")
    bob_calls = await here.board.call(REFUSING)
    await log_on(bob_calls, "Bob")
    await bob_calls.until("Press any key")  # under the message for Bob
    await here.settles()
    await here.board.pass_time(1)
    await here.settles()
    await here.take("caller-comes")


async def fame(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(hand(ends="natural"), hand(ends="push"), hand(ends="natural"))
    await here.press("b", *("b", "5\r") * 3, "q")
    await here.take("statistics", "s")
    await here.take("awards", "a")
    await here.take("hall-of-fame", "q", "q", "h")
    await here.take("hall-of-fame-ever", "e")


async def daily_deal(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    await here.take("daily-deal", "d")
    await here.take("daily-deal-rules", "r")
    await here.take("daily-deal-hand", "q", "p")
    await here.take("daily-deal-hand-over", "s")
    await here.press(*DEAL_KEYS)
    await here.take("daily-deal-ranking")


async def tournament(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(bytes([6]) * 32)
    await here.take("tournament-on", "d")
    await here.take("tournament", "t")
    await here.take("tournament-rules", "r")
    await here.take("tournament-entry", "q", "p")
    await here.take("tournament-hand", "y")
    await here.press("s", " ", "s", " ")
    await here.take("tournament-ranking")
    await here.press("q", "q", "g", "y")
    await here.board.clock.advance(5 * MINUTE)
    while here.board.server.board.champion is None:  # a look after the end shows the winner
        await here.board.clock.advance(MINUTE)
        await here.board.at_rest()
    await here.dials()
    await here.settles()
    await here.take("welcome-champion")
    await log_on(here.terminal, "Ada")
    await here.settles()
    await here.take("tournament-won")
    await here.press(" ")
    await here.take("tournament-last", "d", "t")


async def duel(here: Evening) -> None:
    here.board.enter("Bob", saved=60 * MINUTE)
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(bytes([6]) * 32)
    await here.press("d")
    await here.take("duels", "u")
    await here.take("duel-stake", "c", "Bob\r", "10\r")
    await here.take("duels-asked", "y", " ")
    _play_as_bob(here.board)
    await here.take("duel", "1")
    await here.press("p", "s", " ", "s", " ", "s", " ", "s", " ", "s", " ")
    await here.take("duel-review", "v")


def _play_as_bob(board: World) -> None:
    """Accept the duel for Bob, who then hits in every hand until it is over."""
    with board.books() as desk:
        bob = callers.number_named(desk, "Bob")
        call = open_call(desk, bob, 97, "another server", "192.0.2.9", take_over=False).call_id
        (found,) = duels.listing(desk, 1)
        duels.accept(desk, call, 0, found.seal)
        duels.begin(desk, found.seal, bob)
        acts: list[str] = []
        game = played(found, acts)
        while game.current is not None:
            word = "hit" if "hit" in game.current.legal() else str(game.current.legal()[-1])
            game = played(found, [*acts, word])
            score = game.score if game.is_over else None
            contests.act(desk, found, bob, acts, word, score)
            acts.append(word)
        close_call(desk, call, 0, "log-off")


async def time_up(here: Evening) -> None:
    await here.visits("Ada")
    await here.board.pass_time(MINUTE + 2)
    await here.settles()
    await here.take("time-up")


async def grace(here: Evening) -> None:
    await here.visits("Ada")
    here.deals(hand("hit", "stay", ends="win"))
    await here.press("b", "b", "1\r", "h", "s", "q")
    await here.board.pass_time(3 * MINUTE + 2)
    await here.settles()
    await here.take("grace")
    await here.take("goodbye-after-grace", "g")


async def last_turn(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(hand(ends="push"))
    await here.take("bjft-last-turn", "b", "b", "5\r")
    await here.take("menu-last-turn", " ")
    await here.take("goodbye-after-hands", "g", "y")


async def black_jack_for_time(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(hand("hit", "stay", ends="win"))
    await here.take("bjft", "b")
    await here.take("bjft-help", "?")
    await here.take("bjft-rules", "q", "r")
    await here.take("bjft-fairness", "q", "f")
    await here.take("bjft-bet", "q", "b")
    await here.take("bjft-hand", "5\r")
    await here.take("bjft-card", "h")
    await here.take("bjft-win", "s")
    here.deals(hand("hit", ends="bust"))
    await here.take("bjft-fairness-seed", "f")
    await here.press("q")
    await here.take("bjft-bust", "b", "5\r", "h")
    here.deals(hand(ends="natural"))
    await here.take("bjft-natural", "b", "5\r")
    here.deals(hand("hit", "hit", "hit", ends="charlie"))
    await here.take("bjft-charlie", "b", "5\r", "h", "h", "h")
    here.deals(insurance())
    await here.take("bjft-insurance", "b", "5\r")
    await here.press("n", "s")
    here.deals(hand("hit", "stay", ends="win", cut=CUT))
    await here.press("c", "u")
    await here.take("bjft-cut", "b")
    await here.take("bjft-tutor", f"{CUT}\r", "10\r")


async def checked(here: Evening) -> None:
    """Go from a hand to the link to the page that checks it."""
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(hand("hit", "stay", ends="win", cut=CUT))
    await here.press("b", "c", "b", f"{CUT}\r", "5\r", "h", "s", "f")
    await here.turns_to("Check hand")
    await here.take("bjft-check")


async def staged(here: Evening) -> None:
    """Show what waves across the felt for a moment, and the moving cards."""
    await here.visits("Ada", saved=60 * MINUTE)
    for name, key in HEADERS.items() if not here.scrolls else ():
        await here.take(f"{name}-header", key)
        await here.press(" ", "q")
    await here.press("b", " ")
    here.deals(hand(ends="natural"))
    await here.take("bjft-dealing", "b", "5\r")
    await here.watches("B L A C K J A C K !")
    await here.take("bjft-natural-banner")
    await here.watches("BLACKJACK!")
    here.deals(hand("hit", "hit", "hit", ends="charlie"))
    await here.press("b", "5\r", " ", "h", " ", "h", " ", "h")
    await here.watches("FIVE-CARD CHARLIE!", "F I V E")
    await here.take("bjft-charlie-banner")


async def red_dog(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    await here.take("red-dog", "r")
    await here.take("red-dog-help", "?")
    await here.take("red-dog-rules", "q", "r")
    here.deals(raised())
    await here.take("red-dog-hand", "q", "b", "5\r")
    await here.take("red-dog-raise", "a")


async def vegas(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(shoe(2, first_may_hit))
    await here.take("vegas", "v")
    await here.take("vegas-help", "?")
    await here.take("vegas-rules", "q", "r")
    await here.take("vegas-fairness", "q", "f")
    bob = await _bob_comes(here)
    await here.take("vegas-company", "q")
    await here.take("vegas-bet", "b", "5\r")
    await bob.is_ready(3)
    await settled(here.board.server.board)
    await here.settles()
    await here.take("vegas-turn")
    await here.take("vegas-card", "h")
    await here.press("s")
    bob.says("Dealer, be kind.")
    await bob.does("stay")
    await settled(here.board.server.board)
    await here.settles()
    await here.take("vegas-end")


async def watching(here: Evening) -> None:
    """Sit behind a caller who plays, goes to the bank and gets up."""
    await here.visits("Ada", saved=60 * MINUTE)
    here.board.enter("Bob")
    bob = await here.board.call(REFUSING)
    await log_on(bob, "Bob")
    await bob.until_heard("Press any key")
    await bob.send(" ").until_heard("Goodbye (G)")  # the first key may wait for an Enter
    bob.send("v")
    await here.settles()
    await here.take("who-plays", "w")
    await here.press("w")
    here.deals(shoe(1, first_may_hit))
    for keys in ("b", "5\r", "h"):
        await _does(here, bob, keys)
    await here.take("watching")
    await _does(here, bob, "t")
    await here.take("watching-nothing")
    await _does(here, bob, "q")
    await _does(here, bob, "qy")
    await here.take("watching-is-over")


async def _does(here: Evening, other: Terminal, keys: str) -> None:
    """Let another caller press keys, and their watchers see the results."""
    other.send(keys)
    await here.settles()
    await here.board.clock.advance(2 * LOOK_SECONDS)
    await here.settles()


async def _bob_comes(here: Evening) -> Sitter:
    return await (await arrives(here.board, "Bob")).sits()


async def baccarat(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(punting.seed_where(on_5(BaccaratAction.CARD, ends=BaccaratOutcome.PLAYER)))
    await here.take("baccarat-mode", "c")
    await here.take("baccarat", "t")
    await here.take("baccarat-help", "?")
    await here.take("baccarat-rules", "q", "r")
    await here.take("baccarat-fairness", "q", "f")
    await here.take("baccarat-bet", "q", "\r")
    await here.take("baccarat-card", "5\r")
    await here.take("baccarat-win", "y")


async def bank_broken(here: Evening) -> None:
    """The bankroll doubles until the bank has nothing left; then the same table in French."""
    wins = ends(BaccaratOutcome.PLAYER)
    await here.visits("Ada", saved=60 * MINUTE)
    here.deals(punting.seed_where(wins, wins, wins, wins, ends(BaccaratOutcome.BANK)))
    await here.take("baccarat-bank", "c", "d")
    await here.take("baccarat-all", "b", "100000\r")
    for wager in (200_000, 400_000):
        await here.press("b", f"{wager}\r")
    await here.take("baccarat-broken", "b", "300000\r")
    await here.take("baccarat-plate", " ")
    await here.take("baccarat-french", "l")
    await here.take("baccarat-french-rules", "r")
    await here.press("q", "q", "h")
    await here.take("brass-plate", "b")


async def french(here: Evening) -> None:
    await here.visits("Ada", saved=60 * MINUTE)
    await here.take("french-settings", "y", "l")
    await here.take("french-menu", "q")
    await here.take("french-bank", "t")
    await here.press("q", "b")
    here.deals(hand("hit", "stay", ends="win"))
    await here.take("french-bjft", "b", "5\r")
    await here.press("h", "s")
    await here.take("french-bjft-rules", "r")
    await here.take("french-vegas", "q", "q", "v")


async def unix_bj(here: Evening) -> None:
    await here.visits("Ada")
    await here.take("unix-bj", "u")
    await here.take("unix-bj-manual", "m")
    await here.take("unix-bj-hand", "q", "p")


WALKS: dict[str, Callable[[Evening], Awaitable[None]]] = {
    "first-call": first_call,
    "lobby": lobby,
    "company": company,
    "fame": fame,
    "daily-deal": daily_deal,
    "tournament": tournament,
    "duel": duel,
    "time-up": time_up,
    "grace": grace,
    "last-turn": last_turn,
    "black-jack-for-time": black_jack_for_time,
    "checked": checked,
    "staged": staged,
    "red-dog": red_dog,
    "vegas": vegas,
    "watching": watching,
    "baccarat": baccarat,
    "bank-broken": bank_broken,
    "french": french,
    "unix-bj": unix_bj,
}


async def walk(
    name: str,
    folder: Path,
    profile: Profile,
    looks: Looks,
    keep: Callable[[Shot], None],
) -> None:
    """Let one caller have this evening on a separate board."""
    toml = TOMLS.get(name, STEADY)
    _enter_the_sysop(folder, toml)
    with mock.patch("door.session.recovery.new_code", return_value=RECOVERY_CODE):
        async with world(folder, toml=toml, now=BEGINS.get(name, NOON)) as board:
            evening = Evening(board, profile, looks, keep)
            evening.deals()
            await WALKS[name](evening)


def _enter_the_sysop(folder: Path, toml: str) -> None:
    """Lay books that know the sysop already, or the board would warn of a name without a caller."""
    file = folder / "sysop.toml"
    file.write_text(toml, encoding="utf-8")
    config = settings.load(file)
    config.board.data.mkdir(parents=True)
    lay_new_books(config.database)
    database = books_of(config.bank)
    database.open()
    with database.transaction(config.bank, NOON) as desk:
        callers.register_kept(desk, SYSOP, NOBODYS_HASH, powers=True)
    database.close()
