"""Names, ids and IRIs are pure functions of each other."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from kiprdf.language.names import name_fault
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import (
    ConceptName,
    Iris,
    PropositionName,
    base_fault,
    decode,
    encode,
    proposition_digits,
)
from tests.cases import each_case

BASE = "urn:kip:nexus/"
IRIS = Iris(BASE)

# The encoding, written out ----------------------------------------------------------------------

KEPT = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "abcdefghijklmnopqrstuvwxyz"
    "0123456789-._~$"
)  # fmt: skip
# RFC 3987 ucschar without spaces, invisible formatting characters and specials.
KEPT_RANGES = [
    (0x00A1, 0x167F), (0x1681, 0x1FFF), (0x2010, 0x2027), (0x2030, 0x205E), (0x2070, 0x2FFF),
    (0x3001, 0xD7FF), (0xF900, 0xFDCF), (0xFDF0, 0xFEFE), (0xFF00, 0xFFEF),
    (0x10000, 0x1FFFD), (0x20000, 0x2FFFD), (0x30000, 0x3FFFD), (0x40000, 0x4FFFD),
    (0x50000, 0x5FFFD), (0x60000, 0x6FFFD), (0x70000, 0x7FFFD), (0x80000, 0x8FFFD),
    (0x90000, 0x9FFFD), (0xA0000, 0xAFFFD), (0xB0000, 0xBFFFD), (0xC0000, 0xCFFFD),
    (0xD0000, 0xDFFFD), (0xE1000, 0xEFFFD),
]  # fmt: skip
ENCODED_RANGES = [
    (0x00, 0x23), (0x25, 0x2C), (0x2F, 0x2F), (0x3A, 0x40), (0x5B, 0x5E), (0x60, 0x60),
    (0x7B, 0x7D), (0x7F, 0xA0), (0x1680, 0x1680), (0x2000, 0x200F), (0x2028, 0x202F),
    (0x205F, 0x206F), (0x3000, 0x3000), (0xE000, 0xF8FF), (0xFDD0, 0xFDEF), (0xFEFF, 0xFEFF),
    (0xFFF0, 0xFFFF), (0x1FFFE, 0x1FFFF), (0x2FFFE, 0x2FFFF), (0x3FFFE, 0x3FFFF),
    (0x4FFFE, 0x4FFFF), (0x5FFFE, 0x5FFFF), (0x6FFFE, 0x6FFFF), (0x7FFFE, 0x7FFFF),
    (0x8FFFE, 0x8FFFF), (0x9FFFE, 0x9FFFF), (0xAFFFE, 0xAFFFF), (0xBFFFE, 0xBFFFF),
    (0xCFFFE, 0xCFFFF), (0xDFFFE, 0xE0FFF), (0xEFFFE, 0x10FFFF),
]  # fmt: skip


def _border(ranges: list[tuple[int, int]]) -> list[int]:
    return sorted({point for low, high in ranges for point in (low, (low + high) // 2, high)})


def percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


@each_case("character", KEPT)
def test_ascii_character_is_not_encoded(character: str) -> None:
    assert encode(character) == character


@each_case("character", [chr(p) for p in range(128) if chr(p) not in KEPT])
def test_other_ascii_character_is_encoded(character: str) -> None:
    assert encode(character) == f"%{ord(character):02X}"


@each_case("point", _border(KEPT_RANGES))
def test_code_point_of_a_kept_range_is_not_encoded(point: int) -> None:
    assert encode(chr(point)) == chr(point)


@each_case("point", _border(ENCODED_RANGES))
def test_code_point_of_an_encoded_range_is_encoded(point: int) -> None:
    assert encode(chr(point)) == percent(chr(point))


def test_every_code_point_is_kept_or_encoded() -> None:
    listed = sum(high - low + 1 for low, high in (*KEPT_RANGES, *ENCODED_RANGES))
    surrogates = 0xDFFF - 0xD800 + 1
    assert listed + len(KEPT) + surrogates == 0x110000


def test_every_kept_code_point_makes_an_iri() -> None:
    for low, high in KEPT_RANGES:
        for point in range(low, min(high, low + 300) + 1):
            assert NamedNode(BASE + chr(point)).value == BASE + chr(point)


@each_case(
    "text, segment",
    [
        ("Aspirin", "Aspirin"),
        ("Vitamin C", "Vitamin%20C"),
        ("a/b", "a%2Fb"),
        ("50%", "50%25"),
        ("%20", "%2520"),
        ("a:b@c!d", "a%3Ab%40c%21d"),
        ('"<>\\^`{|}', "%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ("阿司匹林", "阿司匹林"),
        ("é", "é"),
        ("e\u0301", "e\u0301"),
        ("😀", "😀"),
        ("a\u200bb", "a%E2%80%8Bb"),
        ("\u202e", "%E2%80%AE"),
        ("\ue000", "%EE%80%80"),
        ("\U000e0041", "%F3%A0%81%81"),
        ("$self", "$self"),
        ("~.-_", "~.-_"),
    ],
)
def test_segment_of_a_name(text: str, segment: str) -> None:
    assert (encode(text), decode(segment)) == (segment, text)


@given(text=st.text(alphabet=st.characters(exclude_categories=("Cs",))))
def test_decode_is_the_inverse_of_encode(text: str) -> None:
    assert decode(encode(text)) == text


@given(text=st.text(alphabet=st.characters(exclude_categories=("Cs",))))
def test_an_encoded_text_is_one_segment_of_an_iri(text: str) -> None:
    assert "/" not in encode(text)
    assert NamedNode(BASE + "T/" + encode(text)).value == BASE + "T/" + encode(text)


def test_two_names_have_two_iris() -> None:
    names = ["a", "A", "é", "e\u0301", "a b", "a%20b", "a/b", "a%2Fb", " a", "a "]
    assert len({IRIS.concept("T", name) for name in names}) == len(names)


# Identities ---------------------------------------------------------------------------------------


def test_concept_is_type_and_name_below_the_base() -> None:
    assert IRIS.concept("Drug", "Vitamin C").value == "urn:kip:nexus/Drug/Vitamin%20C"


def test_type_is_its_definition_node() -> None:
    assert IRIS.type("Drug").value == "urn:kip:nexus/$ConceptType/Drug"


def test_predicate_is_its_definition_node() -> None:
    assert IRIS.predicate("treats").value == "urn:kip:nexus/$PropositionType/treats"


def test_proposition_is_digits_and_predicate() -> None:
    node = IRIS.proposition("48ec6e8e3fe50dea", "treats")
    assert node.value == "urn:kip:nexus/$proposition/48ec6e8e3fe50dea/treats"
    assert IRIS.id(node) == "P:48ec6e8e3fe50dea:treats"


def test_digits_are_sha256_over_a_json_array_of_ids() -> None:
    # printf '["C:Drug/Aspirin","treats","C:Symptom/Headache"]' | sha256sum
    assert (
        proposition_digits("C:Drug/Aspirin", "treats", "C:Symptom/Headache") == "48ec6e8e3fe50dea"
    )


def test_digits_hash_characters_as_they_are() -> None:
    # printf '["C:Drug/阿司匹林","treats","C:Symptom/\"x\""]' with JSON escapes, UTF-8.
    import hashlib

    text = '["C:Drug/阿司匹林","treats","C:Symptom/\\"x\\""]'
    digits = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert proposition_digits("C:Drug/阿司匹林", "treats", 'C:Symptom/"x"') == digits


def test_an_id_in_use_is_salted_with_the_strings_1_and_2() -> None:
    import hashlib

    text = '["C:A/a","p","C:B/b","1","2"]'
    digits = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert proposition_digits("C:A/a", "p", "C:B/b", salt=2) == digits


def test_digits_do_not_depend_on_the_base() -> None:
    one, other = Iris("urn:a:/"), Iris("https://example.org/")
    parts = ("C:A/a", "p", "C:B/b")
    assert one.id(one.proposition(proposition_digits(*parts), "p")) == other.id(
        other.proposition(proposition_digits(*parts), "p")
    )


_identifiers = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True) | st.sampled_from(
    ("$ConceptType", "$PropositionType")
)
HOSTILE = (
    "/",
    "//",
    "a/b/c",
    "?",
    "#",
    "%2F",
    "...",
    "C:T/N",
    "P:48ec6e8e3fe50dea:p",
    " ",
    "\u2028",
)
_names = (st.text(min_size=1, max_size=20) | st.sampled_from(HOSTILE)).filter(
    lambda text: name_fault(text) is None
)
_bases = st.sampled_from((BASE, "https://data.example.org/kb/", "http://é.example/$/", "a:/"))


@given(base=_bases, type_name=_identifiers, name=_names)
@example(base=BASE, type_name="T", name="N/../../x")
def test_id_iri_and_name_of_a_concept_are_inverse(base: str, type_name: str, name: str) -> None:
    iris = Iris(base)
    node = iris.concept(type_name, name)
    assert iris.name(node.value) == ConceptName(type_name, name)
    assert iris.id(node) == f"C:{type_name}/{name}"
    assert iris.from_id(iris.id(node)) == node
    assert iris.from_id(node.value) == node


@given(base=_bases, digits=st.from_regex(r"[0-9a-f]{16}", fullmatch=True), predicate=_identifiers)
def test_id_iri_and_name_of_a_proposition_are_inverse(
    base: str, digits: str, predicate: str
) -> None:
    if predicate.startswith("$"):
        return
    iris = Iris(base)
    node = iris.proposition(digits, predicate)
    assert iris.name(node.value) == PropositionName(digits, predicate)
    assert iris.id(node) == f"P:{digits}:{predicate}"
    assert iris.from_id(iris.id(node)) == node
    assert iris.from_id(node.value) == node


@each_case("text", [
        "", "x", "C:", "C:T", "C:T/", "C:/N", "C:123", "P:", "P:12345:treats", "c:T/N",
        "P:48EC6E8E3FE50DEA:treats", "P:48ec6e8e3fe50dea:", "P:48ec6e8e3fe50dea:a b",
        "P:48ec6e8e3fe50dea", "urn:kip:nexus/", "urn:kip:nexus/T", "urn:kip:nexus/T/",
        "urn:kip:nexu/T/N", "https://example.org/T/N", "urn:kip:nexus/$proposition/1/p",
        "urn:kip:nexus/T/%FF", " C:T/N",
    ])  # fmt: skip
def test_other_text_is_no_id(text: str) -> None:
    assert IRIS.from_id(text) is None


@pytest.mark.parametrize(
    "iri", ["urn:kip:nexus/Drug/Vitamin C", "urn:kip:nexus/Drug/%56itamin%20C"]
)
def test_an_incoming_iri_is_decoded_and_encoded_again(iri: str) -> None:
    assert IRIS.from_id(iri) == IRIS.concept("Drug", "Vitamin C")


def test_the_first_slash_of_an_id_splits_it() -> None:
    assert IRIS.from_id("C:Drug/a/b") == IRIS.concept("Drug", "a/b")


# Base ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "base",
    ["urn:kip:nexus/", "https://data.example.org/kb/", "http://localhost:8080/", "tag:a,b:/"],
)
def test_base_is_fine(base: str) -> None:
    assert base_fault(base) is None


@pytest.mark.parametrize(
    ("base", "fault"),
    [
        ("", "is not an absolute IRI"),
        ("data/", "is not an absolute IRI"),
        ("/kb/", "is not an absolute IRI"),
        ("https://example.org/kb", "does not end in '/'"),
        ("https://example.org/?q=/", "has a query or a fragment"),
        ("https://example.org/#/", "has a query or a fragment"),
        ("https://example.org/a b/", "is not an IRI"),
        ("https://example.org/<>/", "is not an IRI"),
    ],
)
def test_base_is_refused(base: str, fault: str) -> None:
    assert base_fault(base) == fault


RESERVED = {
    "urn:kip:vocab/": "overlaps a namespace of kiprdf's own vocabulary",
    "urn:kip:attribute/": "overlaps a namespace of kiprdf's own vocabulary",
    "urn:kip:metadata/": "overlaps a namespace of kiprdf's own vocabulary",
    "urn:kip:graph/": "overlaps a namespace of kiprdf's own vocabulary",
    "urn:kip:list/": "overlaps a namespace of kiprdf's own vocabulary",
    "urn:kip:blank/": "overlaps a namespace of kiprdf's own vocabulary",
    "http://www.w3.org/": "overlaps a namespace of the W3C",
    "http://www.w3.org/1999/02/": "overlaps a namespace of the W3C",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns/": "overlaps a namespace of the W3C",
    "http://www.w3.org/2000/01/": "overlaps a namespace of the W3C",
    "http://www.w3.org/2001/": "overlaps a namespace of the W3C",
    "http://www.w3.org/ns/": "overlaps a namespace of the W3C",
}


@each_case("namespace", RESERVED)
def test_a_base_in_a_reserved_namespace_is_refused(namespace: str) -> None:
    assert base_fault(namespace) == RESERVED[namespace]
    assert base_fault(namespace + "x/") == RESERVED[namespace]


@pytest.mark.parametrize(
    "base",
    [
        "http://",
        "http://www.w3.org/",
        "http://www.w3.org/1999/",
        "http://www.w3.org/1999/02/",
        "http://www.w3.org/2000/",
        "http://www.w3.org/2000/01/",
        "http://www.w3.org/2001/",
    ],
)
def test_a_base_around_a_reserved_namespace_is_refused(base: str) -> None:
    assert base_fault(base) == "overlaps a namespace of the W3C"


def test_every_namespace_of_the_vocabulary_is_reserved() -> None:
    named = {
        value
        for name, value in vars(vocab).items()
        if name.isupper() and isinstance(value, str) and ":" in value
    }
    below = {vocab.FUNCTION}  # in one of the others
    others = {vocab.BLANK, vocab.RDF, vocab.RDFS, vocab.XSD, vocab.DEFAULT_BASE}
    assert named == {*vocab.OWN, *vocab.DOCUMENTS, *others, *below}
    assert {name for name in named if base_fault(name.replace("#", "/")) is None} == {
        "urn:kip:nexus/"
    }


def test_quoting_agrees_with_the_standard_library_on_ascii() -> None:
    text = "".join(map(chr, range(128)))
    assert encode(text) == quote(text, safe="-._~$")
