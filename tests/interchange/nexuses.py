"""The nexuses that the tests of this folder write out and read back."""

from __future__ import annotations

import io
from collections.abc import Iterable

from pyoxigraph import Triple

import kiprdf
from kiprdf.interchange import formats
from kiprdf.interchange.formats.writing import Serializer
from kiprdf.rdf.iris import Iris
from tests.nexus.support import StoppedClock, empty

RDFLIB_FORMATS = {
    "turtle": "turtle",
    "trig": "trig",
    "ntriples": "nt",
    "nquads": "nquads",
    "jsonld": "json-ld",
    "rdfxml": "xml",
}
"""Our names of the formats, and rdflib's."""
HOSTILE_STRINGS = [
    "".join(map(chr, range(0x20))),
    "".join(map(chr, range(0x7F, 0xA0))),
    '"',
    '"""',
    "'''",
    "\\",
    "\\u0041\\n",
    "a\\",
    "\u2028\u2029\u0085",
    "\ufffe\uffff\ufdd0\ufdef\ufffd",
    "\U0001f48a\U0010ffff\U0001fffe",
    "\x00",
    "\r\n",
    "\r",
    "\ufeffx",
    "<urn:x> . } ~ ; # @prefix",
    "e\u0301é",
    "",
    " ",
    "x" * 100_000,
]
HOSTILE_NAMES = [
    "a.", "-x", ".x", "~", "$self", "100%", "%41", "%zz", "a/b", "a b", "..a", "...", "<>", '"',
    "'", "\\", "`{|}^", "#", "?x", ":p", "a:b", "@en", "e\u0301", "é", "阿司匹林", "々",
    "かたこり", "두통", "💊", "a\u00a0b", "a\u2028b", "a\u200bb", "\u202e", "a\ufeffb",
    "\ufffe", "\uffff", "\ufdd0", "\ue000", "\U0001fffe", "\U000e0001", "\U0010ffff", "a-", "-",
    "_", "0", "a" * 1024, "药" * 1024,
]  # fmt: skip

COLLIDING_TYPES = [
    "attr",
    "meta",
    "rdf",
    "rdfs",
    "xsd",
    "kip",
    "type",
    "pred",
    "a",
    "true",
    "_",
    "_x",
]

SMALL = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES { description: "A \\"drug\\"\\n" } }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "doubts"} }
}
UPSERT {
  CONCEPT ?c { {type: "Drug", name: "Vitamin C"} }
  CONCEPT ?a {
    {type: "Drug", name: "阿司匹林"}
    SET ATTRIBUTES {
      risk: 2, dose: 0.5, big: 1e300, safe: true, form: {b: [1, 2.0], a: null}, handle: null
    }
    SET PROPOSITIONS { ("treats", ?c) WITH METADATA { source: "s" } }
  }
  CONCEPT ?b { {type: "Drug", name: "B"} SET PROPOSITIONS { ("treats", ?a) ("treats", ?c) } }
  PROPOSITION { (?b, "doubts", (?a, "treats", ?c)) SET ATTRIBUTES { why: "x" } }
}
"""
SMALL_BASE = "https://data.example.org/kb/"


def small() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory(SMALL_BASE, genesis=False, clock=StoppedClock())
    nexus.execute(SMALL)
    return nexus


def hostile(base: str | None = None) -> kiprdf.Nexus:
    """Every hostile name as a concept that links to a common one, every hostile string on it."""
    nexus = kiprdf.Nexus.memory(base, genesis=False, clock=StoppedClock())
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Thing"} } '
        'CONCEPT { {type: "$PropositionType", name: "near"} } '
        'CONCEPT { {type: "Thing", name: "hub"} SET ATTRIBUTES :strings } '
        "WITH METADATA :strings }",
        strings={f"s{n}": text for n, text in enumerate(HOSTILE_STRINGS)},
    )
    for name in HOSTILE_NAMES:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "Thing", name: :name} SET ATTRIBUTES { nested: :value } '
            'SET PROPOSITIONS { ("near", {type: "Thing", name: "hub"}) } } }',
            name=name,
            value={name: [name, None, 1.5]},
        )
    return nexus


def colliding() -> kiprdf.Nexus:
    """Types that are called like the prefixes of the writer, and a concept of each."""
    nexus = empty()
    for name in COLLIDING_TYPES:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: :type} } '
            'CONCEPT { {type: :type, name: "null"} SET ATTRIBUTES { v: 1.5, w: null } } '
            'CONCEPT { {type: :type, name: "type"} } }',
            type=name,
        )
    return nexus


def demonstration() -> kiprdf.Nexus:
    """The bundled capsules and the medical example."""
    from kiprdf import resources

    nexus = kiprdf.Nexus.memory(clock=StoppedClock())
    nexus.apply_capsule(resources.example_capsule("medical").text)
    return nexus


def thousands(propositions: int) -> kiprdf.Nexus:
    """Links between 200 concepts; every fifth link is about the one before it."""
    concepts = 200
    blocks = [
        'CONCEPT { {type: "$ConceptType", name: "Thing"} }',
        'CONCEPT { {type: "$PropositionType", name: "likes"} }',
        'CONCEPT { {type: "$PropositionType", name: "about"} }',
    ]
    blocks += [
        f'CONCEPT ?c{n} {{ {{type: "Thing", name: "thing {n}"}} '
        f'SET ATTRIBUTES {{ number: {n}, part: {n / 7}, text: "t{n}" }} }}'
        for n in range(concepts)
    ]
    likes = 0
    for n in range(propositions):
        if n % 5 == 4:
            blocks.append(f'PROPOSITION ?l{n} {{ (?c{n % concepts}, "about", ?l{n - 1}) }}')
            continue
        one, step = likes % concepts, likes // concepts + 1
        blocks.append(
            f'PROPOSITION ?l{n} {{ (?c{one}, "likes", ?c{(one + step) % concepts}) '
            f"SET ATTRIBUTES {{ weight: {n} }} }}"
        )
        likes += 1
    nexus = empty()
    nexus.apply_capsule(f"UPSERT {{ {' '.join(blocks)} }}")
    return nexus


def turtle_of(
    triples: Iterable[Triple],
    base: str,
    profile: formats.Profile = "rdf11",
    engine_metadata: bool = True,
) -> str:
    """Triples as the Turtle of a snapshot."""
    target = io.BytesIO()
    Serializer(
        triples, "turtle", Iris(base), profile=profile, engine_metadata=engine_metadata
    ).write(target)
    return target.getvalue().decode()
