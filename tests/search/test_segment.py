"""Words match in any case, accents, width and script."""

import sys
import unicodedata

import pytest

from kiprdf.search.segment import (
    LONGEST_NAME,
    LONGEST_WORD,
    SEGMENTER_VERSION,
    exact_token,
    segment,
    segment_term,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Crème brûlée", ["creme", "brulee"]),
        ("Cre\u0300me", ["creme"]),
        ("Łódź, Ærø, cœur", ["lodz", "aero", "coeur"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("İzmir Iğdır", ["izmir", "igdir"]),
        ("ΆΣΟΣ άσος", ["ασοσ", "ασοσ"]),
        ("Ёлка елка", ["елка", "елка"]),
        ("Việt Nam", ["viet", "nam"]),
    ],
)
def test_case_and_accents_are_removed_in_latin_greek_and_cyrillic(
    text: str, tokens: list[str]
) -> None:
    assert segment(text) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("ＡＢＣ", ["abc"]), ("ﬁne", ["fine"]), ("x²", ["x2"]), ("㎎", ["mg"]), ("①", ["1"])],
)
def test_compatibility_forms_are_their_plain_letters(text: str, tokens: list[str]) -> None:
    assert segment(text) == tokens


@pytest.mark.parametrize("text", ["has_side_effect", "hasSideEffect", "HasSideEffect"])
def test_the_parts_of_an_identifier_are_words_and_so_is_the_whole(text: str) -> None:
    assert segment(text) == ["hassideeffect", "has", "side", "effect"]
    assert segment_term(text) == ["hassideeffect", "has", "side", "effect"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("Type2Diabetes", ["type2diabetes", "type2", "diabetes"]),
        ("ÉtatMajor", ["etatmajor", "etat", "major"]),
        ("__init__", ["init"]),
        ("$self", ["self"]),
        ("COX2 b12", ["cox2", "b12"]),
        ("DRUG", ["drug"]),
    ],
)
def test_a_word_is_cut_at_humps_and_underscores_only(text: str, tokens: list[str]) -> None:
    assert segment(text) == tokens


def test_a_chinese_document_offers_pairs_and_single_characters() -> None:
    assert segment("阿司匹林") == ["阿司", "司匹", "匹林", "阿", "司", "匹", "林"]


def test_a_chinese_term_asks_for_pairs() -> None:
    assert segment_term("阿司匹林") == ["阿司", "司匹", "匹林"]


def test_a_term_of_one_chinese_character_asks_for_it() -> None:
    assert segment_term("茶") == ["茶"]


def test_scripts_without_spaces_are_separated_from_their_neighbours() -> None:
    assert segment_term("ビタミンC、第2型") == ["ビタ", "タミ", "ミン", "c", "第", "2", "型"]


def test_punctuation_separates_chinese_words() -> None:
    assert segment_term("头痛、发热") == ["头痛", "发热"]


def test_han_beyond_the_basic_plane_is_cut_into_pairs() -> None:
    assert segment_term("𠮷野家") == ["𠮷野", "野家"]


@pytest.mark.parametrize("text", ["ガス", "ｶﾞｽ", unicodedata.normalize("NFD", "ガス")])
def test_japanese_voiced_sounds_keep_their_mark_in_every_encoding(text: str) -> None:
    assert segment_term(text) == ["ガス"]
    assert segment_term(text) != segment_term("カス")


@pytest.mark.parametrize("text", ["한국어", unicodedata.normalize("NFD", "한국어")])
def test_korean_is_cut_into_pairs_of_syllables(text: str) -> None:
    assert segment_term(text) == ["한국", "국어"]


@pytest.mark.parametrize("text", ["हिन्दी", "தமிழ்", "العَرَبية", "ภาษาไทย"])
def test_marks_stay_in_the_words_of_other_scripts(text: str) -> None:
    assert segment(text) == [unicodedata.normalize("NFKC", text)]


def test_invisible_characters_do_not_cut_a_word() -> None:
    assert segment("co\u00adop\u200der\ufeffate می\u200cخواهم") == ["cooperate", "میخواهم"]


@pytest.mark.parametrize("text", ["", " \t\n", "?!*\"'", "\x00", "\ud800", "😀", "_", "\u0301"])
def test_text_without_a_word_gives_no_token(text: str) -> None:
    assert segment(text) == []
    assert segment_term(text) == []
    assert exact_token(text) == ""


def test_nul_and_lone_surrogates_separate_words() -> None:
    assert segment("a\x00b\ud800c") == ["a", "b", "c"]


@pytest.fixture(scope="module")
def tokens() -> frozenset[str]:
    """The tokens of a text of every character."""
    return frozenset(segment(" ".join(map(chr, range(sys.maxunicode + 1)))))


def test_every_token_holds_letters_digits_and_marks_only(tokens: frozenset[str]) -> None:
    categories = {unicodedata.category(character) for character in set("".join(tokens))}
    # Cn: places between the Han characters, reserved for more of them.
    assert {category[0] for category in categories - {"Cn"}} == {"L", "M", "N"}


def test_tokens_segment_to_themselves(tokens: frozenset[str]) -> None:
    assert set(segment(" ".join(tokens))) == tokens


def test_the_exact_token_is_the_same_for_every_spelling_of_a_name() -> None:
    spellings = ["Side Effect", "side_effect", "SideEffect", "SIDE-EFFECT", "ｓｉｄｅ ｅｆｆｅｃｔ"]
    assert {exact_token(name) for name in spellings} == {"_sideeffect"}


def test_the_exact_token_is_no_word_of_a_document() -> None:
    assert exact_token("Aspirin") == "_aspirin"
    assert segment("_aspirin") == ["aspirin"]


def test_a_word_counts_up_to_the_longest_word() -> None:
    assert segment("a" * LONGEST_WORD) == ["a" * LONGEST_WORD]
    assert segment("a" * (LONGEST_WORD + 1)) == ["a" * LONGEST_WORD]


def test_a_name_counts_up_to_the_longest_name() -> None:
    assert exact_token("a " * LONGEST_NAME) == "_" + "a" * LONGEST_NAME
    assert exact_token("a " * (LONGEST_NAME + 1)) == "_" + "a" * LONGEST_NAME


@pytest.mark.parametrize(
    "unit", ["pain ", "aA", "a", "_", "\u0301\u0316", "a\u0301\u0316", "阿司", "한", "\ufdfa", "क्"]
)
def test_a_long_text_is_segmented(unit: str) -> None:
    # A quadratic step would take minutes: sorting marks, or a regular expression going back.
    assert segment(unit * (200_000 // len(unit.encode()))) is not None


def test_the_version_changes_with_the_character_tables() -> None:
    assert SEGMENTER_VERSION.endswith(f"Unicode {unicodedata.unidata_version}")
