"""What was forgotten is in no file any more, compressed or not, and everything else is there."""

from __future__ import annotations

import gzip
import json
import random
import re
import urllib.parse
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kiprdf
from tests.long_runs import SEED
from tests.store.test_past import SCHEMA, change

FIND = 'FIND(?p) WHERE { ?p {type: "Person", name: :name} }'
JANE = "Jäne Quixotte"
SECRETS = [JANE, "jane@quux.example", "Xylophonist", "zebrafinch", "q-identifier", "Janey Quix"]
"""The name, values, a value that was replaced, one of her link, and the name of whom she was."""


def embedder(texts: list[str]) -> list[list[float]]:
    return [[1.0, float(len(text)), float(sum(map(ord, text)) % 97)] for text in texts]


def write(nexus: kiprdf.Nexus) -> None:
    """Jane, who was merged, with a link; Bob, whose note mentions her; someone else."""
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }')
    person = 'CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES {note: :note} }'
    nexus.execute(f"UPSERT {{ {person} }}", name="Bob", note="a neighbour")
    nexus.execute(f"UPSERT {{ {person} }}", name="Carl", note=["a", "list"])
    nexus.execute(f"UPSERT {{ {person} }}", name="Janey Quix", note="Xylophonist")
    nexus.execute(
        """UPSERT {
          CONCEPT ?bob { {type: "Person", name: "Bob"} }
          CONCEPT { {type: "Person", name: :name}
            SET ATTRIBUTES { mail: "jane@quux.example", tags: ["zebrafinch"], id: "q-identifier" }
            SET PROPOSITIONS { ("knows", ?bob) WITH METADATA { source: "q-identifier" } } }
        }""",
        name=JANE,
    )
    nexus.execute(
        """MERGE CONCEPT ?a INTO ?b WHERE {
          ?a {type: "Person", name: "Janey Quix"} ?b {type: "Person", name: :name} }""",
        name=JANE,
    )
    update = 'UPDATE ?p SET ATTRIBUTES { note: :note } WHERE { ?p {type: "Person", name: :name} }'
    nexus.execute(update, name=JANE, note="retired")
    nexus.execute(update, name="Carl", note="two")


def forms(text: str) -> list[bytes]:
    """How a text may be written in a file."""
    escaped = json.dumps(text)[1:-1]
    quoted = urllib.parse.quote(text, safe="")
    ways = [text, escaped, quoted, quoted.lower(), text.lower()]
    return [way.encode(coding) for way in ways for coding in ("utf-8", "utf-16-le", "utf-16-be")]


def remaining(folder: Path, texts: list[str]) -> set[str]:
    """The texts that a file of a folder has, also in parts of it that are compressed."""
    result = set()
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            parts = [data, *inflated(data)]
            result |= {
                text for text in texts for form in forms(text) if any(form in p for p in parts)
            }
    return result


def inflated(data: bytes) -> list[bytes]:
    """What decompresses from any place of a file where a zlib or gzip stream may begin."""
    parts = []
    for match in re.finditer(rb"\x78[\x01\x5e\x9c\xda]|\x1f\x8b\x08", data):
        engine = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        try:
            parts.append(engine.decompress(data[match.start() :]))
        except (zlib.error, gzip.BadGzipFile):
            continue
    return parts


def test_no_file_has_what_was_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    with kiprdf.Nexus.open(folder, embedder=embedder) as nexus:
        write(nexus)
        nexus.embed()
        nexus.execute("SEARCH CONCEPT :name LIMIT 3", name=JANE)
        past = nexus.at(nexus.info()["commit"] - 1)
        assert remaining(folder, SECRETS) == set(SECRETS)
        report = nexus.forget(FIND, name=JANE)
        assert remaining(folder, SECRETS) == set()
        past.close()
        check = nexus.check()
        assert (check["faults"], check["index"]) == ([], "sound")
        assert check["history"] == {"state": "sound", "earliest_seq": 0, "faults": []}
        assert check["vectors"] == check["concepts"] + check["propositions"]
    assert remaining(folder, SECRETS) == set()
    assert report["elements"] == [f"C:Person/{JANE}"]
    assert [link.partition(":")[0] for link in report["links"]] == ["P"]
    assert (len(report["commits"]), report["mentions"]) == (4, [])
    with kiprdf.Nexus.open(folder) as nexus:
        assert nexus.execute('FIND(?p.name) WHERE { ?p {type: "Person", name: "Bob"} }') == ["Bob"]
        assert nexus.check()["faults"] == []
        assert nexus.info()["commit"] == report["seq"]


