"""The rules for callers' names, and keys that are equal for names that look alike.

Minutes are sent to names: on the teller's list, in transfers, in THEBANK.EXT. So a name must be
readable on any terminal, and must not look like another caller's. `check` accepts or refuses a
name. Two keys compare names:

- `fold` is unique in the books, and finds a caller however the name is typed. Names that it makes
  equal must stay so, or callers could no longer be found.
- `skeleton` describes how a name looks, by the tables of UTS 39 and some of our own. It makes more
  names equal, and its result may change with the version. So only new names are checked with it.

The tables of `fold` are made by hand from the letters of the three permitted alphabets. A letter
whose capital looks like a Latin capital is compared as a capital, because that is how names get
typed. So a Greek nu is filed under N, although a small nu looks like a v.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import dropwhile

from timebank.errors import NameRefused
from timebank.language import Phrase
from timebank.names import confusables

SHORTEST = 2  # characters
LONGEST = 24
# Longer texts are refused before they are normalised: one character can become eighteen.
LONGEST_TYPED = 4 * LONGEST

PUNCTUATION = ".'-_"

# Other characters for an apostrophe or a hyphen, from keyboards and word processors.
_TYPED_FOR = str.maketrans("\u2019\u2018\u02bc\u00b4`\u2010\u2011", "'''''--")


def _pairs(theirs: str, latin: str) -> dict[str, str]:
    return dict(zip(theirs.split(), latin.split(), strict=True))


# Letters, and the Latin letters or digits that they look like.
_CAPITALS = {
    **_pairs("А В Е Ѕ І Ј К М Н О Р С Т У Х Ѵ Ԛ Ԝ Ү Ӏ", "A B E S I J K M H O P C T Y X V Q W Y I"),
    **_pairs("Г З Б Ь Ъ Ы Ю Я Ө Қ Ң Ҳ Ҫ Ғ Һ Ҝ Ҡ Ӡ", "r 3 6 b b bI IO R O K H X C F h K K 3"),
    **_pairs("Α Β Ε Ζ Η Ι Κ Μ Ν Ο Ρ Τ Υ Χ", "A B E Z H I K M N O P T Y X"),
}
_SMALL = {
    **_pairs("а в е ѕ і ј к м н о р с т у х ѵ ԛ ԝ ү ӏ", "a b e s i j k m h o p c t y x v q w y l"),
    **_pairs("г з б ь ъ ы ю я п ө қ ң ҳ ҫ ғ һ ҽ ҿ", "r 3 6 b b bl lo r n o k h x c f h e e"),
    **_pairs("ћ ђ ԁ", "h h d"),
    **_pairs("α β γ ε η ι κ ν ο ρ τ υ χ ω", "a b y e n i k v o p t u x w"),
}
# Latin letters that Unicode does not decompose into a letter and a mark.
_LATIN = _pairs("ı ø ł đ ħ ŧ ŋ ĸ ð æ œ ə ƒ", "i o l d h t n k d ae oe e f")

_LATIN_LOOKS = _CAPITALS | _SMALL
_FILED = str.maketrans(
    _SMALL
    | {capital.casefold(): latin.casefold() for capital, latin in _CAPITALS.items()}
    | _LATIN
    | {"ә": "e", "ӕ": "ae"}
)
# A small l, a capital i and a one; a zero and an o.
_ALIKE = str.maketrans("i10|", "llol")
_DIGITS = re.compile("([0-9]+)")
_SEPARATORS = re.compile("[ .'_-]+")
_RUNS = re.compile(r"([ .'_-])\1+")

# UTS 39 does not cover letters of the three alphabets that terminals draw like Latin ones, or show
# as these where they have only plain letters,
_READ_AS_LATIN = str.maketrans(_LATIN_LOOKS | _pairs("æ œ þ ß Æ Œ Þ", "a o p s A O P"))
# nor small Latin letters and digits. A letter that looks like two others becomes these two, so that
# every reading of "vvv" is equal. `skeleton` makes an exception for "cl".
_READ = str.maketrans({"m": "rn", "w": "vv"} | _pairs("0 1 2 5 8 9", "o l z s b g"))
# The version of the keys of `skeleton`: that of the UTS 39 tables, and of this module.
SKELETONS = f"{confusables.VERSION}/2"


def check(name: str) -> str:
    """Return a name in the form that the books store; raises `NameRefused`.

    Compatibility forms are replaced (NFKC), spaces are trimmed and collapsed. The result has 2 to
    24 characters: letters of one alphabet (Latin, Greek or Cyrillic), digits, single spaces and
    . ' - _ with at least one letter. It begins and ends with a letter or a digit.

    >>> check("  Ann   O\u2019Neil ")
    "Ann O'Neil"
    """
    if len(name) > LONGEST_TYPED:
        raise NameRefused(Phrase("A name has {most} characters at most.", most=LONGEST))
    # Before trimming, so that a tab at the end is refused and not removed.
    if any(unicodedata.category(letter)[0] == "C" for letter in name):
        raise NameRefused(Phrase("A name cannot contain control or invisible characters."))
    tidy = re.sub(" +", " ", _plain(name)).strip(" ")
    if not SHORTEST <= len(tidy) <= LONGEST:
        raise NameRefused(
            Phrase("A name has {least} to {most} characters.", least=SHORTEST, most=LONGEST)
        )
    _check_characters(tidy)
    if tidy[0] in PUNCTUATION or tidy[-1] in PUNCTUATION:
        raise NameRefused(Phrase("A name begins and ends with a letter or a digit."))
    if _latin_key(tidy) not in (None, fold(tidy)):
        raise NameRefused(Phrase("That name could be read as another one. Use Latin letters."))
    return tidy


def fold(name: str) -> str:
    """Return the key by which a caller is found; equal for names that look alike or differ in case.

    Any text has a key, so that any input can be looked up. Accents are dropped, because some
    terminals cannot show them.

    >>> fold("Bill") == fold("BI11") == fold("BiII")
    True
    >>> fold("Сор") == fold("Cop")  # the first is Cyrillic
    True
    """
    letters = _bare(_plain(name).casefold()).translate(_FILED).translate(_ALIKE)
    return _RUNS.sub(r"\1", " ".join(letters.split()))


def sort_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts names as people do: without accents and case, numbers by value.

    >>> sorted(["Ann 10", "ann 2", "\u00c9mile", "Emma"], key=sort_key)
    ['ann 2', 'Ann 10', '\u00c9mile', 'Emma']
    """
    parts = _DIGITS.split(_bare(_plain(name).casefold()))
    return tuple((0, int(each), "") if at % 2 else (1, 0, each) for at, each in enumerate(parts))


