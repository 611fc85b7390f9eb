"""Facts sent as nanopublications, and nanopublications of others as facts."""

from __future__ import annotations

import functools
import json
import re
from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nanopub
import pytest
import rdflib
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from nanopub.trustyuri.rdf import RdfHasher, RdfUtils
from pyoxigraph import Literal, Quad, RdfFormat, serialize
from rdflib import DCTERMS, PROV, URIRef

from kiprdf import KipError, Nexus
from kiprdf.interchange.formats import parsing
from kiprdf.sharing import nanopublication_form as form
from tests.cli.runner import invoke

# nanopub turns it off for all tests of the process when it is loaded.
rdflib.NORMALIZE_LITERALS = True
NP = rdflib.Namespace("http://www.nanopub.org/nschema#")
NPX = rdflib.Namespace("http://purl.org/nanopub/x/")
ATTRIBUTE = rdflib.Namespace("urn:kip:attribute/")
METADATA = rdflib.Namespace("urn:kip:metadata/")
SUITE = Path(__file__).parent / "nanopub_suite"
VALID = sorted(path for path in (SUITE / "valid").rglob("*.*"))
INVALID = sorted(path for path in (SUITE / "invalid").rglob("*.*"))
SIMPLE = (SUITE / "valid/plain/simple1.trig").read_text("utf-8")
TRUSTY = (SUITE / "valid/trusty/nextprot-1.trig").read_text("utf-8")
SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
  CONCEPT { {type: "$PropositionType", name: "questions"} }
}"""
FACTS = """UPSERT {
  CONCEPT ?headache { {type: "Symptom", name: "Headache"} }
  CONCEPT ?aspirin { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk_level: 2 } }
  CONCEPT ?ada { {type: "Person", name: "Ada"} }
  PROPOSITION ?treats {
    (?aspirin, "treats", ?headache)
    SET ATTRIBUTES {
      dose: 0.5, most: 1000000000000000000000.0, onset: "30 minutes\\n \\\\ \\"", never: null,
      steps: [1, 2.5, {a: "b"}], de: {"@value": "Kopf", "@language": "de"}
    }
  } WITH METADATA {
    confidence: 0.95, author: "Ada", source: "https://example.org/paper", rank: 1,
    license: "https://creativecommons.org/licenses/by/4.0/"
  }
  PROPOSITION { (?ada, "questions", ?treats) } WITH METADATA {
    author: "https://orcid.org/0000-0002-1825-0097", source: "a talk"
  }
}"""
TREATS, OBJECTION = "P:48ec6e8e3fe50dea:treats", "P:511dd8f18e8a8e54:questions"


def nexus(base: str | None = "https://data.example.org/kb/") -> Nexus:
    return Nexus.memory(base, history=True, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def sender() -> Nexus:
    one = nexus()
    one.execute(SCHEMA)
    one.execute(FACTS)
    return one


def element(of: Nexus, id: str) -> dict[str, Any]:
    """A proposition, without what the engine notes."""
    (fact,) = of.execute("FIND(?l) WHERE { ?l (id: :id) }", id=id)
    fact["metadata"] = {k: v for k, v in fact["metadata"].items() if not k.startswith("_")}
    return dict(fact)


def counts(report: dict[str, Any]) -> list[int]:
    """How many concepts and propositions were created or updated."""
    kinds = (report["concepts"], report["propositions"])
    return [kind[what] for kind in kinds for what in ("created", "updated")]


# Out ------------------------------------------------------------------------------------------


def test_nanopub_reads_what_is_sent(sender: Nexus, tmp_path: Path) -> None:
    path = tmp_path / "fact.trig"
    for id in (TREATS, OBJECTION):
        path.write_text(sender.nanopublication(id), "utf-8")
        read = nanopub.Nanopub(rdf=path)
        assert read.is_valid
        assert read.has_valid_trusty
        path.write_text(path.read_text("utf-8").replace("Headache", "Earache"), "utf-8")
        with pytest.raises(nanopub.utils.MalformedNanopubError):
            assert nanopub.Nanopub(rdf=path).has_valid_trusty


def test_a_nanopublication_says_what_is_known_of_a_fact(sender: Nexus) -> None:
    text = sender.nanopublication(TREATS)
    assert text == sender.nanopublication(TREATS)
    graph = rdflib.Dataset(default_union=True)
    graph.parse(data=text, format="trig")
    (head,) = graph.subjects(rdflib.RDF.type, NP.Nanopublication)
    base = "https://data.example.org/kb/"
    ada, link = URIRef(base + "Person/Ada"), URIRef(base + "$proposition/48ec6e8e3fe50dea/treats")
    aspirin, headache = URIRef(base + "Drug/Aspirin"), URIRef(base + "Symptom/Headache")
    parts = {
        name: graph.graph(head + f"#{name}") for name in ("assertion", "provenance", "pubinfo")
    }
    assert (aspirin, URIRef(base + "$PropositionType/treats"), headache) in parts["assertion"]
    assert (aspirin, rdflib.RDFS.label, rdflib.Literal("Aspirin")) in parts["assertion"]
    # Other facts of the ends are nanopublications of their own.
    assert not list(parts["assertion"].subject_objects(ATTRIBUTE.risk_level))
    assert [str(o) for o in parts["assertion"].objects(link, ATTRIBUTE.dose)] == ["0.5"]
    about, paper = head + "#assertion", URIRef("https://example.org/paper")
    of_assertion = {(p, o) for p, o in parts["provenance"].predicate_objects(about)}
    assert {(PROV.wasDerivedFrom, paper), (PROV.wasAttributedTo, ada)} <= of_assertion
    assert (PROV.specializationOf, link) in of_assertion
    assert [str(o) for o in parts["provenance"].objects(link, METADATA.confidence)] == ["0.95"]
    published = dict(parts["pubinfo"].predicate_objects(head))
    assert published[DCTERMS.creator] == ada
    assert str(published[DCTERMS.created]) == "2026-01-01T00:00:00+00:00"
    assert str(published[DCTERMS.license]) == "https://creativecommons.org/licenses/by/4.0/"


def test_only_a_proposition_is_sent(sender: Nexus) -> None:
    for id in ("C:Drug/Aspirin", "P:0000000000000000:treats", "Aspirin"):
        with pytest.raises(KipError, match=f"KIP_3002 There is no proposition {id}"):
            sender.nanopublication(id)
    assert sender.nanopublication(TREATS)


# There and back -------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [None, "https://other.example.org/"])
def test_facts_arrive_as_they_were_sent(sender: Nexus, base: str | None) -> None:
    receiver = nexus(base)
    sent = [sender.nanopublication(id) for id in (OBJECTION, TREATS)]
    iris = [line.split("<")[1].split("#")[0] for one in sent for line in one.splitlines()[:1]]
    # The first names the fact that it questions, and says nothing of it.
    report = receiver.import_nanopublications(sent[0])
    assert counts(report) == [3, 0, 2, 0]
    assert report["nanopublications"] == [
        {
            "iri": iris[0],
            "propositions": [TREATS, OBJECTION],
            "signers": [],
            "retracts": [],
            "supersedes": [],
        }
    ]
    bare = element(receiver, TREATS)
    assert ("attributes" in bare, bare["metadata"]) == (False, {"via": iris[0]})
    report = receiver.import_nanopublications(sent[1])
    assert counts(report) == [0, 0, 0, 1]
    for id, via in ((OBJECTION, [iris[0]]), (TREATS, iris)):
        before, after = element(sender, id), element(receiver, id)
        arrived = after["metadata"].pop("via")
        assert arrived == (via if len(via) > 1 else via[0])
        after["metadata"].pop("created_at", None)  # what the engine of the sender noted
        assert after == before
    commit = receiver.info()["commit"]
    assert counts(receiver.import_nanopublications(sent)) == [0, 0, 0, 0]
    assert receiver.info()["commit"] == commit


def test_a_fact_that_comes_home_changes_nothing(sender: Nexus) -> None:
    before = sender.snapshot()
    sender.import_nanopublications([sender.nanopublication(id) for id in (TREATS, OBJECTION)])
    assert sender.snapshot() == before


def test_a_newer_nanopublication_updates_the_fact(sender: Nexus) -> None:
    receiver = nexus(None)
    receiver.import_nanopublications(sender.nanopublication(TREATS))
    sender.execute(
        "UPSERT { PROPOSITION { (id: :id) } WITH METADATA { confidence: 0.5 } }", id=TREATS
    )
    receiver.import_nanopublications(sender.nanopublication(TREATS))
    fact = element(receiver, TREATS)
    assert fact["metadata"]["confidence"] == 0.5
    assert len(fact["metadata"]["via"]) == 2


# Those of others ------------------------------------------------------------------------------


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.name)
def test_valid_cases_of_the_suite_are_imported(path: Path) -> None:
    with nexus() as receiver:
        report = receiver.import_nanopublications(path)
        assert len(report["nanopublications"]) == 1
        # The last is a property, which is imported as an ontology; the report says so.
        stated = sum(counts(report)) + len(report["skipped"])
        assert stated > 0
        assert counts(receiver.import_nanopublications(path)) == [0, 0, 0, 0]


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.name)
def test_invalid_cases_of_the_suite_are_refused(path: Path) -> None:
    with nexus() as receiver:
        before = receiver.info()["commit"]
        with pytest.raises(KipError, match=r"KIP_2002 The nanopublication <.*> is refused: "):
            receiver.import_nanopublications(path)
        assert receiver.info()["commit"] == before


def test_the_fact_of_another_tool_has_its_source() -> None:
    receiver = nexus()
    receiver.import_nanopublications(SIMPLE)
    (fact,) = receiver.execute('FIND(?l) WHERE { ?l (?a, "transmits", ?b) }')
    iri = "http://example.org/nanopub-validator-example/"
    assert (fact["subject"], fact["object"]) == ("C:Thing/mosquito", "C:Thing/malaria")
    assert {k: v for k, v in fact["metadata"].items() if not k.startswith("_")} == {
        "author": "http://orcid.org/0000-0002-1267-0234",
        "created_at": "2014-07-24T18:05:11+01:00",
        "evidence": "http://dx.doi.org/10.3233/ISU-2010-0613",
        "imported_at": "2026-01-01T00:00:00.000Z",
        "source": iri,
    }
    # Another one states the same: it is a further source, and the rest stays.
    receiver.import_nanopublications(SIMPLE.replace(iri, f"{iri}2/").replace("1267", "0000"))
    (again,) = receiver.execute('FIND(?l) WHERE { ?l (?a, "transmits", ?b) }')
    assert again["metadata"]["source"] == [iri, f"{iri}2/"]
    assert again["metadata"]["author"] == fact["metadata"]["author"]


HEAD = "np:hasAssertion :assertion ;"
FAULTS = {
    "two heads": ("a np:Nanopublication .", "a np:Nanopublication . :two a np:Nanopublication ."),
    "two assertions": (HEAD, f"{HEAD} np:hasAssertion :other ;"),
    "an assertion that is a text": (HEAD, 'np:hasAssertion "assertion" ;'),
    "one graph for two": ("np:hasProvenance :provenance", "np:hasProvenance :pubinfo"),
    "a graph of another": (":assertion {", "ex:assertion {"),
    "graphs with other IRIs": ("nanopub-validator-example/>", "x/> . @prefix y: <urn:x>"),
    "a triple outside": (":pubinfo {", "ex:a ex:b ex:c . :pubinfo {"),
    "a value that is none": ("ex:malaria .", 'ex:malaria ; ex:at "2026-02-30"^^xsd:date .'),
    "a triple term": ("ex:malaria .", "ex:malaria {| ex:at ex:night |} ."),
    "no nanopublication": ("a np:Nanopublication", "a np:Book"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_well_formed_is_refused_as_a_whole(fault: str) -> None:
    receiver = nexus()
    old, new = FAULTS[fault]
    assert old in SIMPLE
    if fault == "graphs with other IRIs":
        faulty = SIMPLE.replace("\t: ", "\tex:np ")
    else:
        faulty = SIMPLE.replace(old, new, 1)
    before = receiver.info()["commit"]
    with pytest.raises(KipError, match="KIP_2002"):
        receiver.import_nanopublications([TRUSTY, faulty])
    assert receiver.info()["commit"] == before
    receiver.import_nanopublications([TRUSTY, SIMPLE])  # the positive control
    assert receiver.info()["commit"] == before + 1


def test_each_change_of_a_trusty_one_shows(sender: Nexus) -> None:
    for text in (TRUSTY, sender.nanopublication(TREATS)):
        receiver = nexus()
        lines = [n for n, line in enumerate(text.splitlines()) if '"' in line or "Aspirin" in line]
        assert len(lines) > 3
        for number in lines:
            changed = text.splitlines()
            changed[number] = changed[number].replace('"', '"x', 1).replace("Aspirin", "Aspirine")
            with pytest.raises(
                KipError, match=r"(not that of its trusty URI|not a literal of its)"
            ):
                receiver.import_nanopublications("\n".join(changed))
        receiver.import_nanopublications(text)


@pytest.mark.parametrize("format", ["trig", "nquads", "json-ld", "trix"])
def test_a_nanopublication_comes_in_each_format_of_graphs(
    sender: Nexus, format: str, tmp_path: Path
) -> None:
    graph = rdflib.Dataset()
    graph.parse(data=sender.nanopublication(TREATS), format="trig")
    suffixes = {"trig": "trig", "nquads": "nq", "json-ld": "jsonld", "trix": "xml"}
    path = tmp_path / f"fact.{suffixes[format]}"
    path.write_text(graph.serialize(format=format), "utf-8")
    for source in (path, graph):
        receiver = nexus(None)
        receiver.import_nanopublications(source)
        assert element(receiver, TREATS)["attributes"] == element(sender, TREATS)["attributes"]


def test_what_is_withdrawn_is_reported() -> None:
    receiver = nexus()
    receiver.import_nanopublications(SIMPLE)
    iri = "http://example.org/nanopub-validator-example/"
    later = SIMPLE.replace(iri, "http://example.org/later/").replace(
        "a npx:ExampleNanopub", f"npx:supersedes <{iri}>"
    )
    report = receiver.import_nanopublications(later)
    assert report["nanopublications"][0]["supersedes"] == [iri]
    assert (
        f"<http://example.org/later/> supersedes <{iri}>. Of it came 3 elements."
        in (report["warnings"])
    )


def test_erasures_rejections_and_authors_hold(sender: Nexus) -> None:
    text = sender.nanopublication(TREATS)
    forgetful = nexus(None)
    forgetful.import_nanopublications(text)
    forgetful.forget([TREATS])
    report = forgetful.import_nanopublications(text)
    assert (report["erased"], counts(report)) == (1, [0, 0, 0, 0])
    with nexus(None) as strict:
        strict.import_nanopublications(text)
        strict.reject((TREATS, "attributes.dose", 0.75), reason="Too much.")
        sender.execute(
            "UPSERT { PROPOSITION { (id: :id) SET ATTRIBUTES { dose: 0.75 } } }", id=TREATS
        )
        with pytest.raises(KipError, match="rejected"):
            strict.import_nanopublications(sender.nanopublication(TREATS))
        assert element(strict, TREATS)["attributes"]["dose"] == 0.5


def test_an_assertion_does_not_say_where_it_comes_from(sender: Nexus) -> None:
    """An assertion may have terms of KIP; where it comes from is not for it to say."""
    claims = """ex:l a <http://www.w3.org/1999/02/22-rdf-syntax-ns#Statement> ;
      <http://www.w3.org/1999/02/22-rdf-syntax-ns#subject> ex:mosquito ;
      <http://www.w3.org/1999/02/22-rdf-syntax-ns#predicate> ex:transmits ;
      <http://www.w3.org/1999/02/22-rdf-syntax-ns#object> ex:malaria ;
      <urn:kip:metadata/source> "WHO" ; <urn:kip:metadata/via> "WHO" ;
      <urn:kip:metadata/author> "WHO" ; <urn:kip:metadata/confidence> 1 ."""
    receiver = nexus()
    receiver.import_nanopublications(SIMPLE.replace("ex:malaria .", f"ex:malaria . {claims}"))
    (fact,) = receiver.execute('FIND(?l) WHERE { ?l (?a, "transmits", ?b) }')
    assert fact["metadata"]["confidence"] == 1  # the positive control
    assert "WHO" not in str(fact["metadata"])
    assert fact["metadata"]["source"] == "http://example.org/nanopub-validator-example/"


def test_what_changes_a_fact_is_named(sender: Nexus) -> None:
    receiver = nexus(None)
    receiver.execute(SCHEMA)
    receiver.execute(FACTS)
    receiver.import_nanopublications(sender.nanopublication(TREATS))
    assert "via" not in element(receiver, TREATS)["metadata"]  # it said the same itself
    sender.execute("UPSERT { PROPOSITION { (id: :id) SET ATTRIBUTES { dose: 1 } } }", id=TREATS)
    report = receiver.import_nanopublications(sender.nanopublication(TREATS))
    (entry,) = report["nanopublications"]
    assert element(receiver, TREATS)["metadata"]["via"] == entry["iri"]


def test_the_digest_is_checked_wherever_it_ends_the_iri() -> None:
    code = "RAPpJU5UOB4pavfWyk7FE3WQiam5yBpmIlviAQWtBSC4M"
    text = (SUITE / "valid/trusty/trusty1.trig").read_text("utf-8")
    assert f"this: <http://example.org/nanopub-validator-example/{code}>" in text
    ended = text.replace(f"{code}> .", f"{code}#> .", 1)
    with pytest.raises(KipError, match="not that of its trusty URI"):
        nexus().import_nanopublications(ended)


def test_notes_of_a_nexus_for_itself_are_not_sent(sender: Nexus) -> None:
    sender.import_nanopublications(SIMPLE)
    (fact,) = sender.execute('FIND(?l) WHERE { ?l (?a, "transmits", ?b) }')
    assert "imported_at" in fact["metadata"]
    sent = sender.nanopublication(fact["id"])
    assert "imported_at" not in sent
    assert "http://example.org/malaria" in sent  # by which others know it
    with pytest.raises(KipError, match=r"KIP_1001 .* the mapping original"):
        sender.nanopublication(fact["id"], mapping="original")
    assert "<http://example.org/transmits>" in sender.nanopublication(
        fact["id"], mapping=sender.context()
    )


def test_what_is_noted_for_itself_and_blank_nodes_are_not_taken_over(sender: Nexus) -> None:
    note = '<urn:kip:metadata/conflict> "x" ; <urn:kip:metadata/imported_at> "y" ;'
    link = "<https://data.example.org/kb/$proposition/48ec6e8e3fe50dea/treats>"
    sent = re.sub(r"RA[\w-]{43}", "1", sender.nanopublication(TREATS)).replace(
        "\tmeta:confidence", f"\t{note} meta:confidence"
    ).replace(f"{link} meta:", f"{link} {note} meta:")  # fmt: skip
    assert note in sent
    receiver = nexus()
    receiver.import_nanopublications(sent)
    arrived = element(receiver, TREATS)["metadata"]
    assert (arrived["confidence"], arrived["via"]) == (0.95, "https://w3id.org/np/1")
    assert not {"conflict", "imported_at"} & set(arrived)
    by = re.sub(r"pav:createdBy <[^>]*>", "pav:createdBy []", SIMPLE)
    by = by.replace("a npx:ExampleNanopub", 'npx:supersedes "text", []')
    assert by.count("[]") == 2
    report = receiver.import_nanopublications(by)
    assert report["nanopublications"][0]["supersedes"] == []
    (fact,) = receiver.execute('FIND(?l) WHERE { ?l (?a, "transmits", ?b) }')
    assert "author" not in fact["metadata"]


@pytest.mark.parametrize("base", ["https://w3id.org/", "https://w3id.org/np/"])
def test_a_nexus_may_be_where_nanopublications_are(base: str) -> None:
    sender, receiver = nexus(base), nexus()
    sender.execute(SCHEMA)
    sender.execute(FACTS)
    sender.execute(
        """UPSERT { CONCEPT ?d { {type: "Drug", name: :name} }
          PROPOSITION { (?d, "treats", {type: "Symptom", name: "Headache"}) } }""",
        name="RA" + "_" * 43,
    )
    ids = sender.find('FIND(?l.id) WHERE { ?l (?a, "treats", ?b) }').column("?l.id")
    assert len(ids) == 2
    receiver.import_nanopublications([sender.nanopublication(id) for id in ids])
    for id in ids:
        assert element(receiver, id)["subject"] == element(sender, id)["subject"]


def test_an_absent_key_is_named(sender: Nexus, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"absent\.json"):
        sender.nanopublication(TREATS, key=tmp_path / "absent.json")


# Signatures -----------------------------------------------------------------------------------

ED25519, RSA = (
    Ed25519PrivateKey.from_private_bytes(b"k" * 32),
    rsa.generate_private_key(65537, 2048),
)


def test_a_signed_one_is_trusted_by_its_key(sender: Nexus) -> None:
    did = "did:key:z6MkoH8KpHkZQyDREP8Jpy6xKHiH5bGsh3UBsstBXfeDehU5"
    signed = sender.nanopublication(TREATS, key=ED25519)
    assert signed == sender.nanopublication(TREATS, key=ED25519)
    receiver = nexus()
    (entry,) = receiver.import_nanopublications(signed, trusted=[did])["nanopublications"]
    assert entry["signers"] == [did]
    (entry,) = receiver.import_nanopublications(signed)["nanopublications"]
    assert entry["signers"] == [did]
    other = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
    for text in (sender.nanopublication(TREATS), sender.nanopublication(TREATS, key=other)):
        with pytest.raises(KipError, match="no key that is trusted has signed it"):
            nexus().import_nanopublications(text, trusted=[did])
    for wrong in (did, 5, [None], {did: did}):
        with pytest.raises(KipError, match="KIP_1001 The trusted signers are a list"):
            receiver.import_nanopublications(signed, trusted=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", [ED25519, RSA], ids=["Ed25519", "RSA"])
def test_nanopub_reads_a_signed_one(sender: Nexus, tmp_path: Path, key: Any) -> None:
    path = tmp_path / "fact.trig"
    path.write_text(sender.nanopublication(TREATS, key=key), "utf-8")
    read = nanopub.Nanopub(rdf=path)
    assert read.is_valid
    assert read.has_valid_trusty
    # What is signed is the text that nanopub makes of the rest.
    signature = NPX.hasSignature
    rest = [q for q in RdfUtils.get_quads(read.rdf) if q[2] != signature]
    text = RdfHasher.normalize_quads(rest, baseuri=str(read.namespace), hashstr=" ").encode()
    (value,) = read.pubinfo.objects(None, signature)
    options = (padding.PKCS1v15(), hashes.SHA256()) if key is RSA else ()
    key.public_key().verify(b64decode(value), text, *options)
    with pytest.raises(InvalidSignature):
        key.public_key().verify(b64decode(value), text + b" ", *options)


def test_a_forged_signature_is_refused_under_a_right_digest(sender: Nexus) -> None:
    """Who forges one computes the digest again, as the forged cases of the suite have it."""
    signed = sender.nanopublication(TREATS, key=ED25519)
    quads = list(parsing.parse(signed, "trig"))
    forged = [Quad(q.subject, q.predicate, Literal("Earache"), q.graph_name)
              if q.object == Literal("Headache") else q for q in quads]  # fmt: skip
    assert forged != quads
    for some, is_refused in ((quads, False), (forged, True)):
        code = form.split(quads)[0].code
        assert code is not None
        name = form.digest(some, code)
        text = serialize(some, format=RdfFormat.N_QUADS).decode().replace(code, name)
        if not is_refused:
            nexus().import_nanopublications(text, format="nquads")
            continue
        with pytest.raises(KipError, match="its signature does not hold"):
            nexus().import_nanopublications(text, format="nquads")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('npx:hasPublicKey "', 'npx:hasPublicKey "x', "not that of its trusty URI"),
        ("npx:hasSignatureTarget this:", "npx:hasSignatureTarget ex:x", "not that of its trusty"),
    ],
)
def test_a_changed_signature_shows(old: str, new: str, why: str) -> None:
    text = (SUITE / "valid/signed/simple1-signed-rsa.trig").read_text("utf-8")
    assert old in text
    with pytest.raises(KipError, match=why):
        nexus().import_nanopublications(text.replace(old, new))
    nexus().import_nanopublications(text)


def test_the_command_line_refuses_what_cannot_be(tmp_path: Path) -> None:
    path, brain = tmp_path / "fact.trig", str(tmp_path / "brain")
    run = functools.partial(invoke, "import", str(path), "--nexus", brain)
    path.write_text(SIMPLE, "utf-8")
    for options in (["--trust", "did:key:z"], ["--nanopublications", "--ontology"]):
        assert run(*options).exit_code == 2
    path.write_text(SIMPLE.replace(":assertion {", ":other {"), "utf-8")
    answer = run("--nanopublications", "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"]["code"] == "KIP_2002"
    path.write_text(SIMPLE, "utf-8")
    (entry,) = json.loads(run("--nanopublications", "--json").stdout)["nanopublications"]
    assert entry["signers"] == []
    assert run("--nanopublications", "--trust", "did:key:z").exit_code == 1
