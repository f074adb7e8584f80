import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansi.charset import READ_ALOUD, UNREADABLE, Charset, clean, decoder, encode, reread
from ansi.width import text_width

ANY_TEXT = st.text(alphabet=st.characters(), max_size=40) | st.text(alphabet="♥│é漢½\x03ÿ\xa0a")


@given(ANY_TEXT, st.sampled_from(Charset))
def test_byte_255_never_goes_out(text: str, charset: Charset) -> None:
    assert b"\xff" not in encode(text, charset)


@given(ANY_TEXT, st.sampled_from([each for each in Charset if each is not Charset.UTF8]))
def test_text_is_as_wide_encoded_as_it_was(text: str, charset: Charset) -> None:
    shown = "".join(filter(str.isprintable, text))
    assert len(encode(shown, charset)) == text_width(shown)


@given(ANY_TEXT)
def test_ascii_is_ascii(text: str) -> None:
    assert encode(text, Charset.ASCII).isascii()


@given(st.text(alphabet=[chr(code) for code in range(128)]), st.sampled_from(Charset))
def test_ascii_and_controls_pass_untouched(text: str, charset: Charset) -> None:
    assert encode(text, charset) == text.encode()
    assert encode(text + "♥", charset)[: len(text)] == text.encode()


@pytest.mark.parametrize("charset", [Charset.CP437, Charset.CP437_TEXT, Charset.UTF8])
def test_text_in_the_charset_survives_encoding_and_decoding(charset: Charset) -> None:
    text = "Größe ░▒▓ ┌─┐ ╔═╗ ½ ÿ α"
    assert decoder(charset).decode(encode(text, charset)) == text


def test_suits_are_the_low_bytes_of_a_pc_screen() -> None:
    assert encode("♥♦♣♠☺☻►◄", Charset.CP437) == bytes([3, 4, 5, 6, 1, 2, 16, 17])


def test_through_a_host_that_reads_low_bytes_as_controls_suits_are_letters() -> None:
    assert encode("A♥ 10♦ ►◄☺☻│½", Charset.CP437_TEXT) == b"AH 10D ><@@\xb3\xab"


@given(st.text(alphabet="♥♦♣♠☺☻►◄♫↑→│░½é漢a") | ANY_TEXT.filter(str.isprintable))
def test_a_host_that_strips_control_bytes_decodes_the_same_width(text: str) -> None:
    sent = encode(text, Charset.CP437_TEXT)
    assert all(byte >= 0x20 for byte in sent)
    assert text_width(sent.decode("cp437")) == text_width(text)


def test_glyphs_with_control_bytes_become_look_alikes() -> None:
    assert encode("•◘○◙♂♀♪♫☼↕‼¶§▬↨↑↓→←∟↔▲▼⌂", Charset.CP437) == b"**ooMFddo|!PS-|^v><L-^v^"


@pytest.mark.parametrize(
    ("text", "ascii_text"),
    [
        ("┌─┬┐│└┴┘├┼┤", b"+-++|+++" + b"+++"),
        ("╔═╗║╚╝", b"+=+|++"),
        ("10♥ J♦ Q♣ K♠", b"10H JD QC KS"),
        ("Größe Łódź naïve", b"Grose Lodz naive"),
        ("“What’s up” — he said…", b'"What\'s up" - he said.'),
        ("Ａ１", b"A 1 "),
        ("漢字 2½ x²", b"???? 2? x?"),
        ("a\u0301b\u200bc", b"abc"),
        ("a\xa0b", b"a b"),
    ],
)
def test_characters_missing_from_ascii_become_similar_ones(text: str, ascii_text: bytes) -> None:
    assert encode(text, Charset.ASCII) == ascii_text


@pytest.mark.parametrize(
    ("text", "pc_text"),
    [("Łódź", b"L\xa2dz"), ("“x”", b'"x"'), ("漢", b"??"), ("a\xa0b", b"a b"), ("½€", b"\xabE")],
)
def test_characters_missing_from_cp437_become_similar_ones(text: str, pc_text: bytes) -> None:
    assert encode(text, Charset.CP437) == pc_text


@pytest.mark.parametrize(
    ("text", "sent"),
    [("Größe, été ½", "Größe, été ½".encode("latin-1")), ("Ł│♠ÿa", b"L|Sya"), ("€", b"E")],
)
def test_characters_missing_from_latin_1_become_similar_ones(text: str, sent: bytes) -> None:
    assert encode(text, Charset.LATIN1) == sent


