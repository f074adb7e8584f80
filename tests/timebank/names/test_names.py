"""Allowed names of callers, and names that are too similar."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import EXAMPLES
from timebank.errors import NameRefused
from timebank.names.names import (
    LONGEST,
    SHORTEST,
    check,
    fold,
    is_reserved,
    is_same,
    skeleton,
)


class TestAllowedNames:
    @pytest.mark.parametrize(
        "name",
        [
            *("Al", "Ann O'Neil", "J.-P. Dubois", "mark_2", "3rd Man", "Jean-Luc"),
            *("Łukasz", "José", "Ñandú", "Straße", "Ægir", "Nguyễn Văn"),
            *("Иван", "Вера", "Ґалина", "Νίκος", "ΝΙΚΟ"),
            "x" * LONGEST,
        ],
    )
    def test_are_stored_unchanged_when_readable(self, name):
        assert check(name) == name

    def test_spaces_around_it_and_runs_of_them_are_not_part_of_a_name(self):
        assert check("  Ann \u00a0 Smith ") == "Ann Smith"

    def test_compatibility_forms_become_plain_letters(self):
        assert check("Ａｎｎ") == "Ann"
        assert check("Henry Ⅷ") == "Henry VIII"
        assert check("Jose\u0301") == "José"

    def test_typographic_apostrophes_and_hyphens_become_plain_ones(self):
        assert check("Ann O\u2019Neil\u2011Smith") == "Ann O'Neil-Smith"


class TestRefusedNames:
    @pytest.mark.parametrize("name", ["", " ", "x", " x ", "x" * (LONGEST + 1), "x" * 10_000])
    def test_too_short_or_too_long(self, name):
        with pytest.raises(NameRefused, match="characters"):
            check(name)

    @pytest.mark.parametrize(
        "name",
        [
            *("An\x00n", "Ann\t", "Ann\r\nBob", "\x1b[31mAnn", "An\x7fn", "An\x9bn"),
            *("An\u200dn", "An\u202en", "An\u00adn", "\ufeffAnn", "An\u2066n", "An\ud800n"),
        ],
    )
    def test_control_and_invisible_characters(self, name):
        with pytest.raises(NameRefused, match="control or invisible"):
            check(name)

    @pytest.mark.parametrize(
        "name",
        [
            *("Ann;Bob", "Ann,Bob", "Ann|04", "Ann@home", "Ann/Bob", "Ann*", 'Ann "B"', "50%"),
            *("山田", "Ann \U0001f0a1", "שרה", "ᎪᏞ", "Ann\u2028Bob", "q\u0301a", "ǃann", "ᴀnn"),
        ],
    )
    def test_characters_that_do_not_belong_in_a_name(self, name):
        with pytest.raises(NameRefused, match="cannot contain"):
            check(name)

    @pytest.mark.parametrize("name", ["12", "0 0", "1.2", "3-4"])
    def test_a_name_without_a_letter(self, name):
        with pytest.raises(NameRefused, match="needs at least one letter"):
            check(name)

    @pytest.mark.parametrize("name", [".ann", "ann.", "-ann", "ann-", "'ann", "ann'", "_ann", "a_"])
    def test_punctuation_at_either_end(self, name):
        with pytest.raises(NameRefused, match="begins and ends"):
            check(name)

    @pytest.mark.parametrize("name", ["P\u0430ul", "Аnn", "Νick", "Иvan", "Νиκ"])
    def test_letters_of_several_alphabets(self, name):
        with pytest.raises(NameRefused, match="one alphabet"):
            check(name)

    def test_that_read_as_another_latin_name_than_their_skeleton(self):
        with pytest.raises(NameRefused, match="read as another"):
            check("νικο")  # reads "viko", is ΝΙΚΟ in capitals

    def test_every_refusal_is_a_sentence(self):
        for name in ("", "a;b", "12", "-ab", "Аnn", "a\tb", "νικο"):
            with pytest.raises(NameRefused) as refusal:
                check(name)
            assert str(refusal.value)[0].isupper()


class TestLookAlikes:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Bill", "BILL"),
            ("Bill", "BiII"),
            ("Bill", "Bi11"),
            ("Otto", "0tt0"),
            ("Cop", "С\u043e\u0440"),
            ("POPE", "РОРЕ"),
            ("Bepa", "Вера"),
            ("Zeno", "ΖΕΝΟ"),
            ("TOMTAT", "ΤΟΜΤΑΤ"),
            ("ΡΟΡΟ", "РОРО"),
            ("José", "Jose"),
            ("Łukasz", "Lukasz"),
            ("Straße", "STRASSE"),
            ("Ann Smith", " ann  smith "),
            ("A-B", "a--b"),
            ("O'Neil", "O\u2019Neil"),
            ("Ann", "Ａｎｎ"),
            ("Андрей", "андреи"),
        ],
    )
    def test_they_have_the_same_key(self, one, other):
        assert fold(one) == fold(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            *(("Ann", "Anna"), ("Ann Smith", "AnnSmith"), ("Nick", "Vick"), ("A-B", "A.B")),
            *(("Иван", "Ivan"), ("Ben", "Den"), ("Anne", "Arne"), ("Kit 2", "Kit 3")),
        ],
    )
    def test_names_that_only_resemble_each_other_keep_their_own(self, one, other):
        assert fold(one) != fold(other)

    @given(st.text())
    def test_any_text_has_a_key_and_a_key_is_its_own(self, text):
        assert fold(fold(text)) == fold(text)


class TestSkeletons:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            *(("Corn", "Com"), ("CORN", "Com"), ("5am", "Sam"), ("8ob", "Bob"), ("vv", "W")),
            *(("Clan", "Dan"), ("M0rn", "Mom"), ("vvv", "wv"), ("\u0441\u043erп", "Com")),
            *(("Zoe", "2oe"), ("Greg", "9re9"), ("\U0001d4d1ob", "Bob"), ("O'Neil", "O`Neil")),
        ],
    )
    def test_are_one_for_names_that_are_read_alike(self, one, other):
        assert skeleton(one) == skeleton(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            *(("Lucia", "Luda"), ("Kit 3", "Kit 4"), ("Kit 6", "Kit 8"), ("Kit 6", "Kit 9")),
            *(("Ann", "Anna"), ("A B", "AB"), ("Kim", "Kin"), ("Ben", "Den")),
        ],
    )
    def test_are_two_for_names_that_are_not(self, one, other):
        assert skeleton(one) != skeleton(other)

    @given(st.text(max_size=60))
    def test_are_made_of_any_text(self, text):
        reserved = skeleton(text)
        assert reserved == skeleton(text.strip())
        assert skeleton(text + "\u200b") == reserved


def test_names_are_the_same_or_only_read_alike():
    assert is_same("Bill Gates", "BILL  gates ")
    assert is_same("José", "Jose\u0301")
    assert not any(is_same("Bill", other) for other in ("BiII", "Bi11", "Вill", "Jill"))


letters = st.characters(categories=["L", "M", "N", "P", "Z", "C"], max_codepoint=0x2FFF)
names = st.one_of(
    st.text(st.sampled_from(alphabet + "019 .'-_"), max_size=26)
    for alphabet in ("abcXYZilIOéłßıİǅ", "ΝΗνοσςιήΥω", "АаорсЖйіЫю")
)


class TestEveryName:
    @settings(max_examples=EXAMPLES * 500)
    @given(st.one_of(names, st.text(letters, max_size=30)))
    def test_is_refused_or_keeps_every_rule(self, typed):
        try:
            name = check(typed)
        except NameRefused:
            return
        assert check(name) == name
        assert SHORTEST <= len(name) <= LONGEST
        assert name == unicodedata.normalize("NFKC", name)
        assert name.isprintable()
        assert ";" not in name
        assert "  " not in name
        assert name[0].isalnum()
        assert name[-1].isalnum()
        assert any(character.isalpha() for character in name)
        assert fold(name) == fold(typed)

    @settings(max_examples=EXAMPLES * 200)
    @given(names)
    def test_is_the_same_in_capitals(self, typed):
        try:
            name = check(typed)
        except NameRefused:
            return
        assert fold(name.upper()) == fold(name) == fold(name.lower())


class TestReservedNames:
    @pytest.mark.parametrize(
        "name",
        [
            *("Sysop", "SYSOP", "Sys Op", "sys0p", "new"),
            "\u043011",  # "all" with a Cyrillic letter and two digits
            "НОЅТ",  # all of it Cyrillic
        ],
    )
    def test_are_recognised_in_any_spelling(self, name):
        assert is_reserved(name)

    @pytest.mark.parametrize(
        "name",
        [
            *("The sys-op", "The.sysop", "The_sysop", "the Sys.Op", "TheSysop", "Le.Sys_Op"),
            *(
                "A sysop",
                "Your.Sysop",
                "L'admin",
                "La Co-Sysop",
                "S.y.s.o.p",
                "Sy Sop",
                "The Ad-min",
            ),
            *("The Guest", "The.Bank", "The_House", "La-Maison", "Le.systeme", "THE-COMMAND-LINE"),
            *("B_a_n_k", "Al-L", "The 5ys-0p", "Тне Ѕуѕ-Ор"),
        ],
    )
    def test_are_recognised_after_articles_and_between_separators(self, name):
        assert is_reserved(name)

    @pytest.mark.parametrize("name", ["Sysop 1", "Sysop2", "The_sys-op_3", "Admin 2000", "5ysop 1"])
    def test_are_recognised_with_a_number_after_an_office(self, name):
        assert is_reserved(name)

    def test_are_good_names_otherwise_so_that_sysops_may_use_their_own(self):
        assert check("Sysop") == "Sysop"

    @pytest.mark.parametrize(
        "name",
        [
            *(
                "Ann",
                "Al",
                "Newton",
                "Allen",
                "Rooty",
                "Al L",
                "Ned Bank",
                "Player 2",
                "Player One",
            ),
            *("A. Lee", "La Toya", "The Duke", "Le Roy", "L'Hote", "O'Nell", "Theall", "Newhouse"),
            *(
                "Anne House",
                "Host of Seven",
                "Root Beer",
                "Banks",
                "Maison",
                "System Shock",
                "Le 1",
            ),
            *("The The", "Agent 47", "Boardman", "Ana Ll", "Guestave", "No One", "Ad Minogue"),
        ],
    )
    def test_are_not_other_peoples(self, name):
        assert not is_reserved(name)

    @pytest.mark.parametrize(
        "name",
        [
            *("Sysop", "5y50p", "Adrnin", "vi5itor", "ADMlN", "The Command Line", "Import"),
            *("The Sysop", "Le Sys0p", "Le Systeme"),
        ],
    )
    def test_are_recognised_by_their_look(self, name):
        assert is_reserved(name)
