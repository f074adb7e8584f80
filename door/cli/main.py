"""The `door` command: run the board, check its settings, look after callers, doubt a hand.

Every import beyond click waits until a command needs it: `door --help` must be quick.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TypedDict, Unpack

import click

from door.cli.common import DEFAULT_CONFIG, config_option, load_config, need, rows_option
from door.cli.config import config_group
from door.cli.events import event
from door.cli.init import init
from door.cli.setup import setup
from door.cli.sysop import drain, forgive, kick, nodes, open_, refused, say, stop
from door.cli.top import top
from door.errors import BoardClosed, CannotJoin, CannotListen, NoSuchHand, PasswordRefused
from door.run import relay
from timebank.cli.common import (
    NUMBER,
    WholeNumber,
    by_option,
    format_option,
    sheet,
    show,
)
from timebank.cli.common import say as say_lines
from timebank.cli.errors import EXIT_WRONG, Commands, UserError, refusing
from timebank.errors import NameRefused
from timebank.language import LANGUAGES

LONGEST_NUMBER = 18  # digits, of a caller's number
NO_WORKERS = (
    "--workers is ignored: one process serves the board. To use more cores, run a second server on"
    " PostgreSQL, behind HAProxy (docs/many-machines.md)."
)

if TYPE_CHECKING:
    from datetime import datetime

    from door.config.config import Config
    from door.tables.unix_bj.teletype import Prompts
    from timebank.callers.callers import CallerRecord
    from timebank.ledger.database import Desk


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="blackjack-for-time", prog_name="door")
def main() -> None:
    """Black Jack For Time: a BBS door game board over telnet."""


for command in (
    config_group,
    init,
    setup,
    nodes,
    top,
    kick,
    say,
    refused,
    forgive,
    event,
    drain,
    stop,
    open_,
):
    main.add_command(command)


@main.command()
@config_option
@click.option("--verbose", is_flag=True, help="Log every call.")
@click.option("--workers", hidden=True)  # of the unit files of earlier releases
@click.option("--try", "tries", is_flag=True, help="Play at once, on a board that does not stay.")
def serve(config_path: Path, verbose: bool, workers: str | None, tries: bool) -> None:
    """Open the board. Ctrl-C or SIGTERM closes it; SIGHUP reloads the settings."""
    if workers is not None:
        click.echo(NO_WORKERS, err=True)
    if tries:
        from door.setup import trial

        with trial.board() as settings:
            _announce("This board is to try the games: nothing of it stays when it closes.")
            _serve(load_config(settings), verbose, is_trial=True)
        return
    if not config_path.exists():
        raise UserError(
            f"There is no {config_path} here. `door init` makes a board in this folder, `door serve"
            " --try` plays at once on a board that does not stay, and --config names the settings"
            " of a board elsewhere."
        )
    _serve(load_config(config_path), verbose)


def _serve(config: Config, verbose: bool, *, is_trial: bool = False) -> None:
    import asyncio

    from door.server import server
    from timebank.errors import BooksFailed, BooksTaken, DatabaseRefused

    _log_to_stderr(config, verbose, is_trial=is_trial)
    with (
        refusing(DatabaseRefused, BooksTaken, BooksFailed, CannotJoin, CannotListen),
        refusing(BoardClosed, OSError),
        asyncio.Runner(loop_factory=server.loop_of(config)) as runner,
    ):
        runner.run(server.serve(config, _announce, is_trial=is_trial))


@main.command()
@config_option
@click.option("--host", help="The address to listen on, instead of that of [pages].")
@click.option("--port", type=WholeNumber(1, 65535), help="The port, likewise.")
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A certificate in PEM, likewise: the pages are shown by TLS then.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Its key, without a password.",
)
@click.option("--with-server", is_flag=True, hidden=True)
def pages(
    config_path: Path,
    host: str | None,
    port: int | None,
    certificate: Path | None,
    key: Path | None,
    with_server: bool,
) -> None:
    """Show the books in a browser to callers with sysop powers, who may act on them there."""
    from door.server.pages_process import NOT_INSTALLED
    from timebank.errors import BooksFailed, DatabaseRefused

    try:
        from door.desk.pages import pages_server
    except ImportError as missing:
        raise UserError(NOT_INSTALLED) from missing
    config = load_config(config_path)
    _log_to_stderr(config, verbose=False)
    own = config.pages
    if certificate is None and key is None:
        certificate, key = own.certificate, own.key
    # A server that starts them has the other end of their input.
    pipe = sys.stdin.fileno() if with_server else None
    with refusing(DatabaseRefused, BooksFailed, CannotListen, OSError):
        place = (host or own.host, port or own.port, certificate, key)
        pages_server.serve(config, *place, _announce, pipe)


@main.command()
@config_option
@click.option("--host", help="The address to listen on, instead of that of [metrics].")
@click.option("--port", type=WholeNumber(0, 65535), help="The port, likewise.")
def metrics(config_path: Path, host: str | None, port: int | None) -> None:
    """Tell Prometheus how the board is, by a process beside it."""
    from timebank.errors import BooksFailed, DatabaseRefused

    try:
        from door.desk.metrics import exporter
    except ImportError as missing:
        raise UserError(
            "Metrics need a library that is not installed: run"
            " pip install 'blackjack-for-time[metrics]'."
        ) from missing
    config = load_config(config_path)
    own = config.metrics
    with refusing(DatabaseRefused, BooksFailed, CannotListen, OSError):
        where = host or own.host, own.port if port is None else port
        exporter.serve(config, *where, _announce)


def _log_to_stderr(config: Config, verbose: bool, *, is_trial: bool = False) -> None:
    import logging

    from door.config.log_file import formatter, to_stderr

    handler = to_stderr(sys.stderr)
    handler.setFormatter(formatter(config, "%(asctime)s %(levelname)s %(name)s: %(message)s"))
    usual = logging.ERROR if is_trial else logging.WARNING  # nobody minds what a trial lacks
    handler.setLevel(logging.INFO if verbose else usual)
    logging.basicConfig(level=handler.level, handlers=[handler], force=True)


def _announce(words: str) -> None:
    """Print a line. A board that nobody listens to any more, because the program at the other end
    of the pipe has gone, serves on."""
    try:
        click.echo(words)
    except OSError:
        # What could not be printed is tried again at the end of the process, and then fails it.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


dropfile_option = click.option(
    "--dropfile",
    type=click.Path(path_type=Path),
    help="The drop file or its folder. Default: the environment, then the current folder.",
)
node_option = click.option("--node", type=WholeNumber(0, 9999), help="The node's number.")


@main.command("run")
@config_option
@dropfile_option
@click.option(
    "--door", "table", metavar="CODE", help="Go straight to this table; leaving it ends the call."
)
@click.option("--board", metavar="NAME", help="The board that starts it, from [boards.NAME].")
@node_option
@click.option("--stdio", is_flag=True, help="The caller is on standard input and output.")
@click.option(
    "--socket", type=WholeNumber(0), metavar="FD", help="The caller is on this descriptor."
)
@click.option("--connect", metavar="HOST:PORT", help="Connect back to the board there.")
@click.option("--telnet/--no-telnet", default=None, help="Whether the socket speaks telnet.")
@click.option(
    "--charset",
    type=click.Choice(relay.CHARSETS),
    help="The board's character set; cp437-text is CP437 without the symbols below 20h.",
)
@click.option(
    "--size", metavar="COLUMNSxROWS", help="The caller's window, as the board knows it: 80x24."
)
@click.option("--local", is_flag=True, help="Play as the sysop, on this terminal.")
@click.option("--verbose", is_flag=True, hidden=True, expose_value=False)  # of earlier releases
def run_(**_: object) -> None:
    """Serve one caller from another board (see docs/door-mode.md)."""
    # `door.run.relay` has done what it could read, and click refuses what it cannot read itself.
    raise click.UsageError(
        "Write each option as --help has it, and choose one of --stdio, --local, --socket and"
        " --connect."
    )


@main.command()
@config_option
@dropfile_option
@click.option("--board", metavar="NAME", help="The board that starts the door, from [boards.NAME].")
@node_option
def doctor(config_path: Path, dropfile: Path | None, board: str | None, node: int | None) -> None:
    """Explain how `door run` would read a drop file; nothing is changed."""
    from door.cli import doctor as cli_doctor
    from door.errors import DropFileRefused
    from door.session.arrival import Asked
    from timebank.errors import BooksFailed, DatabaseRefused

    config, asked = load_config(config_path), Asked(dropfile, board, node)
    try:
        with refusing(DatabaseRefused, BooksFailed):
            said = cli_doctor.examine(config, asked)
    except DropFileRefused as refused:
        told = (str(refused), f"The caller would be told: {refused.polite}")
        raise UserError("\n".join((*told, *cli_doctor.remedy(config, asked)))) from refused
    for sentence in said:
        click.echo(sentence)


@main.command()
@config_option
def check(config_path: Path) -> None:
    """Check the settings and their certificates; report every mistake."""
    from door.cli.check import report
    from timebank.errors import SettingsError

    need(config_path)
    with refusing(SettingsError):
        said = report(config_path)
    for words in said:
        click.echo(words)


@main.command()
@config_option
@click.argument("table", required=False)
@click.option(
    "--rules",
    "rules",
    metavar="KEY=VALUE",
    multiple=True,
    help="A rule as in sysop.toml, in place of the house's; may be given more than once.",
)
@click.option("--evening", is_flag=True, help="What is left of a pot after an evening.")
@click.option("--turns", type=int, help="Turns of the evening; else those of a day.")
@click.option("--pot", type=int, metavar="COINS", help="What a caller comes with; else the day's.")
@click.option("--bet", type=int, metavar="COINS", help="Of every turn; else the largest.")
@click.option("--callers", type=int, help="Who play; else as many as there are nodes.")
@click.option("--event", type=int, metavar="MINUTES", help="To the next event; else none comes.")
@click.option("--card", is_flag=True, help="The strategy card: what to do with which hand.")
@click.option("--svg", is_flag=True, help="The card as a picture.")
@rows_option
def odds(
    config_path: Path,
    table: str | None,
    rules: tuple[str, ...],
    evening: bool,
    card: bool,
    svg: bool,
    form: str,
    **asked: int | None,
) -> None:
    """Show what a TABLE, or every table, is worth to its callers: exact odds for its rules.

    Without a sysop.toml in this folder: the odds of the default rules. CSV has a line for each way
    to play; cards and evenings are text or JSON.
    """
    from door.cli import odds as cli_odds
    from timebank.reports import tables

    is_set = config_path.exists() or config_path != DEFAULT_CONFIG
    config = load_config(config_path) if is_set else None
    if form == "csv" and (evening or card):
        raise UserError("A card and an evening are text or JSON: CSV is of the odds themselves.")
    if (evening and card) or (svg and (form == "json" or not card)):
        raise UserError("--evening and --card are two things, and --svg is one way to see a card.")
    if card:
        found = cli_odds.tables(config, table, rules)
        shown = cli_odds.show_cards(found, "svg" if svg else form)
    elif evening:
        from door.cli import evening as cli_evening

        found = cli_odds.tables(config, table, rules)
        wanted = cli_evening.EveningAsked(**asked)
        shown = cli_evening.show(config, found, wanted, as_json=form == "json")
    elif any(each is not None for each in asked.values()):
        raise UserError("--turns, --pot, --bet, --callers and --event belong to --evening.")
    else:
        shown = cli_odds.show(config, table, rules, form)
    if form == "text" and not svg:
        show(tables.written(shown, sheet()))
    else:
        say_lines(tables.written(shown))  # for programs: as wide as it is


@main.command()
@click.argument("file", type=click.File("rb"))
def replay(file: BinaryIO) -> None:
    """Replay a hand, or a list of hands, from a JSON FILE (- for standard input)."""
    from door.games import json_replay as replays
    from door.games.engine.errors import ReplayError

    try:
        text = file.read().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"Can't read the input: {error}.") from error
    with refusing(ReplayError):
        click.echo(replays.render(replays.replay(replays.parse(text))))


@main.command()
@click.option("--seed", required=True, help="The seed (64 hexadecimal digits).")
@click.option(
    "--cut",
    "cuts",
    multiple=True,
    help="The phrase the caller cut the cards with; where several did, one after the other.",
)
@click.option(
    "--chain",
    "link",
    type=WholeNumber(1, 500),
    help="The shoe's number in its chain, if its seed was sealed ahead.",
)
@click.option("--decks", default=1, show_default=True, help="Decks in the shoe.")
@click.option(
    "--shuffle",
    "number",
    default=1,
    show_default=True,
    help="Which shuffle of the seed, if the shoe was reshuffled.",
)
@click.option(
    "--toss",
    "tosses",
    type=WholeNumber(0, 9999),
    multiple=True,
    metavar="P",
    help="Show the Baccarat toss before card P of the shoe, counted from 0.",
)
def verify(
    seed: str,
    cuts: tuple[str, ...],
    link: int | None,
    decks: int,
    number: int,
    tosses: tuple[int, ...],
) -> None:
    """Print a seed's seal and the order of its cards."""
    from door.games.engine import shuffle

    try:
        raw = bytes.fromhex(seed)
    except ValueError as error:
        raise UserError("--seed takes hexadecimal digits.") from error
    if decks not in range(1, 9):
        raise UserError("--decks takes 1 to 8.")
    if number < 1:
        raise UserError("--shuffle takes 1 or more.")
    if link is None and len(cuts) > 1:
        raise UserError("--cut goes in more than once only with --chain.")
    text = "\n".join(cuts)
    cut = text if link is None else shuffle.Phrases(text, link)
    with refusing(ValueError):
        seal, cards = shuffle.seal(raw), shuffle.shuffle(raw, cut, decks, number)
        anchor = "" if link is None else shuffle.anchor(raw, link)
        told = [] if link is None else [shuffle.commitment(raw, each, link) for each in cuts]
    click.echo(f"seal {seal}")
    if anchor:
        click.echo(f"anchor {anchor}")
    for each in told:
        click.echo(f"commitment {each}")
    for start in range(0, len(cards), 13):
        click.echo(" ".join(cards[start : start + 13]))
    for position in tosses:
        came = "a card for the bank" if shuffle.toss(raw, cut, position) else "no card for the bank"
        click.echo(f"toss before card {position}: {came}")


