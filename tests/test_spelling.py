"""Names that look alike, or differ in what nobody sees, have the same key."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiprdf.spelling import key_of_name, keys_of_name

_NAMES = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("aAiIlL1oO0mrn νΝıİКк\u0301\u0307\u200b\u200d\u202e\u3164\ufe0f\U000e0061"),
    ),
    max_size=20,
)


@pytest.mark.parametrize(
    "spelling",
    [
        "ada lovelace",
        "ADA LOVELACE",
        "  Ada\u00a0\u2003Lovelace\t",
        "Ada\u2800Lovelace",
        "A\u200bda Love\u00adlace",
        "\u202eAda Lovelace\u202c",
        "\u2066Ada\u2069 Lovelace\ufeff",
        "Ada\ufe0f Lovelace\U000e0100",
        "Ada Lovelace\U000e0041\U000e007f",
        "Ada Lovelace\u3164\uffa0\u115f\u034f",
        "Ada\x01 Lovelace",
        "\uff21\uff44\uff41 \U0001d40bovelace",
        "\u0410d\u0430 L\u043evelac\u0435",
        "Ada Love1ace",
        "Ada LoveIace",
        "Ada L0velace",
    ],
)
def test_spellings_of_one_name(spelling: str) -> None:
    assert key_of_name(spelling) == key_of_name("Ada Lovelace")


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("Zoë", "Zoe\u0308"),
        ("modern", "rnodern"),
        ("Νίκος", "ΝΊΚΟΣ"),
        ("日本", "日\u200b本"),
        ("", "\u200b \u2060"),
    ],
)
def test_case_and_composition_in_other_scripts(name: str, spelling: str) -> None:
    assert key_of_name(name) == key_of_name(spelling)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada Lovelace", "AdaLovelace"),
        ("Ada", "Eda"),
        ("Zoe", "Zoë"),
        ("nan", "van"),
        ("17", "71"),
        ("日本", "日木"),
    ],
)
def test_other_names_have_other_keys(one: str, other: str) -> None:
    assert not {*keys_of_name(one)} & {*keys_of_name(other)}


def test_a_foreign_capital_is_seen_as_it_looks_before_its_case_is_folded() -> None:
    assert key_of_name("\u039dina") == key_of_name("\u03bdina") != key_of_name("Nina")
    assert key_of_name("Nina") in keys_of_name("\u039dina")
    assert {*keys_of_name("\u039d\u03af\u03ba\u03bf\u03c2")} & {
        *keys_of_name("N\u03af\u03ba\u03bf\u03c2")
    }


@given(_NAMES)
def test_the_key_of_a_key_is_itself(name: str) -> None:
    key = key_of_name(name)
    assert key_of_name(key) == key
    assert keys_of_name(name)[0] == key


@given(_NAMES)
def test_case_blanks_and_invisible_characters_make_no_difference(name: str) -> None:
    key = key_of_name(name)
    assert key_of_name(name.casefold()) == key
    assert key_of_name(f" \u200b{name}\u00a0 ") == key
    assert key_of_name("\u2060".join(name.split(" ")).replace("\u2060", " \u2060 ")) == key


def test_every_character_has_a_key() -> None:
    """Also of a text that has a large part of Unicode."""
    everything = "".join(map(chr, [*range(0xD800), *range(0xF900, 0x20000)]))
    key = key_of_name(everything)
    assert key_of_name(key) == key


def test_the_table_is_read_when_the_first_key_is_asked_for() -> None:
    code = "import sys, kiprdf, kiprdf.spelling; print('confusable_homoglyphs' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f174vil Corp",
        "\u1d07\u1d20\u026a\u029f \u1d04\u1d0f\u0280\u1d18",
        "Evil \u03f9orp",
        "\U0001f1eavil Corp",
    ],
)
def test_styled_letters_and_a_lunate_sigma(text: str) -> None:
    assert key_of_name("Evil Corp") in keys_of_name(text)
    assert key_of_name("Awful Corp") not in keys_of_name(text)


def test_every_small_capital_is_its_letter() -> None:
    small = (
        "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f"
    )
    small += "\u1d18\ua7af\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22"
    letters = "abcdefghijklmnopqrstuvwyz"
    for styled, letter in zip(small, letters, strict=True):
        assert key_of_name(f"the {letter}oon") in keys_of_name(f"the {styled}oon"), letter
    assert key_of_name("the noon") not in keys_of_name("the \u1d0doon")