def test_sealed_history_forgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiprdf.store.journal.SEALED_BYTES", 2_000)
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        write(nexus)
        assert list((tmp_path / "kb" / "history").glob("*.kseg"))
        nexus.forget(FIND, name=JANE)
        assert nexus.check()["history"]["state"] == "sound"
    assert remaining(tmp_path / "kb", SECRETS) == set()


def test_history_that_is_not_continued_forgets_too(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        write(nexus)
    with kiprdf.Nexus.open(tmp_path / "kb", history=False) as nexus:
        nexus.forget(FIND, name=JANE)
        assert nexus.check()["faults"] == []
    assert remaining(tmp_path / "kb", SECRETS) == set()


@pytest.fixture(params=["memory", "folder"])
def nexus(request: pytest.FixtureRequest, tmp_path: Path) -> kiprdf.Nexus:
    if request.param == "memory":
        return kiprdf.Nexus.memory(history=True)
    return kiprdf.Nexus.open(tmp_path / "kb")


def test_dry_run_says_what_would_be_forgotten_and_writes_nothing(nexus: kiprdf.Nexus) -> None:
    write(nexus)
    before, commit = nexus.snapshot(), nexus.info()["commit"]
    plan = nexus.forget(FIND, name=JANE, dry_run=True)
    assert (nexus.snapshot(), nexus.info()["commit"]) == (before, commit)
    assert nexus.forget(FIND, name=JANE) == {**plan, "seq": commit + 1}
    assert nexus.forget(FIND, name="Bob")["links"] == []


def test_elements_whose_values_have_the_name_now_or_earlier_are_listed(
    nexus: kiprdf.Nexus,
) -> None:
    write(nexus)
    update = 'UPDATE ?p SET ATTRIBUTES { note: :note } WHERE { ?p {type: "Person", name: :name} }'
    nexus.execute(update, name="Bob", note=f"met {JANE}")
    nexus.execute(update, name="Carl", note=["with", {"who": JANE}])
    nexus.execute(update, name="Carl", note="alone")
    report = nexus.forget(FIND, name=JANE)
    assert report["mentions"] == ["C:Person/Bob", "C:Person/Carl"]


def test_commit_that_forgets_is_in_the_history(nexus: kiprdf.Nexus) -> None:
    write(nexus)
    with nexus.acting(author="agent-7"):
        number = nexus.forget(FIND, name=JANE)["seq"]
    assert nexus.info()["history"]["latest_seq"] == number
    assert number in [commit["seq"] for commit in nexus.changes()["commits"]]
    for selection in ({}, {"author": "agent-7"}):
        (commit,) = nexus.changes(since=number - 1, **selection)["commits"]
        head = {key: commit[key] for key in ("seq", "kind", "author", "forgotten")}
        # Jane and a link.
        assert head == {"seq": number, "kind": "FORGET", "author": "agent-7", "forgotten": 2}
        assert commit["at"] > "2026"
        assert JANE not in str(commit)
        groups = (commit["concepts"], commit["propositions"])
        assert groups == ({"added": [], "removed": [], "changed": []},) * 2
    for other in ({"author": "agent-8"}, {"type": "Person"}, {"source": "q-identifier"}):
        assert nexus.changes(since=number - 1, **other)["commits"] == []
    with pytest.raises(kiprdf.KipError, match="KIP_3002"):
        nexus.history(f"C:Person/{JANE}")
    nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Dora"} } }')
    assert nexus.info()["commit"] == number + 1
    assert nexus.execute('SEARCH CONCEPT "dora" LIMIT 1')[0]["name"] == "Dora"
    nexus.undo(seq=number + 1)
    nexus.forget(FIND, name="Carl")
    assert nexus.changes()["commits"][-1]["forgotten"] == 1
    assert nexus.check()["history"] == {"state": "sound", "earliest_seq": 0, "faults": []}


def test_nothing_to_forget_writes_nothing(nexus: kiprdf.Nexus) -> None:
    commit = nexus.info()["commit"]
    report = nexus.forget('FIND(?p) WHERE { ?p {type: "Person"} FILTER(?p.name == "Nobody") }')
    assert report == {"elements": [], "links": [], "commits": [], "mentions": [], "seq": None}
    assert nexus.info()["commit"] == commit


@pytest.mark.parametrize(
    ("command", "code", "hint"),
    [
        ('FIND(?p) WHERE { ?p {type: "Person", name: "$self"} }', "KIP_3004", "Leave it out."),
        (
            'FIND(?t) WHERE { ?t {type: "$ConceptType", name: "Drug"} }',
            "KIP_2002",
            "Forget it first.",
        ),
        ('FIND(?p.name) WHERE { ?p {type: "Person"} }', "KIP_1001", ""),
        ('FIND(?p) WHERE { ?p {type: "Person"} } LIMIT 1', "KIP_1001", ""),
        ("DESCRIBE PRIMER", "KIP_1001", ""),
    ],
)
def test_what_cannot_be_forgotten_is_refused(
    nexus: kiprdf.Nexus, command: str, code: str, hint: str
) -> None:
    nexus.execute(SCHEMA)
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} } }')
    for dry_run in (True, False):
        with pytest.raises(kiprdf.KipError) as refused:
            nexus.forget(command, dry_run=dry_run)
        assert refused.value.code == code
        assert (refused.value.hint or "").startswith(hint)


