"""What a FIND matches by each rule, and by several together (docs/decisions/202, 203)."""

from __future__ import annotations

from typing import Any

import pytest

import kiprdf
from kiprdf.kql.entailment import Explanations, closure, entailed
from kiprdf.store import OxigraphStore
from tests.shortcuts import no_lookups
from tests.standard_sparql import standard_sparql

SCHEMA = """UPSERT {
  CONCEPT ?place { {type: "$ConceptType", name: "Place"} }
  CONCEPT ?city { {type: "$ConceptType", name: "City"} SET PROPOSITIONS {
    ("subclass_of", ?place) } }
  CONCEPT { {type: "$ConceptType", name: "Port"} SET PROPOSITIONS {
    ("subclass_of", ?city) ("subclass_of", ?place) } }
  CONCEPT ?near { {type: "$PropositionType", name: "near"} SET ATTRIBUTES {is_symmetric: true} }
  CONCEPT { {type: "$PropositionType", name: "borders"} SET PROPOSITIONS {
    ("subproperty_of", ?near) } }
  CONCEPT ?in { {type: "$PropositionType", name: "within"} SET ATTRIBUTES {
    is_transitive: true, inverse_of: "contains"} }
  CONCEPT { {type: "$PropositionType", name: "contains"} }
  CONCEPT { {type: "$PropositionType", name: "capital_of"} SET PROPOSITIONS {
    ("subproperty_of", ?in) } }
  CONCEPT ?related { {type: "$PropositionType", name: "related"} }
  CONCEPT { {type: "$PropositionType", name: "within"} SET PROPOSITIONS {
    ("subproperty_of", ?related) } }
  CONCEPT { {type: "$PropositionType", name: "says"} SET ATTRIBUTES {inverse_of: "nowhere"} }
}"""
DATA = """UPSERT {
  CONCEPT ?earth { {type: "Place", name: "Earth"} }
  CONCEPT ?france { {type: "Place", name: "France"} }
  CONCEPT ?paris { {type: "City", name: "Paris"} SET ATTRIBUTES {size: 2}
    SET PROPOSITIONS { ("capital_of", ?france) } }
  CONCEPT ?brest { {type: "Port", name: "Brest"} SET ATTRIBUTES {size: 1}
    SET PROPOSITIONS { ("near", ?paris) ("borders", ?paris) ("within", ?france) } }
  CONCEPT { {type: "Place", name: "Earth"} SET PROPOSITIONS { ("contains", ?france) } }
  PROPOSITION { (?brest, "says", (?paris, "capital_of", ?france)) }
}"""
DEFINED = """UPSERT {
  CONCEPT { {type: "$PropositionType", name: "subclass_of"} }
  CONCEPT { {type: "$PropositionType", name: "subproperty_of"} }
  CONCEPT { {type: "$PropositionType", name: "same_as"} }
}"""


@pytest.fixture(scope="module")
def nexus() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    for command in (DEFINED, SCHEMA, DATA):
        nexus.execute(command)
    return nexus


def rows(nexus: kiprdf.Nexus, where: str, entail: Any = True) -> list[tuple[Any, ...]]:
    """The rows of a FIND, found by lookups, by the engine and as another engine is asked."""
    command = f"FIND({where}"
    ways = [nexus.find(command, entail=entail).tuples() for _ in range(3)]
    nexus._engine.statements.clear()
    with no_lookups():
        ways.append(nexus.find(command, entail=entail).tuples())
    nexus._engine.statements.clear()
    with standard_sparql():
        ways.append(nexus.find(command, entail=entail).tuples())
    each = [sorted(way, key=str) for way in ways]
    assert all(way == each[0] for way in each), each
    return each[0]


