"""Datasets and mappings in which few IRIs are shared by many terms, so that forms collide."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from kiprdf import Mapping
from kiprdf.rdf import vocab
from kiprdf.rdf.iris import Iris, proposition_digits
from kiprdf.rdf.literals import to_term

IRIS = Iris("urn:kip:nexus/")
EX = "https://ex.org/"
XSD = vocab.XSD
I18N = "https://www.w3.org/ns/i18n#ar_rtl"

# Values ---------------------------------------------------------------------------------------

TEXTS = (
    "x", "Ann", "S", "", "2026-01-01", "2026-01-01T00:00:00.000Z", "5", "1.0", "true", "null",
    "https://ann.example/", "https://ex.org/p1", "urn:kip:vocab/null", "urn:kip:nexus/Person/Ann",
    "note:hello", "no iri", "http://[", "a\nb", "\r", "é", "e\u0301", "-0", "INF", "NaN", "1e400",
    "-1E400", "9" * 30, "007", "+5", "1.10", '"x"', "{", '{"@value":"x"}', "[1]", "@json", "\x00",
    "\ufffe\uffff", "\u2028", "\U0001f48a", "]]>", " ", vocab.STATEMENT.value, "urn:kip:blank/1",
)  # fmt: skip
NUMBERS = (0, 1, 5, -1, 2**62, 2**63 - 1, -(2**63), 0.0, 1.0, 0.5, 1e300, 5e-324, -0.0)
DATATYPES = (
    *(XSD + name for name in ("date", "anyURI", "decimal", "string", "integer", "token", "gYear")),
    *(vocab.RDF + name for name in ("JSON", "HTML", "langString")),
    EX + "own",
    I18N,
    "no iri",
)
texts = st.sampled_from(TEXTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
scalars = (
    texts
    | st.sampled_from(NUMBERS)
    | st.booleans()
    | st.none()
    | texts.map(lambda text: {"@id": text})
    | st.builds(
        lambda text, language: {"@value": text, "@language": language},
        texts,
        st.sampled_from(["en", "de", "ar-eg", "EN", "no tag"]),
    )
    | st.builds(
        lambda text, datatype: {"@value": text, "@type": datatype},
        texts,
        st.sampled_from(DATATYPES),
    )
    | st.builds(
        lambda text, direction: {"@value": text, "@language": "en", "@direction": direction},
        texts,
        st.sampled_from(["rtl", "ltr", "up"]),
    )
    | st.builds(lambda value: {"@value": value}, st.sampled_from(["x", 1, None, []]))
)
values = (
    scalars
    | st.lists(scalars | st.just([1]), max_size=3)
    | st.dictionaries(st.sampled_from(["b", "@value", "@id", "@list"]), scalars, max_size=2)
    | st.just({"b": [1.0, None, {"a": {}}]})
)

# Mappings -------------------------------------------------------------------------------------

KEYS = ("a", "b", "name", "k")
TYPES = ("Person", "Stone")
PREDICATES = ("knows", "likes", "a")
TARGETS = ("ex:p1", "ex:p2", "ex:p3")
# What is no mere word in a dataset: these are refused, or what they stand for is kept beside.
RESERVED = (
    *(vocab.LABEL.value, vocab.TYPE.value, vocab.SUBJECT.value, vocab.REIFIES.value),
    *(vocab.RDF + "first", vocab.RDF + "value", vocab.STATEMENT.value),
    *("urn:kip:attribute/a", "urn:kip:metadata/k", "urn:kip:list/p"),
    *(IRIS.predicate("likes").value, IRIS.type("Stone").value),
)
coercions = st.sampled_from(
    [
        {},
        {},
        *({"@type": name} for name in ("@json", "@json", "@id", "@vocab", "@none")),
        *({"@type": "xsd:" + name} for name in ("date", "dateTime", "decimal", "integer")),
        *({"@type": "xsd:" + name} for name in ("string", "double", "boolean", "anyURI", "token")),
        *({"@type": datatype} for datatype in ("ex:own", I18N, vocab.RDF + "HTML")),
        {"@language": "en"},
        {"@language": "ar-EG"},
        {"@language": "en", "@direction": "rtl"},
        {"@direction": "ltr"},
        {"@language": None},
    ]
)
terms = st.builds(
    lambda iri, coercion, container: {"@id": iri, **coercion, **container},
    st.sampled_from((*TARGETS, *TARGETS, *RESERVED)),
    coercions,
    st.sampled_from([{}, {}, {"@container": "@set"}, {"@container": "@list"}]),
)


def contexts(keys: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(keys), terms, max_size=len(keys))


@st.composite
def mappings(draw: Any) -> Mapping:
    """Terms at the top level, in types, in attributes and metadata, and defaults."""
    context: dict[str, Any] = {"ex": EX, "xsd": XSD, **draw(contexts((*KEYS, *PREDICATES)))}
    for name in TYPES:
        if draw(st.booleans()):
            context[name] = {
                "@id": draw(st.sampled_from((*TARGETS, *RESERVED))),
                "@context": draw(contexts(KEYS)),
            }
    for nest in ("attributes", "metadata"):
        if draw(st.booleans()):
            context[nest] = {"@id": "@nest", "@context": draw(contexts(KEYS))}
    settings = {"@language": "en", "@vocab": EX, "@direction": "ltr"}
    context |= {key: settings[key] for key in draw(st.sets(st.sampled_from(sorted(settings))))}
    return Mapping.load({"@context": context})


# Datasets -------------------------------------------------------------------------------------


@st.composite
def datasets(draw: Any) -> list[Triple]:
    """Definitions, three concepts, and links between them and about each other."""
    nodes = [IRIS.concept(*name) for name in (("Person", "Ann"), ("Person", "x"), ("Stone", "S"))]
    triples = [*definitions()]
    for node in nodes:
        name = IRIS.name(node.value)
        assert name is not None
        triples += element(node, name.type, name.name)  # type: ignore[union-attr]
    ends, facts = [*nodes, IRIS.type("Person")], set()
    for _ in range(draw(st.integers(0, 4))):
        subject, value = draw(st.sampled_from(ends)), draw(st.sampled_from(ends))
        predicate = draw(st.sampled_from(PREDICATES))
        fact = Triple(subject, IRIS.predicate(predicate), value)
        if subject == value or fact in facts:
            continue
        facts.add(fact)
        ids = (IRIS.id(subject), predicate, IRIS.id(value))
        link = IRIS.proposition(proposition_digits(*ids), predicate)
        triples += [fact, Triple(link, vocab.REIFIES, fact)]
        ends.append(link)
    for node in ends:
        for space in (vocab.ATTRIBUTE, vocab.METADATA):
            own = draw(st.dictionaries(st.sampled_from(KEYS), values, max_size=3))
            triples += [Triple(node, NamedNode(space + key), to_term(own[key])) for key in own]
    return triples


def element(node: NamedNode, type: str, name: str) -> list[Triple]:
    return [Triple(node, vocab.TYPE, IRIS.type(type)), Triple(node, vocab.LABEL, Literal(name))]


def definitions() -> list[Triple]:
    kinds = [("$ConceptType", name) for name in (*TYPES, "$ConceptType", "$PropositionType")]
    kinds += [("$PropositionType", name) for name in PREDICATES]
    return [triple for kind in kinds for triple in element(IRIS.concept(*kind), *kind)]