def test_each_earlier_state_lacks_only_what_was_forgotten(nexus: kiprdf.Nexus) -> None:
    chance = random.Random(SEED)
    nexus.execute(SCHEMA)
    for _ in range(30):
        change(nexus, chance)
    last = nexus.info()["commit"]
    select = 'FIND(?d) WHERE { ?d {type: "Drug", name: "D1"} }'
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "D1"} SET ATTRIBUTES {a: "b"} } }')
    before = {number: elements(nexus, number) for number in range(last - 3, last)}
    nexus.forget(select)
    history = nexus.check()["history"]
    assert (history["state"], history["faults"]) == ("sound", [])
    for number in range(max(last - 3, history["earliest_seq"]), last):
        kept = elements(nexus, number)
        assert kept.keys() <= before[number].keys()
        assert "C:Drug/D1" not in kept
        assert all(before[number][id] == value for id, value in kept.items())


def elements(nexus: kiprdf.Nexus, number: int) -> dict[str, Any]:
    """The drugs and their links as of a commit."""
    with nexus.at(number) as past:
        drugs = past.execute('FIND(?d) WHERE { ?d {type: "Drug"} }')
        links = past.execute('FIND(?l) WHERE { ?l (?d, "treats", ?o) }')
    return {element["id"]: element for element in (*drugs, *links)}


def test_nexus_in_another_store_has_no_history() -> None:
    import rdflib

    with pytest.raises(kiprdf.KipError, match="KIP_1001 A nexus in a SPARQL store has no hist"):
        kiprdf.Nexus.connect(rdflib.Graph(), history=True)
    nexus = kiprdf.Nexus.connect(rdflib.Graph())
    calls: list[Callable[[], Any]] = [
        lambda: nexus.forget(FIND, name="Bob"),
        lambda: nexus.at(1),
        lambda: nexus.history("C:Person/$self"),
        lambda: nexus.changes(since=0),
        lambda: nexus.undo(seq=1),
        lambda: nexus.compact_history(1),
    ]
    for call in calls:
        with pytest.raises(kiprdf.KipError, match="KIP_1001 A nexus in a SPARQL store cannot"):
            call()