def squeezed(folded: str) -> str:
    """Return a key of `fold` without spaces and punctuation."""
    return _SEPARATORS.sub("", folded)


def near(typed: str, keys: Iterable[str]) -> list[str]:
    """Return the keys of `fold` that contain what was typed, or else are a slip away from it.

    >>> near("dora", ["theodora", "mrs dra"]), near("dora", ["mrs dra"])
    (['theodora'], ['mrs dra'])
    """
    wanted, known = squeezed(fold(typed)), list(keys)
    inside = [key for key in known if wanted and wanted in squeezed(key)]
    return inside or [key for key in known if is_slip(wanted, key)]


def is_slip(wanted: str, folded: str) -> bool:
    """Return whether `wanted` is a key of `fold`, or a word of it, but for one slip of a finger.

    A slip is a letter too many, too few, wrong, or swapped with the next. Two letters are too few
    to compare.

    >>> [is_slip("dora", key) for key in ("doora", "mrs dra", "odra", "rado", "do")]
    [True, True, True, False, False]
    """
    whole = squeezed(folded)
    return len(wanted) > 2 and any(
        len(word) > 2 and abs(len(word) - len(wanted)) <= 1 and _differ_by_slip(wanted, word)
        for word in {whole, *_SEPARATORS.split(folded)}
    )


def _differ_by_slip(one: str, other: str) -> bool:
    for at, (letter, another) in enumerate(zip(one, other, strict=False)):
        if letter != another:
            left, right = one[at:], other[at:]
            swapped = left[:2] == right[:2][::-1] and left[2:] == right[2:]
            return swapped or left[1:] == right[1:] or left[1:] == right or left == right[1:]
    return True  # one begins with the other, and has at most one letter more


def skeleton(name: str) -> str:
    """Return the skeleton of a name; equal for names that can be taken for one another.

    Names are compared as written and in small letters (UTS 39 leaves that to its user). A capital I
    looks like an l, but a small i does not. So "ci" differs from "cl", which looks like "d". Any
    text has a skeleton.

    >>> skeleton("Corn") == skeleton("Com"), skeleton("5am") == skeleton("Sam")
    (True, True)
    >>> skeleton("Clark") == skeleton("dark"), skeleton("Lucia") == skeleton("Luda")
    (True, False)
    """
    written = confusables.skeleton(_bare(_plain(name)).translate(_READ_AS_LATIN))
    letters = confusables.skeleton(written.casefold()).translate(_FILED).casefold().translate(_READ)
    letters = letters.replace("cl", "d").replace("i", "l")
    return _RUNS.sub(r"\1", " ".join(letters.split()))


def _plain(text: str) -> str:
    # NFKC splits some of these characters into a space and a mark, and produces others.
    return unicodedata.normalize("NFKC", text.translate(_TYPED_FOR)).translate(_TYPED_FOR)