@main.command()
@click.option(
    "--prompts",
    type=click.Choice(["1975", "1971"]),
    default="1975",
    show_default=True,
    help="Ask as the program did, or with the bare ? of its first manual.",
)
@click.option("--seed", help="Replay the cards of this seed (64 hexadecimal digits).")
def bj(prompts: Prompts, seed: str | None) -> None:
    """Play the UNIX game bj here: y is yes, Enter is no, DEL or Ctrl-C quits."""
    from door.cli import bj as cli_bj

    try:
        raw = None if seed is None else cli_bj.read_seed(seed)
    except ValueError as error:
        raise UserError("--seed takes 64 hexadecimal digits.") from error
    cli_bj.bj(prompts, raw)


@main.command()
@config_option
@click.argument("number", type=NUMBER)
@click.option("--json", "as_json", is_flag=True, help="As JSON for `door replay`.")
@click.option("--proof", "as_proof", is_flag=True, help="As JSON for the page that checks hands.")
@click.option("--cast", "as_cast", is_flag=True, help="As a film of its table: an asciicast.")
@click.option("--to", type=NUMBER, help="The film goes on to this hand of the table.")
@click.option("--day", is_flag=True, help="The film goes on to the end of the day.")
@click.option("--size", default="80x24", show_default=True, help="The film's columns and rows.")
@click.option(
    "--charset",
    type=click.Choice(["utf-8", "cp437", "ascii"]),
    default="utf-8",
    show_default=True,
    help="The letters that are painted with; the film is UTF-8 in each.",
)
@click.option("--language", type=click.Choice(list(LANGUAGES)), default="en", show_default=True)
def hand(
    config_path: Path,
    number: int,
    as_json: bool,
    as_proof: bool,
    as_cast: bool,
    **film: Unpack[FilmAsked],
) -> None:
    """Show a played hand: seal, seed (once the shoe is done), cards, actions, transfers.

    With --cast, print a film of it for `asciinema play`, or of an evening at its table.
    """
    from door.games import hand_check as hands
    from door.games import proofs

    if as_json + as_proof + as_cast > 1:
        raise UserError("--json, --proof and --cast are different forms: ask for one.")
    if as_cast:
        _film(load_config(config_path), number, film)
        return
    with _reading(load_config(config_path)) as desk, refusing(NoSuchHand):
        form = hands.as_json if as_json else proofs.as_proof if as_proof else hands.describe
        text = form(desk, number)
    click.echo(text)