def test_link_that_once_had_a_forgotten_end_stays_and_the_history_begins_later() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    nexus.execute(SCHEMA)
    drug = 'CONCEPT {{ {{type: "Drug", name: "{}"}} }}'
    nexus.execute(f"UPSERT {{ {drug.format('B')} }}")
    nexus.execute(
        """UPSERT { CONCEPT ?a { {type: "Drug", name: "A"} }
        CONCEPT { {type: "Drug", name: "X"} SET PROPOSITIONS { ("treats", ?a) } } }"""
    )
    nexus.execute(
        """MERGE CONCEPT ?a INTO ?b
        WHERE { ?a {type: "Drug", name: "A"} ?b {type: "Drug", name: "B"} }"""
    )
    merged = nexus.info()["commit"]
    nexus.execute(f"UPSERT {{ {drug.format('A')} }}")
    nexus.forget('FIND(?d) WHERE { ?d {type: "Drug", name: "A"} }')
    history = nexus.check()["history"]
    assert history == {"state": "sound", "earliest_seq": merged, "faults": []}
    concepts = [id for id in elements(nexus, merged) if id.startswith("C:")]
    assert sorted(concepts) == ["C:Drug/B", "C:Drug/X"]
    with nexus.at(merged) as past:
        assert past.check()["faults"] == []


FACTS = """
UPSERT {
  CONCEPT ?ada { {type: "Person", name: "Ada"} }
  CONCEPT ?bob { {type: "Person", name: "Bob"} }
  CONCEPT ?cy { {type: "Person", name: "Cy"} }
  PROPOSITION ?fact { (?ada, "knows", ?bob) }
  PROPOSITION ?claim { (?cy, "knows", ?fact) }
  PROPOSITION { (?claim, "knows", ?ada) SET ATTRIBUTES { note: "deep" } }
}
"""
FACT = (
    'FIND(?l) WHERE { ?l ({type: "Person", name: :one}, "knows", {type: "Person", name: "Bob"}) }'
)


def test_forgotten_fact_is_no_triple_any_more_and_its_ends_can_be_forgotten(
    nexus: kiprdf.Nexus,
) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }')
    nexus.execute(FACTS)
    triple = "ASK { <urn:kip:nexus/Person/Ada> ?p <urn:kip:nexus/Person/Bob> }"
    assert nexus.sparql(triple) is True
    report = nexus.forget(FACT, one="Ada")
    assert (len(report["elements"]), len(report["links"])) == (1, 2)
    assert nexus.sparql(triple) is False
    for profile in ("rdf11", "rdf12"):
        copy = kiprdf.Nexus.memory()
        copy.restore(nexus.snapshot(profile=profile))
        assert copy.snapshot() == nexus.snapshot()
    with nexus.at(report["seq"] - 1) as past:
        assert past.check()["faults"] == []
        assert past.sparql(triple) is False
    for name in ("Ada", "Bob"):
        nexus.forget(FIND, name=name)
        check = nexus.check()
        assert (check["faults"], check["history"]["state"]) == ([], "sound")
    assert nexus.execute('FIND(?p.name) WHERE { ?p {type: "Person", name: "Cy"} }') == ["Cy"]


def test_what_was_merged_into_a_forgotten_fact_is_forgotten_too(tmp_path: Path) -> None:
    """The values of the link, of that which a MERGE dropped, and of one that was deleted."""
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }')
        fact = """UPSERT {
          CONCEPT ?a { {type: "Person", name: :one} } CONCEPT ?b { {type: "Person", name: "Bob"} }
          PROPOSITION ?l { (?a, "knows", ?b) SET ATTRIBUTES { note: :note } }
          CONCEPT ?c { {type: "Person", name: "Cy"} }
          PROPOSITION { (?c, "knows", ?l) SET ATTRIBUTES { note: :about } } }"""
        nexus.execute(fact, one="Ada", note="surviving-7f", about="about-7f")
        nexus.execute(fact, one="Ada B.", note="superseded-7f", about="replaced-7f")
        nexus.execute(
            """MERGE CONCEPT ?a INTO ?b WHERE {
              ?a {type: "Person", name: "Ada B."} ?b {type: "Person", name: "Ada"} }"""
        )
        texts = ["surviving-7f", "superseded-7f", "about-7f", "replaced-7f"]
        assert remaining(tmp_path / "kb", texts) == set(texts)
        nexus.forget(FACT, one="Ada")
        assert remaining(tmp_path / "kb", texts) == set()
        assert nexus.check()["history"] == {"state": "sound", "earliest_seq": 0, "faults": []}


