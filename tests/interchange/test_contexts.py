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
from kiprdf.interchange.mapping.terms import MAPS
from kiprdf.rdf import vocab
from kiprdf.source import Span, position
from tests.long_runs import amount

EXAMPLES = amount("EXAMPLES", 50)
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


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("foo:bar", "'foo:bar' has the prefix 'foo', which is not defined."),
        ("bar", "'bar' is not an absolute IRI."),
        ("ex:a b", "'ex:a b' is not an absolute IRI."),
        ("_:b", "'_:b' is a blank node, not an IRI."),
        ("@foo", "'@foo' cannot be the meaning of a term."),
        ("@context", "'@context' cannot be the meaning of a term."),
        (5, "A term is defined by an IRI, an object or null."),
        ({}, "'k' is not an absolute IRI."),
        ({"@id": 5}, "'@id' takes an IRI, a keyword or null."),
        ({"@id": "ex:k", "@foo": 1}, "'@foo' means nothing in the definition of a term."),
        (
            {"@reverse": "ex:k"},
            "@reverse would reverse facts; define a predicate for the other direction instead.",
        ),
        ({"@id": "ex:k", "@index": "ex:i"}, "@index has no counterpart in KIP."),
        (
            {"@id": "ex:k", "@container": "@graph"},
            "A container is '@set' or '@list'; KIP has no maps by language, id, type or index.",
        ),
        (
            {"@id": "ex:k", "@container": ["@set", "@index"]},
            "A container is '@set' or '@list'; KIP has no maps by language, id, type or index.",
        ),
        ({"@id": "ex:k", "@type": "date"}, "'date' is not an absolute IRI."),
        (
            {"@id": "ex:k", "@type": 5},
            "'@type' takes the IRI of a datatype, @id, @vocab, @json or @none.",
        ),
        (
            {"@id": "ex:k", "@type": "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"},
            "Use '@language' for a text with a language.",
        ),
        (
            {"@id": "ex:k", "@language": "no tag"},
            "'@language' takes a language tag, such as 'en', or null.",
        ),
        ({"@id": "ex:k", "@direction": "up"}, "'@direction' takes 'ltr', 'rtl' or null."),
        ({"@id": "ex:k", "@prefix": "yes"}, "@prefix is true or false."),
        ({"@id": "ex:k", "@protected": 1}, "@protected is true or false."),
        ({"@id": "ex:k", "@nest": "@id"}, "'@nest' takes '@nest' or an alias of it."),
        ({"@id": "ex:k", "@context": "x"}, "'x' is not an absolute URL of a context."),
        (
            {"@id": "ex:k", "@context": {"j": "x:j"}},
            "'x:j' has the prefix 'x', which is not defined.",
        ),
    ],
)  # fmt: skip
def test_a_faulty_term_is_refused(definition: Any, message: str) -> None:
    error = refusal({"@context": {"ex": EX, "k": definition}})
    assert error.message.startswith("The mapping, k")
    assert error.message.endswith(f": {message}")


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"a": "b", "b": "a"}, "a: The term is defined by itself: 'a' → 'b' → 'a'."),
        ({"": "ex:k"}, "A term has a name; this one is empty."),
        ({"@id": "ex:k"}, "'@id' means nothing in a context."),
        ({"@foo": "ex:k"}, "'@foo' means nothing in a context."),
        ({"@version": 1.0}, "The version of a context is 1.1."),
        ({"@base": EX}, "The IRIs of a mapping are absolute, so @base is not allowed here."),
        ({"@vocab": "words"}, "'words' is not an absolute IRI."),
        ({"@vocab": 5}, "@vocab takes an IRI or null."),
        ({"@language": 5}, "'@language' takes a language tag, such as 'en', or null."),
        ({"@direction": "x"}, "'@direction' takes 'ltr', 'rtl' or null."),
        ({"@propagate": "x"}, "@propagate is true or false."),
        ({"@type": {"@id": "ex:type"}}, "For '@type' a context may only say '@container': '@set'."),
        ({"ex:k": "ex:j"}, f"The term looks like the IRI <{EX}k> but means another one."),
        ({"a:b": "ex:j"}, "The term looks like the IRI <a:b> but means another one."),
        ({"a/b": {"@id": "ex:j"}}, "The term looks like the IRI <a/b> but means another one."),
        ({"attributes": "ex:a"}, "'attributes' is a map inside an element and must be '@nest'."),
        (
            {"metadata": {"@id": "ex:m"}},
            "'metadata' is a map inside an element and must be '@nest'.",
        ),
        (5, "A context is an object, a URL, null or a list of these."),
        ([{"k": "ex:k"}, 5], "A context is an object, a URL, null or a list of these."),
    ],
)  # fmt: skip
def test_a_faulty_context_is_refused(context: Any, message: str) -> None:
    below = [{"ex": EX}, context] if not isinstance(context, int) else context
    assert refusal({"@context": below}).message.endswith(message)