class FilmAsked(TypedDict):
    to: int | None
    day: bool
    size: str
    charset: str
    language: str


def _film(config: Config, number: int, asked: FilmAsked) -> None:
    from ansi.charset import Charset
    from door.tables import film

    try:
        reel = film.reel_of(asked["size"], asked["language"], Charset(asked["charset"]))
    except ValueError as error:
        least, most = ("x".join(map(str, size)) for size in (film.LEAST_SIZE, film.LARGEST_SIZE))
        raise UserError(f"--size takes columns and rows, {least} to {most}.") from error
    last = asked["to"]
    if last is not None and asked["day"]:
        raise UserError("--to and --day both say where the film ends: give one.")
    if last is not None and last < number:
        raise UserError(f"--to {last} is before hand {number}.")
    with _reading(config) as desk, refusing(NoSuchHand):
        is_one = last is None and not asked["day"]
        shown = [film.the_hand(desk, number)] if is_one else film.evening(desk, number, last)
        lines = list(film.film(shown, reel))
    click.echo("".join(lines), nl=False)


@main.command()
@config_option
@format_option
@click.option(
    "--since-hand",
    metavar="NUMBER",
    type=WholeNumber(1),
    default=1,
    help="Replay hands from this one on; the books are checked whole.",
)
@click.option(
    "--since-last",
    is_flag=True,
    help="Check what came after the checkpoint that `timebank audit` left last, and replay the"
    " hands since the last audit that replayed them.",
)
@click.option(
    "--jobs",
    type=WholeNumber(1, 64),
    help="How many processes check, each on a core of its own.  [default: by cores and hands]",
)
def audit(
    config_path: Path, form: str, since_hand: int, since_last: bool, jobs: int | None
) -> None:
    """Check the books, and replay every settled hand and every try at a daily deal or tournament.

    Exits with 1 and names what is wrong. The digest of the last transfer is shown as `timebank
    audit` shows it.
    """
    from door.games import hand_check as hands
    from timebank.audit import jobs as audit_jobs
    from timebank.audit.checkpoints import first_open_hand
    from timebank.cli.common import (
        Wrong,
        beginning,
        note_audit,
        replay_from,
        with_earlier,
        write_audit,
    )
    from timebank.cli.progress import working
    from timebank.errors import AuditBroken
    from timebank.keeping import last_audit
    from timebank.ledger import chain, generations, transfers
    from timebank.ledger.schema import instant
    from timebank.wagers import journal

    if since_last and since_hand > 1:
        raise click.UsageError("Choose one: --since-hand or --since-last.")
    config = load_config(config_path)
    with _reading(config) as desk, working("Checking the books and the hands"):
        begin = beginning(config.bank, desk, None, since_last)
        count = transfers.count(desk, None if begin is None else begin.last)
        jobs = jobs or audit_jobs.usual(count)
        if begin is not None:
            findings, counted = hands.audit(desk, replay_from(config.bank, desk, begin), begin)
        elif jobs > 1:
            last = journal.last_round(desk)
            with refusing(AuditBroken):
                findings, counted = hands.audit_by_jobs(
                    config.bank, desk.now, since_hand, last, jobs
                )
        else:
            findings, counted = hands.audit(desk, since_hand)
        generation, begun = generations.current(desk.connection), desk.now
        digest, hand = chain.head(desk.connection).digest, first_open_hand(desk)
    wrong = Wrong(findings)
    if begin is not None:
        wrong = with_earlier(config.bank, last_audit.HANDS, findings)
    if findings or since_hand == 1:  # a part that is in order says nothing of the rest
        note_audit(config.bank, last_audit.HANDS, begun, generation, wrong, hand=hand)
    if form != "text":
        facts = {"hands": counted, "transfers": count, "digest": digest, "generation": generation}
        write_audit(form, facts, wrong.findings)
    elif wrong:
        wrong.say("door audit")
    else:
        began = None if begin is None else config.bank.schedule.local(instant(begin.at))
        _say_in_order(counted, began, generation, digest)
    sys.exit(EXIT_WRONG if wrong else 0)