RULES = {
    'types: ?x.name) WHERE { ?x {type: "Place"} }': [
        ("Brest",), ("Earth",), ("France",), ("Paris",)],
    'middle: ?x.name) WHERE { ?x {type: "City"} }': [("Brest",), ("Paris",)],
    'leaf: ?x.name) WHERE { ?x {type: "Port"} }': [("Brest",)],
    'named: ?x.id) WHERE { ?x {type: "Place", name: "Brest"} }': [("C:Port/Brest",)],
    'counted: COUNT(?x)) WHERE { ?x {type: "Place"} }': [(4,)],
    'grouped: ?x.type, COUNT(?x)) WHERE { ?x {type: "City"} }': [("City", 1), ("Port", 1)],
    'filtered: ?x.name) WHERE { ?x {type: "Place"} FILTER(?x.attributes.size > 1) }': [("Paris",)],
    'stated type: ?x.name) WHERE { ?x {} FILTER(?x.type == "Place") }': [("Earth",), ("France",)],
    'symmetric: ?a.name, ?b.name) WHERE { (?a, "near", ?b) }': [
        ("Brest", "Paris"), ("Paris", "Brest")],
    'links: ?a.name, ?l.predicate, ?l.subject) WHERE { ?l (?a, "near", ?b) }': [
        ("Brest", "borders", "C:Port/Brest"), ("Brest", "near", "C:Port/Brest"),
        ("Paris", "borders", "C:Port/Brest"), ("Paris", "near", "C:Port/Brest")],
    'no superproperty: ?a.name) WHERE { (?a, "borders", ?b) }': [("Brest",)],
    'pairs: COUNT(?a)) WHERE { (?a, "near", ?b) }': [(2,)],
    'transitive: ?x.name) WHERE { (?x, "within", {type: "Place", name: "Earth"}) }': [
        ("Brest",), ("France",), ("Paris",)],
    'inverse: ?x.name) WHERE { ({type: "Place", name: "Earth"}, "contains", ?x) }': [
        ("Brest",), ("France",), ("Paris",)],
    'direct or null: ?x.name, ?l.predicate) WHERE {'
    ' ?l ({type: "Place", name: "Earth"}, "contains", ?x) }': [
        ("Brest", None), ("France", "contains"), ("Paris", None)],
    'one step: ?x.name) WHERE { (?x, "within"{1}, {name: "France"}) }': [("Brest",), ("Paris",)],
    'two steps: ?x.name) WHERE { (?x, "within"{2}, ?y) }': [("Brest",), ("Paris",)],
    'up to two: ?x.name) WHERE { ({name: "Earth"}, "contains"{0,2}, ?x) }': [
        ("Brest",), ("Earth",), ("France",), ("Paris",)],
    'a transitive subproperty: ?x.name) WHERE { (?x, "related", {name: "Earth"}) }': [
        ("Brest",), ("France",), ("Paris",)],
    'its links: ?x.name, ?l.predicate) WHERE { ?l (?x, "related", ?y) FILTER(?y.name == "Earth") }':
        [("Brest", None), ("France", "contains"), ("Paris", None)],
    'one step of it: ?x.name, ?y.name) WHERE { (?x, "related"{1}, ?y) }': [
        ("Brest", "France"), ("France", "Earth"), ("Paris", "France")],
    'alternatives: ?x.name) WHERE { ({name: "Paris"}, "near" | "capital_of", ?x) }': [
        ("Brest",), ("France",)],
    'a fact about a fact: ?a.name) WHERE { (?a, "says", (?p, "within", {name: "France"})) }': [
        ("Brest",)],
    'only about a direct one: ?a.name) WHERE { (?a, "says", (?p, "within", {name: "Earth"})) }': [],
    'predicates are stated: ?p) WHERE { ({name: "Paris"}, ?p, ?x) }': [("capital_of",)],
    'NOT: ?x.name) WHERE { ?x {type: "Place"} NOT { (?x, "within", {name: "Earth"}) } }': [
        ("Earth",)],
    'OPTIONAL: ?x.name, ?y.name) WHERE { ?x {type: "City"} OPTIONAL { (?x, "contains", ?y) } }': [
        ("Brest", None), ("Paris", None)],
    'UNION: ?x.name) WHERE { ?x {type: "Port"} UNION { ?x {type: "Place", name: "Paris"} } }': [
        ("Brest",), ("Paris",)],
    'the end of a link: ?a.name) WHERE { ?l (?a, "near", ?b)'
    ' FILTER(?l.subject == "C:Port/Brest") }': [
        ("Brest",), ("Paris",)],
    'two lists of types: COUNT(?x)) WHERE { ?x {type: "Place"} ?y {type: "Place"} }': [(16,)],
    'no inverse that is undefined: ?x.name) WHERE { (?x, "says", ?y) }': [("Brest",)],
}  # fmt: skip


