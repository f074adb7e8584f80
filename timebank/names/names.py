"""What a caller may be called, and when two names are too much alike.

Names stand in front of minutes: on the teller's list, in transfers, in THEBANK.EXT. So a name must
be readable on any terminal, and must not pass for somebody else's. `check` says what a name may be.
Two keys say which names are alike:

- `fold` is the key of a caller, unique in the books: a caller is found by it, however the name is
  typed. What it makes equal never changes, or callers would not be found any more.
- `skeleton` is what a name looks like, by the tables of UTS 39 and some of our own. It makes more
  names equal, and others in each version, so only new names are held against it.

The tables of `fold` are made by hand, from the letters of the three alphabets that may be used.
Letters are compared as capitals where a capital looks like a Latin one, because that is how names
get typed: a Greek nu is filed under N, although small it looks like a v.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import dropwhile

from timebank.errors import NameRefused
from timebank.language import Phrase
from timebank.names import confusables

SHORTEST = 2  # characters
LONGEST = 24
# What is typed is looked at up to here; one character can unfold into eighteen.
LONGEST_TYPED = 4 * LONGEST

PUNCTUATION = ".'-_"

# What other keyboards and word processors write for an apostrophe or a hyphen.
_TYPED_FOR = str.maketrans("\u2019\u2018\u02bc\u00b4`\u2010\u2011", "'''''--")


def _pairs(theirs: str, latin: str) -> dict[str, str]:
    return dict(zip(theirs.split(), latin.split(), strict=True))


# Each letter beside the Latin one, or the digit, that it passes for as it is written.
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
# Latin letters that do not come apart into a letter and its mark, as other Latin letters.
_LATIN = _pairs("ı ø ł đ ħ ŧ ŋ ĸ ð æ œ ə ƒ", "i o l d h t n k d ae oe e f")

_SEEN = _CAPITALS | _SMALL
_FILED = str.maketrans(
    _SMALL
    | {capital.casefold(): latin.casefold() for capital, latin in _CAPITALS.items()}
    | _LATIN
    | {"ә": "e", "ӕ": "ae"}
)
# A small l, a capital i and a one; a zero and an o.
_ALIKE = str.maketrans("i10|", "llol")
_RUNS = re.compile(r"([ .'_-])\1+")

# What UTS 39 leaves as it is: letters of the three alphabets that terminals draw like Latin ones,
_READ_AS_LATIN = str.maketrans(_SEEN)
# and small Latin letters and digits. A letter that two others look like together becomes these two,
# so that it does not matter where one begins ("vvv"); but see "cl" in `skeleton`.
_READ = str.maketrans({"m": "rn", "w": "vv"} | _pairs("0 1 2 5 8 9", "o l z s b g"))
# The version of the keys of `skeleton`: that of the tables, and of what is here.
SKELETONS = f"{confusables.VERSION}/1"


def check(name: str) -> str:
    """A name in the form in which it is kept, or `NameRefused` with a sentence.

    Compatibility forms are replaced (NFKC), spaces trimmed and collapsed. What may remain is 2 to
    24 letters of one alphabet (Latin, Greek or Cyrillic), digits, single spaces and . ' - _
    within, with at least one letter.

    >>> check("  Ann   O\u2019Neil ")
    "Ann O'Neil"
    """
    if len(name) > LONGEST_TYPED:
        raise NameRefused(Phrase("A name has {most} characters at most.", most=LONGEST))
    # Controls go before anything is trimmed: a tab at the end is refused, not overlooked.
    if any(unicodedata.category(letter)[0] == "C" for letter in name):
        raise NameRefused(Phrase("A name cannot contain control or invisible characters."))
    kept = re.sub(" +", " ", _plain(name)).strip(" ")
    if not SHORTEST <= len(kept) <= LONGEST:
        raise NameRefused(
            Phrase("A name has {least} to {most} characters.", least=SHORTEST, most=LONGEST)
        )
    _check_characters(kept)
    if kept[0] in PUNCTUATION or kept[-1] in PUNCTUATION:
        raise NameRefused(Phrase("A name begins and ends with a letter or a digit."))
    if _seen(kept) not in (None, fold(kept)):
        raise NameRefused(Phrase("That name could be read as another one. Use Latin letters."))
    return kept


def fold(name: str) -> str:
    """The key of a name: two that look alike, or differ only in case, have the same one.

    Any text has a key, so that whatever a caller types can be looked up. Accents are left out: some
    terminals cannot show them.

    >>> fold("Bill") == fold("BI11") == fold("BiII")
    True
    >>> fold("Сор") == fold("Cop")  # the first is Cyrillic
    True
    """
    letters = _bare(_plain(name).casefold()).translate(_FILED).translate(_ALIKE)
    return _RUNS.sub(r"\1", " ".join(letters.split()))


def skeleton(name: str) -> str:
    """What a name looks like: two that can be taken for one another have the same skeleton.

    Names are compared as they are written, and again in small letters (UTS 39 leaves that to its
    user): a capital I looks like an l, a small i does not until it is written as a capital. So
    "ci" is not taken for "cl", and that for "d". Any text has a skeleton.

    >>> skeleton("Corn") == skeleton("Com"), skeleton("5am") == skeleton("Sam")
    (True, True)
    >>> skeleton("Clark") == skeleton("dark"), skeleton("Lucia") == skeleton("Luda")
    (True, False)
    """
    seen = confusables.skeleton(_bare(_plain(name)).translate(_READ_AS_LATIN))
    letters = confusables.skeleton(seen.casefold()).translate(_FILED).casefold().translate(_READ)
    letters = letters.replace("cl", "d").replace("i", "l")
    return _RUNS.sub(r"\1", " ".join(letters.split()))


def _plain(text: str) -> str:
    # Before, because some fall apart into a space and a mark; after, because some come out of it.
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
    """The alphabet of a letter, None when it is none of the three."""
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


def _seen(name: str) -> str | None:
    """The key under which a reader would file a name, None when it does not look Latin."""
    read = "".join(_SEEN.get(letter, letter) for letter in _bare(name))
    return fold(read) if read.isascii() else None


# Those who run the board.
_OFFICES = (
    *("sysop", "sysops", "cosysop", "co sysop", "operator", "system operator", "admin"),
    *("administrator", "moderator", "the sysop", "the sysops", "your sysop", "le sysop"),
    *("the operator", "the admin", "the administrator", "the moderator"),
)
_WORDS = (
    *("system", "the system", "root", "staff", "host", "board", "the board"),
    # As screens name them, in both languages: a name stands before what a caller writes to others.
    *("the staff", "the host", "the teller", "the banker"),
    *("la maison", "la banque", "le croupier", "le système"),
    *("house", "the house", "dealer", "the dealer", "bank", "the bank", "teller", "banker"),
    *("new", "guest", "visitor", "all", "everybody", "everyone", "anyone", "nobody", "none"),
    *("anonymous", "unknown", "someone", "caller", "callers", "player", "user", "node"),
    *("allotment", "elapsed", "forfeit", "external", "adjustment", "online", "held", "stake"),
    *("prizes", "tournament", "champion"),
    # Who else writes into the sysop's log.
    *("the command line", "command line", "maintain", "import", "upgrade"),
)
_ARTICLES = ("the", "a", "an", "your", "our", "le", "la", "les", "l", "un", "une", "votre", "notre")
_SEPARATORS = re.compile("[ .'_-]+")
_NUMBER_BEHIND = re.compile(r"(?<=\D)[ .'_-]*[0-9]+$")


class _Reserved:
    """The reserved names as `key` makes them equal: `fold` or `skeleton`."""

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
            # "Al L" is no "all", but "Al-L" could be.
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
    """Return whether a name is that of the house, of an office or of nobody, or looks like one.

    Articles in front, separators, and a number behind an office make no difference.

    >>> is_reserved("The.sys-op"), is_reserved("Sysop 2"), is_reserved("Player 2")
    (True, True, False)
    """
    plain = " ".join(_plain(name).split())
    return any(reserved.has(plain) for reserved in _reserved())


def is_same(one: str, other: str) -> bool:
    """Whether two names are the same but for capitals and spaces: not only alike.

    >>> is_same("Bill Gates", "BILL  gates"), is_same("Bill Gates", "BiII Gates")
    (True, False)
    """
    return _spelled(one) == _spelled(other)


def _spelled(name: str) -> str:
    return " ".join(_plain(name).casefold().split())
