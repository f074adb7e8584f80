"""Line breaks in French: none before a mark that has a space before it, and none after «."""

from __future__ import annotations

import re

import pytest

from door.call.markup import lit, plain, wrap, wrap_question
from timebank.language import catalogue

STRANDED = re.compile(r"\s*[:;!?%»][^\w]*(\s|$)|.*«$")


def french_texts() -> list[str]:
    texts = catalogue("fr")._catalog.values()  # type: ignore[attr-defined]
    marked = re.compile(r"\S.* [:;!?%»]|\S.*« ")
    return [text for text in texts if marked.match(text) and "\n" not in text]


@pytest.mark.parametrize("width", [20, 27, 33, 39, 61])
def test_no_line_of_the_catalogue_strands_a_french_mark(width: int) -> None:
    menu = lit({"Y": "Oui", "N": "Non"}, "Y")
    for text in french_texts():
        value = text.replace("}", "").replace("{", "")
        coloured = re.sub(r" ([:;!?%»])", r" |15\1|07", value).replace("« ", "«|15 ")
        for written in (value, coloured):
            for line in (*wrap(written, width), *wrap_question(f"{written}  {menu}", width, 1)):
                assert not STRANDED.match(plain(line)), f"{line!r} of {text!r}"