@pytest.mark.parametrize("where", RULES)
def test_a_pattern_matches_what_follows(nexus: kiprdf.Nexus, where: str) -> None:
    assert rows(nexus, where.partition(": ")[2]) == RULES[where]


def test_without_it_a_pattern_matches_what_is_stated(nexus: kiprdf.Nexus) -> None:
    near = '?a.name, ?b.name) WHERE { (?a, "near", ?b) }'
    assert rows(nexus, near, entail=False) == [("Brest", "Paris")]
    places = '?x.name) WHERE { ?x {type: "Place"} }'
    assert rows(nexus, places, entail=False) == [("Earth",), ("France",)]


def test_a_named_element_of_a_subtype_exists_and_another_does_not(nexus: kiprdf.Nexus) -> None:
    find = 'FIND(?x) WHERE { ?x {type: "Place", name: :name} }'
    for _ in range(3):
        assert len(nexus.find(find, entail=True, name="Paris")) == 1
        with pytest.raises(kiprdf.KipError, match="There is no concept"):
            nexus.find(find, entail=True, name="Rome")
        with pytest.raises(kiprdf.KipError, match="There is no concept"):
            nexus.find(find, name="Paris")


@pytest.mark.parametrize("command", ['FIND(?x) WHERE { ?x {type: "Person"} }',
    'FIND(?x) WHERE { (?x, "knows", {type: "Person", name: "$self"}) }'])  # fmt: skip
def test_a_question_without_a_rule_is_compiled_as_before(nexus: kiprdf.Nexus, command: str) -> None:
    assert nexus.explain(command, entail=True) == nexus.explain(command)


def test_one_path_for_each_predicate(nexus: kiprdf.Nexus) -> None:
    path = "(pred:capital_of|pred:within|^pred:contains)+"
    command = 'FIND(?x) WHERE { (?x, "within", {type: "Place", name: "Earth"}) }'
    assert path in nexus.explain(command, entail=True)


def test_a_type_with_many_below_it_is_a_list() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(DEFINED)
    below = [f'{{type: "$ConceptType", name: "T{number}"}}' for number in range(200)]
    concepts = "".join(f"CONCEPT {{ {one} }}" for one in below)
    facts = "".join(f'PROPOSITION {{ ({one}, "subclass_of", {below[0]}) }}' for one in below[1:])
    nexus.execute(f"UPSERT {{ {concepts} {facts} }}")
    nexus.execute("""UPSERT {
      CONCEPT ?one { {type: "T7", name: "one"} }
      CONCEPT { {type: "T199", name: "other"} SET PROPOSITIONS { ("knows", ?one) } } }""")
    assert rows(nexus, '?x.name) WHERE { ?x {type: "T0"} }') == [("one",), ("other",)]
    assert rows(nexus, '?x.id) WHERE { ?x {type: "T0", name: "other"} }') == [("C:T199/other",)]
    checked = '?y.name) WHERE { ?x {type: "T0"} (?x, "knows", ?y) ?y {type: "T0"} }'
    assert rows(nexus, checked) == [("one",)]
    assert nexus.explain(f"FIND({checked}", entail=True).count("type:T199") == 2


def test_cycles_and_a_predicate_that_is_its_own_inverse() -> None:
    nexus = kiprdf.Nexus.memory()
    nexus.execute(DEFINED)
    nexus.execute("""UPSERT {
      CONCEPT ?a { {type: "$ConceptType", name: "A"} }
      CONCEPT ?b { {type: "$ConceptType", name: "B"} SET PROPOSITIONS { ("subclass_of", ?a) } }
      CONCEPT { {type: "$ConceptType", name: "A"} SET PROPOSITIONS { ("subclass_of", ?b) } }
      CONCEPT ?p { {type: "$PropositionType", name: "p"} SET ATTRIBUTES {inverse_of: "p"} }
      CONCEPT ?q { {type: "$PropositionType", name: "q"} SET ATTRIBUTES {is_transitive: true}
        SET PROPOSITIONS { ("subproperty_of", ?p) } }
      CONCEPT { {type: "$PropositionType", name: "p"} SET PROPOSITIONS {("subproperty_of", ?q)} }
    }""")
    nexus.execute("""UPSERT {
      CONCEPT ?x { {type: "A", name: "x"} }
      CONCEPT { {type: "B", name: "y"} SET PROPOSITIONS { ("p", ?x) } } }""")
    for type in ("A", "B"):
        assert rows(nexus, f'?x.name) WHERE {{ ?x {{type: "{type}"}} }}') == [("x",), ("y",)]
    for predicate in ("p", "q"):
        pairs = rows(nexus, f'?x.name, ?y.name) WHERE {{ (?x, "{predicate}", ?y) }}')
        assert pairs == [("x", "x"), ("x", "y"), ("y", "x"), ("y", "y")]