def _say_in_order(hands: int, since: datetime | None, generation: int, digest: str) -> None:
    agree = "1 settled hand was replayed and agrees"
    if hands != 1:
        agree = f"{hands} settled hands were replayed and agree"
    click.echo(f"The books are in order; {agree}.")
    if since is not None:
        said = f"Only what came after the checkpoint of {since:%Y-%m-%d %H:%M:%S} was checked."
        click.echo(said)
    if generation > 1:
        click.echo(f"They are in generation {generation}: a backup was restored.")
    click.echo(f"The last digest is {digest}.")


@main.group()
def callers() -> None:
    """Manage the board's callers."""


@callers.command("list")
@config_option
@format_option
def list_callers(config_path: Path, form: str) -> None:
    """List all callers: last call, sysop powers, who is locked out, whose account is frozen."""
    from timebank.callers import callers as callers_of
    from timebank.cli.common import tell
    from timebank.reports import people

    with _reading(load_config(config_path)) as desk:
        known, schedule = callers_of.listing(desk), desk.settings.schedule
    tell(form, [people.table(known, schedule)], people.FIELDS, people.records(known, schedule))


@callers.command()
@config_option
@by_option
@click.argument("name")
def grant(config_path: Path, by: str, name: str) -> None:
    """Give a caller sysop powers: the Sysop item at the bank's window, a node on a full board.

    NAME is written exactly as `door callers list` shows it, or is "#" and a number.
    """
    from timebank.callers import powers

    with _desk(load_config(config_path)) as desk:
        record = powers.grant(desk, _exactly(desk, name).id, by)
    click.echo(f"{_numbered(record)}, now has sysop powers.")


