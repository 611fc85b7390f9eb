"""``kiprdf.trust``: how far an element may be trusted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import rdflib

import kiprdf
from kiprdf.memory import Memory
from tests.nexus.support import untouched

SCHEMA = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "Note"} }
  CONCEPT { {type: "$PropositionType", name: "derived_from"} }
  CONCEPT { {type: "$PropositionType", name: "states"} }
  CONCEPT { {type: "$PropositionType", name: "likes"} }
}
"""
LINK = """
UPSERT { PROPOSITION { ({type: "Note", name: :a}, :predicate, {type: "Note", name: :b}) } }
"""


class Notes:
    """Notes by their names, with links between them."""

    def __init__(self, nexus: kiprdf.Nexus) -> None:
        self.nexus = nexus
        nexus.execute(SCHEMA)

    def add(self, name: str, status: object = None) -> None:
        command = 'UPSERT { CONCEPT { {type: "Note", name: :name} } }'
        if status is not None:
            command = command.replace("} } }", "} } } WITH METADATA { status: :status }")
        self.nexus.execute(command, name=name, **({} if status is None else {"status": status}))

    def link(self, subject: str, predicate: str, object: str) -> None:
        self.nexus.execute(LINK.replace(":predicate", f'"{predicate}"'), a=subject, b=object)

    def trust(self, name: str) -> str:
        return kiprdf.trust(self.nexus, f"C:Note/{name}")


@pytest.fixture
def notes() -> Iterator[Notes]:
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        yield Notes(nexus)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        *((status, status) for status in ("retracted", "deprecated", "draft", "active")),
        ("reviewed", "reviewed"),
        (None, "active"),
        ("confirmed", "active"),
        (5, "active"),
        (["reviewed", "draft"], "draft"),
        ({"@value": "retracted", "@language": "en"}, "retracted"),
        ([], "active"),
    ],
)
def test_an_element_alone_has_its_status(notes: Notes, status: object, expected: str) -> None:
    notes.add("a", status)
    assert notes.trust("a") == expected


@pytest.mark.parametrize(
    ("own", "source", "expected"),
    [
        ("reviewed", "active", "active"),
        ("reviewed", None, "active"),
        ("active", "retracted", "retracted"),
        ("draft", "reviewed", "draft"),
        ("deprecated", "draft", "deprecated"),
        ("deprecated", "retracted", "retracted"),
        ("retracted", "deprecated", "retracted"),
    ],
)
def test_nothing_is_trusted_above_what_it_is_derived_from(
    notes: Notes, own: str, source: str | None, expected: str
) -> None:
    notes.add("a", own)
    notes.add("b", source)
    notes.link("a", "derived_from", "b")
    assert notes.trust("a") == expected


def test_other_links_do_not_count(notes: Notes) -> None:
    notes.add("a", "reviewed")
    notes.add("b", "retracted")
    notes.link("a", "likes", "b")
    notes.link("b", "derived_from", "a")
    assert (notes.trust("a"), notes.trust("b")) == ("reviewed", "retracted")


def test_the_least_trusted_of_several_sources_counts_however_far_away(notes: Notes) -> None:
    for name, status in (("a", "reviewed"), ("b", "reviewed"), ("c", "active"), ("d", "draft")):
        notes.add(name, status)
    notes.link("a", "derived_from", "b")
    notes.link("a", "derived_from", "c")
    assert notes.trust("a") == "active"
    notes.link("b", "derived_from", "d")
    assert (notes.trust("a"), notes.trust("b"), notes.trust("c")) == ("draft", "draft", "active")


def test_a_cycle_ends(notes: Notes) -> None:
    for name, status in (("a", "reviewed"), ("b", "draft"), ("c", "active")):
        notes.add(name, status)
    for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
        notes.link(one, "derived_from", other)
    assert [notes.trust(name) for name in "abc"] == ["draft", "draft", "draft"]


CYCLES: dict[str, tuple[dict[str, str], list[tuple[str, str, str]], dict[str, str]]] = {
    "of one that is the source and the note of another": (
        {"a": "reviewed", "b": "draft"},
        [("a", "derived_from", "b"), ("b", "derived_from", "a"), ("a", "states", "b")],
        {"a": "draft", "b": "draft"},
    ),
    "of two notes of a page that quotes what they state": (
        {"fact": "active", "one": "active", "two": "active", "page": "active", "quoted": "draft"},
        [
            *((note, "states", "fact") for note in ("one", "two")),
            *((note, "derived_from", "page") for note in ("one", "two")),
            ("page", "derived_from", "quoted"),
            ("quoted", "derived_from", "fact"),
        ],
        dict.fromkeys(("fact", "one", "two", "page", "quoted"), "draft"),
    ),
    "of two that state each other": (
        {"a": "reviewed", "b": "active"},
        [("a", "states", "b"), ("b", "states", "a")],
        {"a": "active", "b": "active"},
    ),
    "of a note that is derived from what it states": (
        {"fact": "active", "note": "reviewed", "page": "draft"},
        [
            ("note", "states", "fact"),
            ("note", "derived_from", "fact"),
            ("fact", "derived_from", "page"),
        ],
        {"fact": "draft", "note": "draft", "page": "draft"},
    ),
    "of a note that is derived from what it states, beside another note": (
        {"fact": "active", "note": "deprecated", "other": "active"},
        [
            ("note", "states", "fact"),
            ("note", "derived_from", "fact"),
            ("other", "states", "fact"),
        ],
        {"fact": "active", "note": "deprecated", "other": "active"},
    ),
    "of a fact that is derived from the note that states it": (
        {"fact": "reviewed", "note": "active", "other": "reviewed"},
        [
            ("fact", "derived_from", "note"),
            ("note", "states", "fact"),
            ("other", "states", "fact"),
            ("note", "derived_from", "other"),
            ("fact", "states", "other"),
        ],
        {"fact": "active", "note": "active", "other": "active"},
    ),
    "into which something retracted leads": (
        {"a": "reviewed", "b": "reviewed", "c": "reviewed", "outside": "retracted"},
        [
            ("a", "derived_from", "b"),
            ("c", "states", "b"),
            ("c", "derived_from", "a"),
            ("outside", "states", "c"),
        ],
        {"a": "retracted", "b": "retracted", "c": "retracted", "outside": "retracted"},
    ),
}