def test_the_rules_are_kept_until_a_definition_changes(nexus: kiprdf.Nexus) -> None:
    before = closure(nexus.store)
    nexus.execute('UPSERT { CONCEPT { {type: "Place", name: "Mars"} } }')
    assert closure(nexus.store) is before
    nexus.execute('DELETE CONCEPT ?x DETACH WHERE { ?x {type: "Place", name: "Mars"} }')
    nexus.execute(
        "UPDATE ?x SET ATTRIBUTES {is_symmetric: false} WHERE { ?x {id: :id} }",
        id="C:$PropositionType/near",
    )
    near = '?a.name) WHERE { (?a, "near", ?b) }'
    assert rows(nexus, near) == [("Brest",)]
    nexus.execute(
        "UPDATE ?x SET ATTRIBUTES {is_symmetric: true} WHERE { ?x {id: :id} }",
        id="C:$PropositionType/near",
    )
    assert rows(nexus, near) == [("Brest",), ("Paris",)]


def test_a_retracted_rule_is_not_believed() -> None:
    nexus = kiprdf.Nexus.memory()
    for command in (DEFINED, SCHEMA, DATA):
        nexus.execute(command)
    places = 'FIND(?x.name) WHERE { ?x {type: "Place"} } ORDER BY ?x.name'
    nexus.execute("""UPDATE ?l SET METADATA {status: "retracted"} WHERE {
      ?l ({type: "$ConceptType", name: "City"}, "subclass_of", ?t) }""")
    every = [("Brest",), ("Earth",), ("France",), ("Paris",)]
    assert list(nexus.find(places, entail=True).tuples()) == every
    believed = list(nexus.believed(places, entail=True).tuples())
    assert believed == [("Brest",), ("Earth",), ("France",)]


# What is the same ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def same() -> kiprdf.Nexus:
    nexus = kiprdf.Nexus.memory()
    for command in (DEFINED, SCHEMA, DATA):
        nexus.execute(command)
    nexus.execute("""UPSERT { CONCEPT { {type: "Port", name: "Lutetia"} SET ATTRIBUTES {size: 9}
      SET PROPOSITIONS { ("same_as", {type: "City", name: "Paris"})
        ("near", {type: "Place", name: "Earth"}) } } }""")
    return nexus


SAME = {
    'named: ?x.id, ?x.attributes.size) WHERE { ?x {type: "Port", name: "Lutetia"} }': [
        ("C:City/Paris", 2)],
    'by id: ?x.id) WHERE { ?x {id: "C:Port/Lutetia"} }': [("C:City/Paris",)],
    'any member: ?x.id) WHERE { ?x {type: "Port"} }': [("C:City/Paris",), ("C:Port/Brest",)],
    'once: COUNT(?x)) WHERE { ?x {type: "City"} }': [(2,)],
    'facts: ?x.name) WHERE { ({name: "Lutetia"}, "near", ?x) }': [("Brest",), ("Earth",)],
    'its own values: ?x.id) WHERE { ?x {type: "Port"} FILTER(?x.attributes.size == 9) }': [],
    'its own name: ?x.name) WHERE { ?x {name: "Lutetia"} }': [("Paris",)],
    'predicates: ?p, ?x.name) WHERE { ({name: "Paris"}, ?p, ?x) }': [
        ("capital_of", "France"), ("near", "Earth"), ("same_as", "Paris")],
    'chains: ?x.name) WHERE { ({name: "Lutetia"}, "within", ?x) }': [("Earth",), ("France",)],
    'stated links: ?l.subject) WHERE { ?l (?x, "near", {name: "Earth"}) }': [("C:Port/Lutetia",)],
    'NOT: ?x.name) WHERE { ?x {type: "Port"} NOT { (?x, "capital_of", ?y) } }': [("Brest",)],
}  # fmt: skip


