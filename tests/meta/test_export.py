"""EXPORT: a capsule re-creates its selection, page by page, and twice changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Quad

import kiprdf
from kiprdf.rdf import vocab
from kiprdf.store import OxigraphStore
from tests.interchange import nexuses
from tests.nexus.support import StoppedClock, dataset, medical

KNOWLEDGE = """
EXPORT ?x WHERE {
  ?x {type: "Drug"}
  UNION { ?x {type: "Symptom"} }
  UNION { ?x {type: "User"} }
  UNION { ?x (?a, "treats" | "stated", ?b) }
}
"""


def empty(nexus: kiprdf.Nexus, genesis: bool = False) -> kiprdf.Nexus:
    return kiprdf.Nexus.memory(nexus.base_iri, genesis=genesis, clock=StoppedClock())


def pages(nexus: kiprdf.Nexus, command: str, size: int) -> list[str]:
    """The capsules of all pages."""
    capsules = []
    cursor = None
    while cursor is not None or not capsules:
        following = "" if cursor is None else " CURSOR :c"
        answer = nexus.answer(f"{command} LIMIT {size}{following}", {"c": cursor})
        capsules.append(answer.result["capsule"])
        cursor = answer.next_cursor
    return capsules


@pytest.mark.parametrize("made", [nexuses.small, nexuses.hostile, nexuses.colliding])
def test_everything_applied_to_an_empty_nexus_is_the_same_but_for_engine_metadata(
    made: Callable[[], kiprdf.Nexus],
) -> None:
    nexus = made()
    copy = empty(nexus)
    copy.apply_capsule(nexus.export())
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)


def test_everything_of_a_nexus_with_capsules_applied_to_an_empty_one_is_the_same() -> None:
    nexus = nexuses.demonstration()
    nexus.execute(
        'UPDATE ?x SET ATTRIBUTES {aliases: ["me"]} WHERE { ?x {type: "Person", name: "$self"} }'
    )
    copy = empty(nexus, genesis=True)
    copy.apply_capsule(nexus.export())
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)


def test_protected_elements_are_not_exported_so_that_another_nexus_accepts_the_rest() -> None:
    text = nexuses.demonstration().export()
    assert '{type: "Domain", name: "CoreSchema"}\n  }\n' in text
    assert "core_directives: [" not in text


def test_without_bundled_capsules_what_is_protected_is_exported_like_anything_else() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute(
        'UPSERT { CONCEPT { {type: "$ConceptType", name: "Domain"} SET ATTRIBUTES { a: 1 } } }'
    )
    copy = empty(nexus)
    copy.apply_capsule(nexus.export())
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)


def test_the_text_is_the_same_for_the_same_knowledge_under_other_link_ids() -> None:
    nexus = medical()
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "ASA"} SET PROPOSITIONS { '
        '("treats", {type: "Symptom", name: "Fever"}) } } '
        'CONCEPT { {type: "Drug", name: "B"} SET PROPOSITIONS { '
        '("treats", {type: "Symptom", name: "Fever"}) ("treats", {type: "Symptom", '
        'name: "Headache"}) } } }'
    )
    nexus.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "ASA"} '
        '?b {type: "Drug", name: "B"} }'
    )
    copy = empty(nexus)
    copy.apply_capsule(nexus.export())
    assert copy.export() == nexus.export()


def test_an_empty_export_can_be_applied() -> None:
    with kiprdf.Nexus.memory() as nexus:
        before = dataset(nexus)
        text = nexus.export('EXPORT ?p WHERE { ?p {type: "SleepTask"} }')
        assert nexus.apply_capsule(text) == {
            "blocks": 0,
            "upsert_concept_nodes": [],
            "upsert_proposition_links": [],
        }
        assert dataset(nexus) == before


def test_applying_a_capsule_twice_changes_nothing_the_second_time() -> None:
    nexus = nexuses.hostile()
    copy = empty(nexus)
    copy.apply_capsule(nexus.export())
    before = dataset(copy)
    copy.apply_capsule(nexus.export())
    assert dataset(copy) == before


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_pages_recreate_the_selection_in_order_and_change_nothing_when_repeated(
    size: int,
) -> None:
    nexus = medical()
    copy = empty(nexus)
    copy.apply_capsule(nexus.export('EXPORT ?x WHERE { ?x {type: "$ConceptType"} }'))
    copy.apply_capsule(nexus.export('EXPORT ?x WHERE { ?x {type: "$PropositionType"} }'))
    capsules = pages(nexus, KNOWLEDGE, size)
    for capsule in capsules:
        copy.apply_capsule(capsule)
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)
    before = dataset(copy)
    for capsule in capsules:
        copy.apply_capsule(capsule)
    assert dataset(copy) == before


def test_a_page_alone_is_valid_where_what_it_names_exists() -> None:
    nexus = medical()
    before = dataset(nexus)
    for capsule in reversed(pages(nexus, KNOWLEDGE, 1)):
        nexus.apply_capsule(capsule)
    assert dataset(nexus) == before


def test_definitions_come_first_and_facts_before_the_facts_about_them() -> None:
    nexus = medical()
    text = nexus.export()
    order = [
        text.index(part)
        for part in (
            '{type: "$ConceptType", name: "User"}',
            '{type: "$PropositionType", name: "treats"}',
            '{type: "Symptom", name: "Fever"}',
            '"treats", ?',
            '"stated", ?',
        )
    ]
    assert order == sorted(order)


def test_an_endpoint_has_a_handle_inside_of_the_page_and_a_name_outside() -> None:
    nexus = medical()
    one = 'EXPORT ?x WHERE { ?x ({type: "User", name: "Ann"}, "stated", ?fact) }'
    assert nexus.export(one) == (
        "UPSERT {\n"
        "  PROPOSITION {\n"
        '    ({type: "User", name: "Ann"}, "stated", ({type: "Drug", name: "Aspirin"}, "treats", '
        '{type: "Symptom", name: "Headache"}))\n'
        '    SET ATTRIBUTES {wording: "it helped"}\n'
        "  }\n"
        "}\n"
    )
    two = """EXPORT ?x WHERE {
      ?x (?u, "stated", ?fact)
      UNION { ?x ({name: "Aspirin"}, "treats", {name: "Headache"}) }
      UNION { ?x {type: "Drug", name: "Aspirin"} }
    }"""
    assert nexus.export(two) == (
        "UPSERT {\n"
        "  CONCEPT ?c1 {\n"
        '    {type: "Drug", name: "Aspirin"}\n'
        '    SET ATTRIBUTES {colour: "white", risk: 2}\n'
        '  } WITH METADATA {source: "textbook"}\n'
        "  PROPOSITION ?p2 {\n"
        '    (?c1, "treats", {type: "Symptom", name: "Headache"})\n'
        '  } WITH METADATA {source: "textbook"}\n'
        "  PROPOSITION {\n"
        '    ({type: "User", name: "Ann"}, "stated", ?p2)\n'
        '    SET ATTRIBUTES {wording: "it helped"}\n'
        "  }\n"
        "}\n"
    )


def test_reserved_metadata_is_not_exported() -> None:
    nexus = medical()
    nexus.execute('UPSERT { CONCEPT { {type: "Drug", name: "ASA"} } }')
    nexus.execute(
        'MERGE CONCEPT ?a INTO ?b WHERE { ?a {type: "Drug", name: "ASA"} '
        '?b {type: "Drug", name: "Aspirin"} }'
    )
    assert re.findall(r"\b_\w+", nexus.export()) == []


def test_pages_do_not_move_while_nothing_is_written() -> None:
    nexus = nexuses.hostile()
    command = 'EXPORT ?x WHERE { ?x {type: "Thing"} }'
    whole = nexus.export(command)
    assert "".join(pages(nexus, command, 7)).count("CONCEPT {") == whole.count("CONCEPT {") == 48


def test_a_cursor_belongs_to_its_command() -> None:
    nexus = medical()
    cursor = nexus.answer('EXPORT ?x WHERE { ?x {type: "Symptom"} } LIMIT 1').next_cursor
    with pytest.raises(kiprdf.KipError) as caught:
        nexus.answer('EXPORT ?x WHERE { ?x {type: "Drug"} } LIMIT 1 CURSOR :c', {"c": cursor})
    assert caught.value.code == "KIP_1001"


def test_deeply_nested_facts_are_exported() -> None:
    """Higher than the nesting that a text may have: inside of a page handles keep it flat."""
    nexus = medical()
    identifier = "P:48ec6e8e3fe50dea:treats"
    for _ in range(150):
        receipt = nexus.execute(
            'UPSERT { PROPOSITION { ({type: "User", name: "Ann"}, "stated", (id: :id)) } }',
            id=identifier,
        )
        (identifier,) = receipt["upsert_proposition_links"]
    copy = empty(nexus)
    copy.apply_capsule(nexus.export())
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)


def test_a_read_only_nexus_exports(tmp_path: Path) -> None:
    with (
        kiprdf.Nexus.open(tmp_path / "brain") as writer,
        kiprdf.Nexus.open(tmp_path / "brain", read_only=True) as reader,
    ):
        assert reader.export() == writer.export() != ""


def test_the_call_takes_an_export_only() -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        medical().export("DESCRIBE PRIMER")
    assert (caught.value.code, caught.value.position) == ("KIP_1001", (1, 1))


def tower(height: int, shared: bool) -> kiprdf.Nexus:
    """Facts about facts; with ``shared``, each level states two facts about both below."""
    nexus = medical()
    low = high = "P:48ec6e8e3fe50dea:treats"
    ann = "C:User/Ann"
    for _ in range(height):
        ends = (low, high) if shared and low != high else (ann, high)
        made = []
        for predicate in ("treats", "stated"):
            subject = "{id: :s}" if ends[0].startswith("C:") else "(id: :s)"
            receipt = nexus.execute(
                f'UPSERT {{ PROPOSITION {{ ({subject}, "{predicate}", (id: :o)) }} }}',
                s=ends[0],
                o=ends[1],
            )
            made += receipt["upsert_proposition_links"]
        low, high = made
    nexus.execute("UPDATE ?l SET METADATA { top: true } WHERE { ?l (id: :id) }", id=high)
    return nexus


TOP = "EXPORT ?l WHERE { ?l (?s, ?p, ?o) FILTER(?l.metadata.top) }"


@pytest.mark.parametrize(("height", "shared"), [(3, True), (40, True), (400, False)])
def test_a_fact_about_nested_facts_is_exported_with_all_of_them(height: int, shared: bool) -> None:
    nexus = tower(height, shared)
    text = nexus.export(TOP)
    assert len(text) < 400 * height + 2_000
    before = dataset(nexus)
    nexus.apply_capsule(text)
    assert dataset(nexus) == before


@pytest.mark.parametrize("size", [1, 7, 100])
def test_pages_of_nested_facts_are_valid_in_order(size: int) -> None:
    nexus = tower(80, shared=False)
    copy = empty(nexus)
    copy.apply_capsule(nexus.export('EXPORT ?x WHERE { ?x {type: "$ConceptType"} }'))
    copy.apply_capsule(nexus.export('EXPORT ?x WHERE { ?x {type: "$PropositionType"} }'))
    for capsule in pages(nexus, KNOWLEDGE, size):
        copy.apply_capsule(capsule)
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)
    assert copy.export() == nexus.export()


def test_the_deepest_value_of_a_parameter_can_be_exported_and_applied() -> None:
    nexus = medical()
    deep: list[object] = []
    for _ in range(63):
        deep = [deep]
    nexus.execute(
        'UPSERT { CONCEPT { {type: "Drug", name: "X"} SET ATTRIBUTES { v: :v } } }', v=deep
    )
    copy = empty(nexus)
    copy.apply_capsule(nexus.export())
    assert copy.snapshot(engine_metadata=False) == nexus.snapshot(engine_metadata=False)


def test_the_library_call_exports_the_whole_selection() -> None:
    with pytest.raises(kiprdf.KipError) as caught:
        medical().export('EXPORT ?x WHERE { ?x {type: "Drug"} } LIMIT 1')
    assert "answer() gives pages" in caught.value.hint


def test_an_object_that_other_tools_wrote_is_exported_with_its_keys_in_order() -> None:
    with kiprdf.Nexus.memory(genesis=False) as nexus:
        nexus.execute(
            'UPSERT { CONCEPT { {type: "$ConceptType", name: "D"} } '
            'CONCEPT { {type: "D", name: "n"} } }'
        )
        node = nexus.store.iris.concept("D", "n")
        value = Literal('{"b": 1, "a": 2}', datatype=vocab.JSON)
        nexus.store.engine.add(Quad(node, NamedNode(vocab.ATTRIBUTE + "v"), value))
        assert nexus.check()["faults"] == []
        capsule = nexus.execute('EXPORT ?x WHERE { ?x {type: "D"} }')["capsule"]
        assert "SET ATTRIBUTES {v: {a: 2, b: 1}}" in capsule


def test_a_page_reads_its_own_elements_only(monkeypatch: pytest.MonkeyPatch) -> None:
    nexus = nexuses.small()
    target = '{type: "Drug", name: "B"}'
    block = (
        f'CONCEPT {{ {{type: "Drug", name: :name}} SET PROPOSITIONS {{ ("treats", {target}) }} }}'
    )
    for number in range(50):
        nexus.execute(f"UPSERT {{ {block} }}", name=f"Drug {number:02}")
    read: list[NamedNode] = []
    statements = OxigraphStore.statements

    def noted(store: OxigraphStore, node: NamedNode) -> object:
        read.append(node)
        return statements(store, node)

    monkeypatch.setattr(OxigraphStore, "statements", noted)
    # Two links, and the elements at their ends.
    for selection, most in (('?x {type: "Drug"}', 2), ('?x (?a, "treats", ?b)', 6)):
        read.clear()
        answer = nexus.answer(f"EXPORT ?x WHERE {{ {selection} }} LIMIT 2")
        assert answer.next_cursor is not None
        assert 2 <= len(set(read)) <= most


LINKS = """
UPSERT {
  CONCEPT { {type: "$ConceptType", name: "T"} }
  CONCEPT { {type: "$ConceptType", name: "U"} }
  CONCEPT { {type: "$PropositionType", name: "p"} }
  CONCEPT { {type: "$PropositionType", name: "q"} }
  CONCEPT { {type: "U", name: "x"} }
  CONCEPT { {type: "U", name: "y"} SET ATTRIBUTES { n: 2 } }
  CONCEPT { {type: "T", name: "c"} SET ATTRIBUTES { n: 2 } SET PROPOSITIONS {
    ("p", {type: "U", name: "y"}) ("q", {type: "U", name: "y"}) ("p", {type: "U", name: "x"}) } }
  CONCEPT { {type: "T", name: "a"} SET PROPOSITIONS {
    ("q", {type: "T", name: "c"}) ("p", {type: "U", name: "y"}) } }
  CONCEPT { {type: "T", name: "b"} SET ATTRIBUTES { n: 2 } SET PROPOSITIONS {
    ("p", {type: "U", name: "x"}) } }
  PROPOSITION { ({type: "T", name: "b"}, "p", {type: "U", name: "x"}) } WITH METADATA { s: "m" }
  PROPOSITION { ({type: "T", name: "a"}, "q", ({type: "T", name: "b"}, "p",
    {type: "U", name: "x"})) }
}
"""
FACT = re.compile(r'\(\{type: "T", name: "(.)"\}, "(.)", \{type: "[TU]", name: "(.)"\}\)\s+[^)\s]')


@pytest.mark.parametrize(
    ("selection", "facts"),
    [
        ('?l (?a, "p", ?b)', "apy bpx cpx cpy"),
        ('?l (?a, "p", ?b) FILTER(?b.name == "y")', "apy cpy"),
        ('?l (?a, "p", ?b) FILTER(?a.attributes.n == 2)', "bpx cpx cpy"),
        ('?l (?a, "p", ?b) FILTER(?l.metadata.s == "m")', "bpx"),
        ('?l (?a, "p", ?b) NOT { (?a, "q", ?c) }', "bpx"),
        ('?l (?a, "p", ?b) NOT { (?a, "q", ?b) }', "apy bpx cpx"),
        ('?l (?a, "p", ?b) OPTIONAL { (?a, "q", ?b) }', "apy bpx cpx cpy"),
        ('?l ({type: "T"}, "p", {type: "U", name: "x"})', "bpx cpx"),
        ('?l ({type: "T", name: "c"}, "p", ?object)', "cpx cpy"),
        ('?l (?subject {type: "T"}, "q" | "p", ?b {type: "U"})', "apy bpx cpx cpy cqy"),
        ('?l (?a, "p" | "q" | "p", {type: "U"}) (?a, "q", {type: "T"})', "apy"),
        ('?l (?a, ?p, ?b) ?b {type: "U"} ?a {type: "T"}', "apy bpx cpx cpy cqy"),
        ('?l (?a, "p", ?b) ?l (?c, "p", {name: "y"})', "apy cpy"),
        ('(?a, "q", ?l) ?l (?c, "p", ?d)', "bpx"),
        ('?l (?a, "p", ?b) (?a, "q", ?l)', ""),
        ('?l (?a, "p", ?b) UNION { ?l (?c, "q", {type: "T"}) }', "apy aqc bpx cpx cpy"),
    ],
)
def test_pages_of_links_have_the_order_of_the_whole(selection: str, facts: str) -> None:
    nexus = empty(medical())
    nexus.execute(LINKS)
    command = f"EXPORT ?l WHERE {{ {selection} }}"
    whole = [*map("".join, FACT.findall(nexus.export(command)))]
    assert whole == facts.split()
    for size in (1, 2, 100):
        texts = pages(nexus, command, size)
        assert [*map("".join, (fact for text in texts for fact in FACT.findall(text)))] == whole


def test_links_about_links_come_last_in_pages_too() -> None:
    nexus = empty(medical())
    nexus.execute(LINKS)
    texts = pages(nexus, 'EXPORT ?l WHERE { ?l (?a, "q", ?b) }', 1)
    assert [re.findall(r'"(\w)"', text)[-1] for text in texts] == ["c", "y", "x"]
    assert ['"q", (' in text for text in texts] == [False, False, True]


def test_a_page_of_links_finds_its_own_links_only(monkeypatch: pytest.MonkeyPatch) -> None:
    nexus = medical()
    block = 'CONCEPT {{ {{type: "Drug", name: "D{0:02}"}} SET PROPOSITIONS {{ {1} }} }}'
    treated = '("treats", {type: "Symptom", name: "Fever"})'
    blocks = (block.format(number, treated) for number in range(60))
    nexus.execute(f"UPSERT {{ {' '.join(blocks)} }}")
    read: set[object] = set()
    match = OxigraphStore.match

    def noted(store: OxigraphStore, *pattern: object) -> object:
        read.update(term for term in pattern if "proposition/" in str(term))
        read.update(pattern[2:] if pattern[1] == vocab.REIFIES else ())
        return match(store, *pattern)  # type: ignore[arg-type]

    monkeypatch.setattr(OxigraphStore, "match", noted)
    command = 'EXPORT ?x WHERE { ?x (?a, "treats", ?b) }'
    answer = nexus.answer(f"{command} LIMIT 2")
    assert answer.next_cursor is not None
    assert len(read - {None}) <= 4
    read.clear()
    following = nexus.answer(f"{command} LIMIT 2 CURSOR :c", {"c": answer.next_cursor})
    assert "D01" in following.result["capsule"]
    assert len(read - {None}) <= 4
    read.clear()
    nexus.export(command)
    assert len(read - {None}) > 60
