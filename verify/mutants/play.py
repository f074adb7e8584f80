"""Play seeds until one fails: `python -m verify.mutants.play FIRST LAST STEPS PEOPLE`.

It ends with status 1 and a last line that says which seed failed, at which step, and why.
"""

from __future__ import annotations

import sys

from verify.simulate.__main__ import play

LONGEST = 200  # characters of what went wrong: an audit may find much


def main() -> int:
    """Play the seeds in order."""
    first, last, steps, people = map(int, sys.argv[1:])
    for seed in range(first, last + 1):
        story, error = play(seed, steps, people)
        if error is not None:
            said = (str(error).strip() or "no more is said").splitlines()[0][:LONGEST]
            print(f"seed {seed}, step {story.number}: {type(error).__name__}: {said}")
            return 1
        print(f"seed {seed} played", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