@pytest.mark.parametrize("where", SAME)
def test_what_is_the_same_is_one_element(same: kiprdf.Nexus, where: str) -> None:
    assert rows(same, where.partition(": ")[2], "same_as") == SAME[where]


def test_without_what_is_the_same_each_stands_for_itself(same: kiprdf.Nexus) -> None:
    ports = '?x.id) WHERE { ?x {type: "Port"} }'
    assert rows(same, ports) == [("C:Port/Brest",), ("C:Port/Lutetia",)]


# Why ----------------------------------------------------------------------------------------------


def test_an_explanation_names_the_rules_and_the_propositions(nexus: kiprdf.Nexus) -> None:
    store = entailed(nexus.store, True)
    iris, why = store.iris, Explanations(store)
    paris, brest = iris.concept("City", "Paris"), iris.concept("Port", "Brest")
    earth, france = iris.concept("Place", "Earth"), iris.concept("Place", "France")

    def shown(explanation: Any) -> Any:
        predicates = [iris.id(link).rpartition(":")[2] for link in explanation.links]
        return predicates, [
            (by, iris.id(of).rpartition("/")[2], [iris.id(s).rpartition(":")[2] for s in sources])
            for by, of, sources in explanation.inferred
        ]

    stated = why.of_fact(iris.predicate("near"), brest, paris)
    assert shown(stated) == (["near"], [])
    reversed = why.of_fact(iris.predicate("near"), paris, brest)
    assert shown(reversed) == (["near"], [("is_symmetric", "near", ["near"])])
    assert shown(why.of_fact(iris.predicate("within"), paris, earth)) == (
        ["capital_of", "contains"],
        [
            ("is_transitive", "within", ["capital_of", "contains"]),
            ("subproperty_of", "within", ["subproperty_of", "capital_of"]),
            ("inverse_of", "within", ["contains"]),
        ],
    )
    assert why.of_fact(iris.predicate("within"), earth, france) is None
    assert shown(why.of_type(iris.type("Place"), brest)) == (
        [], [("subclass_of", "Place", ["subclass_of"])])  # fmt: skip
    assert why.of_type(iris.type("Port"), paris) is None


def test_an_explanation_names_what_is_the_same(same: kiprdf.Nexus) -> None:
    store = entailed(same.store, "same_as")
    iris, why = store.iris, Explanations(store)
    paris, brest = iris.concept("City", "Paris"), iris.concept("Port", "Brest")
    (link,) = same.execute('FIND(?l.id) WHERE { ?l (?a, "same_as", ?b) }')
    near = why.of_fact(iris.predicate("near"), paris, iris.concept("Place", "Earth"))
    assert [(r.by, r.of, list(map(iris.id, r.sources))) for r in near.inferred] == [
        ("same_as", paris, [link])
    ]
    port = why.of_type(iris.type("Port"), paris)
    assert [(rule.by, list(map(iris.id, rule.sources))) for rule in port.inferred] == [
        ("same_as", [link])
    ]
    assert [r.by for r in why.of_fact(iris.predicate("near"), paris, brest).inferred] == [
        "is_symmetric"
    ]


def test_an_explanation_needs_as_few_propositions_as_possible() -> None:
    nexus = kiprdf.Nexus.memory(genesis=False)
    nexus.execute("""UPSERT {
      CONCEPT { {type: "$ConceptType", name: "T"} }
      CONCEPT { {type: "$PropositionType", name: "subproperty_of"} }
      CONCEPT ?likes { {type: "$PropositionType", name: "likes"}
        SET ATTRIBUTES {inverse_of: "knows"} }
      CONCEPT { {type: "$PropositionType", name: "knows"} SET ATTRIBUTES {is_symmetric: true}
        SET PROPOSITIONS { ("subproperty_of", ?likes) } }
      CONCEPT ?b { {type: "T", name: "b"} }
      CONCEPT { {type: "T", name: "a"} SET PROPOSITIONS { ("knows", ?b) } }
    }""")
    store = entailed(nexus.store, True)
    ends = store.iris.concept("T", "a"), store.iris.concept("T", "b")
    why = Explanations(store).of_fact(store.iris.predicate("likes"), *ends)
    assert why is not None
    assert [one.by for one in why.inferred] == ["inverse_of", "is_symmetric"]
    assert {source for one in why.inferred for source in one.sources} == set(why.links)