@callers.command()
@config_option
@by_option
@click.argument("name")
def revoke(config_path: Path, by: str, name: str) -> None:
    """Take a caller's sysop powers away, at once; NAME is as for grant."""
    from timebank.callers import powers

    with _desk(load_config(config_path)) as desk:
        record = powers.revoke(desk, _exactly(desk, name).id, by)
    click.echo(f"{_numbered(record)}, no longer has sysop powers.")


@callers.command()
@config_option
@by_option
@click.argument("name")
def lock(config_path: Path, by: str, name: str) -> None:
    """Lock a caller out, from the next log-on."""
    _set_state(config_path, by, name, "locked", True, "now locked out", "already locked out")


@callers.command()
@config_option
@by_option
@click.argument("name")
def unlock(config_path: Path, by: str, name: str) -> None:
    """Let a locked caller back in."""
    _set_state(config_path, by, name, "locked", False, "no longer locked out", "not locked out")


@callers.command()
@config_option
@by_option
@click.argument("name")
def mute(config_path: Path, by: str, name: str) -> None:
    """Let a caller say nothing to others: no message, no talk, no line at the menu."""
    _set_state(config_path, by, name, "muted", True, "now muted", "already muted")


@callers.command()
@config_option
@by_option
@click.argument("name")
def unmute(config_path: Path, by: str, name: str) -> None:
    """Let a muted caller speak again."""
    _set_state(config_path, by, name, "muted", False, "no longer muted", "not muted")


