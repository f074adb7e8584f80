"""One target under libFuzzer, in a process of its own: it never comes back from there.

    python -m verify.fuzz.engine TARGET CORPUS FOUND SECONDS

atheris rewrites our modules as they are imported, so that libFuzzer sees which branches an input
takes; what reaches something new is kept in CORPUS and changed further. The first input that goes
wrong is put into FOUND (as "crash-...", "timeout-...", "oom-...") and ends the process with a
status other than 0.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

from verify.fuzz.target import Target, check_in_memory, check_in_time, load

WATCHED = ["ansi", "door", "timebank", "tomllib"]
SLOWER = 4  # times, that instrumented code takes
MEASURED = 256  # of so many inputs one is checked for memory as well
HANGS = 20  # seconds after which an input is one that never ends
TOKENS = "tokens"  # the name of libFuzzer's dictionary, in FOUND
MEMORY = 1024  # megabytes of the process, all the corpus and all caches included


def main(name: str, corpus: Path, found: Path, seconds: int) -> None:
    """Fuzz a target for so long; the process ends here."""
    with atheris.instrument_imports(include=WATCHED):
        target = load(name)
    number = 0

    def one(data: bytes) -> None:
        nonlocal number
        number += 1
        check_in_time(target, data, SLOWER * target.seconds)
        if not number % MEASURED:
            check_in_memory(target, data)

    (found / TOKENS).write_bytes(_dictionary(target))
    _plant(target, corpus)
    arguments = [
        sys.argv[0],
        str(corpus),
        f"-max_total_time={seconds}",
        f"-max_len={target.longest}",
        f"-dict={found / TOKENS}",
        f"-artifact_prefix={found}/",
        f"-timeout={HANGS}",
        f"-rss_limit_mb={MEMORY}",
        "-reload=0",
        "-print_final_stats=1",
    ]
    atheris.Setup(arguments, one)
    atheris.Fuzz()


def _plant(target: Target, corpus: Path) -> None:
    """Put the seeds and the old cases where libFuzzer begins."""
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
    for case in target.cases():
        (corpus / f"case-{case.name}").write_bytes(case.read_bytes())


def _dictionary(target: Target) -> bytes:
    """The tokens as libFuzzer reads them: one a line, in hexadecimal."""
    lines = ("".join(f"\\x{byte:02x}" for byte in token) for token in target.tokens)
    return "".join(f'"{line}"\n' for line in lines if len(line) <= 4 * 64).encode()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