def test_ids_and_iris_of_what_was_forgotten_are_mentions(nexus: kiprdf.Nexus) -> None:
    nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }')
    nexus.execute(FACTS)
    [id] = nexus.execute(FACT.replace("?l)", "?l.id)"), one="Ada")
    person = 'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES {note: :note} } }'
    digits, predicate = id.removeprefix("P:").split(":")
    nexus.execute(person, name="Dora", note=[{"see": id}])
    nexus.execute(person, name="Emil", note=f"urn:kip:nexus/$proposition/{digits}/{predicate}")
    nexus.execute(person, name="Fay", note=f"P:{digits[::-1]}:{predicate}")
    assert nexus.forget(FACT, one="Ada", dry_run=True)["mentions"] == [
        "C:Person/Dora",
        "C:Person/Emil",
    ]
    jane = 'UPSERT { CONCEPT { {type: "Person", name: :name} SET ATTRIBUTES {same_as: :iris} } }'
    nexus.execute(jane, name="Jane Doe", iris=["https://example.org/#j7", "https://x.example/j"])
    nexus.execute(person, name="Gus", note="https://example.org/#j7 said so")
    nexus.execute(person, name="Hal", note="urn:kip:nexus/Person/Jane%20Doe")
    assert nexus.forget(FIND, name="Jane Doe")["mentions"] == ["C:Person/Gus", "C:Person/Hal"]


def test_link_that_was_given_other_ends_without_a_history_stays(tmp_path: Path) -> None:
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        nexus.execute('UPSERT { CONCEPT { {type: "$PropositionType", name: "knows"} } }')
        nexus.execute(FACTS)
    with kiprdf.Nexus.open(tmp_path / "kb", history=False) as nexus:
        nexus.execute(
            """MERGE CONCEPT ?a INTO ?c WHERE {
              ?a {type: "Person", name: "Ada"} ?c {type: "Person", name: "Cy"} }"""
        )
        nexus.execute('UPSERT { CONCEPT { {type: "Person", name: "Ada"} } }')
        links = 'FIND(?l.id) WHERE { ?l (?s, "knows", ?o) }'
        before = nexus.execute(links)
        assert nexus.forget(FIND, name="Ada")["links"] == []
        assert nexus.execute(links) == before
        assert nexus.check()["faults"] == []
    with kiprdf.Nexus.open(tmp_path / "kb") as nexus:
        check = nexus.check()
        assert (check["faults"], check["history"]["faults"]) == ([], [])
        assert nexus.execute(links) == before


def test_a_list_names_what_is_forgotten_by_ids_also_what_is_gone() -> None:
    nexus = kiprdf.Nexus.memory(history=True)
    write(nexus)
    nexus.execute('DELETE CONCEPT ?p DETACH WHERE { ?p {type: "Person", name: "Carl"} }')
    ids = ["C:Person/Carl", f"C:Person/{JANE}"]
    dry = nexus.forget(ids, dry_run=True)
    report = nexus.forget(ids)
    assert report == {**dry, "seq": report["seq"]}
    assert report["elements"] == sorted(ids)
    for id in ids:
        with pytest.raises(kiprdf.KipError, match="The history does not mention"):
            nexus.history(id)
    assert nexus.execute('FIND(COUNT(?p)) WHERE { ?p {type: "Person", name: "Bob"} }') == 1
    with pytest.raises(kiprdf.KipError, match="KIP_1001 'Carl' is no id"):
        nexus.forget(["Carl"])
    with pytest.raises(kiprdf.KipError, match="KIP_1001 7 is no id"):
        nexus.forget([7])  # type: ignore[list-item]