@callers.command()
@config_option
@by_option
@click.argument("name")
@click.argument("text")
def notice(config_path: Path, by: str, name: str, text: str) -> None:
    """Leave a caller a line that they read at their next log-on, or at once where they are on."""
    from timebank.keeping import caller_acts

    with _desk(load_config(config_path)) as desk:
        record = _caller(desk, name)
        words = caller_acts.leave_notice(desk, record.id, text, by)
    if not words:
        raise UserError("There is nothing to say.")
    click.echo(f"{record.name} reads it at the next log-on, or sooner: {words}")


@callers.command("second-step-off")
@config_option
@by_option
@click.argument("name")
def second_step_off(config_path: Path, by: str, name: str) -> None:
    """Let a caller log on to `door pages` without their authenticator, whose phone is lost."""
    from timebank.callers import second_step

    with _desk(load_config(config_path)) as desk:
        record = _caller(desk, name)
        if not second_step.turn_off(desk, record.id, "by the sysop", by):
            raise UserError(f"{record.name} has no authenticator set up.")
    click.echo(f"`door pages` asks {record.name} for no code any more.")


@callers.command()
@config_option
@format_option
@by_option
@click.argument("name")
@click.option("--take-away", metavar="SHA256:...", help="Take away the key of this fingerprint.")
def keys(config_path: Path, form: str, by: str, name: str, take_away: str | None) -> None:
    """Show the keys that log a caller on by SSH, or take one away."""
    from door.defence import ssh_keys
    from timebank.callers import ssh_keys as kept
    from timebank.cli.common import tell
    from timebank.keeping import caller_acts
    from timebank.reports.statements import NAME, printable
    from timebank.reports.tables import Column, Listing

    opened = _reading if take_away is None else _desk
    with opened(load_config(config_path)) as desk:
        record = _caller(desk, name)
        keys = map(ssh_keys.read, kept.of(record.preferences))
        found = {key.fingerprint: key for key in keys}
        if take_away is not None:
            if take_away not in found:
                raise UserError(f"{record.name} has no key {take_away}.")
            caller_acts.take_key_away(desk, record.id, found[take_away].line, take_away, by)
    if take_away is not None:
        click.echo(f"{take_away} no longer logs {record.name} on.")
        return
    rows = [(fingerprint, key.kind, key.name) for fingerprint, key in found.items()]
    fields = ("fingerprint", "kind", "name")
    columns = (Column("Fingerprint"), Column("Kind"), Column("Name", least=NAME))
    listed = [(each, kind, printable(called)) for each, kind, called in rows]
    table = Listing(columns, listed, f"{record.name} has no SSH key here.")
    tell(form, [table], fields, [dict(zip(fields, row, strict=True)) for row in rows], paged=False)
    if kept.must_wait(record.preferences):
        count = "1 key waits" if len(found) == 1 else f"{len(found)} keys wait"
        click.echo(f"Since a restore {count} until {record.name} logs on by password.", err=True)


