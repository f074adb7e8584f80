"""Write `rules.js`, the game rules of the page that checks hands: `python -m tools.page_rules`.

It is made from the games' `Kind`s, so that a rule's key is only in the folder of its game.
"""

from __future__ import annotations

import json

from door.games import proofs
from door.games.engine.game import Kind
from door.games.engine.rules import Check, Halves
from door.games.registry import GAMES
from timebank.settings.forms import Number, OneOf
from tools.check_page import PARTS

RULES = PARTS / "rules.js"
_HEAD = """\
// Made by `python -m tools.page_rules`, from what each game says of itself in door/games. A rule
// has its usual value, and either all its values or the least, the most and the steps of a number.

"""


def built() -> str:
    games = [f"    {json.dumps(name)}: {_game(each.kind)},\n" for name, each in GAMES.items()]
    return f"{_HEAD}export const GAMES = {{\n{''.join(games)}}};\n"


def _game(kind: Kind) -> str:
    usual = proofs.whole_rules(kind, kind.base)
    rules = [
        f"            {key}: {json.dumps({'usual': usual[key], **_form(check)})},\n"
        for key, check in kind.checks.items()
    ]
    facts = {"seats": kind.most_seats, "undealt": kind.undealt or 0, "moves": list(kind.actions)}
    plain = "".join(f"        {name}: {json.dumps(value)},\n" for name, value in facts.items())
    return f"{{\n{plain}        rules: {{\n{''.join(rules)}        }},\n    }}"


def _form(check: Check) -> dict[str, object]:
    match check:
        case OneOf(words):
            return {"values": list(words)}
        case Number(least, most):
            return {"least": least, "most": most, "step": 1}
        case Halves(most):
            return {"least": 1, "most": most, "step": 0.5}
        case _:
            return {"values": [True, False]}


if __name__ == "__main__":
    RULES.write_text(built(), encoding="utf-8")