def test_what_a_caller_gives_is_bounded_as_texts_are() -> None:
    nested: list[Any] = []
    for _ in range(2000):
        nested = [nested]
    assert excess({"@context": nested}).message.endswith("nests deeper than 64 levels.")
    chain = {f"t{n}": f"t{n + 1}" for n in range(2000)}
    message = "Terms are defined by terms over more than 64 steps."
    assert excess({"@context": {**chain, "t2000": "urn:x:t"}}).message.endswith(message)
    assert refusal({"@context": {5: "urn:x:t"}}).message.endswith("context are strings.")


@pytest.mark.parametrize("document", [{}, [], "[]", 5, {"@context": {}, "@graph": []}])
def test_a_mapping_has_a_context_and_nothing_else(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonld"
    path.write_text(json.dumps(document), "utf-8")
    assert "own.jsonld" in refusal(path).message


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('{"@context": {\n  "k": "b:c d"}}', (2, 3), "'b:c d' is not an absolute IRI."),
        ('{"@context": {\n  "k": {"@id": "x"}}}', (2, 9), "'x' is not an absolute IRI."),
        (
            '{"@context": {\n  "k": {"@id": "urn:x:k",\n    "@reverse": "urn:x:j"}}}',
            (3, 5),
            "@reverse would reverse facts; define a predicate for the other direction instead.",
        ),
        (
            '{"@context": [{},\n {"attributes": {"@id": "@nest", "@context": {\n"k": 5}}}]}',
            (3, 1),
            "A term is defined by an IRI, an object or null.",
        ),
        (
            '{"@context": {\n"k": "urn:x:k",\n"k": null}}',
            (3, 1),
            "the key 'k' is in the object twice.",
        ),
        ('{"@context": {\n"k" "urn:x:k"}}', (2, 5), "a colon is missing here."),
        ('{"@context": {}', (1, 16), "a comma or '}' is missing here."),
        ('{"@context": {"a": "\n"}}', (1, 21), "invalid control character."),
        ('{"@context": {}} x', (1, 18), "there is more text after its end."),
    ],
)  # fmt: skip
def test_a_fault_in_a_file_has_its_place(
    text: str, place: tuple[int, int], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "own.jsonld"
    path.write_text(text, "utf-8")
    error = refusal(path)
    assert error.position == place
    assert error.message.startswith("own.jsonld")
    assert error.message.endswith(message)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonld"
    path.write_bytes(b"\xff\xfe")
    assert refusal(path).message == "own.jsonld is not UTF-8 text."
    path.write_bytes(b'{"@context":\n {"k": "\xff"}}')
    assert refusal(path).position == (2, 9)


def test_a_missing_file_is_an_error_of_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Mapping.load(tmp_path / "own.jsonld")


def test_a_missing_pack_is_refused_with_those_there_are() -> None:
    error = refusal("schema_org")
    assert error.message == "There is no mapping 'schema_org'."
    assert error.hint == "Packs are called schema-org; everything else is a path."


# What is too much -------------------------------------------------------------------------------


def own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.jsonld"
    path.write_text(text, "utf-8")
    return path


def test_a_file_of_many_bytes_is_not_read(tmp_path: Path) -> None:
    text = '{"@context": {"k": "urn:x:k"}}'
    assert Mapping.load(own(tmp_path, text.ljust(1_000_000))).attribute("k")
    error = excess(own(tmp_path, text.ljust(1_000_001)))
    assert error.message == "own.jsonld is larger than 1000000 bytes."


def test_a_file_that_nests_deeply_is_refused_at_its_place(tmp_path: Path) -> None:
    error = excess(own(tmp_path, '{"@context":\n' + "[" * 100_000 + "]" * 100_000 + "}"))
    assert error.message == "own.jsonld: The JSON nests deeper than 64 levels."
    assert (error.position, error.hint) == ((2, 64), "Write it flat.")


def test_a_number_without_end_is_refused_at_its_place(tmp_path: Path) -> None:
    error = refusal(own(tmp_path, '{"@context": {\n"k": ' + "9" * 5000 + "}}"))
    assert error.message == "own.jsonld: This is not valid JSON: the number is too long."
    assert error.position == (2, 6)


def test_a_second_context_is_refused_at_its_place(tmp_path: Path) -> None:
    error = refusal(own(tmp_path, '{"@context": {},\n "@context": {"k": "urn:x:k"}}'))
    end = "the key '@context' is in the object twice."
    assert error.message == f"own.jsonld: This is not valid JSON: {end}"
    assert error.position == (2, 2)


def test_a_long_prefix_makes_no_long_iris(tmp_path: Path) -> None:
    prefix = "urn:x:".ljust(1998, "x") + ":"
    short = {"p": prefix, "k": "p:k"}
    assert len(Mapping.load({"@context": short}).attribute("k").iri.value) == 2000  # type: ignore[union-attr]
    end = "is longer than 2000 characters, prefix and all."
    assert refusal({"@context": {**short, "j": "p:jj"}}).message == f"The mapping, j: 'p:jj' {end}"
    error = refusal(own(tmp_path, json.dumps({"@context": {"p": prefix * 50, "k": "p:k"}})))
    assert error.message.endswith(end)
    assert error.position == (1, 15)


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


def test_messages_show_the_beginning_of_long_words() -> None:
    error = refusal({"@context": {"k" * 5000: "zz:a"}})
    end = "'zz:a' has the prefix 'zz', which is not defined."
    assert error.message == f"The mapping, {'k' * 60}…: {end}"


def test_long_words_are_not_compared_with_each_other() -> None:
    error = refusal({"@context": {"p" * 200_000: "urn:x:", "k": "p" * 199_999 + "q:k"}})
    assert error.hint == "Write a shorter one."


def test_half_a_character_is_shown_by_its_number(tmp_path: Path) -> None:
    error = refusal(own(tmp_path, '{"@context": {"k": "\\ud800"}}'))
    assert error.message == r"own.jsonld, k: '\ud800' is not an absolute IRI."


# What to do about it ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("definition", "hint"),
    [
        ("exx:k", "Did you mean 'ex:'?"),
        ("foo:k", "Write an absolute IRI, or define the prefix before the colon."),
        ("https:/ex.org/k", "It begins with 'https://' and has no spaces."),
        ({"id": "ex:k"}, "Write '@id'."),
        ({"@id": "ex:k", "j": "ex:j"}, "Put its own terms into its '@context'."),
        ({"@id": "ex:k", "@type": "date"}, f"Write '{XSD}date'."),
        ({"@id": "ex:k", "@type": "xsd:datetime"}, "XML Schema has dateTime."),
        ({"@id": "ex:k", "@context": "schema-org"}, "To stack packs and files, load several "
         "mappings."),
        (
            "@vocab",
            "A term may stand for @direction, @id, @language, @list, @nest, @none, @set, @type, "
            "@value.",
        ),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_write(definition: Any, hint: str) -> None:
    assert refusal({"@context": {"ex": EX, "xsd": XSD, "k": definition}}).hint == hint


def test_a_map_without_nest_is_reported_what_to_write() -> None:
    error = refusal({"@context": {"attributes": {"@context": {"k": "urn:x:k"}}}})
    assert error.hint == 'Write "attributes": {"@id": "@nest", "@context": {…}}.'


def test_a_keyword_below_a_vocabulary_is_no_iri() -> None:
    assert refusal({"@context": {"@vocab": EX, "k": "@foo"}})
    assert refusal({"@context": {"@vocab": EX, "k": {"@type": "@foo"}}})


@pytest.mark.parametrize("text", ["null", "[]", '{"context": {}}'])
def test_a_file_without_a_context_is_reported_at_its_beginning(text: str, tmp_path: Path) -> None:
    assert refusal(own(tmp_path, text)).position == (1, 1)


@pytest.mark.parametrize("source", ["", "."])
def test_a_folder_is_no_mapping(source: str) -> None:
    assert refusal(source).message == f"'{source}' is not a file."


def test_a_loader_that_fails_is_reported_with_the_url() -> None:
    error = refusal("https://x.example/", loader={}.__getitem__)
    what = "The context <https://x.example/> cannot be loaded (KeyError: 'https://x.example/')."
    assert error.message == f"The mapping: {what}"


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