@callers.command()
@config_option
@by_option
@click.argument("name")
@click.argument("new_name")
def rename(config_path: Path, by: str, name: str, new_name: str) -> None:
    """Rename a caller, who keeps everything, powers included."""
    from timebank.keeping import caller_acts
    from timebank.names import names

    config = load_config(config_path)
    with _desk(config) as desk:
        record = _caller(desk, name)
        with refusing(NameRefused):
            kept = names.check(new_name)
            _refuse_kept(config, kept)
            renamed = caller_acts.rename(desk, record.id, kept, by)
    click.echo(f"{record.name} is now {renamed.name}.")
    if config.bank.is_barred(record.name) and not config.bank.is_barred(renamed.name):
        click.echo(
            f"sysop.toml bars {record.name} from the bank by name, and that name is gone:"
            f" list {renamed.name} there, or freeze the account."
        )


@callers.command()
@config_option
@by_option
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask.")
def delete(config_path: Path, by: str, name: str, yes: bool) -> None:
    """Delete a caller. Their time is forfeited; the ledger keeps their history."""
    from timebank.keeping import caller_acts

    config = load_config(config_path)
    with _desk(config) as desk:
        record = _caller(desk, name)
    if not yes:
        click.confirm(f"Delete {record.name} and forfeit all their time?", abort=True)
    with _desk(config) as desk:
        caller_acts.delete(desk, record.id, by)
    click.echo(f"{record.name} is deleted; their time is forfeited.")


@callers.command()
@config_option
@by_option
@click.argument("name")
@click.option("--stdin", is_flag=True, help="Read the password from standard input.")
def password(config_path: Path, by: str, name: str, stdin: bool) -> None:
    """Set a caller's password, or register a name that sysop.toml reserves.

    The sysop's own name gets sysop powers; any other gets them by `door callers grant`.
    """
    from door.call import passwords
    from door.config.people import command
    from timebank.callers import recovery
    from timebank.keeping import caller_acts
    from timebank.names import names

    config = load_config(config_path)
    with _reading(config) as desk:
        record = _find(desk, name)
    kept = next((each for _, each in config.bank.named if names.is_same(name, each)), None)
    is_sysop = kept is not None and names.is_same(kept, config.board.sysop)
    if record is None and kept is None:
        raise UserError(f"There is no caller named {name}.")
    if record is not None and kept is not None and not names.is_same(kept, record.name):
        raise UserError(f"{_numbered(record)}, has a name that only looks like {kept}.")
    typed = (
        _read_line()
        if stdin
        else click.prompt("New password", hide_input=True, confirmation_prompt=True)
    )
    with refusing(PasswordRefused):
        passwords.check(typed, name)
    hashed, had_code = passwords.hash_password(typed), False
    with _desk(config) as desk:
        if record is not None:
            had_code = recovery.has_one(desk, record.id)
            caller_acts.set_password(desk, record.id, hashed, by)
        else:
            entered = caller_acts.enter(desk, kept or name, hashed, by, with_powers=is_sysop)
    if record is not None:
        void = " The recovery code is void; Your settings makes a new one." if had_code else ""
        click.echo(f"{record.name} has a new password.{void}")
    else:
        click.echo(
            f"{entered.name} is new: registered as caller number {entered.id},"
            f" {'with' if is_sysop else 'without'} sysop powers."
        )
    record = record or entered
    if (kept in config.bank.co_sysops or is_sysop) and not record.powers:
        gives = command(config_path, "grant", record.name)
        click.echo(f"{record.name} has no sysop powers: {gives} gives them.")


