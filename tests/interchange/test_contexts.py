"""Mapping files: what they say, how they stack, what is refused, and that they are JSON-LD 1.1.

Oxigraph's JSON-LD processor is the second reader of every context, rdflib's of those without
contexts inside of ``@nest``, which it does not apply.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, Literal, NamedNode, RdfFormat, Triple, parse
from rdflib import namespace

import kiprdf
from kiprdf import Mapping, resources
from kiprdf.interchange.formats import json_text
from kiprdf.interchange.mapping.contexts import Term, packs
from kiprdf.interchange.mapping.reader import MAPS
from kiprdf.rdf import vocab
from kiprdf.source import Span, position
from tests.long_runs import amount

EXAMPLES = amount("EXAMPLES", 20)
EX = "https://ex.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"


def mapping(**terms: Any) -> Mapping:
    return Mapping.load({"@context": {"ex": EX, "xsd": XSD, **terms}})


def nest(**terms: Any) -> dict[str, Any]:
    return {"@id": "@nest", "@context": terms}


def value(node: NamedNode | None) -> str | None:
    return None if node is None else node.value


def answer(loaded: Mapping, question: str) -> str | None:
    """What a method answers, as text: ``attribute k Person`` is ``attribute("k", "Person")``."""
    method, *arguments = question.split(" ")
    result = getattr(loaded, method)(*(full(argument) for argument in arguments))
    if isinstance(result, list):
        return " ".join(key for key, _ in result)
    key, meaning = result if isinstance(result, tuple) else (None, result)
    shown = meaning if isinstance(meaning, str | None) else written(meaning)
    return shown if key is None else f"{key} {shown}"


def full(name: str) -> str:
    return name.replace("ex:", EX)


def written(node: NamedNode | Term) -> str:
    """An IRI, or a term: its IRI, its datatype, its language, its container."""
    if isinstance(node, NamedNode):
        return node.value.replace(EX, "ex:").replace(XSD, "xsd:")
    datatype = "" if node.datatype is None else written(node.datatype)
    language = f"@{node.language or ''}" + (f"--{node.direction}" if node.direction else "")
    parts = [written(node.iri), "@id" * node.is_iri, datatype, language, node.container or ""]
    return " ".join(part for part in parts if part not in ("", "@"))


def refusal(*sources: Any, code: str = "KIP_1001", **options: Any) -> kiprdf.KipError:
    with pytest.raises(kiprdf.KipError) as loaded:
        Mapping.load(*sources, **options)
    assert loaded.value.code == code
    return loaded.value


def excess(*sources: Any, **options: Any) -> kiprdf.KipError:
    return refusal(*sources, code="KIP_4002", **options)


# What a context says ----------------------------------------------------------------------------

MEANINGS: dict[str, tuple[dict[str, Any], dict[str, str | None]]] = {
    "types and predicates are terms of the top level": (
        {"Person": "ex:Human", "knows": {"@id": "ex:knows", "@type": "@id"}},
        {"concept_type Person": "ex:Human", "predicate knows": "ex:knows",
         "concept_type Stone": None, "type_of ex:Human": "Person",
         "predicate_of ex:knows": "knows", "predicate_of ex:nobody": None},
    ),
    "the maps inside of an element win over the top level": (
        {"k": "ex:top", "attributes": nest(k="ex:a"), "metadata": nest(k="ex:m")},
        {"attribute k": "ex:a", "metadata k": "ex:m", "attribute_of ex:a": "k ex:a",
         "attribute_of ex:top": None, "metadata_of ex:m": "k ex:m", "metadata_of ex:a": None},
    ),
    "a type has its own terms": (
        {"k": "ex:k", "Person": {"@id": "ex:Person", "@context": {"k": "ex:person_k"}}},
        {"attribute k Person": "ex:person_k", "attribute k Stone": "ex:k", "attribute k": "ex:k",
         "attribute_of ex:person_k Person": "k ex:person_k", "attribute_of ex:person_k": None},
    ),
    "defaults hold where a term says nothing": (
        {"@language": "en", "@vocab": EX, "k": {"@id": "ex:k", "@language": None}},
        {"attribute other": "ex:other @en", "attribute k": "ex:k",
         "attribute_of ex:other": "other ex:other @en", "type_of ex:no-identifier": None},
    ),
    # Oxigraph says otherwise here; JSON-LD 1.1 API, 5.3.2, does not.
    "the default language holds for a term of no type": (
        {"@language": "en", "k": {"@id": "ex:k", "@type": "@none"}},
        {"attribute k": "ex:k @en"},
    ),
    "null removes a term": (
        {"@vocab": EX, "k": None, "attributes": nest(j=None), "j": "ex:j"},
        {"attribute k": None, "attribute j": None, "metadata j": "ex:j", "attribute_of ex:k": None},
    ),
    "a prefix is no word": (
        {"other": {"@id": "ex:other#", "@prefix": True}, "k": "other:k"},
        {"attribute ex": None, "attribute other": None, "predicate k": "ex:other#k"},
    ),
    "a keyword is no word": ({"id": "@id"}, {"attribute id": None}),
    "a keyword is a word where it has an IRI": (
        {"id": "@id", "attributes": nest(id="ex:id")}, {"attribute id": "ex:id"}
    ),
    "terms may be made of terms in any order": (
        {"a": "b", "b": "c:x", "c": "ex:c/"}, {"predicate a": "ex:c/x"}
    ),
    "the name of a concept has a term": (
        {"name": "ex:name", "Person": {"@id": "ex:P", "@context": {"name": "ex:full_name"}}},
        {"label": "ex:name", "label Person": "ex:full_name"},
    ),
    "a context without words maps nothing": (
        {}, {"label": None, "attribute a": None, "concept_type T": None, "metadata a": None}
    ),
    "the first of two words keeps the way back": (
        {"attributes": nest(b="ex:k", a="ex:k")},
        {"attribute_of ex:k": "b ex:k", "attributes_of ex:k": "b a"},
    ),
    "types and predicates are distinguished by the capital": (
        {"interest": "ex:i", "Interest": "ex:i"},
        {"type_of ex:i": "Interest", "predicate_of ex:i": "interest"},
    ),
    **{
        str(definition): ({"k": {"@id": "ex:k", **definition}},
                          {"attribute k": expected, "metadata k": expected,
                           "attribute_of ex:k": f"k {expected}"})
        for definition, expected in [
            ({}, "ex:k"), ({"@type": "xsd:date"}, "ex:k xsd:date"), ({"@type": "@id"}, "ex:k @id"),
            ({"@type": "@vocab"}, "ex:k @id"), ({"@type": "@none"}, "ex:k"),
            ({"@type": "@json"}, f"ex:k {vocab.JSON.value}"),
            ({"@language": "zh-Hant", "@direction": "ltr"}, "ex:k @zh-hant--ltr"),
            ({"@container": ["@set"]}, "ex:k @set"), ({"@container": "@list"}, "ex:k @list"),
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize("name", MEANINGS)
def test_a_context_says(name: str) -> None:
    terms, expected = MEANINGS[name]
    loaded = mapping(**terms)
    assert {question: answer(loaded, question) for question in expected} == expected


def test_prefixes_are_those_of_the_top_level() -> None:
    loaded = mapping(other={"@id": "ex:other#", "@prefix": True})
    assert loaded.prefixes == {"ex": EX, "other": EX + "other#", "xsd": XSD}
    assert Mapping.none().prefixes == {}
    assert Mapping.none().is_empty


@pytest.mark.parametrize(
    ("terms", "warnings"),
    [
        (
            {"attributes": nest(b="ex:k", a="ex:k")},
            [f"'b' and 'a' both mean <{EX}k> in 'attributes'; when read back it is 'b'."],
        ),
        ({"interest": "ex:i", "Interest": "ex:i"}, []),
        ({"a": {"@id": "ex:k", "@language": "en"}, "b": {"@id": "ex:k", "@language": "de"}}, []),
        (
            {"k": {"@id": "ex:k", "@type": "xsd:date", "@language": "en"}},
            ["The mapping, k: @language has no effect beside @type."],
        ),
        (
            {"k": {"@id": "ex:k", "@type": "xsd:date", "@direction": 5}},
            ["The mapping, k: @direction has no effect beside @type."],
        ),
    ],
)  # fmt: skip
def test_what_is_not_read_back_or_has_no_effect_is_reported(terms: Any, warnings: Any) -> None:
    assert list(mapping(**terms).warnings) == warnings


# Stacking ---------------------------------------------------------------------------------------

FOAF, OTHER = str(namespace.FOAF), "https://other.example/"
STACKED: dict[str, tuple[list[Any], dict[str, str | None]]] = {
    "of two files the later wins term by term": (
        [{"ex": EX, "attributes": nest(a="ex:a", b="ex:b", c="ex:c")},
         {"attributes": nest(b="ex:other", c=None)}],
        {"attribute a": "ex:a", "attribute b": "ex:other", "attribute c": None},
    ),
    "a later word for an IRI has the way back": (
        ["foaf", {"attributes": nest(nickname="foaf:nick")}],
        {f"attribute_of {FOAF}nick": f"nickname {FOAF}nick"},
    ),
    "a type given another IRI keeps its attributes": (
        [{"ex": EX, "P": {"@id": "ex:P", "@context": {"a": "ex:a"}}}, {"P": "ex:Q"}],
        {"concept_type P": "ex:Q", "attribute a P": "ex:a"},
    ),
    "a prefix defined again does not change earlier terms": (
        [{"ex": EX, "a": "ex:a", "attributes": nest(b="ex:b")}, {"ex": OTHER, "c": "ex:c"}],
        {"predicate a": "ex:a", "attribute b": "ex:b", "predicate c": OTHER + "c"},
    ),
    "a mapping is a source too": (
        ["foaf", Mapping.load({"@context": {"knows": "https://ex.org/knows"}})],
        {"predicate knows": "ex:knows", "concept_type Person": FOAF + "Person"},
    ),
    "all packs lie upon each other": (
        packs(),
        {"concept_type Domain": str(namespace.SKOS.ConceptScheme),
         "predicate knows": str(namespace.SDO.knows)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STACKED)
def test_mappings_are_stacked(name: str) -> None:
    sources, expected = STACKED[name]
    loaded = Mapping.load(*({"@context": s} if isinstance(s, dict) else s for s in sources))
    assert {question: answer(loaded, question) for question in expected} == expected


@pytest.mark.parametrize("sources", [*([pack] for pack in packs()), packs()], ids="+".join)
def test_the_context_of_a_mapping_says_the_same_again(sources: list[str]) -> None:
    context = Mapping.load(*sources).context()
    assert Mapping.load({"@context": context}).context() == context


def test_protected_terms_stay() -> None:
    protected = {"@context": {"@protected": True, "ex": EX, "k": "ex:k"}}
    error = refusal(protected, {"@context": {"k": "ex:other"}})
    assert error.message == "The mapping, k: 'k' is protected by an earlier context."
    assert "'ex', which is protected" in refusal(protected, {"@context": None}).message
    Mapping.load(protected, {"@context": {"k": "ex:k"}})
    Mapping.load(protected, {"@context": {"attributes": nest(k="ex:other")}})


# What is refused --------------------------------------------------------------------------------

CONTAINER = "A container is '@set' or '@list'; KIP has no maps by language, id, type or index."
OBJECT = "A term is defined by an IRI, an object or null."
TYPE = "'@type' takes the IRI of a datatype, @id, @vocab, @json or @none."
TAG = "'@language' takes a language tag, such as 'en', or null."
DIRECTION = "'@direction' takes 'ltr', 'rtl' or null."
REVERSE = "@reverse would reverse facts; define a predicate for the other direction instead."
LOOKS = "The term looks like the IRI <{}> but means another one."
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
CORRECT, LEAVE_OUT = "Correct the context.", "Leave it out."
ABSOLUTE = "Write an absolute IRI, or define the prefix before the colon."
ALIAS = "A term may stand for @direction, @id, @language, @list, @nest, @none, @set, @type, @value."
# The definition of the term ``k``, the end of the message, the hint.
FAULTY_TERMS: list[tuple[Any, str, str]] = [
    ("foo:bar", "'foo:bar' has the prefix 'foo', which is not defined.", ABSOLUTE),
    ("exx:k", "'exx:k' has the prefix 'exx', which is not defined.", "Did you mean 'ex:'?"),
    ("bar", "'bar' is not an absolute IRI.", ABSOLUTE),
    ("ex:a b", "'ex:a b' is not an absolute IRI.", "Did you mean 'ex:'?"),
    ("https:/ex.org/k", "'https:/ex.org/k' has the prefix 'https', which is not defined.",
     "It begins with 'https://' and has no spaces."),
    ("_:b", "'_:b' is a blank node, not an IRI.", ABSOLUTE),
    ("@foo", "'@foo' cannot be the meaning of a term.", ALIAS),
    ("@vocab", "'@vocab' cannot be the meaning of a term.", ALIAS),
    ("@context", "'@context' cannot be the meaning of a term.", ALIAS),
    (5, OBJECT, CORRECT),
    ({}, "'k' is not an absolute IRI.", ABSOLUTE),
    ({"@id": 5}, "'@id' takes an IRI, a keyword or null.", CORRECT),
    ({"@id": "ex:k", "@foo": 1}, "'@foo' means nothing in the definition of a term.",
     "It has @container, @context, @direction, @id, @language, @nest, @prefix, @protected, @type."),
    ({"id": "ex:k"}, "'id' means nothing in the definition of a term.", "Write '@id'."),
    ({"@id": "ex:k", "j": "ex:j"}, "'j' means nothing in the definition of a term.",
     "Put its own terms into its '@context'."),
    ({"@reverse": "ex:k"}, REVERSE, LEAVE_OUT),
    ({"@id": "ex:k", "@index": "ex:i"}, "@index has no counterpart in KIP.", LEAVE_OUT),
    ({"@id": "ex:k", "@container": "@graph"}, CONTAINER, CORRECT),
    ({"@id": "ex:k", "@container": ["@set", "@index"]}, CONTAINER, CORRECT),
    ({"@id": "ex:k", "@type": "date"}, "'date' is not an absolute IRI.", f"Write '{XSD}date'."),
    ({"@id": "ex:k", "@type": "xsd:datetime"}, "XML Schema has no datatype 'datetime'.",
     "XML Schema has dateTime."),
    ({"@id": "ex:k", "@type": 5}, TYPE, CORRECT),
    ({"@id": "ex:k", "@type": LANG_STRING}, "Use '@language' for a text with a language.", CORRECT),
    ({"@id": "ex:k", "@language": "no tag"}, TAG, CORRECT),
    ({"@id": "ex:k", "@direction": "up"}, DIRECTION, CORRECT),
    ({"@id": "ex:k", "@prefix": "yes"}, "@prefix is true or false.", CORRECT),
    ({"@id": "ex:k", "@protected": 1}, "@protected is true or false.", CORRECT),
    ({"@id": "ex:k", "@nest": "@id"}, "'@nest' takes '@nest' or an alias of it.", CORRECT),
    ({"@id": "ex:k", "@context": "schema-org"},
     "'schema-org' is not an absolute URL of a context.",
     "To stack packs and files, load several mappings."),
    ({"@id": "ex:k", "@context": {"j": "x:j"}},
     "'x:j' has the prefix 'x', which is not defined.", "Did you mean 'ex:'?"),
]  # fmt: skip
MAP = "'{}' is a map inside an element and must be '@nest'."
IN_A_MAP = 'Write "{}": {{"@id": "@nest", "@context": {{…}}}}.'
# A context, the end of the message, the hint.
FAULTY_CONTEXTS: list[tuple[Any, str, str]] = [
    ({"a": "b", "b": "a"}, "a: The term is defined by itself: 'a' → 'b' → 'a'.", CORRECT),
    ({"": "ex:k"}, "A term has a name; this one is empty.", CORRECT),
    ({5: "urn:x:t"}, "The keys of a context are strings.", CORRECT),
    *(({key: "ex:k"}, f"'{key}' means nothing in a context.", "It has @direction, @import, "
       "@language, @propagate, @protected, @type, @version, @vocab.") for key in ("@id", "@foo")),
    ({"@version": 1.0}, "The version of a context is 1.1.", CORRECT),
    ({"@base": EX}, "The IRIs of a mapping are absolute, so @base is not allowed here.", LEAVE_OUT),
    ({"@vocab": "words"}, "'words' is not an absolute IRI.", ABSOLUTE),
    ({"@vocab": 5}, "@vocab takes an IRI or null.", CORRECT),
    ({"@vocab": EX, "k": "@foo"}, "'@foo' cannot be the meaning of a term.", ALIAS),
    ({"@vocab": EX, "k": {"@type": "@foo"}}, TYPE, CORRECT),
    ({"@language": 5}, TAG, CORRECT),
    ({"@direction": "x"}, DIRECTION, CORRECT),
    ({"@propagate": "x"}, "@propagate is true or false.", CORRECT),
    ({"@type": {"@id": "ex:type"}},
     "For '@type' a context may only say '@container': '@set'.", CORRECT),
    ({"ex:k": "ex:j"}, LOOKS.format(f"{EX}k"), CORRECT),
    ({"a:b": "ex:j"}, LOOKS.format("a:b"), CORRECT),
    ({"a/b": {"@id": "ex:j"}}, LOOKS.format("a/b"), CORRECT),
    ({"attributes": "ex:a"}, MAP.format("attributes"), IN_A_MAP.format("attributes")),
    ({"metadata": {"@id": "ex:m"}}, MAP.format("metadata"), IN_A_MAP.format("metadata")),
    ({"attributes": {"@context": {"k": "urn:x:k"}}},
     MAP.format("attributes"), IN_A_MAP.format("attributes")),
    (5, "A context is an object, a URL, null or a list of these.", CORRECT),
    ([{"k": "ex:k"}, 5], "A context is an object, a URL, null or a list of these.", CORRECT),
    ({"k" * 5000: "zz:a"}, f"{'k' * 60}…: 'zz:a' has the prefix 'zz', which is not defined.",
     ABSOLUTE),
    # Long words are not compared with each other.
    ({"p" * 200_000: "urn:x:", "k": "p" * 199_999 + "q:k"},
     "is longer than 2000 characters, prefix and all.", "Write a shorter one."),
]  # fmt: skip
FAULTS = [
    *(("The mapping, k", {"ex": EX, "xsd": XSD, "k": k}, *rest) for k, *rest in FAULTY_TERMS),
    *(("The mapping", [{"ex": EX}, context], *rest) for context, *rest in FAULTY_CONTEXTS),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault[2])[:60])
def test_a_faulty_context_is_refused(fault: tuple[str, Any, str, str]) -> None:
    beginning, context, message, hint = fault
    error = refusal({"@context": context})
    assert error.message.startswith(beginning)
    assert (error.message.endswith(message), error.hint) == (True, hint), error.message


# The text of a file, the code, its place, the message after the name of the file.
FAULTY_FILES: list[tuple[str | bytes, str, tuple[int, int], str]] = [
    (b"\xff\xfe", "KIP_1001", (1, 1), " is not UTF-8 text."),
    (b'{"@context":\n {"k": "\xff"}}', "KIP_1001", (2, 9), " is not UTF-8 text."),
    *((text, "KIP_1001", (1, 1), ": A mapping is a JSON object with '@context'.")
      for text in ("null", "5", "{}", "[]", '"[]"', '{"context": {}}')),
    ('{"@context": {}, "@graph": []}', "KIP_1001", (1, 18),
     ", @graph: A mapping has no members besides '@context'."),
    ('{"@context": {\n  "k": "b:c d"}}', "KIP_1001", (2, 3),
     ", k: 'b:c d' is not an absolute IRI."),
    ('{"@context": {\n  "k": {"@id": "x"}}}', "KIP_1001", (2, 9),
     ", k.@id: 'x' is not an absolute IRI."),
    ('{"@context": {"k": "\\ud800"}}', "KIP_1001", (1, 15),
     ", k: '\\ud800' is not an absolute IRI."),
    ('{"@context": {\n  "k": {"@id": "urn:x:k",\n    "@reverse": "urn:x:j"}}}', "KIP_1001",
     (3, 5), f", k.@reverse: {REVERSE}"),
    ('{"@context": [{},\n {"attributes": {"@id": "@nest", "@context": {\n"k": 5}}}]}',
     "KIP_1001", (3, 1), f", attributes.k: {OBJECT}"),
    *((text, "KIP_1001", place, f": This is not valid JSON: {reason}.") for text, place, reason in [
        ('{"@context": {\n"k": "urn:x:k",\n"k": null}}', (3, 1),
         "the key 'k' is in the object twice"),
        ('{"@context": {},\n "@context": {"k": "urn:x:k"}}', (2, 2),
         "the key '@context' is in the object twice"),
        ('{"@context": {\n"k" "urn:x:k"}}', (2, 5), "a colon is missing here"),
        ('{"@context": {}', (1, 16), "a comma or '}' is missing here"),
        ('{"@context": {"a": "\n"}}', (1, 21), "invalid control character"),
        ('{"@context": {}} x', (1, 18), "there is more text after its end"),
        ('{"@context": {\n"k": ' + "9" * 5000 + "}}", (2, 6), "the number is too long"),
    ]),
    ('{"@context":\n' + "[" * 100_000 + "]" * 100_000 + "}", "KIP_4002", (2, 64),
     ": The JSON nests deeper than 64 levels."),
    (json.dumps({"@context": {"p": "urn:x:".ljust(1998, "x") * 50, "k": "p:k"}}), "KIP_1001",
     (1, 15), "is longer than 2000 characters, prefix and all."),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTY_FILES, ids=lambda fault: str(fault[3])[-60:])
def test_a_fault_in_a_file_has_its_place(fault: Any, tmp_path: Path) -> None:
    text, code, place, message = fault
    path = tmp_path / "own.jsonld"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    error = refusal(path, code=code)
    assert (error.position, error.message.startswith("own.jsonld")) == (place, True)
    assert error.message.endswith(message), error.message
    assert code == "KIP_1001" or error.hint == "Write it flat."


def test_a_source_is_a_path_a_pack_or_an_object_with_a_context(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Mapping.load(tmp_path / "own.jsonld")
    error = refusal("schema_org")
    assert error.message == "There is no mapping 'schema_org'."
    assert error.hint == "Packs are called schema-org; everything else is a path."
    for folder in ("", "."):
        assert refusal(folder).message == f"'{folder}' is not a file."
    for value in ({}, {"@context": {}, "@graph": []}):
        assert refusal(value).message.startswith("The mapping")


# What is too much -------------------------------------------------------------------------------


def own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.jsonld"
    path.write_text(text, "utf-8")
    return path


def test_what_a_caller_gives_is_bounded_as_texts_are() -> None:
    nested: list[Any] = []
    for _ in range(2000):
        nested = [nested]
    assert excess({"@context": nested}).message.endswith("nests deeper than 64 levels.")
    chain = {f"t{n}": f"t{n + 1}" for n in range(2000)}
    message = "Terms are defined by terms over more than 64 steps."
    assert excess({"@context": {**chain, "t2000": "urn:x:t"}}).message.endswith(message)


def test_a_file_of_many_bytes_is_not_read(tmp_path: Path) -> None:
    text = '{"@context": {"k": "urn:x:k"}}'
    assert Mapping.load(own(tmp_path, text.ljust(1_000_000))).attribute("k")
    error = excess(own(tmp_path, text.ljust(1_000_001)))
    assert error.message == "own.jsonld is larger than 1000000 bytes."


def test_a_long_prefix_makes_no_long_iris() -> None:
    short = {"p": "urn:x:".ljust(1998, "x") + ":", "k": "p:k"}
    assert len(Mapping.load({"@context": short}).attribute("k").iri.value) == 2000  # type: ignore[union-attr]
    end = "is longer than 2000 characters, prefix and all."
    assert refusal({"@context": {**short, "j": "p:jj"}}).message == f"The mapping, j: 'p:jj' {end}"


def test_many_terms_below_many_contexts_are_too_much() -> None:
    terms = {f"t{n}": f"urn:x:{n}" for n in range(5_000)}
    types = {f"T{n}": {"@id": f"urn:y:{n}", "@context": {"k": "urn:z:k"}} for n in range(100)}
    message = "The contexts stack on more than 500000 terms in all."
    assert excess({"@context": {**terms, **types}}).message.endswith(message)
    assert excess({"@context": [{f"t{n}": "urn:x:t"} for n in range(2_000)]})
    assert excess({"@context": [None] * 500_001})


def test_forty_thousand_terms_are_not_too_many(tmp_path: Path) -> None:
    terms = {f"t{n}": f"urn:x:{n}" for n in range(40_000)}
    loaded = Mapping.load(own(tmp_path, json.dumps({"@context": terms})))
    assert value(loaded.predicate("t39999")) == "urn:x:39999"
    assert loaded.predicate_of("urn:x:39999") == "t39999"


def test_many_prefixes_are_written_again() -> None:
    prefixes = {f"p{n}": f"urn:x:{n}:" for n in range(20_000)}
    terms = {f"t{n}": f"p{n}:k" for n in range(20_000)}
    context = Mapping.load({"@context": {**prefixes, **terms}}).context()
    assert (context["t0"], context["t19999"]) == ("p0:k", "p19999:k")


def test_remote_contexts_nest_no_deeper_than_one() -> None:
    def nested(url: str) -> Any:
        context: Any = f"https://x.example/{int(url.rpartition('/')[2]) + 1}"
        for _ in range(40):
            context = [context]
        return {"@context": context}

    message = "https://x.example/1: The context nests deeper than 64 levels."
    assert excess("https://x.example/0", loader=nested).message == message


# Remote contexts --------------------------------------------------------------------------------

REMOTE = {
    "https://a.example/": {"@context": {"ex": EX, "a": "ex:a"}, "ignored": 1},
    "https://b.example/": {"@context": ["https://a.example/", {"b": "ex:b"}]},
    "https://loop.example/": {"@context": [{}, "https://loop.example/"]},
    "https://none.example/": {},
    "https://faulty.example/": {"@context": {"k": 5}},
}


@pytest.mark.parametrize("source", ["https://b.example/", {"@context": "https://b.example/"}])
def test_a_loader_fetches_remote_contexts(source: Any) -> None:
    loaded = Mapping.load(source, loader=REMOTE.__getitem__)
    assert value(loaded.predicate("a")) == EX + "a"
    assert value(loaded.predicate("b")) == EX + "b"


def test_a_loader_that_fails_is_reported_with_the_url() -> None:
    error = refusal("https://x.example/", loader={}.__getitem__)
    what = "The context <https://x.example/> cannot be loaded (KeyError: 'https://x.example/')."
    assert error.message == f"The mapping: {what}"


def test_without_a_loader_a_remote_context_is_refused() -> None:
    error = refusal({"@context": ["https://b.example/"]})
    assert error.message == "The mapping: The context <https://b.example/> is remote."
    assert error.hint == "Copy the context into the mapping, or pass a loader."
    refusal("https://b.example/")


def test_an_import_lies_beneath() -> None:
    context = {"@import": "https://a.example/", "b": "ex:b", "a": "ex:own"}
    loaded = Mapping.load({"@context": context}, loader=REMOTE.__getitem__)
    assert value(loaded.predicate("b")) == EX + "b"
    assert value(loaded.predicate("a")) == EX + "own"


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("https://loop.example/", "The context <https://loop.example/> includes itself."),
        ("https://none.example/", "is not a JSON-LD document with a '@context'."),
        ("relative", "'relative' is not an absolute URL of a context."),
        ({"@import": 5}, "@import takes the URL of a context."),
        ({"@import": "https://b.example/"}, "The imported context must be one object."),
        ("https://faulty.example/", ", k: A term is defined by an IRI, an object or null."),
    ],
)  # fmt: skip
def test_a_faulty_remote_context_is_refused(context: Any, message: str) -> None:
    error = refusal({"@context": context}, loader=REMOTE.__getitem__)
    assert error.message.endswith(message)


def test_too_many_remote_contexts_are_refused() -> None:
    error = excess({"@context": ["https://a.example/"] * 65}, loader=REMOTE.__getitem__)
    assert error.message == "The mapping: The mapping asks for more than 64 remote contexts."


# The packs --------------------------------------------------------------------------------------

_NAMES = ("DC", "DCTERMS", "FOAF", "OWL", "PROV", "SDO", "SKOS")
VOCABULARIES = {str(space): space for space in (getattr(namespace, name) for name in _NAMES)}


def words(loaded: Mapping) -> list[str]:
    """Every IRI that is in the context of a mapping."""
    iris: list[str] = []

    def collect(context: Any) -> None:
        for term, definition in context.items():
            if isinstance(definition, dict):
                collect(definition.get("@context", {}))
                definition = definition["@id"]
            prefix, _, rest = str(definition).partition(":")
            if prefix in loaded.prefixes and not term.startswith("@"):
                iris.append(loaded.prefixes[prefix] + rest)

    collect(loaded.context())
    return iris


# That of Wikidata is for its exports, with the terms of four; tests/interchange/test_wikibase.py.
OF_ONE_VOCABULARY = [pack for pack in packs() if pack != "wikidata"]


@pytest.mark.parametrize("pack", OF_ONE_VOCABULARY)
def test_every_iri_of_a_pack_is_a_term_of_its_vocabulary(pack: str) -> None:
    terms = words(Mapping.load(pack))
    assert len(terms) >= 10
    for iri in terms:
        space = next(space for space in VOCABULARIES if iri.startswith(space))
        assert rdflib.URIRef(iri) in dir(VOCABULARIES[space]), iri


@pytest.mark.parametrize("pack", packs())
def test_no_pack_has_two_words_for_one_thing(pack: str) -> None:
    assert Mapping.load(pack).warnings == ()


@pytest.mark.parametrize("pack", OF_ONE_VOCABULARY)
def test_the_types_and_predicates_of_a_pack_are_those_of_the_bundled_capsules(pack: str) -> None:
    nexus = kiprdf.Nexus.memory()
    bundled = {
        name
        for kind in ("$ConceptType", "$PropositionType")
        for name in nexus.execute("FIND(?d.name) WHERE { ?d {type: :kind} }", kind=kind)
    }
    context = Mapping.load(pack).context()
    top = {
        term
        for term, definition in context.items()
        if not (term.startswith("@") or str(definition).startswith("@") or term in MAPS)
        and term not in Mapping.load(pack).prefixes
    }
    # "Concept" and the predicates between concepts are what SKOS itself is about.
    own = {"name", "Concept", "broader", "narrower", "related", "exact_match"}
    assert top - own <= bundled


PERSON = {
    "id": "https://data.example.org/Person/Ann",
    "type": "Person",
    "name": "Ann",
    "attributes": {
        "id": "ann-1",
        "type": "unmapped",
        "name": "Ann Smith",
        "handle": "ann",
        "aliases": ["Annie", "A."],
        "same_as": ["https://ann.example/me"],
        "homepage": "https://ann.example/",
        "birth_date": "1990-05-01",
        "start_time": "2026-01-01T00:00:00Z",
        "scope_note": "one person",
    },
    "metadata": {"source": "a book", "created_at": "2026-01-01T00:00:00Z", "_version": 3},
}
OWL = "http://www.w3.org/2002/07/owl#"
SPACES = {
    "schema-org": "https://schema.org/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "prov": "http://www.w3.org/ns/prov#",
    "dcterms": "http://purl.org/dc/terms/",
}
SAME_AS = "owl:sameAs <https://ann.example/me>"
EXPECTED = {
    "schema-org": [
        'name "Ann"',
        'identifier "ann-1"',
        'name "Ann Smith"',
        'alternateName "Annie"',
        'alternateName "A."',
        "url <https://ann.example/>",
        'birthDate "1990-05-01"^^xsd:date',
        'citation "a book"',
        'dateCreated "2026-01-01T00:00:00Z"^^xsd:dateTime',
        "a Person",
    ],
    "foaf": [
        'name "Ann"',
        'name "Ann Smith"',
        'nick "ann"',
        "homepage <https://ann.example/>",
        "a Person",
    ],
    "skos": [
        'prefLabel "Ann"',
        'prefLabel "Ann Smith"',
        'altLabel "Annie"',
        'altLabel "A."',
        'scopeNote "one person"',
    ],
    "prov": [
        'startedAtTime "2026-01-01T00:00:00Z"^^xsd:dateTime',
        'generatedAtTime "2026-01-01T00:00:00Z"^^xsd:dateTime',
        "a Agent",
    ],
    "dcterms": [
        'title "Ann"',
        'title "Ann Smith"',
        'identifier "ann-1"',
        'alternative "Annie"',
        'alternative "A."',
        'source "a book"',
        'created "2026-01-01T00:00:00Z"^^xsd:dateTime',
        "a Agent",
    ],
}


def readable(lines: set[str], pack: str) -> set[str]:
    subject = f"<{PERSON['id']}> "
    assert all(line.startswith(subject) for line in lines)
    shown = set()
    for line in lines:
        line = line.removeprefix(subject).removesuffix(" .")
        line = line.replace(f"^^<{XSD}", "^^xsd:").replace(OWL, "|owl:")
        line = line.replace(SPACES[pack], "|").replace("<|", "")
        if "rdf-syntax-ns#type>" in line:
            line = "a " + line.split(" ")[1].rstrip(">")
        predicate, _, rest = line.partition(" ")
        shown.add(f"{predicate.rstrip('>')} {rest.rstrip('>') if 'xsd:' in rest else rest}")
    return shown


@pytest.mark.parametrize("pack", OF_ONE_VOCABULARY)
def test_the_json_of_kip_is_json_ld_under_a_pack(pack: str) -> None:
    document = {"@context": Mapping.load(pack).context(), **PERSON}
    quads = parse(json.dumps(document), format=RdfFormat.JSON_LD)
    assert readable({str(quad.triple) for quad in quads}, pack) == {*EXPECTED[pack], SAME_AS}


@pytest.mark.parametrize("pack", OF_ONE_VOCABULARY)
def test_rdflib_reads_the_contexts_of_a_pack(pack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ``@nest``: the terms of each map are put upon those of the top level."""
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    raw = json.loads((resources.directory("mappings") / f"{pack}.jsonld").read_text("utf-8"))
    lines: set[str] = set()
    for part in ("attributes", "metadata"):
        nested = raw["@context"][part]
        inner = nested["@context"] if isinstance(nested, dict) else {}
        own = {k: v for k, v in PERSON[part].items() if k in inner}  # type: ignore[attr-defined]
        document = {"@context": [raw["@context"], inner], "@id": PERSON["id"], **own}
        graph = rdflib.Graph().parse(data=json.dumps(document), format="json-ld")
        lines |= set(graph.serialize(format="nt").splitlines()) - {""}
    top = {"@context": raw["@context"], "@id": PERSON["id"], "name": "Ann"}
    if "Person" in raw["@context"]:
        top["@type"] = "Person"
    graph = rdflib.Graph().parse(data=json.dumps(top), format="json-ld")
    lines |= set(graph.serialize(format="nt").splitlines()) - {""}
    # Ann's other name reaches these packs' labels only through the fallback to the top level.
    fallen = {'prefLabel "Ann Smith"', 'title "Ann Smith"'}
    assert readable(lines, pack) == {*EXPECTED[pack], SAME_AS} - fallen