@pytest.mark.parametrize("cycle", CYCLES)
def test_a_cycle_through_notes_ends(notes: Notes, cycle: str) -> None:
    own, links, expected = CYCLES[cycle]
    for name, status in own.items():
        notes.add(name, status)
    for link in links:
        notes.link(*link)
    with untouched(notes.nexus):
        assert {name: notes.trust(name) for name in own} == expected


def test_a_long_cycle_of_both_links_ends(notes: Notes) -> None:
    names = [str(number) for number in range(300)]
    elements = [{"type": "Note", "name": name} for name in names]
    pairs = zip(elements, [*elements[1:], elements[0]], strict=True)
    links = [  # each is derived from the next one, or stated by it
        {"subject": one, "predicate": "derived_from", "object": other}
        if number % 2
        else {"subject": other, "predicate": "states", "object": one}
        for number, (one, other) in enumerate(pairs)
    ]
    notes.nexus.transaction(lambda tx: tx.write([*elements, *links]))
    assert {notes.trust(name) for name in ("0", "150", "299")} == {"active"}
    notes.nexus.execute('UPDATE ?n SET METADATA {status: "draft"} WHERE { ?n {name: "7"} }')
    assert {notes.trust(name) for name in ("0", "8", "150", "299")} == {"draft"}


@pytest.mark.parametrize(
    ("own", "stating", "expected"),
    [
        ("active", ["retracted"], "retracted"),
        ("active", ["retracted", "active"], "active"),
        ("active", ["draft", "retracted"], "retracted"),
        ("reviewed", ["active", "draft"], "draft"),
        ("reviewed", ["reviewed", "retracted"], "reviewed"),
        ("draft", ["active"], "draft"),
        ("draft", ["draft", "retracted"], "draft"),
    ],
)
def test_notes_count_if_all_of_them_are_below_what_they_state(
    notes: Notes, own: str, stating: list[str], expected: str
) -> None:
    notes.add("fact", own)
    for number, status in enumerate(stating):
        notes.add(f"note {number}", status)
        notes.link(f"note {number}", "states", "fact")
    assert notes.trust("fact") == expected


def test_a_fact_has_sources_too(notes: Notes) -> None:
    for name, status in (("a", None), ("b", None), ("said", "draft")):
        notes.add(name, status)
    notes.link("a", "likes", "b")
    (id,) = notes.nexus.execute('FIND(?l.id) WHERE { ?l (?a, "likes", ?b) }')
    assert kiprdf.trust(notes.nexus, id) == "active"
    notes.nexus.execute(
        'UPSERT { PROPOSITION { ((id: :id), "derived_from", {type: "Note", name: "said"}) } }',
        id=id,
    )
    with untouched(notes.nexus):
        assert kiprdf.trust(notes.nexus, id) == "draft"


def test_a_long_chain_is_followed_to_its_end(notes: Notes) -> None:
    elements = [{"type": "Note", "name": str(number)} for number in range(500)]
    elements[-1]["metadata"] = {"status": "draft"}  # type: ignore[assignment]
    links = [
        {"subject": one, "predicate": "derived_from", "object": other}
        for one, other in itertools.pairwise(elements)
    ]
    notes.nexus.transaction(lambda tx: tx.write([*elements, *links]))
    assert notes.trust("0") == "draft"


@pytest.mark.parametrize(
    ("id", "code"),
    [("C:Note/nobody", "KIP_3002"), ("P:0123456789abcdef:likes", "KIP_3002"), ("a", "KIP_1001")],
)
def test_what_does_not_exist_has_no_trust(notes: Notes, id: str, code: str) -> None:
    with pytest.raises(kiprdf.KipError) as raised:
        kiprdf.trust(notes.nexus, id)
    assert raised.value.code == code
    assert raised.value.hint


def test_a_graph_of_rdflib_has_trust() -> None:
    with kiprdf.Nexus.connect(rdflib.Graph()) as nexus:
        notes = Notes(nexus)
        notes.add("a", "reviewed")
        notes.add("b", "deprecated")
        notes.link("a", "derived_from", "b")
        assert (notes.trust("a"), notes.trust("b")) == ("deprecated", "deprecated")


def test_a_memory_whose_notes_are_retracted_states_nothing() -> None:

    with kiprdf.Nexus.memory() as nexus:
        memory = Memory(nexus)
        first, second = (memory.add("I use Docker.", session=name) for name in ("a", "b"))
        (id,) = nexus.execute('FIND(?l.id) WHERE { ?l ({type: "User"}, "uses", ?t) }')
        retract = """
        UPDATE ?m SET METADATA { status: "retracted" }
        WHERE { ?m {type: "MemoryItem", name: :id} }
        """
        assert kiprdf.trust(nexus, id) == "active"
        nexus.execute(retract, id=first)
        assert kiprdf.trust(nexus, id) == "active"
        nexus.execute(retract, id=second)
        assert kiprdf.trust(nexus, id) == "retracted"