def _set_state(
    config_path: Path,
    by: str,
    name: str,
    state: Literal["locked", "muted"],
    is_so: bool,
    now: str,
    before: str,
) -> None:
    """Lock, mute or let free, and say whether the caller was so `before` or is so `now`."""
    from timebank.keeping import caller_acts

    change = {"locked": caller_acts.set_locked, "muted": caller_acts.set_muted}[state]
    with _desk(load_config(config_path)) as desk:
        record = _caller(desk, name)
        is_new = change(desk, record.id, is_so, by)
    click.echo(f"{record.name} is {now if is_new else before}.")


def _read_line() -> str:
    """Read a line of standard input, whatever the shell thinks its encoding is."""
    try:
        return sys.stdin.buffer.readline().decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise UserError("The password is not in UTF-8.") from error


def _find(desk: Desk, name: str) -> CallerRecord | None:
    """Find a caller; nobody's name holds bytes that are no text, as an argument may."""
    from timebank.callers import callers as records

    return records.find(desk, name) if name.isprintable() else None


def _refuse_kept(config: Config, name: str) -> None:
    """Refuse a name of the house's, and one that only looks like a name in sysop.toml."""
    from timebank.names import names

    if any(names.is_same(name, named) for _, named in config.bank.named):
        return
    if names.is_reserved(name):
        raise UserError("That name is reserved for the house.")
    if config.bank.keeps(name):
        raise UserError(f"The name {name} looks too much like one that sysop.toml reserves.")


def _exactly(desk: Desk, name: str) -> CallerRecord:
    """Find a caller by number ("#12"), or by a name that is written as theirs is.

    Whose name was found instead is told: it may be somebody else's than the one who is meant.
    """
    from timebank.callers import callers as records
    from timebank.names import names

    number = name.removeprefix("#")
    if number != name and number.isascii() and number.isdecimal() and len(number) < LONGEST_NUMBER:
        return records.get(desk, int(number))
    record = _find(desk, name)
    if record is None:
        _refuse_like(desk, name)
        return _caller(desk, name)
    if unicodedata.normalize("NFC", name) == record.name:
        return record
    how = "is spelled differently from" if names.is_same(name, record.name) else "only looks like"
    raise UserError(f"{_numbered(record)}, {how} {name}. {_by_number(record)}")


def _refuse_like(desk: Desk, name: str) -> None:
    from timebank.ledger import dialects
    from timebank.names import look_alikes

    alike = look_alikes.holder(dialects.runner(desk.connection), name) if name.isprintable() else ""
    record = _find(desk, alike) if alike else None
    if record is not None:
        raise UserError(
            f"There is no caller named {name}. {_numbered(record)}, has a name that looks the same."
            f" {_by_number(record)}"
        )


def _by_number(record: CallerRecord) -> str:
    return f"If you mean this caller, use #{record.id} instead of the name."


def _numbered(record: CallerRecord) -> str:
    from timebank.callers import powers

    return powers.numbered(record)


def _caller(desk: Desk, name: str) -> CallerRecord:
    record = _find(desk, name)
    if record is None:
        raise UserError(f"There is no caller named {name}. `door callers list` shows them all.")
    return record


@contextmanager
def _desk(config: Config) -> Iterator[Desk]:
    """Open the board's books for one transaction; every refusal is a sentence."""
    from timebank.cli.common import open_books

    with open_books(config.bank) as books:
        books.take_up()
        with books.database.transaction(books.settings, books.clock.reading()) as desk:
            yield desk


@contextmanager
def _reading(config: Config) -> Iterator[Desk]:
    """Open the board's books as they are at one moment; nobody is kept from writing."""
    from timebank.cli.common import open_books

    with open_books(config.bank) as books, books.look() as desk:
        yield desk
