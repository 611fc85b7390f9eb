"""Small texts whose terms become gigabytes when they are written out; and the longest that pass."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kiprdf
from kiprdf.interchange.formats import Format, guard, guard_jsonld
from kiprdf.interchange.formats.parsing import parse
from tests.interchange.refusals import refusal
from tests.trust import children

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LONG = "urn:" + "x" * 100_000 + "/"
EDGE = "urn:" + "x" * (guard.IRI - 5)
"""One character shorter than the longest IRI."""


def numbers(count: int) -> str:
    return ",".join(str(n) for n in range(count))


def described(properties: str, namespaces: str = "") -> str:
    return (
        f'<rdf:RDF xmlns:rdf="{RDF}" {namespaces}><rdf:Description rdf:about="urn:a">'
        f"{properties}</rdf:Description></rdf:RDF>"
    )


# One IRI


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("turtle", "<IRI> <urn:b> 1 ."),
        ("turtle", "@prefix e: <IRI> ."),
        ("turtle", "@base <IRI> ."),
        ("turtle", 'BASE #"\n<IRI>'),
        ("trig", "<IRI> { <urn:a> <urn:b> 1 }"),
        ("ntriples", "<urn:a> <IRI> <urn:c> ."),
        ("nquads", "<urn:a> <urn:b> <urn:c> <IRI> ."),
        ("rdfxml", described("<e:p>1</e:p>", 'xmlns:e="IRI"')),
        ("rdfxml", described("<rdf:type rdf:resource='b'/>", 'xml:base="IRI"')),
        ("rdfxml", described("<rdf:value>1</rdf:value>", f'xml:lang="x{"-aaaaaaaa" * 911}"')),
    ],
)
def test_an_iri_that_is_too_long_is_refused_at_its_place(format: Format, text: str) -> None:
    error = refusal(text.replace("IRI", EDGE + "yz"), format)
    assert error.code == "KIP_4002"
    assert error.position is not None


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("turtle", f"@prefix e: <{EDGE}> . e:yz <urn:b> 1 ."),
        ("turtle", f"@prefix e: <{EDGE}> . <urn:a> <urn:b> <<( <urn:s> <urn:p> e:yz )>> ."),
        ("turtle", f'@prefix e: <{EDGE}> . <urn:a> <urn:b> "1"^^e:yz .'),
        ("trig", f"@prefix e: <{EDGE}> . e:yz {{ <urn:a> <urn:b> 1 }}"),
        ("jsonld", f'{{"@context": {{"e": {{"@id": "{EDGE}", "@prefix": true}}}}, "e:yz": 1}}'),
        ("jsonld", f'{{"@id": "{EDGE}yz", "urn:p": 1}}'),
        ("rdfxml", described("<e:yz>1</e:yz>", f'xmlns:e="{EDGE}"')),
    ],
)
def test_an_iri_that_becomes_too_long_is_refused(format: Format, text: str) -> None:
    assert refusal(text, format).code == "KIP_4002"
    assert len(parse(text.replace("yz", "y"), format)) == 1


def test_a_language_tag_that_is_too_long_is_refused() -> None:
    assert refusal(f'<urn:a> <urn:b> "1"@x{"-aaaaaaaa" * 911} .', "turtle").code == "KIP_4002"
    assert len(parse(f'<urn:a> <urn:b> "1"@x{"-aaaaaaaa" * 910} .', "turtle")) == 1


def test_a_base_that_is_too_long_is_refused() -> None:
    assert refusal("<x> a <y> .", "turtle", base_iri=LONG).code == "KIP_4002"


# All terms together

MANY = 5_000
AMPLIFIED: dict[str, tuple[Format, str]] = {
    "a prefix": (
        "turtle",
        f"@prefix e: <{EDGE[:-9]}/> .\n" + "".join(f"e:a e:p e:{n} .\n" for n in range(MANY)),
    ),
    "a prefix in a graph": (
        "trig",
        f"@prefix e: <{EDGE[:-9]}/> . <urn:a> {{ e:a e:p {numbers(2 * MANY)} }}",
    ),
    "prefixes below a base": (
        "turtle",
        f"@base <{EDGE}> .\n" + "".join(f"@prefix p{n}: <> .\n" for n in range(3 * MANY)),
    ),
    "bases with a colon upon a base": (
        "turtle",
        "@base <http://x/> .\n" + f"@base <{'x' * 80}/y:z/> .\n" * 100_000 + "<a> <b> <c> .",
    ),
    "a blank node": ("turtle", f"_:{'b' * 100_000} <urn:p> {numbers(MANY)} ."),
    "a datatype": (
        "turtle",
        f"@prefix e: <{EDGE[:-9]}/> .\n<urn:a> <urn:p> "
        + ", ".join(f'"{n}"^^e:t' for n in range(2 * MANY)) + " .",
    ),
    "a vocabulary": (
        "jsonld",
        f'{{"@context": {{"@vocab": "{LONG}"}}, "@id": "urn:a", "q": [{numbers(MANY)}]}}',
    ),
    "a vocabulary before a fault": (
        "jsonld",
        f'[{{"@context": {{"@vocab": "{LONG}"}}, "@id": "urn:a", "q": [{numbers(MANY)}]}}, ""]',
    ),
    "an id": ("jsonld", f'{{"@id": "{LONG}", "urn:q": [{numbers(MANY)}]}}'),
    "a blank id": ("jsonld", f'{{"@id": "_:{LONG[4:-1]}", "urn:q": [{numbers(MANY)}]}}'),
    "an id by another name": (
        "jsonld",
        f'{{"@context": {{"i": "@id", "j": "i"}}, "j": "{LONG}", "urn:q": [{numbers(MANY)}]}}',
    ),
    "a key": ("jsonld", f'{{"{LONG}": [{numbers(MANY)}]}}'),
    "the name of a graph": (
        "jsonld",
        f'{{"@id": "{LONG}", "@graph": [{", ".join(["{}"] * MANY)}]}}'.replace(
            "{}", '{"urn:p": 1}'
        ),
    ),
    "a key that is an id": (
        "jsonld",
        '{"@context": {"m": {"@id": "urn:m", "@container": "@id"}}, '
        f'"m": {{"{LONG}": {{"urn:p": [{numbers(MANY)}]}}}}}}',
    ),
    "a language": (
        "jsonld",
        f'{{"@context": {{"@language": "x{"-aaaaaaaa" * 10_000}"}}, '
        f'"urn:p": [{", ".join(f"{chr(34)}{n}{chr(34)}" for n in range(MANY))}]}}',
    ),
    "a type of values": (
        "jsonld",
        f'{{"@context": {{"q": {{"@id": "urn:q", "@type": "{LONG}"}}}}, "q": [{numbers(MANY)}]}}',
    ),
    "a word upon a word": (
        "jsonld",
        '{"@context": {"t0": "urn:x/", '
        + ", ".join(f'"t{n + 1}": "t{n}:{"x" * 100}/"' for n in range(MANY)) + '}, "t9:x": 1}',
    ),
    "a vocabulary upon a vocabulary": (
        "jsonld",
        '{"@context": [{"@vocab": "urn:x/"}, '
        + ", ".join([f'{{"@vocab": "{"x" * 1000}/"}}'] * MANY) + f'], "q": [{numbers(MANY)}]}}',
    ),
    "bases upon a base": (
        "jsonld",
        '{"@context": [{"@base": "http://x/"}, '
        + ", ".join([f'{{"@base": "{"x" * 50}/"}}'] * 100_000) + '], "@id": "x", "urn:p": 1}',
    ),
    "words upon each other's": (
        "jsonld",
        '{"@context": [{"a": "urn:x/"}, '
        + ", ".join([f'{{"b": "a:{"x" * 50}/"}}, {{"a": "b:{"x" * 50}/"}}'] * 300)
        + f'], "a:q": [{numbers(4 * MANY)}]}}',
    ),
    "a vocabulary below a type": (
        "jsonld",
        f'{{"@context": {{"T": {{"@id": "urn:T", "@context": {{"@vocab": "{"y" * 1000}/"}}}}}}, '
        f'"@type": [{", ".join(["{T}"] * MANY)}], "x": 1}}'.replace("{T}", '"T"'),
    ),
    "an attribute": (
        "rdfxml",
        described("".join(f"<e:p>{n}</e:p>" for n in range(2 * MANY)),
                  f'xmlns:e="{EDGE[:-9]}/"'),
    ),
    "a subject": (
        "rdfxml",
        described("<rdf:value>1</rdf:value>" * MANY).replace("urn:a", LONG),
    ),
    "a base upon a base": (
        "rdfxml",
        described("".join([f'<rdf:value><rdf:Description xml:base="{"x" * 100}/">'] * 400))
        .replace("</rdf:Description></rdf:RDF>", "</rdf:Description></rdf:value>" * 400)
        + "</rdf:Description></rdf:RDF>",
    ),
}  # fmt: skip


MEASURED = """
import json, resource
from tests.interchange.test_lengths import AMPLIFIED, refusal
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
codes = {name: refusal(text, format).code for name, (format, text) in AMPLIFIED.items()}
print(json.dumps([codes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before]))
"""


def test_terms_that_fill_the_memory_are_refused_and_take_none() -> None:
    child = children.run("-c", MEASURED)
    codes, kilobytes = json.loads(child.output)
    assert codes == dict.fromkeys(AMPLIFIED, "KIP_4002")
    # All of them together; one of them alone took 700 000, and some of them gigabytes.
    assert kilobytes < 400_000


def test_long_literals_may_be_many() -> None:
    text = "".join(f'<urn:a> <urn:p> "{n}{"x" * 100_000}" .\n' for n in range(50))
    assert len(parse(text, "turtle")) == 50


def test_a_long_list_of_short_numbers_is_read() -> None:
    assert len(parse(f"<urn:a> <urn:p> {numbers(100_000)} .", "turtle")) == 100_000
    assert len(parse(f'{{"@id": "urn:a", "urn:p": [{numbers(100_000)}]}}', "jsonld")) == 100_000


def test_the_word_base_in_a_text_changes_no_base() -> None:
    text = "@base <urn:a/> .\n" + '<x> <urn:base> <y> ; a "prefix" . # base <z>\n' * 10_000
    assert len(parse(text, "turtle")) == 2


def test_a_string_beyond_the_parsers_buffer_is_refused() -> None:
    error = refusal('<urn:a> <urn:p> "' + "x" * 17_000_000 + '" .', "turtle")
    assert (error.code, "16 MB" in error.hint) == ("KIP_4002", True)


# The estimate for JSON-LD is one from above

WORDS = st.sampled_from(["a", "b", "c", "@vocab"])
TEXTS = st.sampled_from(["urn:x/", "a:y/", "b:z/", "c:w/", "a", "q/", "http://e.example/"])
CONTEXTS = st.lists(st.dictionaries(WORDS, TEXTS, max_size=4), max_size=4)
KEYS = st.sampled_from(["a", "b:k", "c:k", "name", "urn:p"])


@given(
    contexts=CONTEXTS,
    members=st.dictionaries(KEYS, st.lists(st.integers(0, 9), max_size=5), max_size=3),
    id=TEXTS,
)
def test_the_terms_are_never_longer_than_estimated(
    contexts: list[dict[str, str]], members: dict[str, list[int]], id: str
) -> None:
    document = {"@context": contexts, "@id": id, **members, "urn:in": {"@id": id, **members}}
    try:
        quads = parse(json.dumps(document), "jsonld", base_iri="http://b.example/")
    except kiprdf.KipError:
        return
    nodes = (term for quad in quads for term in (quad.subject, quad.predicate))
    base = len("http://b.example/") * len(quads)
    contexts = guard_jsonld._Contexts("", None, None)
    estimated = guard_jsonld._estimate(contexts.inserted(document), contexts)
    assert sum(len(term.value) for term in nodes) <= estimated + base