# A second reader of every context ---------------------------------------------------------------

KEYS = ("a", "b", "c")
TYPES = ("T", "U")
VALUE = "https://value.example/"
terms = st.one_of(
    st.none(),
    st.sampled_from(["ex:1", "ex:2", "https://other.example/3", "@id"]),
    st.builds(
        lambda iri, coercion: {"@id": iri, **coercion},
        st.sampled_from(["ex:1", "ex:2", "https://other.example/3"]),
        st.sampled_from(
            [
                {},
                {"@type": "@id"},
                {"@type": "xsd:anyURI"},
                {"@type": "@json"},
                {"@language": "en"},
                {"@language": None},
                {"@container": "@set"},
            ]
        ),
    ),
)
defaults = st.dictionaries(
    st.sampled_from(["@vocab", "@language"]), st.none(), max_size=2
) | st.sampled_from([{"@vocab": "https://vocab.example/"}, {"@language": "de"}, {}, {}, {}])


@st.composite
def contexts(draw: Any, depth: int = 2) -> dict[str, Any]:
    context: dict[str, Any] = {**draw(defaults)}
    context |= draw(st.dictionaries(st.sampled_from((*KEYS, *TYPES)), terms, max_size=4))
    if depth:
        for nested in MAPS if depth == 2 else MAPS[:1]:
            if draw(st.booleans()):
                context[nested] = {"@id": "@nest", "@context": draw(contexts(depth=0))}
    if depth == 2:
        for name in TYPES:
            if draw(st.booleans()):
                scope = draw(contexts(depth=1))
                context[name] = {"@id": draw(st.sampled_from(["ex:T", "ex:U"])), "@context": scope}
    return context