HINT = 'With "entail": true it matches what follows from the definitions.'
EMPTY = {
    '?x {type: "Region"}': HINT,
    '(?x, "within", {type: "Place", name: "Asia"})': HINT,
    '?x {type: "City"} (?x, "within"{2,3}, {name: "Earth"})': HINT,
    '(?x, "related", {name: "France"})': HINT,
    # No rule, a rule by which nothing follows, and what is there the other way round.
    '?x {type: "Lake"}': None,
    '?x {type: "Continent"}': None,
    '({name: "Paris"}, "near", ?x)': (
        'The other way round it matches: (?x, "near", {name: "Paris"})'),
}  # fmt: skip


@pytest.mark.parametrize("where", EMPTY)
def test_an_empty_answer_says_that_something_follows(where: str) -> None:
    nexus = kiprdf.Nexus.memory()
    for command in (DEFINED, SCHEMA, DATA):
        nexus.execute(command)
    nexus.execute("""UPSERT {
      CONCEPT ?region { {type: "$ConceptType", name: "Region"} }
      CONCEPT ?continent { {type: "$ConceptType", name: "Continent"} }
      CONCEPT { {type: "$ConceptType", name: "Lake"} }
      CONCEPT { {type: "$ConceptType", name: "Ocean"} SET PROPOSITIONS {
        ("subclass_of", ?continent) } }
      CONCEPT { {type: "$ConceptType", name: "State"} SET PROPOSITIONS {
        ("subclass_of", ?region) } }
      CONCEPT ?asia { {type: "Place", name: "Asia"} }
      CONCEPT { {type: "State", name: "Goa"} SET PROPOSITIONS { ("capital_of", ?asia) } }
    }""")
    answer = nexus.answer(f"FIND(?x.name) WHERE {{ {where} }}", entail=False)
    (warning,) = answer.warnings
    assert (answer.result, warning.hint) == ([], EMPTY[where])


def test_a_write_that_matches_nothing_names_no_option_that_it_does_not_have(
    nexus: kiprdf.Nexus,
) -> None:
    where = '{ ?x {type: "City"} (?x, "within"{2,3}, {name: "Earth"}) }'
    assert nexus.answer(f"FIND(?x) WHERE {where}").warnings[0].hint == HINT
    delete = nexus.answer(f"DELETE CONCEPT ?x DETACH WHERE {where}", dry_run=True)
    assert [warning.hint for warning in delete.warnings] == [None]


def test_a_store_is_kept_until_something_else_follows(nexus: kiprdf.Nexus) -> None:
    store = nexus.store
    first = entailed(store, True)
    assert entailed(store, True, first) is first
    assert entailed(store, "same_as", first) is not first
    nexus = kiprdf.Nexus.memory()
    nexus.execute(DEFINED)
    places = 'FIND(?x.name) WHERE { ?x {type: "Place"} } ORDER BY ?x.name ASC'
    for command in (SCHEMA, DATA):
        nexus.execute(command)
    assert len(nexus.find(places, entail=True).tuples()) == 4
    nexus.execute("""DELETE PROPOSITIONS ?l WHERE {
      ?l ({type: "$ConceptType", name: "Port"}, "subclass_of", ?above) }""")
    assert nexus.find(places, entail=True).tuples() == (("Earth",), ("France",), ("Paris",))


@pytest.mark.parametrize("entail", [False, True])
def test_why_is_the_same_where_elements_are_read_ahead(
    nexus: kiprdf.Nexus, entail: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = (
        'FIND(?x.name) WHERE { ?x {type: "Port"} ?y {name: "Paris"} (?x, "near" | "borders", ?y) }'
    )
    nexus._engine.statements.clear()
    by_index = nexus.why(question, entail=entail).to_json()
    nexus._engine.statements.clear()
    ahead: list[str] = []
    # The store in memory has no use for what is read ahead, and never looks at it.
    monkeypatch.setattr(
        OxigraphStore, "prefetch", lambda _, nodes, *__: ahead.extend(n.value for n in nodes)
    )
    with standard_sparql():
        assert nexus.why(question, entail=entail).to_json() == by_index
    nexus._engine.statements.clear()
    (row,) = by_index
    cited = [id.removeprefix("P:") for each in row["derivations"] for id in each["propositions"]]
    assert len(row["derivations"]) == 2, row
    assert any(cited[0].replace(":", "/") in node for node in ahead)
