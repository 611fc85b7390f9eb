"""A nexus follows another: a folder, a log of patches, a server, behind a line that is cut."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kiprdf import KipError, Nexus
from kiprdf.interchange.differences.patch_log import written
from tests.serve.running import serving
from tests.serve.scoped import make, serving_scopes, token

SCHEMA = """UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Drug"} }
  CONCEPT { {type: "$ConceptType", name: "Symptom"} }
  CONCEPT { {type: "$PropositionType", name: "treats"} }
}"""
FACTS = """UPSERT {
  CONCEPT ?ache { {type: "Symptom", name: "Ache"} }
  CONCEPT ?drug { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: 1, tags: ["a", 2] } }
  PROPOSITION { (?drug, "treats", ?ache) SET ATTRIBUTES { strength: 0.5 } }
} WITH METADATA { author: "ada", source: "a book" }"""
RISK = 'UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES { risk: :risk } } }'
DRUG = 'UPSERT { CONCEPT { {type: "Drug", name: :name} } }'
GONE = 'DELETE CONCEPT ?d DETACH WHERE { ?d {type: "Drug", name: "Aspirin"} }'


def aspirin(nexus: Nexus) -> Any:
    return nexus.find('FIND(?d) WHERE { ?d {type: "Drug", name: "Aspirin"} }').column("?d")[0]


def drugs(nexus: Nexus) -> list[str]:
    return nexus.find('FIND(?d.name) WHERE { ?d {type: "Drug"} } ORDER BY ?d.name').column(
        "?d.name"
    )


def log_of(nexus: Nexus, after: int = 0) -> str:
    return "".join(text for _, text in written(nexus.store, after))


@pytest.fixture
def ada(tmp_path: Path) -> Iterator[Nexus]:
    with Nexus.open(tmp_path / "ada") as nexus:
        nexus.execute(SCHEMA)
        with nexus.acting(author="bot", kind="model"):
            nexus.execute(FACTS)
        yield nexus


@pytest.fixture
def bob(tmp_path: Path) -> Iterator[Nexus]:
    with Nexus.open(tmp_path / "bob", "https://bob.example/") as nexus:
        yield nexus


def counts(report: dict[str, Any]) -> dict[str, Any]:
    return {key: number for key, number in report.items() if number and key != "source"}


def test_what_is_followed_keeps_who_and_when(ada: Nexus, bob: Nexus, tmp_path: Path) -> None:
    report = bob.follow(tmp_path / "ada")
    assert counts(report) == {"commits": 3, "created": 6, "place": 3}
    theirs, ours = aspirin(ada), aspirin(bob)
    assert ours["metadata"].pop("via") == [str(tmp_path / "ada")]
    assert ours == theirs
    assert ours["metadata"]["_actor"] == "model/bot"
    links = [
        list(nexus.find('FIND(?l.id, ?l.attributes) WHERE { ?l (?d, "treats", ?s) }'))
        for nexus in (ada, bob)
    ]
    assert links[0] == links[1]
    before = bob.info()["commit"]
    assert counts(bob.follow(tmp_path / "ada")) == {"place": 3}
    assert bob.info()["commit"] == before
    ada.execute(RISK, risk=2)
    assert counts(bob.follow(tmp_path / "ada")) == {"commits": 1, "changed": 1, "place": 4}
    assert aspirin(bob)["attributes"]["risk"] == 2
    ada.execute(GONE)
    assert counts(bob.follow(tmp_path / "ada")) == {"commits": 1, "deleted": 2, "place": 5}
    assert drugs(bob) == []
    for nexus in (ada, bob):
        assert nexus.check()["faults"] == []


def test_what_both_say_is_a_conflict_that_both_list(ada: Nexus, bob: Nexus, tmp_path: Path) -> None:
    bob.execute(SCHEMA)
    with bob.acting(author="bea", kind="model"):
        bob.execute(RISK, risk=1)  # the same value as that of the other
    bob.follow(tmp_path / "ada")
    assert bob.conflicts() == []
    ada.execute(RISK, risk=2)
    bob.follow(tmp_path / "ada")
    ada.follow(tmp_path / "bob")
    assert [aspirin(one)["attributes"]["risk"] for one in (ada, bob)] == [2, 1]
    ((ours,), (theirs,)) = [
        [one for one in nexus.conflicts() if one["key"] == "attributes.risk"]
        for nexus in (ada, bob)
    ]
    assert ours["id"] == theirs["id"] == "C:Drug/Aspirin"
    assert (ours["ours"], ours["theirs"]) == (theirs["theirs"], theirs["ours"])
    assert (ours["theirs"]["value"], ours["theirs"]["by"]) == (1, "model/bea")
    assert ours["theirs"]["at"] == theirs["ours"]["at"]
    bob.execute(RISK, risk=2)
    ada.follow(tmp_path / "bob")
    bob.follow(tmp_path / "ada")
    assert ada.conflicts() == bob.conflicts() == []
    # Nothing new is no news: they come to rest.
    commits = [ada.info()["commit"], bob.info()["commit"]]
    ada.follow(tmp_path / "bob")
    bob.follow(tmp_path / "ada")
    assert [ada.info()["commit"], bob.info()["commit"]] == commits


def test_what_own_knowledge_needs_stays(ada: Nexus, bob: Nexus, tmp_path: Path) -> None:
    bob.follow(tmp_path / "ada")
    bob.execute(
        """UPSERT { CONCEPT ?d { {type: "Drug", name: "Aspirin"} }
        CONCEPT { {type: "Drug", name: "Own"} } CONCEPT ?s { {type: "Symptom", name: "Fever"} }
        PROPOSITION { (?d, "treats", ?s) } }"""
    )
    ada.execute(GONE)
    assert counts(bob.follow(tmp_path / "ada"))["deleted"] == 1  # the link that was followed
    assert drugs(bob) == ["Aspirin", "Own"]
    ada.follow(tmp_path / "bob")
    assert drugs(ada) == ["Aspirin", "Own"]


def test_what_was_erased_or_rejected_does_not_return(
    ada: Nexus, bob: Nexus, tmp_path: Path
) -> None:
    bob.follow(tmp_path / "ada")
    bob.forget(["C:Symptom/Ache"])
    bob.reject(("C:Drug/Aspirin", "attributes.risk", 9), reason="Nonsense.")
    ada.execute('UPSERT { CONCEPT { {type: "Symptom", name: "Ache"} SET ATTRIBUTES {n: 1} } }')
    ada.execute(RISK, risk=9)
    report = bob.follow(tmp_path / "ada")
    assert (report["erased"], report["rejected"], report["place"]) == (2, 1, 5)
    assert list(bob.find('FIND(?s) WHERE { ?s {type: "Symptom"} }')) == []
    assert aspirin(bob)["attributes"].get("risk") != 9
    assert counts(bob.follow(tmp_path / "ada"))["place"] == 5
    files = [path.read_bytes() for path in (tmp_path / "bob").rglob("*") if path.is_file()]
    assert not any(b"Ache" in content for content in files)
    assert any(b"Aspirin" in content for content in files)


def test_what_was_forgotten_and_written_again_stays(ada: Nexus, bob: Nexus, tmp_path: Path) -> None:
    codeine = 'UPSERT { CONCEPT { {type: "Drug", name: "Codeine"} } }'
    bob.follow(tmp_path / "ada")
    ada.execute(codeine)
    ada.forget(["C:Drug/Codeine"])
    ada.execute(codeine)
    with Nexus.open(tmp_path / "cleo") as cleo:
        cleo.follow(tmp_path / "ada")
        bob.follow(tmp_path / "cleo")
    ada.execute('UPSERT { CONCEPT { {type: "Drug", name: "Ibuprofen"} } }')
    bob.follow(tmp_path / "ada")
    assert drugs(bob) == ["Aspirin", "Codeine", "Ibuprofen"]


def test_a_selection_is_followed_alone(ada: Nexus, bob: Nexus, tmp_path: Path) -> None:
    ada.execute(DRUG, name="Ibuprofen")
    select = '?d {type: "Drug"} FILTER(?d.name == "Aspirin")'
    assert counts(bob.follow(tmp_path / "ada", selection=select))["created"] == 2
    assert drugs(bob) == ["Aspirin"]
    ada.execute(RISK, risk=5)
    assert counts(bob.follow(tmp_path / "ada", selection=select))["changed"] == 1
    ada.execute(GONE)
    bob.follow(tmp_path / "ada", selection=f"EXPORT ?d WHERE {{ {select} }}")
    bob.follow(tmp_path / "ada", selection=select)
    with pytest.raises(KipError, match="KIP_2001"):  # nothing of its type was selected
        drugs(bob)
    with pytest.raises(KipError, match="KIP_1"):
        bob.follow(tmp_path / "ada", selection="nonsense")


def test_a_gap_is_bridged_and_a_loss_is_said(ada: Nexus, bob: Nexus, tmp_path: Path) -> None:
    bob.follow(tmp_path / "ada")
    ada.execute(DRUG, name="Ibuprofen")
    ada.backup(tmp_path / "old")
    ada.execute(GONE)
    ada.execute(DRUG, name="Codeine")
    ada.compact_history(ada.info()["commit"])
    bob.follow(tmp_path / "ada")
    assert drugs(bob) == drugs(ada) == ["Codeine", "Ibuprofen"]
    # A copy is another nexus, which says what it says.
    with Nexus.open(tmp_path / "old") as copy:
        copy.execute(DRUG, name="Late")
    bob.follow(tmp_path / "old")
    assert drugs(bob) == ["Aspirin", "Codeine", "Ibuprofen", "Late"]
    log = tmp_path / "log.rdfp"
    log.write_text(log_of(ada))
    with Nexus.memory() as cy:
        cy.follow(log)
        ada.execute(DRUG, name="New")
        newer = log_of(ada, ada.info()["commit"] - 1)
        log.write_text(newer)
        cy.follow(log)
        assert drugs(cy) == ["Codeine", "Ibuprofen", "New"]
        log.write_text("H id" + log_of(ada).split("H id")[1])
        with pytest.raises(KipError, match=r"KIP_3002.*lost commits"):
            cy.follow(log)


def test_following_oneself_or_nothing_is_refused(ada: Nexus, tmp_path: Path) -> None:
    for source in (tmp_path / "ada", tmp_path / "none", "ftp://example.org/"):
        with pytest.raises(KipError, match="KIP_1001"):
            ada.follow(source)


def test_a_restored_follower_keeps_what_it_writes(ada: Nexus, bob: Nexus, tmp_path: Path) -> None:
    bob.follow(tmp_path / "ada")
    with Nexus.open(tmp_path / "cy") as cy:
        cy.restore(bob.snapshot())
        cy.execute(RISK, risk=7)
    ada.execute(RISK, risk=3)
    with Nexus.open(tmp_path / "cy") as cy:
        cy.execute('UPSERT { CONCEPT { {type: "Drug", name: "Aspirin"} SET ATTRIBUTES {n: 1} } }')
        assert cy.follow(tmp_path / "ada")["conflicts"] == 1
        assert aspirin(cy)["attributes"] == {"risk": 7, "tags": ["a", 2], "n": 1}
        assert cy.conflicts()[0]["theirs"]["value"] == 3


@pytest.mark.parametrize(
    "text", ["x", "{}", '{"is": 5, "by": {}}', '{"is": ["A", "b"], "by": [5]}']
)
def test_a_snapshot_whose_says_cannot_be_read_is_refused(
    ada: Nexus, bob: Nexus, text: str, tmp_path: Path
) -> None:
    bob.follow(tmp_path / "ada")
    snapshot = bob.snapshot()
    forged = re.sub(
        r'kip:says "(?:[^"\\]|\\.)*"', lambda _: f"kip:says {json.dumps(text)}", snapshot
    )
    with Nexus.memory() as nexus:
        with pytest.raises(KipError, match=r"KIP_2002.*cannot be read"):
            nexus.restore(forged)
        nexus.restore(snapshot)
        assert drugs(nexus) == ["Aspirin"]


def test_what_the_shapes_refuse_is_gone_around(ada: Nexus, bob: Nexus, tmp_path: Path) -> None:
    bob.execute(SCHEMA)
    definition = bob.store.iris.concept("$ConceptType", "Drug")
    bob.set_shapes(f"""@prefix sh: <http://www.w3.org/ns/shacl#> .
    <urn:x:risk> a sh:NodeShape ; sh:targetClass {definition} ; sh:property [
      sh:path <urn:kip:attribute/risk> ; sh:datatype <http://www.w3.org/2001/XMLSchema#integer> ] .
    """)
    ada.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "Bad"} SET ATTRIBUTES { risk: "high" } } }'
    )
    before = bob.snapshot()
    for _ in range(2):
        with pytest.raises(
            KipError, match=r"Nothing was followed: C:Drug/Bad.*a selection without"
        ):
            bob.follow(tmp_path / "ada")
    assert bob.snapshot() == before
    bob.follow(tmp_path / "ada", selection='?d {type: "Drug"} FILTER(?d.name != "Bad")')
    assert drugs(bob) == ["Aspirin"]
    ada.execute('UPSERT { CONCEPT { {type: "Drug", name: "Bad"} SET ATTRIBUTES { risk: 3 } } }')
    bob.follow(tmp_path / "ada")
    assert drugs(bob) == ["Aspirin", "Bad"]


# Hostile logs -----------------------------------------------------------------------------------


def reordered(log: str) -> str:
    first, second, *rest = log.split("H id")[1:]
    return "".join(f"H id{one}" for one in (first, *reversed([second, *rest])))


HOSTILE: dict[str, tuple[Callable[[str], str], str]] = {
    "another order": (reordered, "KIP_1001.*does not follow"),
    "a loop": (lambda log: log + log, "KIP_1001.*does not follow"),
    "no log": (lambda log: "<html></html>\n", "KIP_1001"),
    "a key that is none": (lambda log: log.replace("attribute/risk", "attribute/a b"), "KIP_"),
    "a name that is none": (lambda log: log.replace("Drug/Aspirin", "Drug/%0A"), "KIP_"),
    "another base": (
        lambda log: log.replace('base "urn:kip:', 'base "urn:x:'),
        "KIP_2002.*no fact",
    ),
    "records that are none": (
        lambda log: log.replace("TX .", 'H records "[]" .\nTX .'),
        "KIP_1001.*cannot be read",
    ),
    "a time that is none": (lambda log: log.replace('_at> "2', '_at> "x2'), "KIP_2002"),
    "says that cannot be read": (
        lambda log: log.replace("urn:kip:metadata/author>", "urn:kip:vocab/says>"),
        "KIP_2002",
    ),
}
REGISTERS = {
    "a list of registers": ("[]", "cannot be read"),
    "no character": (
        '{"ORIGIN": {"seq": 1, "at": "", "actor": "human/\\ud800"}}',
        "cannot be read",
    ),
    "keys without a time": ('{"ORIGIN": {"seq": 1, "keys": {}}}', "other fields"),
    "fields that are none": ('{"ORIGIN": {"seq": 1, "more": 1}}', "other fields"),
    "marks of the engine": (
        '{"ORIGIN": {"seq": 1, "at": "", "keys": {"metadata._merged_from": ["", 7]}}}',
        "no value of KIP",
    ),
}


END = "TC .\n"


def saying(by: str) -> Callable[[str], str]:
    text = json.dumps(f'{{"is": ["Drug", "Aspirin"], "by": {by}}}'.replace("ORIGIN", "a" * 32))
    row = f"A <urn:kip:concept/Drug/Aspirin> <urn:kip:vocab/says> {text} .\n"
    return lambda log: f"{log.removesuffix(END)}{row}{END}"


HOSTILE |= {kind: (saying(by), f"KIP_2002.*{why}") for kind, (by, why) in REGISTERS.items()}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_log_changes_nothing(ada: Nexus, bob: Nexus, kind: str, tmp_path: Path) -> None:
    change, error = HOSTILE[kind]
    text = log_of(ada)
    log = tmp_path / "log.rdfp"
    log.write_text(change(text))
    before = bob.snapshot()
    with pytest.raises(KipError, match=error):
        bob.follow(log)
    assert bob.snapshot() == before
    log.write_text(text)
    assert bob.follow(log)["place"] == 3


@contextmanager
def sending(*parts: bytes, goes_on: bool = False) -> Iterator[str]:
    """A server that answers each request by some bytes."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                with client, suppress(OSError):
                    client.recv(1 << 16)
                    for part in parts:
                        client.sendall(part)
                    while goes_on:
                        client.sendall(parts[-1])

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield "http://{}:{}".format(*listening.getsockname())
    finally:
        listening.close()


def test_a_line_without_end_is_refused(bob: Nexus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiprdf.sharing.sources.LINE_BYTES", 1_000_000)
    parts = b"HTTP/1.1 200 OK\r\n\r\n", b"A" * 10_000
    with sending(*parts, goes_on=True) as url, pytest.raises(KipError, match="KIP_4002"):
        bob.follow(url)


def test_a_log_without_end_is_refused(
    ada: Nexus, bob: Nexus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiprdf.sharing.sources.ANSWER_BYTES", 1_000_000)
    patch = log_of(ada).encode()
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    for parts, error in (((head, patch), "does not follow"), ((head, b"\n"), "KIP_4002")):
        with sending(*parts, goes_on=True) as url, pytest.raises(KipError, match=error):
            bob.follow(url)


def test_a_redirect_is_not_followed(bob: Nexus) -> None:
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    with sending(answer) as url, pytest.raises(KipError, match="redirects"):
        bob.follow(url)


# Servers ------------------------------------------------------------------------------------------


@contextmanager
def cutting(address: str, most: list[int]) -> Iterator[str]:
    """A proxy that ends each answer after some bytes; after the last limit it lets all pass."""
    target = address.removeprefix("http://").rstrip("/").split(":")
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            limit = most.pop(0) if most else 1 << 40
            with client, socket.create_connection((target[0], int(target[1]))) as server:
                server.sendall(client.recv(1 << 16))
                while limit > 0 and (data := server.recv(1 << 16)):
                    client.sendall(data[:limit])
                    limit -= len(data)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield "http://{}:{}".format(*listening.getsockname())
    finally:
        listening.close()


def test_two_servers_are_followed_over_a_line_that_is_cut(tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two")):
        with Nexus.open(tmp_path / name) as nexus:
            nexus.execute(SCHEMA)
            for drug in range(30):
                nexus.execute(DRUG, name=f"{name}-{drug:02}")
            nexus.execute(RISK, risk=number)
    cuts = [900, 100_000, 100]
    with (
        serving(tmp_path / "one") as one,
        serving(tmp_path / "two") as two,
        cutting(one.address, cuts) as cut,
        Nexus.memory() as nexus,
    ):
        report = nexus.follow(cut)
        assert (cuts, report["place"]) == ([], 33)
        assert len(drugs(nexus)) == 31
        nexus.follow(two.address)
        assert len(drugs(nexus)) == 61
        assert aspirin(nexus)["metadata"]["via"] == sorted([cut, two.address.rstrip("/")])
        one.kip(DRUG, parameters={"name": "late"})
        assert nexus.follow(cut)["commits"] == 1
        cuts[:] = [50] * 10
        one.kip(DRUG, parameters={"name": "later"})
        with pytest.raises(KipError, match="KIP_4003"):
            nexus.follow(cut)
        cuts.clear()
        assert nexus.follow(cut)["created"] == 1


def test_a_scope_is_followed_with_a_token(tmp_path: Path) -> None:
    make(tmp_path / "scopes")
    with serving_scopes(tmp_path) as scoped, Nexus.memory() as nexus:
        address = f"{scoped.server.address.rstrip('/')}/scopes/team"
        nexus.follow(address, token=token("reader"))
        names = nexus.find('FIND(?p.name) WHERE { ?p {type: "Person"} }').column("?p.name")
        assert "of team" in names
        with pytest.raises(KipError):
            nexus.follow(address.replace("team", "ada"), token=token("reader"))
        with pytest.raises(KipError, match="KIP_3004"):
            nexus.follow(address, token="x" * 40)