def by_oxigraph(context: Any, type: str, part: str, key: str) -> set[str]:
    """What JSON-LD makes of one key of an element; of one that means ``@id``, nothing."""
    element = {"@id": "https://s.example/", "@type": type, part: {key: VALUE}}
    text = json.dumps({"@context": context, **element})
    triples: list[Triple] = []
    with suppress(SyntaxError):  # the element has two IRIs, and by that no triples
        triples = [quad.triple for quad in parse(text, format=RdfFormat.JSON_LD)]
    return {str(triple) for triple in triples if triple.predicate != vocab.TYPE}


def by_mapping(term: Term | None) -> set[str]:
    if term is None:
        return set()
    text: Literal | NamedNode = Literal(VALUE)
    if term.is_iri:
        text = NamedNode(VALUE)
    elif term.datatype is not None:
        quoted = json.dumps(VALUE) if term.datatype.value.endswith("#JSON") else VALUE
        text = Literal(quoted, datatype=term.datatype)
    elif term.language is not None:
        direction = BaseDirection.LTR if term.direction == "ltr" else None
        text = Literal(VALUE, language=term.language, direction=direction)
    return {f"<https://s.example/> {term.iri} {text}"}


@settings(max_examples=EXAMPLES)
@given(contexts())
def test_oxigraph_understands_every_context_alike(context: dict[str, Any]) -> None:
    full = {"@version": 1.1, "ex": EX, "xsd": XSD, **context}
    # An empty context, since without one Oxigraph forgets that of the type inside of "@nest".
    full |= {name: full.get(name, nest()) for name in MAPS}
    loaded = Mapping.load({"@context": full})
    for shown in (full, loaded.context()):
        for key in KEYS:
            for type in (*TYPES, "Other"):
                expected = by_mapping(loaded.attribute(key, type))
                assert by_oxigraph(shown, type, "attributes", key) == expected
            expected = by_mapping(loaded.metadata(key))
            assert by_oxigraph(shown, "Other", "metadata", key) == expected