def test_broken_text_is_replaced_and_not_raised() -> None:
    assert encode("a\ud800b", Charset.UTF8) == b"a?b"


@given(st.text(), st.data())
def test_utf_8_may_be_cut_anywhere(text: str, data: st.DataObject) -> None:
    encoded = text.encode()
    reader = decoder(Charset.UTF8)
    cut = data.draw(st.integers(0, len(encoded)))
    assert reader.decode(encoded[:cut]) + reader.decode(encoded[cut:], final=True) == text


@given(st.binary(), st.integers(0, 9), st.sampled_from(Charset))
def test_any_bytes_can_be_read_and_cut_anywhere(data: bytes, cut: int, charset: Charset) -> None:
    whole, cut_in_two = decoder(charset), decoder(charset)
    text = whole.decode(data) + whole.decode(b"", final=True)
    pieces = [
        cut_in_two.decode(data[:cut]),
        cut_in_two.decode(data[cut:]),
        cut_in_two.decode(b"", final=True),
    ]
    assert "".join(pieces) == text
    assert len(text) >= len(data) / 4, "nothing is dropped"


def test_bytes_that_mean_nothing_are_noted() -> None:
    assert decoder(Charset.UTF8).decode(b"a\xff\xc3b\xe2\x99c") == "a\ufffd\ufffdb\ufffdc"
    assert decoder(Charset.ASCII).decode(b"a\xe9b") == "a\ufffdb"


def test_an_unknown_terminal_may_type_utf_8() -> None:
    assert decoder(Charset.ASCII).decode("Ümit Αννα".encode()) == "Ümit Αννα"


def test_the_beginning_of_a_character_waits_until_it_is_given_up() -> None:
    reader = decoder(Charset.UTF8)
    assert reader.decode(b"\xc3") == ""
    assert reader.decode(b"", final=True) == UNREADABLE
    assert reader.decode(b"", final=True) == ""


LETTERS = "".join(map(chr, [*range(32, 127), *range(0xA1, 0x250)]))


@given(st.text(alphabet=clean(LETTERS)))
def test_utf_8_that_was_read_as_cp437_is_read_again(text: str) -> None:
    misread = decoder(Charset.CP437).decode(text.encode())
    assert reread(misread, Charset.CP437) == text
    assert reread(text, Charset.UTF8) == text


@pytest.mark.parametrize("hidden", ["\x9b2J", "\u202e", "\u200b", "é\u0302\u0303\u0304"])
def test_control_and_invisible_characters_are_not_decoded(hidden: str) -> None:
    misread = decoder(Charset.CP437).decode(f"lucky {hidden} duck".encode())
    assert reread(misread, Charset.CP437) == misread


@given(st.text(alphabet="aZ éèàùçüöäñåÅÆ½¿", max_size=8))
def test_typed_cp437_is_decoded(text: str) -> None:
    assert reread(text, Charset.CP437) == text


def test_nothing_is_drawn_where_a_text_is_read_aloud_and_letters_stay() -> None:
    assert "│A♠ Élodie « été »│".translate(READ_ALOUD) == "|AS Élodie « été »|"


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b\x9b\u202e\u200d\ufeff\u0301")))
def test_clean_text_has_nothing_that_moves_hides_or_reorders(text: str) -> None:
    cleaned = clean(text)
    assert not {unicodedata.category(letter) for letter in cleaned} & {
        "Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"
    }  # fmt: skip
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("typed", "cleaned"),
    [
        ("x\u0302\u0303\u200b\u0300", "x\u0302\u0303"),  # an invisible letter joins accents
        ("e\u200b\u0301", "é"),
        ("Ann\x1b[2J\x07a\x9b\r\n", "Ann[2Ja"),
        ("abc\u202edef\u2066", "abcdef"),
        ("a\u200bb\u2060c\ufeffd\u00ade", "abcde"),
        ("a\u3164b\u2800c\ufe0fd\U000e0041", "abcd"),
        ("a\u00a0b\u3000c\td", "a b cd"),
        ("e\u0301", "é"),
        ("x" + "\u0334" * 40 + "y", "x\u0334\u0334y"),
        ("plain, as it was", "plain, as it was"),
        ("Ünïcode 漢字 ♥", "Ünïcode 漢字 ♥"),
    ],
)
def test_clean_removes_characters_that_can_deceive_others(typed: str, cleaned: str) -> None:
    assert clean(typed) == cleaned
