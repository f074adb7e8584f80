"""The command `python -m verify.fuzz TARGET`: one reader of bytes under libFuzzer.

    python -m verify.fuzz talk --hours 1

atheris rewrites our modules at their import, so that libFuzzer knows which branches an input takes.
Inputs that reach something new are stored in `corpus/TARGET`. The first failing input is written to
`cases/TARGET` (as "crash-...", "timeout-...", "oom-...") and ends the process with a status other
than 0.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import click

from verify.fuzz.target import CASES, NAMES, Target, check_in_memory, check_in_time, load

CORPUS = Path(__file__).resolve().parent / "corpus"
WATCHED = ["ansi", "door", "timebank", "tomllib"]
SLOWER = 4  # times, that instrumented code takes
MEASURED = 256  # of so many inputs one is checked for memory as well
HANGS = 20  # seconds after which an input is one that never ends
MEMORY = 1024  # megabytes of the process, all the corpus and all caches included


@click.command()
@click.argument("name", metavar="TARGET", type=click.Choice(NAMES))
@click.option("--hours", type=float, default=1.0, show_default=True, help="How long it takes.")
def main(name: str, hours: float) -> None:
    """Fuzz the reader of bytes that is named."""
    if importlib.util.find_spec("atheris") is None:
        raise click.ClickException("It needs atheris: pip install 'blackjack-for-time[fuzz]'")
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        target = load(name)
    number = 0

    def one(data: bytes) -> None:
        nonlocal number
        number += 1
        check_in_time(target, data, SLOWER * target.seconds)
        if not number % MEASURED:
            check_in_memory(target, data)

    corpus, cases = CORPUS / name, CASES / name
    cases.mkdir(parents=True, exist_ok=True)
    atheris.Setup(
        [
            sys.argv[0],
            str(corpus),
            str(cases),
            f"-max_total_time={max(1, round(hours * 3600))}",
            f"-max_len={target.longest}",
            f"-dict={_planted(target, corpus)}",
            f"-artifact_prefix={cases}/",
            f"-timeout={HANGS}",
            f"-rss_limit_mb={MEMORY}",
            "-reload=0",
            "-print_final_stats=1",
        ],
        one,
    )
    atheris.Fuzz()


def _planted(target: Target, corpus: Path) -> Path:
    """Write the seeds where libFuzzer begins; return the file of tokens in its format."""
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
    lines = ("".join(f"\\x{byte:02x}" for byte in token) for token in target.tokens)
    file = corpus.with_suffix(".tokens")
    file.write_text("".join(f'"{line}"\n' for line in lines if len(line) <= 4 * 64))
    return file


if __name__ == "__main__":
    main()