# JSON with places -------------------------------------------------------------------------------

trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(trees, st.sampled_from([None, 1]), st.booleans())
def test_json_is_read_as_python_reads_it(tree: Any, indent: int | None, ascii: bool) -> None:
    text = json.dumps(tree, indent=indent, ensure_ascii=ascii)
    assert json_text.read(text)[0] == json.loads(text)


@given(st.text('{}[]":,0 1e-.\\untrfal\n', max_size=12))
def test_what_python_reads_as_json_is_read_and_nothing_else(text: str) -> None:
    try:
        expected = json.loads(text, object_pairs_hook=_pairs)
    except ValueError:
        with pytest.raises(kiprdf.KipError):
            json_text.read(text)
    else:
        assert json_text.read(text)[0] == expected


def _pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(members)) < len(members):
        raise ValueError("twice")
    return dict(members)


def test_places_are_those_of_keys_and_items() -> None:
    text = '{\n "a": [1,\n  {"b": 2}]}'
    _, positions = json_text.read(text)
    assert positions["a",] == Span(3, 6)
    assert {path: position(text, span.start) for path, span in positions.items()} == {
        ("a",): (2, 2),
        ("a", 0): (2, 8),
        ("a", 1): (3, 3),
        ("a", 1, "b"): (3, 4),
    }


def test_json_nests_to_a_depth() -> None:
    assert json_text.read("[" * 64 + "]" * 64)
    with pytest.raises(kiprdf.KipError) as loaded:
        json_text.read("[" * 65 + "]" * 65)
    assert loaded.value.code == "KIP_4002"