def _check_characters(name: str) -> None:
    scripts = set()
    for character in name:
        if character in PUNCTUATION or character == " " or character in "0123456789":
            continue
        script = _script(character)
        if script is None:
            stands_alone = character.isprintable() and not unicodedata.combining(character)
            shown = f'"{character}"' if stands_alone else Phrase("such characters")
            raise NameRefused(
                Phrase(
                    "A name cannot contain {what}: it is made of Latin, Greek or Cyrillic letters, "
                    "digits, spaces and . ' - _",
                    what=shown,
                )
            )
        scripts.add(script)
    if not scripts:
        raise NameRefused(Phrase("A name needs at least one letter."))
    if len(scripts) > 1:
        raise NameRefused(Phrase("A name uses one alphabet: Latin, Greek or Cyrillic."))


def _script(character: str) -> str | None:
    """Return the alphabet of a letter; None if it is none of the three."""
    base = unicodedata.normalize("NFD", character)[0]
    if not base.isalpha():
        return None
    if base.isascii() or "\u00c0" <= base <= "\u017f":
        return "Latin"
    if "\u0391" <= base <= "\u03c9":
        return "Greek"
    if "\u0400" <= base <= "\u045f" or "\u048a" <= base <= "\u04ff":
        return "Cyrillic"
    return None


def _bare(text: str) -> str:
    return "".join(
        letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter)
    )


def _latin_key(name: str) -> str | None:
    """Return the key of a name as it is read in Latin letters; None if it does not look Latin."""
    latin = "".join(_LATIN_LOOKS.get(letter, letter) for letter in _bare(name))
    return fold(latin) if latin.isascii() else None


_OFFICES = (
    *("sysop", "sysops", "cosysop", "co sysop", "operator", "system operator", "admin"),
    *("administrator", "moderator", "the sysop", "the sysops", "your sysop", "le sysop"),
    *("the operator", "the admin", "the administrator", "the moderator"),
)
_WORDS = (
    *("system", "the system", "root", "staff", "host", "board", "the board"),
    # The house as the screens name it in English and French: messages show their author's name.
    *("the staff", "the host", "the teller", "the banker"),
    *("la maison", "la banque", "le croupier", "le système"),
    *("house", "the house", "dealer", "the dealer", "bank", "the bank", "teller", "banker"),
    *("new", "guest", "visitor", "all", "everybody", "everyone", "anyone", "nobody", "none"),
    *("nouveau", "anonymous", "unknown", "someone", "caller", "callers", "player", "user", "node"),
    *("allotment", "elapsed", "forfeit", "external", "adjustment", "online", "held", "stake"),
    *("prizes", "tournament", "champion", "duels"),
    *("help", "quit", "exit", "aide", "quitter"),  # what a lost caller types at the name
    # Authors of lines in the sysop's log.
    *("the command line", "command line", "maintain", "import", "upgrade"),
)
_ARTICLES = ("the", "a", "an", "your", "our", "le", "la", "les", "l", "un", "une", "votre", "notre")
_NUMBER_BEHIND = re.compile(r"(?<=\D)[ .'_-]*[0-9]+$")


class _Reserved:
    """The reserved names, compared by `key`: `fold` or `skeleton`."""

    def __init__(self, key: Callable[[str], str]) -> None:
        self._key = key
        self._articles = {key(article) for article in _ARTICLES}
        self._offices = {"".join(self._words(name)) for name in _OFFICES}
        self._names = {tuple(self._words(name)) for name in (*_OFFICES, *_WORDS)}
        self._joined = {"".join(words) for words in self._names}

    def has(self, name: str) -> bool:
        words = self._words(name)
        bare = list(dropwhile(self._articles.__contains__, words))
        joined = "".join(words)
        return (
            not self._names.isdisjoint({tuple(words), tuple(bare)})
            # "Al L" differs from "all", but "Al-L" is too close.
            or (" " not in name and joined in self._joined)
            or not self._offices.isdisjoint({joined, "".join(bare), self._without_number(name)})
        )

    def _words(self, name: str) -> list[str]:
        return [word for word in _SEPARATORS.split(self._key(name)) if word]

    def _without_number(self, name: str) -> str:
        words = self._words(_NUMBER_BEHIND.sub("", name))
        return "".join(dropwhile(self._articles.__contains__, words))


@cache
def _reserved() -> tuple[_Reserved, ...]:
    return _Reserved(fold), _Reserved(skeleton)


def is_reserved(name: str) -> bool:
    """Return whether a name is reserved for the house, an office or no one, or looks like that.

    Leading articles, separators, and a number after an office make no difference.

    >>> is_reserved("The.sys-op"), is_reserved("Sysop 2"), is_reserved("Player 2")
    (True, True, False)
    """
    plain = " ".join(_plain(name).split())
    return any(reserved.has(plain) for reserved in _reserved())


def is_same(one: str, other: str) -> bool:
    """Return whether two names differ only in case and spaces.

    >>> is_same("Bill Gates", "BILL  gates"), is_same("Bill Gates", "BiII Gates")
    (True, False)
    """
    return _spelled(one) == _spelled(other)


def _spelled(name: str) -> str:
    return " ".join(_plain(name).casefold().split())
